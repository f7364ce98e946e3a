// support/db_contract.h: a database that a test of the public contract opens, changes and opens again, and what reads give, as text.
//
// How:       in memory, without threads, on a clock of the test's own: nothing depends on time. Reopen() goes on with the same files.
// Threads:   thread-compatible.
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
  // A clock standing at 1,000,000 s. `memory_budget_bytes` sizes everything, as in DatabaseOptions.
  explicit ContractDatabase(uint64_t memory_budget_bytes = uint64_t{64} << 20);

  Database& database() { return *database_; }
  Engine& engine() { return *engine_; }
  ManualClock& clock() { return *clock_; }
  // Of table "t", made by the first call with the schema.
  Table& MakeTable(const Schema& schema);
  Table& table() { return *table_; }

  // Closes, and opens again; the clock goes on, or is replaced. The table is opened again, too, if it still exists.
  void Reopen(std::optional<Timestamp> clock_at = std::nullopt);
  // The same without Close: the handles go, as when a process ends in order.
  void Open(DatabaseOptions options = {}, const std::string& directory = "/db");

 private:
  const uint64_t memory_budget_bytes_;
  MemFileSystem file_system_;
  std::shared_ptr<ManualClock> clock_;
  std::optional<Table> table_;
  std::optional<Database> database_;
  Engine* engine_ = nullptr;
};

// "row f:q@1000=value, f:r@0=; row2 ..."; pieces of a row are set apart by " +", an error ends it as "CODE: text".
std::string Show(RowReader reader);
std::string Show(const RowView& row);
std::string Show(const std::optional<Row>& row);
// All rows of the table.
std::string ShowAll(const Table& table, const ReadOptions& options = {});
// "OK", or the code's name: "InvalidArgument".
std::string CodeName(const absl::Status& status);

}  // namespace stele::internal
