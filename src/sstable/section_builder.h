// sstable/section_builder.h: builds one section of an SSTable: rows and cells into row groups of units, and its share of the index.
//
// Path:      sstable builder -> here -> page_builder, codec -> block_writer.
// Format:    docs/format/sstable.md "Sections".
// Extents:   groups are collected and go to the file kExtentBytes at a time, so that the sections of a file can be written side by side and
//            each is still read in large stretches. Where a unit lies is known only then, and its checksum with it.
// Beside:    with a second pair of hands, groups are compressed a batch at a time while the next ones are made, and by both when the next
//            are there. The units are the same; extents of several sections may lie in another order.
// Dictionary: zstd sections keep the units of the first groups uncompressed, train on them, and use the dictionary for the whole section
//            if it saves enough on those.
// Errors:    those of the file; ResourceExhausted for refused memory.
// Threads:   confined to its builder's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/growing_buffer.h"
#include "cell/cell.h"
#include "sstable/block_writer.h"
#include "sstable/codec.h"
#include "sstable/index.h"
#include "sstable/page_builder.h"
#include "sstable/sstable_format.h"
#include "sstable/work_beside.h"

namespace stele::internal {

inline constexpr size_t kCellOverheadBytes = 16;  // a cell's share of arrays, for sizing groups

struct SectionOptions {
  size_t family_count = 0;
  Codec codec = Codec::kLz4;
  ZstdEffort zstd_effort = ZstdEffort::kThorough;
  uint32_t row_group_bytes = 0;
  WorkBeside* beside = nullptr;  // may be null; outlives the builder
};

class SectionBuilder {
 public:
  SectionBuilder(BlockWriter* writer, const SectionOptions& options);
  SectionBuilder(const SectionBuilder&) = delete;
  SectionBuilder& operator=(const SectionBuilder&) = delete;
  ~SectionBuilder();

  // Of the row `row_key`, whose cells come one after the other; `slot` is what its page holds of the cell.
  absl::Status AddCell(std::string_view row_key, bool is_new_row, const Cell& cell, StoredKind kind, std::string_view slot);
  // What is left goes to the file; the dictionary, if any, does not.
  absl::Status Finish();

  // After Finish.
  std::string_view index() const { return index_.view(); }
  const std::string& dictionary() const { return dictionary_; }
  uint64_t group_count() const { return group_count_; }

  // Held now, about.
  size_t memory_bytes() const;

 private:
  // A group whose units are made: raw in raw_, then stored in extent_ with offsets from its beginning.
  struct PendingGroup {
    GroupReference reference;
    std::string first_row;
    std::string last_row;
    std::string first_qualifier;
  };
  struct FamilyPages {
    FamilyPageBuilder open;
    std::string closed;                                          // pages one after the other
    std::vector<std::pair<UnitReference, size_t>> closed_units;  // and how many bytes each takes
    size_t raw_bytes() const { return closed.size() + open.raw_bytes(); }
  };

  struct Compressors {
    explicit Compressors(const SectionOptions& options);
    size_t memory_bytes() const { return families.memory_bytes() + keys.memory_bytes(); }
    Compressor families;
    Compressor keys;
  };
  class Batch;

  size_t training_bytes() const;
  size_t unit_bytes() const { return options_.row_group_bytes / kUnitsPerRowGroup; }
  size_t PageBytes(const FamilyPages& family) const;
  void ContinueRow(const Cell& first_cell);
  void BeginRow(std::string_view row_key);
  absl::Status CloseGroup();
  void ClosePage(uint32_t rank, uint32_t row_end);
  absl::Status AppendFamilyUnits(GroupReference* group);
  absl::Status AppendUnit(UnitReference unit, std::string_view head, std::string_view pages, GroupReference* group);
  absl::Status ChooseDictionary();
  absl::StatusOr<size_t> TrialBytes();
  static absl::Status CompressGroup(Compressors* compressors, std::string_view raw, GroupReference* group, GrowingBuffer* stored);
  absl::Status SetDictionary(std::string_view dictionary);
  absl::Status CompressGroups();
  absl::Status PassGroups();
  absl::Status FinishBatch();
  absl::Status WriteExtent();

  BlockWriter* const writer_;
  const SectionOptions options_;
  Compressors compressors_;
  std::unique_ptr<Compressors> compressors_beside_;  // with hands beside
  GrowingBuffer index_;                              // grows by about 1 % of the data
  uint64_t group_count_ = 0;
  std::string dictionary_;
  bool is_training_ = false;

  // The group being made.
  std::string row_key_;           // of the row added last
  bool is_row_in_group_ = false;  // that row has had a cell in the group
  KeysPageBuilder keys_;
  std::vector<FamilyPages> families_;  // by rank - 1
  size_t group_bytes_ = 0;             // about what its pages take, before compression
  size_t row_bytes_ = 0;               // the last row's share of it
  bool continues_row_ = false;
  Cell first_cell_;  // when it continues a row; the qualifier in first_qualifier_
  std::string first_qualifier_;

  std::vector<PendingGroup> pending_;
  size_t compressed_count_ = 0;  // so many of them are in extent_, the others in raw_
  GrowingBuffer raw_;
  GrowingBuffer extent_;
  std::unique_ptr<Batch> batch_;  // groups between those in extent_ and those in raw_; being compressed
};

}  // namespace stele::internal
