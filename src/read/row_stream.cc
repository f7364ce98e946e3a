#include "read/row_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/base/attributes.h"
#include "base/invariant.h"
#include "base/status.h"
#include "cell/held_cells.h"
#include "read/kept_blocks.h"

namespace stele::internal {
namespace {

constexpr uint64_t kReadsCountedAtOnce = 256;  // counters are shared by all threads
constexpr size_t kPieceCellsMin = 256;
constexpr size_t kChargedArraysMin = 256 << 10;
constexpr std::chrono::milliseconds kProgressInterval(10);
constexpr uint64_t kBarrenPerClock = 64;  // as Interruption has it

// A piece may cost about four times its bytes (row_pins.h).
uint64_t PieceBytes(const RowStreamOptions& options) {
  if (options.budget == nullptr) return options.piece_bytes;
  return std::min(options.piece_bytes, std::max<uint64_t>(1, options.budget->budget_bytes() / 8));
}

bool IsSingleRow(const KeyRange& range) {
  return !range.unbounded_end && range.end.size() == range.start.size() + 1 && range.end.back() == '\0' &&
         std::string_view(range.end).substr(0, range.start.size()) == range.start;
}

}  // namespace

RowStream::RowStream(RowStreamOptions options)
    : options_(std::move(options)),
      piece_bytes_(PieceBytes(options_)),
      piece_cells_max_(std::max<size_t>(kPieceCellsMin, piece_bytes_ / kShownCellBytes)),
      kept_charge_(options_.budget, MemoryBudget::Use::kPages),
      charge_(options_.budget, MemoryBudget::Use::kPages) {
  if (options_.program.may_pass()) PlanStretches();
  if (options_.pin != nullptr && !options_.any_cell) BeginTakingUp();  // who asks for any cell does not rest
}

RowStream::~RowStream() {
  if (rest_ != nullptr) rest_->Begin();
  CountReads();
  if (options_.history_reads != nullptr) options_.history_reads->fetch_add(cursor_stats_.history_reads, std::memory_order_relaxed);
}

void RowStream::PlanStretches() {
  if (options_.program.rows() != KeyRange::All()) {
    for (KeyRange& range : options_.ranges) range = Intersect(range, options_.program.rows());
  }
  for (const KeyRange& range : options_.ranges) {
    if (range.IsEmpty()) continue;
    for (size_t i = TabletIndexOf(*options_.table, range.start); i < options_.table->tablets.size(); ++i) {
      KeyRange part = Intersect(range, options_.table->tablets[i].range);
      if (part.IsEmpty()) break;
      stretches_.push_back({i, std::move(part)});
    }
  }
  if (options_.reverse) std::reverse(stretches_.begin(), stretches_.end());
}

// Opens the chain for the next stretch, or keeps the one that is open for the same tablet.
bool RowStream::OpenStretch() {
  const Stretch& stretch = stretches_[stretch_next_];
  stretch_open_ = true;
  stretch_started_ = false;
  const bool single = IsSingleRow(stretch.range);
  if (chain_tablet_ != stretch.tablet_index) CountReads();
  if (single) ++reads_uncounted_;  // whether or not it is there
  if (chain_ != nullptr && !single && !chain_is_for_one_row_ && chain_tablet_ == stretch.tablet_index) return true;
  ChainOptions chain_options = ReadChainOptions(options_.table->definition(), options_.program, options_.apply_gc, options_.now);
  chain_options.direction = options_.reverse ? Direction::kReverse : Direction::kForward;
  chain_options.sequence = options_.sequence;
  chain_options.fill_cache = options_.fill_cache;
  chain_options.latest_only |= options_.any_cell && options_.program.is_decided_by_newest();
  chain_options.stats = &cursor_stats_;
  chain_options.ahead = options_.ahead;
  if (single) chain_options.only_row = stretch.range.start;
  absl::StatusOr<std::unique_ptr<CellCursor>> chain =
      OpenChain(*options_.table, options_.table->tablets[stretch.tablet_index], chain_options);
  if (!chain.ok()) return Fail(std::move(chain).status());
  chain_ = *std::move(chain);
  chain_is_for_one_row_ = single;
  chain_tablet_ = stretch.tablet_index;
  return true;
}

void RowStream::CountReads() {
  if (reads_uncounted_ > 0) options_.table->tablets[chain_tablet_].CountReads(std::exchange(reads_uncounted_, 0));
}

bool RowStream::FirstRowOfStretch() {
  const KeyRange& range = stretches_[stretch_next_].range;
  if (const std::optional<std::string> passed = std::exchange(row_passed_, std::nullopt)) {
    return chain_->SeekRow(options_.reverse ? *passed : *passed + '\0');
  }
  if (!options_.reverse) return chain_->SeekRow(range.start);
  return range.unbounded_end ? chain_->SeekToEdge() : chain_->SeekRow(range.end);
}

bool RowStream::InStretch() const {
  const KeyRange& range = stretches_[stretch_next_].range;
  return options_.reverse ? chain_->row_key() >= range.start : !range.EndsBefore(chain_->row_key());
}

// To the next stored row of the ranges, whether or not it has cells to show.
bool RowStream::AdvanceToRow() {
  while (true) {
    if (options_.pin != nullptr && options_.pin->replacements() != replacements_seen_) TakeUp();
    if (chain_files_ != nullptr && !ReopenChain()) return false;
    if (!stretch_open_) {
      if (stretch_next_ == stretches_.size() || !OpenStretch()) return false;
    }
    if (chain_ != nullptr) {
      const bool on_row = stretch_started_ ? chain_->NextRow() : FirstRowOfStretch();
      stretch_started_ = true;
      if (on_row && InStretch()) return true;
      if (!on_row && !chain_->status().ok()) return Fail(chain_->status());
    }
    stretch_open_ = false;
    row_passed_.reset();
    ++stretch_next_;
  }
}

// From now on views that are replaced are taken up at rest, too.
void RowStream::BeginTakingUp() {
  rest_ = std::make_shared<ReaderRest>([this] { TakeUp(); });
  options_.pin->Tell(rest_);
  if (options_.pin->replacements() != 0) TakeUp();  // what was replaced before anybody would have told
  rest_->End();
}

// Changes over to the pin's view of late, to go on right behind the row it stands on. The families, the sequence and the time stay, and so
// do the tablets. The chain stays as it is, but for the memtables below it, and must not be moved any more: the row shown lies in it.
void RowStream::TakeUp() {
  if (options_.pin == nullptr || row_open_) return;   // at its end it holds nothing; a row in pieces is read on from what it was begun in
  replacements_seen_ = options_.pin->replacements();  // before the view: a later replacement is met later
  const std::shared_ptr<const TableView> before = options_.table;
  options_.table = options_.pin->view()->tables.at(before->definition().id);
  if (options_.table == before) return;
  const std::vector<std::shared_ptr<const Memtable>>& memtables = options_.table->memtables;
  ArenaBlocks gone;
  for (const std::shared_ptr<const Memtable>& memtable : before->memtables) {
    if (std::find(memtables.begin(), memtables.end(), memtable) == memtables.end()) memtable->AppendBlocks(&gone);
  }
  uint64_t kept_bytes = kept_charge_.bytes();
  for (std::shared_ptr<const Buffer>& block : BlocksOfRow(std::move(gone), row_)) {
    kept_bytes += block->memory_bytes();
    kept_blocks_.push_back(std::move(block));
  }
  kept_charge_.Set(kept_bytes);
  if (chain_ == nullptr || chain_files_ != nullptr) return;
  if (stretch_open_ && stretch_started_ && status_.ok()) row_passed_ = std::string(chain_->row_key());
  auto files = std::make_shared<TableView>(*before);
  files->memtables.clear();
  chain_files_ = std::move(files);
}

bool RowStream::ReopenChain() {
  chain_.reset();  // before what it reads from
  chain_files_.reset();
  kept_blocks_.clear();
  kept_charge_.Set(0);
  return !stretch_open_ || OpenStretch();
}

bool RowStream::Next() {
  if (rest_ == nullptr) return NextRow();
  rest_->Begin();
  const bool found = NextRow();
  rest_->End();
  return found;
}

bool RowStream::NextRow() {
  if constexpr (kInvariants) {
    if (poison_.size() > 0) std::memset(poison_.data(), 0xdb, poison_.size());
  }
  row_ = RowView();
  if (!status_.ok()) return false;
  if (row_open_) return !Interrupted() && ReadPiece();
  if (options_.limit > 0 && rows_returned_ >= options_.limit) return End();
  barren_count_ = 0;
  while (true) {
    if (Interrupted()) return false;
    if (!AdvanceToRow()) return status_.ok() && End();
    if (ReadRow()) return true;
    if (!status_.ok()) return false;
    if (options_.on_progress != nullptr) ReportProgress(chain_->row_key());
  }
}

// Once in a while.
void RowStream::ReportProgress(std::string_view scanned_through) {
  if (++barren_count_ % kBarrenPerClock != 0) return;
  const std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now();
  if (barren_count_ == kBarrenPerClock) progress_at_ = now;
  if (now - progress_at_ < kProgressInterval) return;
  progress_at_ = now;
  options_.on_progress(scanned_through);
}

// Whoever keeps a reader that came to its end keeps no memory and no file with it.
bool RowStream::End() {
  CountReads();
  chain_.reset();
  chain_files_.reset();
  kept_blocks_.clear();
  kept_charge_.Set(0);
  stretches_.clear();
  stretch_next_ = 0;
  stretch_open_ = false;
  options_.table.reset();
  options_.pin.reset();
  return false;
}

// Reads the row the chain stands on up to its first piece; false when no cell of it passes.
bool RowStream::ReadRow() {
  cells_.clear();
  shown_ = 0;
  row_done_ = false;
  pins_.Unpinned();
  const uint64_t cells_seen_before = stats_.cells_seen;
  const FilterProgram::Next start = options_.program.StartRow(chain_->row_key());
  if (start == FilterProgram::Next::kRowDone) return false;
  if (!options_.program.in_place()) {
    passes_.StartRow(chain_.get(), options_.reverse ? Direction::kReverse : Direction::kForward, &options_.program, &options_.interruption);
  } else if (start == FilterProgram::Next::kSkipTo) {
    chain_->SkipTo(options_.program.skip_family(), options_.program.skip_qualifier());
  }
  const bool found = ReadPiece();
  if (stats_.cells_seen > cells_seen_before) ++stats_.rows_seen;
  if (found) {
    ++rows_returned_;
    if (!chain_is_for_one_row_ && ++reads_uncounted_ == kReadsCountedAtOnce) CountReads();
    ++stats_.rows_returned;
  }
  return found;
}

// Reads until the piece is full and one more cell passed, or until the row ends; then shows the piece.
bool RowStream::ReadPiece() {
  size_t end = shown_;
  size_t bytes = 0;
  while (true) {
    while (end < cells_.size() && bytes < piece_bytes_ && end - shown_ < piece_cells_max_) bytes += CellBytes(cells_[end++]);
    if (end < cells_.size() || row_done_ || (options_.any_cell && end > shown_)) break;
    end -= shown_;
    if (!DropShownCells()) return false;
    if (pins_.IsCopyDue(cells_.size(), bytes) && !Hold()) return false;
    Reserve();
    if (!ReadBatch()) {
      if (!status_.ok()) return false;
      break;
    }
  }
  if (end == shown_) {
    row_open_ = false;
    return false;
  }
  EmitPiece(end);
  return true;
}

// One batch of the row through the filter, appended to cells_. False at the row's end.
bool RowStream::ReadBatch() {
  if (!options_.program.in_place()) return ReadInPasses();
  const size_t begin = cells_.size();
  if (!chain_->ReadCells(&cells_)) {
    row_done_ = true;
    if (!chain_->status().ok()) Fail(chain_->status());
    return false;
  }
  stats_.cells_seen += cells_.size() - begin;
  const FilterProgram::Next next = options_.program.Run(&cells_, begin);
  if (next == FilterProgram::Next::kRowDone) {
    row_done_ = true;
  } else if (next == FilterProgram::Next::kSkipTo) {
    chain_->SkipTo(options_.program.skip_family(), options_.program.skip_qualifier());
  }
  if (cells_.size() == begin) return AfterBarrenBatch();
  return true;
}

// Kept out of the way of the plain reads.
ABSL_ATTRIBUTE_NOINLINE bool RowStream::ReadInPasses() {
  const size_t begin = cells_.size();
  const uint64_t seen_before = passes_.cells_seen();
  const bool found = passes_.Read(&cells_);
  stats_.cells_seen += passes_.cells_seen() - seen_before;
  if (found) return cells_.size() > begin || AfterBarrenBatch();
  row_done_ = true;
  if (!passes_.status().ok()) Fail(passes_.status());
  return false;
}

// Nothing of a batch passed, and a giant row may have many such before the first of which something does.
bool RowStream::AfterBarrenBatch() {
  if (Interrupted()) return false;
  if (options_.on_progress != nullptr) ReportProgress({});
  if (cells_.empty() && !passes_.has_pending()) {
    chain_->Unpin();
    pins_.Unpinned();
  }
  return true;
}

// Doubled, the array would take twice what a piece may have.
void RowStream::Reserve() {
  const size_t capacity = cells_.capacity();
  if (cells_.size() + kCellBatch <= capacity || capacity * sizeof(Cell) < kChargedArraysMin) return;
  cells_.reserve(std::min(2 * capacity, std::max(capacity, piece_cells_max_)) + kCellBatch);
  ChargeHeld();
}

// Before more is read: of the pieces handed out nothing stays.
bool RowStream::DropShownCells() {
  if (shown_ == 0) return true;
  cells_.erase(cells_.begin(), cells_.begin() + static_cast<ptrdiff_t>(shown_));
  shown_ = 0;
  return Hold();
}

// The cells move to memory of their own, and the pages they came from go.
bool RowStream::Hold() {
  absl::StatusOr<Buffer> held = HoldCells(std::span(cells_));
  if (!held.ok()) return Fail(std::move(held).status());
  held_ = *std::move(held);
  if (absl::Status pending = passes_.Hold(); !pending.ok()) return Fail(std::move(pending));
  ChargeHeld();
  chain_->Unpin();
  pins_.Unpinned();
  return true;
}

// Small rows cost less than counting them would.
void RowStream::ChargeHeld() {
  const size_t arrays_bytes = cells_.capacity() * sizeof(Cell) + views_.capacity() * sizeof(CellView);
  const size_t bytes = held_.memory_bytes() + passes_.held_bytes() + (arrays_bytes >= kChargedArraysMin ? arrays_bytes : 0);
  if (bytes != charge_.bytes()) charge_.Set(bytes);
}

void RowStream::ShowCells(size_t end) {
  const FamilyList& families = options_.table->definition().families;
  const FilterProgram& program = options_.program;
  views_.clear();
  views_.reserve(end - shown_);
  const size_t plain_end = program.has_labels() ? shown_ : end;
  // Two loops: labels are rare, and asking each cell for one costs a scan a percent.
  for (size_t i = shown_; i < plain_end; ++i) {
    const Cell& cell = cells_[i];
    views_.emplace_back(families[cell.family].name, cell.qualifier, Timestamp::FromMicros(cell.timestamp), cell.value);
  }
  for (size_t i = plain_end; i < end; ++i) {
    const Cell& cell = cells_[i];
    views_.emplace_back(families[cell.family].name, cell.qualifier, Timestamp::FromMicros(cell.timestamp), cell.value,
                        program.LabelsOf(cell));
  }
}

// The cells up to `end` that were not shown yet.
void RowStream::EmitPiece(size_t end) {
  ShowCells(end);
  ChargeHeld();
  shown_ = end;
  row_open_ = end < cells_.size();
  stats_.cells_returned += views_.size();
  row_ = RowView(chain_->row_key(), views_, !row_open_);
  if constexpr (kInvariants) {
    // A view used after the next Next() must be seen in tests: show copies, and overwrite them then.
    size_t bytes = row_.row_key().size();
    for (const CellView& cell : views_) bytes += cell.qualifier().size() + cell.value().size();
    absl::StatusOr<Buffer> copy = Buffer::Allocate(bytes);
    if (!copy.ok()) return;
    poison_ = *std::move(copy);
    char* out = poison_.data();
    const auto take = [&out](std::string_view part) {
      if (!part.empty()) std::memcpy(out, part.data(), part.size());
      const std::string_view copied(out, part.size());
      out += part.size();
      return copied;
    };
    poisoned_views_.clear();
    const std::string_view row_key = take(row_.row_key());
    for (const CellView& cell : views_) {
      const std::string_view qualifier = take(cell.qualifier());
      poisoned_views_.emplace_back(cell.family(), qualifier, cell.timestamp(), take(cell.value()), cell.labels());
    }
    row_ = RowView(row_key, poisoned_views_, !row_open_);
  }
}

bool RowStream::Interrupted() {
  absl::Status status = options_.interruption.Check();
  if (!status.ok()) Fail(std::move(status));
  return !status_.ok();
}

bool RowStream::Fail(absl::Status status) {
  status_ = std::move(status);
  row_ = RowView();
  row_open_ = false;
  return false;
}

ReadStats RowStream::stats() const {
  ReadStats stats = stats_;
  stats.pages = cursor_stats_.pages;
  stats.bytes_read = cursor_stats_.bytes_read;
  stats.bytes_decoded = cursor_stats_.bytes_decoded;
  return stats;
}

}  // namespace stele::internal
