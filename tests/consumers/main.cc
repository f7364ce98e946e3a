// A program that uses the library as an application does: opens, creates, writes, reads. The exit
// code is 0 if it reads what it wrote.
#include <stele/stele.h>

#include <cstdio>
#include <optional>

namespace {

int Fail(const char* step, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", step, status.ToString().c_str());
  return 1;
}

}  // namespace

int main() {
  absl::StatusOr<stele::Database> database = stele::Database::Open("mem:");
  if (!database.ok()) return Fail("Open", database.status());
  absl::StatusOr<stele::Table> table = database->CreateTable(
      "orders", stele::Schema().AddFamily("cf", stele::GcRule::MaxNumVersions(1)));
  if (!table.ok()) return Fail("CreateTable", table.status());
  absl::Status applied = table->Apply(
      stele::RowMutation("row").SetCell("cf", "q", stele::Timestamp::FromMillis(1), "value"));
  if (!applied.ok()) return Fail("Apply", applied);
  absl::StatusOr<std::optional<stele::Row>> row = table->ReadRow("row");
  if (!row.ok()) return Fail("ReadRow", row.status());
  if (!row->has_value()) return Fail("ReadRow", absl::NotFoundError("the row that was written"));
  const std::optional<stele::CellView> cell = (*row)->cell("cf", "q");
  if (!cell || cell->value() != "value" || cell->timestamp() != stele::Timestamp::FromMillis(1)) {
    return Fail("ReadRow", absl::InternalError("another cell than the one that was written"));
  }
  absl::Status closed = database->Close();
  if (!closed.ok()) return Fail("Close", closed);
  std::puts("consumer ok");
  return 0;
}
