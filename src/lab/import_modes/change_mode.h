// import_modes/change_mode.h: applies the changes of an incremental export to a table of an earlier
// import. The newest change of a row wins.
//
// Errors:    those of ImportMode. EndSurvey() returns InvalidArgument if two changes of a row have
//            the same time, and ResourceExhausted if rows with several changes have more than
//            500,000 changes.
// Memory:    that of two KeyHashes of KeyHashes::kMemoryBytes / 2. A row with several changes takes
//            about 300 bytes, and 40 per change.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lab/import_modes/import_mode.h"
#include "lab/import_modes/row_builder.h"
#include "lab/mapping/mapping.h"
#include "lab/values/key_hashes.h"
#include "stele/table.h"

namespace stele::internal::lab {

class ChangeMode : public ImportMode {
 public:
  // `mapping`: that of the table.
  ChangeMode(Table table, Mapping mapping, TimeRules times);

  absl::Status Survey(const Record& record, uint64_t position) override;
  absl::Status EndSurvey(const PositionText& text, DynamoDbImportReport* report) override;
  // Adds the families that the new items need.
  absl::StatusOr<std::vector<TablePlan>> Tables() const override;
  absl::Status Convert(const Record& record, const RowSink& sink,
                       DynamoDbImportReport* report) override;

 private:
  // What the report counts of a change.
  struct Applied {
    int64_t write_micros = 0;
    bool is_row = false;
    bool is_expired = false;
    FamilyCounts cells = {};
  };

  absl::Status FindRepeated(const PositionText& text, DynamoDbImportReport* report);
  // Returns the newest change that Convert() has applied to the row. Its time is -1 if there was
  // none yet. Returns null for a row with one change.
  Applied* EarlierChange(const std::string& row_key);
  void Uncount(const Applied& change, DynamoDbImportReport* report) const;

  const Table table_;
  const Mapping mapping_;
  const TimeRules times_;
  FamilyNeeds needs_;
  // A change is its number among those that Survey() accepted, which is the order of Convert().
  KeyHashes keys_{KeyHashes::kMemoryBytes / 2};
  KeyHashes keys_and_times_{KeyHashes::kMemoryBytes / 2};
  uint64_t surveyed_count_ = 0;
  uint64_t converted_count_ = 0;
  std::unordered_set<uint64_t> repeated_;                    // the changes whose row has several
  std::map<std::pair<uint64_t, uint64_t>, Applied> newest_;  // by the hash of a row with several
};

}  // namespace stele::internal::lab
