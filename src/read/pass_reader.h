// read/pass_reader.h: runs one row's cells through a program that does not run in place: several
// passes over the row, as its conditions require.
//
// Used by:   read/row_assembler.cc.
// Calls:     filter/program.h, and the cursor that it reads from.
// Memory:    while conditions are decided, up to kKeptRowBytes of the row are kept: cells whose
//            bytes the chain pins. A larger row is read again for each pass. The chain uses one
//            view at one sequence and time, so it returns the same cells.
// Errors:    status(): that of the chain; an interruption; ResourceExhausted for refused memory.
// Threads:   confined; chain, program and interruption must outlive the reading of the row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/buffer.h"
#include "cell/cell_cursor.h"
#include "filter/program.h"
#include "read/interruption.h"

namespace stele::internal {

// The limit for kept cells with their bytes. A guess: most rows are smaller, and the reader's other
// memory is larger.
inline constexpr uint64_t kKeptRowBytes = uint64_t{1} << 20;

class PassReader {
 public:
  // Begins a row. The chain must be on it and have read none of its cells. The program must have
  // started it and not be done with it.
  void StartRow(CellCursor* chain, Direction direction, FilterProgram* program,
                Interruption* interruption);

  // Appends some of the cells that pass, or none. Returns false if there are no more, or if
  // status() is not OK.
  bool Read(std::vector<Cell>* out);
  // True if cells were read that have not been through the last pass. If false, only returned cells
  // point into the chain.
  bool has_pending() const { return !is_done_ && next_ < input_.size(); }
  // Copies the bytes of pending cells, so that the chain can be unpinned.
  absl::Status CopyInput();
  size_t held_bytes() const { return held_.size(); }
  // The number of the row's cells, each counted once, however often it was read.
  uint64_t cells_seen() const { return cells_seen_; }
  const absl::Status& status() const { return status_; }

 private:
  bool Decide();
  bool RunPass(std::vector<Cell>* out);
  bool FillInput();
  bool Rewind();
  bool Fail(absl::Status status);

  CellCursor* chain_ = nullptr;
  Direction direction_ = Direction::kForward;
  FilterProgram* program_ = nullptr;
  Interruption* interruption_ = nullptr;
  std::string row_key_;  // set if the row may have to be found again

  std::vector<Cell> input_;  // all cells read of the row, or those read last
  size_t next_ = 0;          // in input_: the next cell for the pass
  bool has_all_ = true;      // input_ begins with the row
  uint64_t kept_bytes_ = 0;
  bool at_beginning_ = true;  // nothing of the row was read since the chain moved to it
  FilterProgram::Next step_ = FilterProgram::Next::kContinue;
  bool chain_ended_ = false;  // the row has no more cells
  bool is_deciding_ = false;  // in a pass before the last
  bool is_decided_ = false;   // in the last pass
  bool is_done_ = false;      // no more cells can pass
  uint64_t read_count_ = 0;   // cells read since the chain moved to the row
  uint64_t cells_seen_ = 0;
  Buffer held_;
  bool is_held_ = false;  // the bytes of input_ are in held_
  absl::Status status_;
};

}  // namespace stele::internal
