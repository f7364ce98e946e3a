// tests/support/db_contract.h: a database for tests of the public contract. Tests change it, reopen
// it, and print its contents as text.
//
// How:       The database is in memory, has no threads and uses the test's clock, so nothing
//            depends on time. Reopen() keeps the files.
// Threads:   Thread-compatible.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/mem_file_system.h"
#include "stele/stele.h"

namespace stele::internal {

class Engine;

class ContractDatabase {
 public:
  // The clock starts at 1,000,000 s. `memory_budget_bytes` is the budget, as in DatabaseOptions.
  explicit ContractDatabase(uint64_t memory_budget_bytes = uint64_t{64} << 20);

  Database& database() { return *database_; }
  Engine& engine() { return *engine_; }
  ManualClock& clock() { return *clock_; }
  // Returns table "t". The first call creates it with this schema.
  Table& MakeTable(const Schema& schema);
  Table& table() { return *table_; }

  // Closes the database and opens it again. The clock continues, or is set to `clock_at`. Opens the
  // table again if it still exists.
  void Reopen(std::optional<Timestamp> clock_at = std::nullopt);
  // Like Reopen, but without Close: destroys the handles, as an orderly exit of the process does.
  void Open(DatabaseOptions options = {}, const std::string& directory = "/db");

 private:
  const uint64_t memory_budget_bytes_;
  MemFileSystem file_system_;
  std::shared_ptr<ManualClock> clock_;
  std::optional<Table> table_;
  std::optional<Database> database_;
  Engine* engine_ = nullptr;
};

// Prints a row as "row f:q@1000=value, f:r@0=", and separates rows by "; ". Partial rows of a row
// are separated by " +". An error ends the text as "CODE: text".
std::string Show(RowReader reader);
std::string Show(const RowView& row);
std::string Show(const std::optional<Row>& row);
// Prints all rows of the table.
std::string ShowAll(const Table& table, const ReadOptions& options = {});
// Returns "OK" or the name of the code, such as "InvalidArgument".
std::string CodeName(const absl::Status& status);

}  // namespace stele::internal
