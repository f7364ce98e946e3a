// sstable/write/sstable_builder.h: writes sorted rows of cells to one SSTable.
//
// Used by:   jobs/sstable_writer.cc (flush, compaction), admin/load_files.cc. The caller creates
//            the file, and syncs it and its directory after Finish (engine rule 22).
// Calls:     sstable/write/section_plan.h, sstable/write/section_builder.h,
//            sstable/write/block_writer.h.
// Format:    docs/reference/format/sstable.md; constants in sstable/format/sstable_format.h.
// Input:     rows strictly ascending; within a row cells in the order of cell/cell.h.
// Units:     sizes are bytes before compression unless named stored.
// Errors:    those of the file, ResourceExhausted for refused memory, DataLoss for input out of
//            order. The builder cannot be used after an error.
// Threads:   confined to one thread at a time. The same input and options give the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell/cell.h"
#include "io/file_system.h"
#include "sstable/format/bloom.h"
#include "sstable/format/codec.h"
#include "sstable/format/growing_buffer.h"
#include "sstable/format/sstable_summary.h"
#include "sstable/write/block_writer.h"
#include "sstable/write/section_builder.h"
#include "sstable/write/section_plan.h"
#include "sstable/write/serial_executor.h"

namespace stele::internal {

struct SstableBuilderOptions {
  uint64_t file_id = 0;
  std::vector<uint32_t> family_ids;  // by family index: the meaning of Cell::family in the input
  Codec codec = Codec::kLz4;
  ZstdEffort zstd_effort = ZstdEffort::kThorough;
  // A row group is closed at the first row end past this size, or at a cell in a very large row. It
  // is also closed at the first row end after 32 times as many bytes of large values. In a large
  // file, these must also be 1/64 of all large values so far.
  uint32_t row_group_bytes = 32 << 10;
  std::string edit;  // Footer::edit
  // A helper thread for compression, or null; must outlive the builder. The blocks are the same
  // with and without it, but the extents of several sections may be in another order.
  SerialExecutor* compression_executor = nullptr;
};

class SstableBuilder {
 public:
  // `file` is empty and must outlive the builder.
  SstableBuilder(File* file, SstableBuilderOptions options);

  absl::Status StartRow(std::string_view row_key);
  // Adds cells of the row started last, in order. May be called any number of times.
  absl::Status AddCells(std::span<const Cell> cells);
  // Completes the file (without syncing it). A file without rows may be finished: rows = 0.
  absl::StatusOr<SstableSummary> Finish();

  uint64_t bytes_written() const { return writer_.offset(); }
  // An estimate of the memory in use: groups waiting for their extent, the index, the bloom
  // filter's hashes.
  size_t memory_bytes() const;

 private:
  // A cell that is buffered until the sections are planned; offsets are into sample_bytes_.
  struct SampledCell {
    Cell cell;  // without its bytes
    StoredKind kind;
    bool is_first_of_column;
    uint64_t row_number;
    size_t row_offset, row_bytes;
    size_t qualifier_offset, qualifier_bytes;
    size_t slot_offset, slot_bytes;
  };

  absl::Status AddCell(const Cell& cell);
  absl::Status AddRow();
  bool EnterCell(const Cell& cell);
  void CountCell(const Cell& cell);
  absl::StatusOr<std::string_view> SlotOf(const Cell& cell);
  absl::Status WriteLargeValue(std::string_view value);
  absl::Status WriteGroupsOfLargeValues();
  absl::Status Sample(const Cell& cell, StoredKind kind, std::string_view slot);
  absl::Status OpenSections(const SectionPlan& plan);
  absl::Status Route(uint64_t row_number, std::string_view row_key, const Cell& cell,
                     StoredKind kind, std::string_view slot, bool is_history);
  absl::Status FinishSections(Footer* footer, GrowingBuffer* index);
  absl::Status AppendEnd(Footer* footer);

  SstableBuilderOptions options_;
  BlockWriter writer_;
  Compressor large_value_compressor_;
  GrowingBuffer large_value_block_;  // scratch
  // The stored bytes of all large values, and of those whose rows' groups are written.
  uint64_t large_bytes_ = 0;
  uint64_t large_bytes_of_groups_ = 0;
  SstableSummary summary_;
  BloomFilterBuilder bloom_;

  // The row started last, and its previous cell.
  std::string row_key_;
  bool is_row_in_file_ = false;  // a cell of the row was added
  Cell cell_before_;             // without a value; its qualifier is in qualifier_
  std::string qualifier_;
  uint64_t column_versions_ = 0;  // of its column so far

  // Used before the sections are planned.
  std::vector<FamilySample> sample_;
  std::vector<SampledCell> sampled_cells_;
  GrowingBuffer sample_bytes_;
  size_t sample_size_ = 0;  // the size of the sample

  // Used after the sections are planned.
  SectionPlan plan_;
  struct Section {
    Section(BlockWriter* writer, const SectionOptions& options) : builder(writer, options) {}
    SectionBuilder builder;
    uint64_t row_number = 0;  // of the row added last; 0: none yet
  };
  std::vector<std::unique_ptr<Section>> sections_;
  std::string slot_;  // scratch
};

}  // namespace stele::internal
