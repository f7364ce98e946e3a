// filter/run_stages.h: sends a row's cells, one by one, through stages of which some copy cells, or decide on the whole row.
//
// Path:      program.h -> here -> stage.h.
// Order:     a cell's copies stay together, in the order of an interleave's filters, before all of the next cell's; so what comes out is in
//            order, limits behind an interleave count every copy, and each filter of it sees the cells as if it stood alone.
// Sinks:     what comes to a sink goes to the output at once, among the other copies of its cell.
// Conditions: see compile.h. In the pass that decides it a condition shows its cells to its predicate and lets none on; later it sends them
//            through the filter chosen. Each pass sees the same cells from the first on, with all counts at zero.
// Threads:   confined.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/stage.h"

namespace stele::internal {

class StageRun {
 public:
  StageRun() = default;
  StageRun(StageList stages, uint32_t pass_count);

  // False: no cell of the row comes out.
  bool StartRow(std::string_view row_key);
  // Passes in turn, 0 to pass_count - 1; only the last gives cells. False: this one has nothing to find out, or to give.
  bool StartPass(uint32_t pass);
  // The row's next cell, a version. False: the pass needs no more of them.
  bool Feed(const Cell& cell, std::vector<Cell>* out);

 private:
  void RunList(StageList* list, std::vector<Cell>* cells, size_t depth);
  void RunStage(Stage* stage, std::vector<Cell>* cells, size_t depth);
  void RunInPlace(Stage* stage, std::vector<Cell>* cells);
  void RunInterleave(Stage* stage, std::vector<Cell>* cells, size_t depth);
  void RunCondition(Stage* stage, std::vector<Cell>* cells, size_t depth);
  bool IsEnded(const StageList& list) const;
  bool IsEnded(const Stage& stage) const;
  bool IsOpen(const StageList& list) const;
  bool IsLastPass() const { return pass_ + 1 == pass_count_; }
  bool NeedsMore() const { return IsLastPass() ? !IsEnded(stages_) : IsOpen(stages_); }

  StageList stages_;
  uint32_t pass_count_ = 1;
  uint32_t pass_ = 0;
  uint64_t column_ = 0;  // number of the current one
  uint32_t column_family_ = kRowRank;
  std::string column_qualifier_;
  bool something_ended_ = false;      // since it was last asked whether more is needed
  std::vector<Cell>* out_ = nullptr;  // while a cell is fed
  std::vector<Cell> cells_;
  struct Scratch {
    std::vector<Cell> input;
    std::vector<Cell> branch;
  };
  std::vector<Scratch> scratch_;  // by depth of interleaves and conditions
};

}  // namespace stele::internal
