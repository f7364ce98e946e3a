#include "read/row_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/invariant.h"
#include "base/status.h"
#include "model/access.h"

namespace stele::internal {
namespace {

// Returns the limit for a piece. A piece may cost about four times its bytes (row_assembler.h).
uint64_t PieceBytes(const RowStreamOptions& options) {
  if (options.memory_tracker == nullptr) return options.piece_bytes;
  return std::min(options.piece_bytes,
                  std::max<uint64_t>(1, options.memory_tracker->budget_bytes() / 8));
}

// Moves the ranges out of the options, without rows whose cells cannot pass.
std::vector<KeyRange> TakeRanges(RowStreamOptions* options) {
  std::vector<KeyRange> ranges = std::move(options->ranges);
  if (!options->program.may_pass()) return {};
  if (options->program.rows() != KeyRange::All()) {
    for (KeyRange& range : ranges) range = Intersect(range, options->program.rows());
  }
  return ranges;
}

Direction DirectionOf(const RowStreamOptions& options) {
  return options.reverse ? Direction::kReverse : Direction::kForward;
}

ChainOptions ChainOptionsOf(const RowStreamOptions& options, CursorStats* stats) {
  ChainOptions chain =
      ReadChainOptions(options.table->definition(), options.program, options.apply_gc, options.now);
  chain.direction = DirectionOf(options);
  chain.sequence = options.sequence;
  chain.fill_cache = options.fill_cache;
  chain.stats = stats;
  chain.prefetch_runner = options.prefetch_runner;
  if (options.reserve_large_value != nullptr)
    chain.reserve_large_value = &options.reserve_large_value;
  return chain;
}

}  // namespace

RowStream::RowStream(RowStreamOptions options)
    : options_(std::move(options)),
      scan_(ScanView(options_.table, options_.pin, options_.memory_tracker), TakeRanges(&options_),
            ChainOptionsOf(options_, &cursor_stats_)),
      progress_(std::move(options_.on_progress), options_.progress_interval),
      assembler_(&options_.program, &options_.interruption,
                 {.piece_bytes = PieceBytes(options_),
                  .direction = DirectionOf(options_),
                  .stats = &cursor_stats_,
                  .progress = &progress_,
                  .memory_tracker = options_.memory_tracker}) {
  options_.table.reset();  // the scan has a reference to it
  if (options_.pin != nullptr) BeginIdleSwitches();
}

RowStream::~RowStream() {
  if (idle_ != nullptr) idle_->Begin();
  if (options_.history_reads != nullptr)
    options_.history_reads->fetch_add(cursor_stats_.history_reads, std::memory_order_relaxed);
}

// Lets other threads switch the stream to a newer view while it is idle.
void RowStream::BeginIdleSwitches() {
  const std::shared_ptr<const PinnedView> pin = std::move(options_.pin);
  idle_ = std::make_shared<IdleReader>([this] { SwitchView(); });
  pin->AddReader(idle_);
  // A replacement before AddReader is not reported.
  if (pin->replacements() != 0) SwitchView();
  idle_->End();
}

// Switches to the newest view, unless a row is being read in pieces. Such a row is read to its end
// from one view.
void RowStream::SwitchView() {
  if (!assembler_.has_more()) scan_.SwitchView(row_);
}

bool RowStream::Next() {
  if (idle_ == nullptr) return NextRow();
  idle_->Begin();
  const bool found = NextRow();
  idle_->End();
  return found;
}

bool RowStream::NextRow() {
  if constexpr (kInvariants) expiring_row_.Overwrite();
  row_ = RowView();
  if (!status_.ok()) return false;
  if (assembler_.has_more()) return ReadMore();
  if (options_.limit > 0 && stats_.rows_returned >= static_cast<uint64_t>(options_.limit))
    return End();
  progress_.Restart();
  while (true) {
    if (absl::Status status = options_.interruption.Check(); !status.ok())
      return Fail(std::move(status));
    if (!scan_.NextRow()) return scan_.status().ok() ? End() : Fail(scan_.status());
    if (ReadRow()) return true;
    if (!assembler_.status().ok()) return Fail(assembler_.status());
    progress_.CountEmptyBatch(scan_.row_key());
  }
}

// Reads the row that the scan is on, up to its first piece. Returns false if no cell of it passes.
bool RowStream::ReadRow() {
  if (!assembler_.StartRow(scan_.row_key())) {
    ++stats_.rows_seen;  // to count its cells, too, they would have to be read
    return false;
  }
  const uint64_t cells_seen_before = assembler_.cells_seen();
  const bool found = assembler_.Read(scan_.row());
  if (assembler_.cells_seen() > cells_seen_before) ++stats_.rows_seen;
  if (!found) return false;
  scan_.CountRow();
  ++stats_.rows_returned;
  ShowPiece();
  return true;
}

bool RowStream::ReadMore() {
  if (absl::Status status = options_.interruption.Check(); !status.ok())
    return Fail(std::move(status));
  if (!assembler_.ReadMore()) return Fail(assembler_.status());
  ShowPiece();
  return true;
}

void RowStream::ShowPiece() {
  const std::span<const Cell> cells = assembler_.piece();
  views_.clear();
  views_.reserve(cells.size());
  AppendViews(cells, scan_.definition().families, options_.program, &views_);
  stats_.cells_returned += views_.size();
  row_ = Access::Make<RowView>(scan_.row_key(), views_, !assembler_.has_more());
  if constexpr (kInvariants) row_ = expiring_row_.Copy(row_);
}

// A reader that is at its end keeps no memory and no file.
bool RowStream::End() {
  scan_.Close();
  return false;
}

bool RowStream::Fail(absl::Status status) {
  status_ = std::move(status);
  return End();
}

ReadStats RowStream::stats() const {
  ReadStats stats = stats_;
  stats.cells_seen = assembler_.cells_seen();
  stats.blocks = cursor_stats_.blocks;
  stats.bytes_read = cursor_stats_.bytes_read;
  stats.bytes_decoded = cursor_stats_.bytes_decoded;
  return stats;
}

RowView ExpiringRow::Copy(const RowView& row) {
  size_t bytes = row.row_key().size();
  for (const CellView& cell : row.cells()) bytes += cell.qualifier().size() + cell.value().size();
  absl::StatusOr<Buffer> copy = Buffer::Allocate(bytes);
  if (!copy.ok()) return row;
  bytes_ = *std::move(copy);
  char* out = bytes_.data();
  const auto take = [&out](std::string_view part) {
    if (!part.empty()) std::memcpy(out, part.data(), part.size());
    const std::string_view copied(out, part.size());
    out += part.size();
    return copied;
  };
  views_.clear();
  const std::string_view row_key = take(row.row_key());
  for (const CellView& cell : row.cells()) {
    const std::string_view qualifier = take(cell.qualifier());
    views_.emplace_back(cell.family(), qualifier, cell.timestamp(), take(cell.value()),
                        cell.labels());
  }
  return Access::Make<RowView>(row_key, views_, row.is_last_piece());
}

void ExpiringRow::Overwrite() {
  if (bytes_.size() > 0) std::memset(bytes_.data(), 0xdb, bytes_.size());
}

}  // namespace stele::internal
