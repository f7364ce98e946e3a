#include "remote/client/chunk_merger.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "model/access.h"
#include "remote/client/cell_order.h"

namespace stele::internal {
namespace {

// Above this many cells, ReadOptions.row_piece_bytes includes the cells' handles.
constexpr size_t kHandleFreeCells = 256;
// The memory of a label in addition to its text.
constexpr uint64_t kLabelBytes = 32;
// The greatest value size that a table can allow (TableLimits.value_bytes). A message that
// announces a value does not get memory for all of it at once.
constexpr uint64_t kValueBytesMax = uint64_t{256} << 20;
constexpr uint64_t kReservedValueBytesMax = uint64_t{1} << 20;

}  // namespace

absl::Status ChunkMerger::Broken(std::string_view rule) const {
  const std::string text = in_row_ ? fmt::format("row \"{}\"", Printable(row_key_))
                                   : fmt::format("after row \"{}\"", Printable(last_row_key_));
  return MakeStatus(absl::StatusCode::kInternal,
                    fmt::format("ReadRows, {}: the server broke the rule that {}", text, rule));
}

absl::Status ChunkMerger::CheckAscends(const std::string& row_key) const {
  if (last_row_key_.empty() || (reversed_ ? row_key < last_row_key_ : row_key > last_row_key_))
    return absl::OkStatus();
  return Broken("row keys are in order");
}

absl::StatusOr<bool> ChunkMerger::Add(Chunk* chunk) {
  if (is_shown_) DropShown();
  if (chunk->reset_row()) {
    STELE_RETURN_IF_ERROR(ResetRow(*chunk));
    return false;
  }
  if (!in_row_) {
    STELE_RETURN_IF_ERROR(BeginRow(chunk));
  } else if (!chunk->row_key().empty() && chunk->row_key() != row_key_) {
    return Broken("a row ends before the next begins");
  }
  STELE_RETURN_IF_ERROR(in_value_ ? ContinueCell(*chunk) : BeginCell(chunk));
  if (in_value_)
    return chunk->commit_row() ? Broken("a row does not end within a value")
                               : absl::StatusOr<bool>(false);
  cell_bytes_ += cells_.back().value.size() + cells_.back().qualifier->size();
  for (const std::string& label : cells_.back().labels) cell_bytes_ += kLabelBytes + label.size();
  if (chunk->commit_row()) {
    Show(/*is_last_piece=*/true);
    return true;
  }
  if (!IsPieceFull()) return false;
  Show(/*is_last_piece=*/false);
  return true;
}

absl::Status ChunkMerger::ResetRow(const Chunk& chunk) {
  if (!in_row_) return Broken("only a row that has begun is reset");
  const bool bare = chunk.row_key().empty() && !chunk.has_family_name() && !chunk.has_qualifier() &&
                    chunk.timestamp_micros() == 0 && chunk.labels().empty() &&
                    chunk.value().empty() && chunk.value_size() == 0;
  if (!bare) return Broken("a reset comes alone");
  if (has_shown_piece_) {
    return Aborted("row \"{}\" restarted after parts of it were returned; read it again",
                   Printable(row_key_));
  }
  DropRow();
  return absl::OkStatus();
}

absl::Status ChunkMerger::BeginRow(Chunk* chunk) {
  if (chunk->row_key().empty()) return Broken("a row begins with its key");
  if (!chunk->has_family_name() || !chunk->has_qualifier())
    return Broken("a row begins with a family and a qualifier");
  STELE_RETURN_IF_ERROR(CheckAscends(chunk->row_key()));
  row_key_ = std::move(*chunk->mutable_row_key());
  in_row_ = true;
  return absl::OkStatus();
}

absl::Status ChunkMerger::BeginCell(Chunk* chunk) {
  if (chunk->has_family_name() && !chunk->has_qualifier())
    return Broken("a family comes with a qualifier");
  if (chunk->value_size() < 0) return Broken("a value's length is not negative");
  if (chunk->has_family_name()) {
    families_.push_back(std::move(*chunk->mutable_family_name()->mutable_value()));
    cell_bytes_ += families_.back().size();
  }
  if (chunk->has_qualifier())
    qualifiers_.push_back(std::move(*chunk->mutable_qualifier()->mutable_value()));
  Cell cell{.family = &families_.back(),
            .qualifier = &qualifiers_.back(),
            .timestamp_micros = chunk->timestamp_micros()};
  cell.labels.assign(chunk->labels().begin(), chunk->labels().end());
  cell.value = std::move(*chunk->mutable_value());
  if (chunk->value_size() > 0) {
    value_bytes_ = static_cast<uint64_t>(chunk->value_size());
    if (value_bytes_ > kValueBytesMax)
      return Broken("a value is not longer than the limit of a table");
    if (cell.value.size() > value_bytes_) return Broken("a value is not longer than announced");
    cell.value.reserve(std::min(value_bytes_, kReservedValueBytesMax));
    in_value_ = true;
  }
  cells_.push_back(std::move(cell));
  return absl::OkStatus();
}

absl::Status ChunkMerger::ContinueCell(const Chunk& chunk) {
  const bool plain = !chunk.has_family_name() && !chunk.has_qualifier() &&
                     chunk.timestamp_micros() == 0 && chunk.labels().empty();
  if (!plain) return Broken("the next chunk of a value has only the value");
  if (chunk.value_size() != 0 && static_cast<uint64_t>(chunk.value_size()) != value_bytes_)
    return Broken("a value's length does not change");
  std::string& value = cells_.back().value;
  value += chunk.value();
  if (value.size() > value_bytes_) return Broken("a value is not longer than announced");
  if (chunk.value_size() != 0) return absl::OkStatus();
  if (value.size() != value_bytes_) return Broken("a value is as long as announced");
  in_value_ = false;
  return absl::OkStatus();
}

bool ChunkMerger::IsPieceFull() const {
  return cell_bytes_ >= piece_bytes_ ||
         (cells_.size() > kHandleFreeCells &&
          cells_.size() * kCellObjectBytes + cell_bytes_ >= piece_bytes_);
}

void ChunkMerger::Show(bool is_last_piece) {
  views_.clear();
  views_.reserve(cells_.size());
  for (const Cell& cell : cells_) {
    views_.emplace_back(*cell.family, *cell.qualifier, Timestamp::FromMicros(cell.timestamp_micros),
                        cell.value, cell.labels);
  }
  PutInOrder(&views_);
  row_ = Access::Make<RowView>(row_key_, views_, is_last_piece);
  is_shown_ = true;
  has_shown_piece_ = !is_last_piece;
  if (!is_last_piece) return;
  last_row_key_ = row_key_;
  in_row_ = false;
}

void ChunkMerger::DropShown() {
  is_shown_ = false;
  row_ = RowView();
  cells_.clear();
  cell_bytes_ = 0;
  if (!in_row_) {
    families_.clear();
    qualifiers_.clear();
    return;
  }
  // The next cell may continue in the column of the last cell.
  families_.erase(families_.begin(), std::prev(families_.end()));
  qualifiers_.erase(qualifiers_.begin(), std::prev(qualifiers_.end()));
}

void ChunkMerger::DropRow() {
  in_row_ = false;
  in_value_ = false;
  has_shown_piece_ = false;
  DropShown();
}

absl::Status ChunkMerger::SkipTo(const std::string& row_key) {
  if (in_row_) return Broken("a server reports its progress only between rows");
  if (last_row_key_ == row_key) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(CheckAscends(row_key));
  last_row_key_ = row_key;
  return absl::OkStatus();
}

absl::Status ChunkMerger::BeginStream() {
  if (has_shown_piece_) {
    return Aborted(
        "row \"{}\": the connection broke after parts of it were returned, and it may have "
        "changed; read it again",
        Printable(row_key_));
  }
  DropRow();
  return absl::OkStatus();
}

absl::Status ChunkMerger::EndStream() const {
  return in_row_ ? Broken("a stream does not end within a row") : absl::OkStatus();
}

}  // namespace stele::internal
