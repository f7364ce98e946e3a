// Writes one row, reads it back, and prints it.
#include <stele/stele.h>

#include <iostream>
#include <optional>

absl::Status Run() {
  // "mem:" keeps the database in memory. A directory would keep it on disk.
  absl::StatusOr<stele::Database> database = stele::Database::Open("mem:");
  if (!database.ok()) return database.status();

  // A table has column families. This one keeps the three newest versions of each column.
  stele::Schema schema;
  schema.AddFamily("profile", stele::GcRule::MaxNumVersions(3));
  absl::StatusOr<stele::Table> users = database->CreateTable("users", schema);
  if (!users.ok()) return users.status();

  // A mutation changes one row atomically. Columns need no declaration.
  stele::RowMutation ada("user#1815");
  ada.SetCell("profile", "name", "Ada").SetCell("profile", "city", "London");
  if (absl::Status status = users->Apply(ada); !status.ok()) return status;

  // Reads the newest version of one column.
  absl::StatusOr<std::optional<stele::Cell>> name = users->ReadCell("user#1815", "profile", "name");
  if (!name.ok()) return name.status();
  if (name->has_value()) std::cout << "name: " << (*name)->value() << "\n";

  // Scans all rows whose key starts with a prefix. The loop also ends on an error, so check the
  // status after it.
  stele::RowReader reader = users->ReadRows(stele::RowRange::Prefix("user#"));
  for (const stele::RowView& row : reader) {
    for (const stele::CellView& cell : row.cells()) {
      std::cout << row.row_key() << " " << cell.family() << ":" << cell.qualifier() << " = "
                << cell.value() << "\n";
    }
  }
  if (!reader.status().ok()) return reader.status();

  return database->Close();
}

int main() {
  const absl::Status status = Run();
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
