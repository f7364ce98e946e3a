// Loads 100,000 sorted rows directly into SSTables, deletes a part of them, and scans that part in
// an older snapshot. Keeps the database in the directory that the first argument names, or in
// memory.
#include <stele/stele.h>

#include <cstdio>
#include <iostream>
#include <string>

std::string RowKey(int number) {
  char key[16];
  std::snprintf(key, sizeof(key), "item#%08d", number);
  return key;
}

// Rows must be added in ascending order. They become visible together when Finish() returns OK.
absl::Status Load(stele::Table& table) {
  stele::BulkLoad load = table.NewBulkLoad();
  for (int i = 0; i < 100'000; ++i) {
    stele::RowMutation row(RowKey(i));
    row.SetCell("item", "price", stele::EncodeInt64(i % 100)).SetCell("item", "stock", "yes");
    if (absl::Status status = load.Add(row); !status.ok()) return status;
  }
  return load.Finish();
}

// Adds up the prices of 10,000 items. The filter reads only the column that is needed.
absl::StatusOr<int64_t> SumOfPrices(const stele::Table& table, const stele::Snapshot& snapshot) {
  stele::ReadOptions options;
  options.snapshot = snapshot;
  options.fill_cache = false;  // a large scan should not evict other readers' blocks
  stele::RowReader reader =
      table.ReadRows(stele::RowRange::RightOpen(RowKey(50'000), RowKey(60'000)),
                     stele::Filter::Column("item", "price"), options);
  int64_t sum = 0;
  for (const stele::RowView& row : reader) {
    absl::StatusOr<int64_t> price = row.cells().front().AsInt64();
    if (!price.ok()) return price.status();
    sum += *price;
  }
  if (!reader.status().ok()) return reader.status();
  return sum;
}

absl::Status Run(const std::string& directory) {
  absl::StatusOr<stele::Database> database = stele::Database::Open(directory);
  if (!database.ok()) return database.status();
  stele::Schema schema;
  schema.AddFamily("item");
  absl::StatusOr<stele::Table> table = database->CreateTable("items", schema);
  if (!table.ok()) return table.status();
  if (absl::Status status = Load(*table); !status.ok()) return status;

  // A snapshot is not affected by later writes: the sum includes the rows that are deleted here.
  absl::StatusOr<stele::Snapshot> snapshot = database->GetSnapshot();
  if (!snapshot.ok()) return snapshot.status();
  if (absl::Status status = table->DropRowRange(stele::RowRange::Prefix("item#0005")); !status.ok())
    return status;
  absl::StatusOr<int64_t> before = SumOfPrices(*table, *snapshot);
  absl::StatusOr<int64_t> after = SumOfPrices(*table, stele::Snapshot());
  if (!before.ok()) return before.status();
  if (!after.ok()) return after.status();
  std::cout << "sum before the delete: " << *before << ", after: " << *after << "\n";
  return database->Close();
}

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "mem:");
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
