// read/pass_reader.h: one row's cells through a program that does not run in place: as many passes over the row as its conditions need.
//
// Path:      row_stream, row_lookup -> here -> filter/program.h, and the chain they read from.
// Memory:    while conditions are decided, up to kKeptRowBytes of the row are kept, as cells whose bytes the chain pins. What is larger is
//            read again for each pass: the chain stands on one view at one sequence and time, so it gives the same cells.
// Errors:    status(): that of the chain; what interrupted; ResourceExhausted for refused memory.
// Threads:   confined; chain, program and interruption outlive the reading of the row.
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

// Of cells and their bytes: as much as a large row has, and little beside what a reader holds anyway. A guess.
inline constexpr uint64_t kKeptRowBytes = uint64_t{1} << 20;

class PassReader {
 public:
  // The chain stands on the row, of which nothing is read; the program has begun the row and is not done with it.
  void StartRow(CellCursor* chain, Direction direction, FilterProgram* program, Interruption* interruption);

  // Appends some of the cells that pass. False: there are no more, or status() is not OK. Appending none is no end.
  bool Read(std::vector<Cell>* out);
  // Cells read that were not sent through the last pass yet. Without any, what was handed out is all that the chain has to pin.
  bool has_pending() const { return !is_done_ && next_ < input_.size(); }
  // Pending cells get bytes of their own: the chain may let go of what it pins.
  absl::Status Hold();
  size_t held_bytes() const { return held_.size(); }
  // Of the row, each counted once however often it was read.
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
  std::string row_key_;  // set where the row may have to be found again

  std::vector<Cell> input_;  // all that was read of the row, or what was read last
  size_t next_ = 0;          // of input_: to be sent through the pass
  bool has_all_ = true;      // input_ begins with the row
  uint64_t kept_bytes_ = 0;
  bool at_beginning_ = true;  // of the row: nothing was read since the chain came to it
  FilterProgram::Next step_ = FilterProgram::Next::kContinue;
  bool chain_ended_ = false;  // the row has no more
  bool is_deciding_ = false;  // in a pass before the last
  bool is_decided_ = false;   // in the last
  bool is_done_ = false;      // nothing more can pass
  uint64_t read_count_ = 0;   // cells, since the chain came to the row
  uint64_t cells_seen_ = 0;
  Buffer held_;
  bool is_held_ = false;  // what input_ views is in held_
  absl::Status status_;
};

}  // namespace stele::internal
