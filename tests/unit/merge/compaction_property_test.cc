// Tests that compaction never changes the result of a read. A table is written, flushed, compacted
// and read at random, with GC rules and a moving clock. Every read is compared with the complete
// history (engine rules 1, 8, 9 and 11).
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "merge/merge_cursor.h"
#include "merge/retention_cursor.h"
#include "support/base_sanitized.h"
#include "support/cell_text.h"
#include "support/merge_history.h"

namespace stele::internal {
namespace {

GcRule RandomRule(Random& random, int depth) {
  switch (random.Below(depth > 0 ? 7 : 3)) {
    case 0:
      return GcRule::MaxNumVersions(1 + static_cast<int>(random.Below(4)));
    case 1:
      return GcRule::MaxAge(std::chrono::microseconds(1 + random.Below(30)));
    case 2:
      return random.OneIn(3) ? GcRule::None()
                             : GcRule::MaxNumVersions(1 + static_cast<int>(random.Below(3)));
    case 3:
    case 4:
      return GcRule::Union(RandomRule(random, depth - 1), RandomRule(random, depth - 1));
    default:
      return GcRule::Intersection(RandomRule(random, depth - 1), RandomRule(random, depth - 1));
  }
}

// This kind of rule depends on both ordinal and time, so partial compactions get it wrong most
// easily.
GcRule OrdinalAndAge(Random& random) {
  return GcRule::Intersection(GcRule::MaxNumVersions(1 + static_cast<int>(random.Below(2))),
                              GcRule::MaxAge(std::chrono::microseconds(5 + random.Below(20))));
}

struct Source {
  OwnedRows rows;
  int64_t newest_commit_time = 0;
};

class SimulatedTable {
 public:
  SimulatedTable(Random& random, const HistoryShape& shape) : random_(random), shape_(shape) {
    for (uint32_t i = 0; i < shape.family_count; ++i)
      rules_.emplace_back(random_.OneIn(2) ? OrdinalAndAge(random_) : RandomRule(random_, 2));
  }

  void Write() {
    now_ += static_cast<int64_t>(random_.Below(3));
    Operation operation = RandomOperation(random_, shape_);
    operation.commit_time = now_;
    const OwnedCell& cell = operation.cell;
    if (cell.kind == CellKind::kDeleteRange && cell.range_start > 0 &&
        rules_[cell.family - 1].CountsVersions())
      GcFence(operation);
    history_.push_back(std::move(operation));
  }

  void Flush() {
    if (flushed_ == history_.size()) return;
    const int64_t newest = history_.back().commit_time;
    OwnedRows rows = Resolve(history_, flushed_, history_.size());
    stack_.insert(stack_.begin(),
                  Source{Retained({std::move(rows)}, newest, stack_.empty()), newest});
    flushed_ = history_.size();
  }

  void Compact() {
    if (stack_.empty()) return;
    const size_t begin = random_.Below(stack_.size());
    const size_t end = begin + 1 + random_.Below(stack_.size() - begin);
    std::vector<OwnedRows> inputs;
    for (size_t i = begin; i < end; ++i) inputs.push_back(stack_[i].rows);
    const int64_t newest = stack_[begin].newest_commit_time;
    Source output{Retained(std::move(inputs), newest, end == stack_.size()), newest};
    stack_.erase(stack_.begin() + static_cast<ptrdiff_t>(begin),
                 stack_.begin() + static_cast<ptrdiff_t>(end));
    if (!output.rows.empty())
      stack_.insert(stack_.begin() + static_cast<ptrdiff_t>(begin), std::move(output));
  }

  // Drops a whole file if it has no tombstone and all its versions are garbage by age.
  void DropFiles() {
    std::erase_if(stack_, [this](const Source& source) {
      for (const OwnedRow& row : source.rows) {
        for (const OwnedCell& cell : row.cells) {
          if (cell.View().is_tombstone() ||
              !rules_[cell.family - 1].IsGarbage(1, cell.timestamp, now_))
            return false;
        }
      }
      return true;
    });
  }

  void Wait() { now_ += static_cast<int64_t>(random_.Below(12)); }

  void CheckReads() {
    const OwnedRows live = LiveRows(history_, rules_, now_);
    ASSERT_EQ(PrintRows(Read(rules_)), PrintRows(live)) << Describe();
    // Without GC a reader sees at least the live cells, and no deleted cell. For a garbage version
    // it may see an overwritten value, because a job that dropped the newer value need not have had
    // the older one among its inputs.
    const OwnedRows stored = Read({});
    ASSERT_TRUE(Holds(stored, live)) << Describe() << PrintRows(stored);
    for (const OwnedRow& row : stored) {
      for (const OwnedCell& cell : row.cells)
        ASSERT_TRUE(WasNeverDeleted(row.row_key, cell)) << Describe() << PrintRows(stored);
    }
  }

 private:
  // Engine rule 8: versions of the column that the rule makes garbage are deleted for good before
  // ordinals become lower.
  void GcFence(const Operation& range_delete) {
    uint64_t ordinal = 0;
    for (const OwnedRow& row : LiveRows(history_, {}, now_)) {
      for (const OwnedCell& cell : row.cells) {
        if (row.row_key != range_delete.row_key ||
            CompareColumn(cell.View(), range_delete.cell.View()) != 0)
          continue;
        if (!rules_[cell.family - 1].IsGarbage(++ordinal, cell.timestamp, now_)) continue;
        Operation fence = range_delete;
        fence.cell.timestamp = cell.timestamp;
        fence.cell.range_start = 0;
        history_.push_back(std::move(fence));
        return;
      }
    }
  }

  OwnedRows Retained(std::vector<OwnedRows> inputs, int64_t newest_commit_time, bool reaches_end) {
    RetentionPolicy policy{rules_, now_, true, newest_commit_time, reaches_end};
    return ReadAll(
        NewRetentionCursor(MergeOf(std::move(inputs), random_), std::move(policy)).get());
  }

  OwnedRows Read(const std::vector<Retention>& rules) {
    std::vector<OwnedRows> sources;
    sources.push_back(Resolve(history_, flushed_, history_.size()));
    for (const Source& source : stack_) sources.push_back(source.rows);
    RetentionPolicy policy{.rules = rules, .now = now_, .drop_tombstones = true};
    for (const OwnedRows& rows : sources) policy.kept_sources.push_back(KeepsAll(rules, rows));
    return ReadAll(
        NewRetentionCursor(MergeOf(std::move(sources), random_), std::move(policy)).get());
  }

  // True if a read of this source alone would remove nothing.
  bool KeepsAll(const std::vector<Retention>& rules, const OwnedRows& rows) const {
    for (const OwnedRow& row : rows) {
      uint64_t ordinal = 0;
      for (size_t i = 0; i < row.cells.size(); ++i) {
        const Cell cell = row.cells[i].View();
        if (cell.is_tombstone()) return false;
        const bool is_same_column = i > 0 && CompareColumn(row.cells[i - 1].View(), cell) == 0;
        ordinal = is_same_column ? ordinal + 1 : 1;
        if (cell.family <= rules.size() &&
            rules[cell.family - 1].IsGarbage(ordinal, cell.timestamp, now_))
          return false;
      }
    }
    return true;
  }

  bool WasNeverDeleted(const std::string& row_key, const OwnedCell& cell) const {
    const auto written =
        std::find_if(history_.rbegin(), history_.rend(), [&](const Operation& operation) {
          // For a sum, some delta was added and not deleted. While the version is garbage, the sum
          // shown does not matter.
          const bool is_same = cell.kind == CellKind::kSum
                                   ? CompareCells(operation.cell.View(), cell.View()) == 0
                                   : operation.cell == cell;
          return operation.row_key == row_key && is_same;
        });
    return written != history_.rend() &&
           std::none_of(history_.rbegin(), written, [&](const Operation& later) {
             return later.row_key == row_key && Deletes(later.cell, cell);
           });
  }

  static bool Holds(const OwnedRows& whole, const OwnedRows& part) {
    return std::all_of(part.begin(), part.end(), [&](const OwnedRow& row) {
      const auto same = std::find_if(whole.begin(), whole.end(), [&](const OwnedRow& other) {
        return other.row_key == row.row_key;
      });
      return same != whole.end() &&
             std::all_of(row.cells.begin(), row.cells.end(), [&](const OwnedCell& cell) {
               return std::find(same->cells.begin(), same->cells.end(), cell) != same->cells.end();
             });
    });
  }

  std::string Describe() const {
    std::string text = "now " + std::to_string(now_) + "\n";
    for (const Retention& rule : rules_) text += "rule " + rule.rule().ToString() + "\n";
    for (const Operation& operation : history_) {
      text += std::to_string(operation.commit_time) + ": " +
              PrintCell(operation.row_key, operation.cell.View()) + "\n";
    }
    return text;
  }

  Random& random_;
  const HistoryShape shape_;
  std::vector<Retention> rules_;
  History history_;
  size_t flushed_ = 0;
  std::vector<Source> stack_;  // newest first
  int64_t now_ = 5;
};

TEST(CompactionPropertyTest, ReadsNeverSeeWhetherCompactionRan) {
  for (uint64_t seed = 1; seed <= ReducedPart(2000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    SimulatedTable table(random, {.row_count = 1 + random.Below(2),
                                  .family_count = 2,
                                  .qualifier_count = 1 + random.Below(2),
                                  .timestamp_count = 6 + static_cast<int64_t>(random.Below(30)),
                                  .tombstone_percent = 5 + random.Below(35),
                                  .last_family_adds = true});
    for (int step = 0; step < 60; ++step) {
      switch (random.Below(16)) {
        case 0:
        case 1:
        case 2:
          table.Flush();
          break;
        case 3:
        case 4:
          table.Compact();
          break;
        case 5:
          table.DropFiles();
          break;
        case 6:
          table.Wait();
          break;
        case 7:
          table.CheckReads();
          break;
        default:
          table.Write();
      }
      if (HasFatalFailure()) return;
    }
    table.Flush();
    table.Compact();
    table.CheckReads();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace stele::internal
