#include "read/row_assembler.h"

#include <algorithm>
#include <utility>

#include "absl/base/attributes.h"
#include "cell/held_cells.h"

namespace stele::internal {
namespace {

constexpr size_t kPieceCellsMin = 256;
// A merge of sources appends cell by cell. Most rows need no larger array; a guess.
constexpr size_t kCommonCells = 16;
constexpr size_t kChargedArraysMin = 256 << 10;  // counting less would cost more
constexpr uint32_t kBatchesPerCheck = 4;  // a row of one batch was checked before it was begun

// Cells are not copied while less memory than this is pinned. It is enough for a few row groups of
// each of many sources.
constexpr uint64_t kFreePinnedBytes = uint64_t{1} << 20;
// A rough upper bound of the memory that a cell of a row group takes in addition to its bytes.
constexpr uint64_t kStoredCellBytes = 32;

}  // namespace

void ScanProgress::ReportIfDue(std::string_view scanned_through) {
  const std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now();
  if (empty_batch_count_ == kEmptyBatchesPerClock) reported_at_ = now;
  if (now - reported_at_ < interval_) return;
  reported_at_ = now;
  report_(scanned_through);
}

RowAssembler::RowAssembler(FilterProgram* program, Interruption* interruption,
                           const RowAssemblerOptions& options)
    : program_(*program),
      interruption_(*interruption),
      options_(options),
      piece_cells_max_(std::max<size_t>(kPieceCellsMin, options.piece_bytes / kCellObjectBytes)),
      charge_(options.memory_tracker, MemoryTracker::Use::kBlocks) {}

bool RowAssembler::StartRow(std::string_view row_key) {
  cells_.clear();
  begin_ = end_ = 0;
  row_done_ = false;
  pinned_before_ = options_.stats->bytes_pinned;
  start_ = program_.StartRow(row_key);
  return start_ != FilterProgram::Next::kRowDone;
}

bool RowAssembler::Read(CellCursor* cursor) {
  cursor_ = cursor;
  if (!program_.in_place()) {
    if (!passes_) passes_.emplace();
    passes_->StartRow(cursor_, options_.direction, &program_, &interruption_);
  } else if (start_ == FilterProgram::Next::kSkipTo) {
    cursor_->SkipTo(program_.skip_family(), program_.skip_qualifier());
  }
  return ReadPiece();
}

bool RowAssembler::ReadPlain(const PlainSources& row,
                             const std::optional<RetentionPolicy>& retention) {
  AppendKeptCells(row, retention, &cells_);
  cells_seen_ += cells_.size();
  program_.Run(&cells_, 0);
  row_done_ = true;
  return ReadPiece();
}

// Reads until the piece is full and one more cell passed, or until the row ends.
bool RowAssembler::ReadPiece() {
  begin_ = end_;
  size_t bytes = 0;
  while (true) {
    bytes = ExtendPiece(bytes);
    if (end_ < cells_.size() || row_done_ || (options_.first_cell_only && end_ > begin_)) break;
    if (!DropShownCells()) return false;
    if (IsCopyDue(bytes) && !CopyCells()) return false;
    ReserveBatch();
    if (!ReadBatch()) {
      if (!status_.ok()) return false;
      break;
    }
  }
  shown_max_ = std::max(shown_max_, end_ - begin_);
  ChargeHeld();
  return end_ > begin_;
}

// Adds cells that were read to the piece, which has `bytes`, until it is full. Returns its bytes.
size_t RowAssembler::ExtendPiece(size_t bytes) {
  const size_t end_max = std::min(cells_.size(), begin_ + piece_cells_max_);
  size_t end = end_;
  for (; end < end_max && bytes < options_.piece_bytes; ++end) bytes += CellBytes(cells_[end]);
  end_ = end;
  return bytes;
}

// Appends the cells of one batch that pass. Returns false at the row's end.
bool RowAssembler::ReadBatch() {
  if (++batches_ % kBatchesPerCheck == 0 && Interrupted()) return false;
  if (!program_.in_place()) return ReadInPasses();
  const size_t begin = cells_.size();
  if (!cursor_->ReadCells(&cells_)) {
    row_done_ = true;
    if (!cursor_->status().ok()) Fail(cursor_->status());
    return false;
  }
  cells_seen_ += cells_.size() - begin;
  const FilterProgram::Next next = program_.Run(&cells_, begin);
  // If much is pinned, do not call IsRowDone: ReadPiece may have to copy the cells before it reads
  // more of the row.
  if (next == FilterProgram::Next::kRowDone || (!IsMuchPinned() && cursor_->IsRowDone())) {
    row_done_ = true;
  } else if (next == FilterProgram::Next::kSkipTo) {
    cursor_->SkipTo(program_.skip_family(), program_.skip_qualifier());
  }
  if (cells_.size() == begin) return AfterEmptyBatch();
  return true;
}

// Not inlined, so that plain reads stay short.
ABSL_ATTRIBUTE_NOINLINE bool RowAssembler::ReadInPasses() {
  const size_t begin = cells_.size();
  const uint64_t seen_before = passes_->cells_seen();
  const bool found = passes_->Read(&cells_);
  cells_seen_ += passes_->cells_seen() - seen_before;
  if (found) return cells_.size() > begin || AfterEmptyBatch();
  row_done_ = true;
  if (!passes_->status().ok()) Fail(passes_->status());
  return false;
}

// Called after a batch in which no cell passed. A giant row may have many of them.
bool RowAssembler::AfterEmptyBatch() {
  if (Interrupted()) return false;
  if (options_.progress != nullptr) options_.progress->CountEmptyBatch({});
  if (cells_.empty() && !(passes_ && passes_->has_pending())) Unpin();
  return true;
}

// Removes the cells of returned pieces before more is read.
bool RowAssembler::DropShownCells() {
  if (begin_ == 0) return true;
  cells_.erase(cells_.begin(), cells_.begin() + static_cast<ptrdiff_t>(begin_));
  end_ -= begin_;
  begin_ = 0;
  return CopyCells();
}

bool RowAssembler::IsMuchPinned() const {
  return options_.stats->bytes_pinned - pinned_before_ > kFreePinnedBytes;
}

bool RowAssembler::IsCopyDue(uint64_t bytes) const {
  const uint64_t pinned_bytes = options_.stats->bytes_pinned - pinned_before_;
  return IsMuchPinned() &&
         pinned_bytes - kFreePinnedBytes > 2 * (bytes + cells_.size() * kStoredCellBytes);
}

// Copies the bytes of the cells, so that the pages they came from can be released.
bool RowAssembler::CopyCells() {
  absl::StatusOr<Buffer> held = CopyOut(std::span(cells_));
  if (!held.ok()) return Fail(std::move(held).status());
  held_ = *std::move(held);
  if (passes_) {
    if (absl::Status pending = passes_->CopyInput(); !pending.ok()) return Fail(std::move(pending));
  }
  ChargeHeld();
  Unpin();
  return true;
}

void RowAssembler::Unpin() {
  cursor_->Unpin();
  pinned_before_ = options_.stats->bytes_pinned;
}

// Makes room for the next batch. A vector that doubles itself could become twice as large as a
// piece may be.
void RowAssembler::ReserveBatch() {
  const size_t capacity = cells_.capacity();
  if (capacity == 0) return cells_.reserve(kCommonCells);
  if (cells_.size() + kCellBatch <= capacity || capacity * sizeof(Cell) < kChargedArraysMin) return;
  cells_.reserve(std::min(2 * capacity, std::max(capacity, piece_cells_max_)) + kCellBatch);
  ChargeHeld();
}

void RowAssembler::ChargeHeld() {
  const size_t arrays_bytes = cells_.capacity() * sizeof(Cell) + shown_max_ * sizeof(CellView);
  const size_t bytes = held_.memory_bytes() + (passes_ ? passes_->held_bytes() : 0) +
                       (arrays_bytes >= kChargedArraysMin ? arrays_bytes : 0);
  if (bytes != charge_.bytes()) charge_.Set(bytes);
}

bool RowAssembler::Interrupted() {
  absl::Status status = interruption_.Check();
  if (!status.ok()) Fail(std::move(status));
  return !status_.ok();
}

bool RowAssembler::Fail(absl::Status status) {
  status_ = std::move(status);
  return false;
}

}  // namespace stele::internal
