// sstable/write/section_builder.h: builds one section of an SSTable: row groups with their blocks,
// and the section's part of the index.
//
// Used by:   sstable/write/sstable_builder.cc.
// Calls:     sstable/write/page_builder.h, sstable/format/codec.h, sstable/write/block_writer.h.
// Format:    docs/reference/format/sstable.md "Row group".
// Extents:   groups are collected and written kExtentBytes at a time, so that several sections can
//            be written to a file concurrently and each can be read in large ranges. The offset of
//            a block, and so its checksum, is known only when it is written.
// Offload:   with a helper thread, a batch of groups is compressed while the next batch is built.
//            When the next batch is complete, both threads compress the rest. The blocks are the
//            same; extents of several sections may be in another order.
// Dictionary: zstd sections keep the blocks of the first groups uncompressed, train a dictionary on
//            them, and use it for the whole section if it saves enough on those groups. Groups that
//            Flush writes before that are compressed with lz4, which needs no dictionary. If there
//            are as many of them as the training needs, the section has no dictionary.
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
#include "cell/cell.h"
#include "sstable/format/codec.h"
#include "sstable/format/growing_buffer.h"
#include "sstable/format/index.h"
#include "sstable/format/sstable_format.h"
#include "sstable/write/block_writer.h"
#include "sstable/write/page_builder.h"
#include "sstable/write/serial_executor.h"

namespace stele::internal {

// The approximate size of a cell's elements in arrays, for estimating the size of groups.
inline constexpr size_t kCellOverheadBytes = 16;

struct SectionOptions {
  size_t family_count = 0;
  Codec codec = Codec::kLz4;
  ZstdEffort zstd_effort = ZstdEffort::kThorough;
  uint32_t row_group_bytes = 0;
  SerialExecutor* compression_executor = nullptr;  // may be null; must outlive the builder
};

class SectionBuilder {
 public:
  SectionBuilder(BlockWriter* writer, const SectionOptions& options);
  SectionBuilder(const SectionBuilder&) = delete;
  SectionBuilder& operator=(const SectionBuilder&) = delete;
  ~SectionBuilder();

  // Adds a cell of the row `row_key`. The cells of a row are added consecutively. `slot` is the
  // part of the cell that the page stores as its value.
  absl::Status AddCell(std::string_view row_key, bool is_new_row, const Cell& cell, StoredKind kind,
                       std::string_view slot);
  // Closes the current group, and writes all groups so far to the file. Call it between two rows.
  absl::Status Flush();
  // Writes the remaining groups to the file. Does not write the dictionary.
  absl::Status Finish();

  // Valid after Finish.
  std::string_view index() const { return index_.view(); }
  const std::string& dictionary() const { return dictionary_; }
  uint64_t group_count() const { return group_count_; }

  // An estimate of the memory in use.
  size_t memory_bytes() const;

 private:
  // A group whose blocks are complete. They are in raw_ before compression. After it they are in
  // extent_, with offsets from its beginning.
  struct PendingGroup {
    GroupReference reference;
    std::string first_row;
    std::string last_row;
    std::string first_qualifier;
  };
  struct FamilyPages {
    FamilyPageBuilder open;
    std::string closed;                                        // concatenated pages
    std::vector<std::pair<BlockEntry, size_t>> closed_blocks;  // and the size of each
    size_t raw_bytes() const { return closed.size() + open.raw_bytes(); }
  };

  // Small pages of several families that become one block.
  class SharedBlock {
   public:
    size_t bytes() const { return pages_.size(); }
    void Add(uint32_t family_index, const PageStatistics& statistics, std::string_view page);
    // Appends the block to the group, unless it is empty, and clears it.
    absl::Status Close(SectionBuilder* builder, GroupReference* group);

   private:
    std::vector<std::pair<uint32_t, size_t>> heads_;  // index and bytes of each page
    PageStatistics statistics_;
    std::string pages_;
  };

  struct Compressors {
    explicit Compressors(const SectionOptions& options);
    size_t memory_bytes() const { return families.memory_bytes() + keys.memory_bytes(); }
    Compressor families;
    Compressor keys;
  };
  class Batch;

  size_t training_bytes() const;
  size_t block_bytes() const { return options_.row_group_bytes / kBlocksPerRowGroup; }
  size_t PageBytes(const FamilyPages& family) const;
  void ContinueRow(const Cell& first_cell);
  void BeginRow(std::string_view row_key);
  absl::Status CloseGroup();
  void ClosePage(uint32_t family_index, uint32_t row_end);
  absl::Status AppendFamilyBlocks(GroupReference* group);
  // Each page of the family becomes one block.
  absl::Status AppendOwnBlocks(uint32_t family_index, const FamilyPages& family,
                               GroupReference* group);
  absl::Status AppendBlock(BlockEntry block, std::string_view head, std::string_view pages,
                           GroupReference* group);
  absl::Status ChooseDictionary();
  absl::StatusOr<size_t> TrialBytes();
  static absl::Status CompressGroup(Compressor* families, Compressor* keys, std::string_view raw,
                                    GroupReference* group, GrowingBuffer* stored);
  absl::Status SetDictionary(std::string_view dictionary);
  absl::Status CompressGroups();
  absl::Status PassGroups();
  absl::Status FinishBatch();
  absl::Status WriteExtent();
  absl::Status WriteGroups();

  BlockWriter* const writer_;
  const SectionOptions options_;
  Compressors compressors_;
  std::unique_ptr<Compressors> offloaded_compressors_;  // for the helper thread
  GrowingBuffer index_;                                 // about 1 % of the size of the data
  uint64_t group_count_ = 0;
  std::string dictionary_;
  bool is_training_ = false;
  size_t untrained_bytes_ = 0;  // of the groups that were written while training

  // The current group.
  bool is_row_in_group_ = false;  // that row has a cell in the group
  KeysPageBuilder keys_;
  std::vector<FamilyPages> families_;  // by family index - 1
  size_t group_bytes_ = 0;             // the approximate size of its pages, before compression
  size_t row_bytes_ = 0;               // the last row's part of it
  bool continues_row_ = false;
  Cell first_cell_;  // if it continues a row; the qualifier is in first_qualifier_
  std::string first_qualifier_;

  std::vector<PendingGroup> pending_;
  size_t compressed_count_ = 0;  // this many of them are in extent_, the others in raw_
  GrowingBuffer raw_;
  GrowingBuffer extent_;
  // Groups that are being compressed; they are between those in extent_ and those in raw_.
  std::unique_ptr<Batch> batch_;
};

}  // namespace stele::internal
