// load/load_check.h: what the check of a load finds: bad records, duplicates, and counts.
//
// Errors:    errors of the temporary files; ResourceExhausted for too many bad records.
// Threads:   confined to one thread.
// Memory:    48 MiB, 8 bytes per record that is left out, and that of load/cell_conflicts.h.
// Source:    docs/lab/designs.md, "Load".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lab/design/row_mapping.h"
#include "lab/values/key_hashes.h"
#include "lab/values/record_number.h"
#include "stele/lab/load.h"

namespace stele::internal::lab {

// A record of a load: the table of the design, the file of all inputs, and the number in the file
// (values/record_number.h).
struct LoadPosition {
  static constexpr int kFileBits = 14;

  uint64_t table = 0;
  uint64_t file = 0;
  uint64_t number = 0;

  // Sorts by table, file and number.
  uint64_t Packed() const {
    return (table << (kFileBits + kRecordNumberBits)) | (file << kRecordNumberBits) | number;
  }
  static LoadPosition Of(uint64_t packed);
  // The same number for all tables.
  uint64_t PackedRecord() const { return LoadPosition{0, file, number}.Packed(); }
};

class LoadCheck {
 public:
  static constexpr size_t kListedMax = 20;
  static constexpr size_t kLeftOutMax = 4'000'000;

  explicit LoadCheck(size_t table_count)
      : rows_(kMemoryBytes / 4), cells_(kMemoryBytes / 2), counts_(table_count) {}

  // Adds the row that a record becomes in a table.
  absl::Status AddRow(const LoadPosition& position, const DesignTable& table, const MappedRow& row);
  void AddRecord(uint64_t table) { ++counts_[table].records; }
  // Adds a record that is wrong for a table. Lists it with `text`, which has file and line. An
  // empty text is not listed.
  absl::Status AddBad(const LoadPosition& position, std::string text);
  // Counts duplicates, and the rows and cells of the records that are not left out. `name` returns
  // the name of a record.
  absl::Status Finish(bool allows_duplicates,
                      const std::function<std::string(const LoadPosition&)>& name);

  // The counts of each table, after Finish().
  const std::vector<stele::lab::LoadReport::TableCounts>& counts() const { return counts_; }
  const std::vector<std::string>& listed_bad() const { return listed_bad_; }
  const std::vector<std::string>& listed_duplicates() const { return listed_duplicates_; }
  // The records to leave out, as PackedRecord() in ascending order.
  const std::vector<uint64_t>& left_out() const { return left_out_; }
  // True if a record that is left out is a duplicate and has no other error.
  bool IsDuplicate(uint64_t record) const;
  // The same for one table, and also for a duplicate that is not left out.
  bool IsDuplicateIn(const LoadPosition& position) const;

 private:
  static constexpr size_t kMemoryBytes = size_t{64} << 20;

  void CountDuplicates(std::vector<KeyHashes::Repeated> duplicates, bool allows_duplicates,
                       const std::function<std::string(const LoadPosition&)>& name);
  // Calls `count` for each key that a kept record creates, with the table of the key. A kept record
  // is one that is not left out.
  absl::Status CountKept(KeyHashes* keys, const std::function<void(uint64_t table)>& count) const;

  KeyHashes rows_;
  KeyHashes cells_;
  std::vector<stele::lab::LoadReport::TableCounts> counts_;
  std::vector<std::string> listed_bad_;
  std::vector<std::string> listed_duplicates_;
  std::vector<uint64_t> left_out_;
  std::vector<uint64_t> duplicates_;           // of left_out_: those that are duplicates, ascending
  std::vector<uint64_t> duplicate_positions_;  // LoadPosition::Packed(), in ascending order
  std::string key_;
};

}  // namespace stele::internal::lab
