#include "read/pass_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/status.h"
#include "cell/held_cells.h"

namespace stele::internal {

void PassReader::StartRow(CellCursor* chain, Direction direction, FilterProgram* program,
                          Interruption* interruption) {
  chain_ = chain;
  direction_ = direction;
  program_ = program;
  interruption_ = interruption;
  if (program_->pass_count() > 1) row_key_.assign(chain_->row_key());
  input_.clear();
  next_ = 0;
  has_all_ = at_beginning_ = true;
  kept_bytes_ = 0;
  chain_ended_ = is_deciding_ = is_decided_ = is_done_ = is_held_ = false;
  read_count_ = cells_seen_ = 0;
  held_ = Buffer();
}

bool PassReader::Read(std::vector<Cell>* out) {
  if (!is_decided_ && !Decide()) return false;
  if (is_done_ || (!has_pending() && !FillInput())) return false;
  const size_t begin = out->size();
  do {
    is_done_ = !RunPass(out);
  } while (!is_done_ && has_pending() && out->size() == begin);
  return true;
}

// Runs all passes except the last, and begins the last.
bool PassReader::Decide() {
  const uint32_t last = program_->pass_count() - 1;
  is_deciding_ = true;
  for (uint32_t pass = 0; pass < last; ++pass) {
    if (!program_->StartPass(pass)) continue;
    if (!Rewind()) return false;
    while ((has_pending() || FillInput()) && RunPass(nullptr)) {
    }
    if (!status_.ok()) return false;
  }
  is_deciding_ = false;
  is_decided_ = true;
  is_done_ = !program_->StartPass(last);
  return is_done_ || Rewind();
}

// Processes some of the pending cells. Returns false if the pass needs no more.
bool PassReader::RunPass(std::vector<Cell>* out) {
  const size_t count = std::min(input_.size() - next_, program_->cells_at_once());
  step_ = program_->RunPass(std::span(input_).subspan(next_, count), out);
  next_ += count;
  return step_ != FilterProgram::Next::kRowDone;
}

// Reads more of the row if nothing is pending. Returns false at the row's end, or on failure.
bool PassReader::FillInput() {
  if (chain_ended_) return false;
  if (absl::Status status = interruption_->Check(); !status.ok()) return Fail(std::move(status));
  if (!is_deciding_ || !has_all_ || kept_bytes_ > kKeptRowBytes) {
    // No returned cell points into the chain here; in the last pass the caller unpins.
    if (is_deciding_) chain_->Unpin();
    has_all_ = false;
    input_.clear();
    next_ = 0;
  }
  if (std::exchange(at_beginning_, false)) step_ = program_->Entry();
  if (step_ == FilterProgram::Next::kSkipTo)
    chain_->SkipTo(program_->skip_family(), program_->skip_qualifier());
  const size_t begin = input_.size();
  if (!chain_->ReadCells(&input_)) {
    chain_ended_ = true;
    return chain_->status().ok() ? false : Fail(chain_->status());
  }
  is_held_ = false;
  if (input_.size() == begin && is_deciding_) {
    absl::StatusOr<Buffer> held = CopyOut(std::span(input_));
    if (!held.ok()) return Fail(std::move(held).status());
    held_ = *std::move(held);
    is_held_ = true;
    chain_->Unpin();  // releases the cells in between
  }
  for (size_t i = begin; i < input_.size(); ++i) kept_bytes_ += CellBytes(input_[i]) + sizeof(Cell);
  read_count_ += input_.size() - begin;
  cells_seen_ = std::max(cells_seen_, read_count_);
  return true;
}

// Moves to the row's first cell.
bool PassReader::Rewind() {
  next_ = 0;
  if (has_all_) return true;
  input_.clear();
  chain_ended_ = false;
  at_beginning_ = true;
  read_count_ = 0;
  // In reverse, SeekRow finds the last row below the bound.
  const bool found =
      chain_->SeekRow(direction_ == Direction::kForward ? row_key_ : row_key_ + '\0');
  if (!found && !chain_->status().ok()) return Fail(chain_->status());
  if (found && chain_->row_key() == row_key_) return true;
  return Fail(Unavailable("row \"{}\" was not found when a condition read it again; try again",
                          Printable(row_key_)));
}

absl::Status PassReader::CopyInput() {
  if (is_held_ || !has_pending()) return absl::OkStatus();
  input_.erase(input_.begin(), input_.begin() + static_cast<ptrdiff_t>(next_));
  next_ = 0;
  has_all_ = false;
  STELE_ASSIGN_OR_RETURN(held_, CopyOut(std::span(input_)));
  is_held_ = true;
  return absl::OkStatus();
}

bool PassReader::Fail(absl::Status status) {
  status_ = std::move(status);
  return false;
}

}  // namespace stele::internal
