// tests/support/manifest_history.h: random histories of a database's Version. They consist of
// schema changes, flushes, bulk loads, compactions, excisions, and splits and merges of tablets.
//
// Every edit fits the version that it is made for. Sorted runs are edited with
// manifest/stack_edits.h, as the engine does. The same seed gives the same history.
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

// Returns a table with these family names and GC rules, for example {"cf", GcRule::None()}. Family
// ids count up from `family_id_first`.
std::shared_ptr<const TableDefinition> TestDefinition(
    uint32_t table_id, std::string name, uint64_t epoch,
    const std::vector<std::pair<std::string, GcRule>>& families, uint32_t family_id_first = 1);

// Returns a file of the rows first..last, with made-up statistics.
SstableFile TestFile(uint64_t number, std::string first_row, std::string last_row);

// Returns an edit that creates a table without files. It has one tablet per range between the
// splits.
TableEdit NewTable(std::shared_ptr<const TableDefinition> definition,
                   const std::vector<std::string>& splits = {});

class VersionHistory {
 public:
  // Without `recuts`, tablets are never split or merged.
  explicit VersionHistory(uint64_t seed, bool recuts = true);
  const std::shared_ptr<const Version>& version() const { return version_; }
  // Makes a random edit, applies it to version() and returns it. Ends the program if the edit does
  // not fit, because that is a bug of the engine.
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
