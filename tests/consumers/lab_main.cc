// A program that uses stele::lab as an application does: it imports a file of DynamoDB JSON into
// memory.
#include <stele/lab/dynamodb.h>
#include <stele/stele.h>

#include <cstdio>
#include <fstream>

int main() {
  std::ofstream("items.json") << "{\"Item\":{\"id\":{\"S\":\"a\"},\"n\":{\"N\":\"1\"}}}\n";
  const absl::StatusOr<stele::Database> database = stele::Database::Open("mem:");
  if (!database.ok()) return 1;
  const absl::StatusOr<stele::lab::DynamoDbImportReport> report = stele::lab::ImportDynamoDb(
      *database, {.paths = {"items.json"}, .table = "t", .partition_key = "id"});
  if (!report.ok() || report->tables.at("t").rows != 1) {
    std::fprintf(stderr, "import: %s\n", report.status().ToString().c_str());
    return 1;
  }
  const absl::StatusOr<stele::Table> table = database->OpenTable("t");
  if (!table.ok()) return 1;
  const auto cell = table->ReadCell("a", "a", "n");
  return cell.ok() && cell->has_value() && (*cell)->value() == "1" ? 0 : 1;
}
