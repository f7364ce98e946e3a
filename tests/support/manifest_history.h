// tests/support/manifest_history.h: random histories of a database's Version: schema changes, flushes, bulk loads, compactions, excisions,
// splits and merges of tablets.
//
// Every edit fits the version it is made for, and stacks come from manifest/stack_edits.h, as the engine makes them. The same seed gives
// the same history.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "manifest/edit.h"
#include "manifest/version.h"

namespace stele::internal {

// A table of these families, named and ruled: {"cf", GcRule::None()}. Family ids count from `family_id_first`.
std::shared_ptr<const TableDefinition> TestDefinition(uint32_t table_id, std::string name, uint64_t epoch,
                                                      const std::vector<std::pair<std::string, GcRule>>& families,
                                                      uint32_t family_id_first = 1);

// A file of rows first .. last with some statistics.
SstableFile TestFile(uint64_t number, std::string first_row, std::string last_row);

// A table of one tablet per range between the splits, without files.
TableEdit NewTable(std::shared_ptr<const TableDefinition> definition, const std::vector<std::string>& splits = {});

class VersionHistory {
 public:
  // Without `recuts` tablets stay as they were made.
  explicit VersionHistory(uint64_t seed, bool recuts = true);
  const std::shared_ptr<const Version>& version() const { return version_; }
  // A random edit, already applied to version(). Ends the program if the edit does not fit: that is the engine's mistake.
  Edit Next();

 private:
  const TableState* AnyTable();
  std::string AnyRow();
  KeyRange AnyRange();
  SstableFile AnyFile();
  void CreateTable(Edit* edit);
  void ChangeSchema(const TableState& table, TableEdit* edit);
  void Flush(const TableState& table, Edit* edit, TableEdit* table_edit);
  void BulkLoad(const TableState& table, Edit* edit, TableEdit* table_edit);
  void Compact(const TableState& table, Edit* edit, TableEdit* table_edit);
  void Recut(const TableState& table, TableEdit* table_edit);

  const bool recuts_;
  Random random_;
  std::shared_ptr<const Version> version_;
  uint64_t next_file_number_ = 2;
};

}  // namespace stele::internal
