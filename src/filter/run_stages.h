// filter/run_stages.h: runs the cells of a row, one by one, through stages that copy cells or
// depend on the whole row.
//
// Used by:   filter/program.cc.
// Calls:     filter/stage.h.
// Order:     the copies of a cell stay together, in the order of the interleave's filters, before
//            the copies of the next cell. So the output is ordered, limits after an interleave
//            count every copy, and each filter of an interleave sees the same cells as it would
//            alone.
// Sinks:     a cell that reaches a sink goes directly to the output, among the other copies of that
//            cell.
// Conditions: see compile.h. In the pass that decides it, a condition sends its cells to the
//            predicate and outputs none. In later passes it sends them through the chosen filter.
//            Each pass sees the same cells from the first on, and all counts start at zero.
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

  // Returns false if no cell of the row can pass.
  bool StartRow(std::string_view row_key);
  // Starts the passes 0 to pass_count - 1 one after the other. Only the last pass outputs cells.
  // Returns false if the pass is not needed.
  bool StartPass(uint32_t pass);
  // Processes the row's next cell, a version. Returns false if the pass needs no more cells.
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
  uint64_t column_ = 0;  // ordinal of the current column in the row
  uint32_t column_family_ = kRowFamily;
  std::string column_qualifier_;
  bool something_ended_ = false;      // since the last check whether more cells are needed
  std::vector<Cell>* out_ = nullptr;  // set while a cell is processed
  std::vector<Cell> cells_;
  struct Scratch {
    std::vector<Cell> input;
    std::vector<Cell> branch;
  };
  std::vector<Scratch> scratch_;  // by nesting depth of interleaves and conditions
};

}  // namespace stele::internal
