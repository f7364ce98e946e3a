// Tests jobs that are installed after drops: random histories against a model that knows the rows
// of every file.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/random.h"
#include "base/status.h"
#include "manifest/stack_edits.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

using RowKeys = std::set<std::string>;

std::string RowAt(uint64_t index) { return fmt::format("{:02}", index); }

// A job between its start and its install.
struct Job {
  KeyRange tablet;
  std::vector<SstableReference> inputs;
  SstableFile output;
  RowKeys dropped;  // since the job started
  bool moves = false;
};

class DropsBesideJobsTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kRows = 40;

  void Begin(uint64_t seed) {
    random_ = Random(seed);
    version_ = std::make_shared<const Version>();
    files_.clear();
    expected_.clear();
    jobs_.clear();
    Edit edit;
    edit.tables.push_back(
        NewTable(TestDefinition(1, "t", 1, {{"cf", GcRule::None()}}), {RowAt(20)}));
    edit.last_sequence = 100'000;
    edit.next_file_number = 100'000;
    edit.next_table_id = 2;
    edit.next_family_id = 2;
    Take(std::move(edit));
  }

  const TableState& table() const { return *version_->tables.at(1); }

  void Take(Edit edit) {
    const auto next = Apply(*version_, edit);
    ASSERT_TRUE(next.ok()) << next.status();
    version_ = *next;
    const absl::Status checked = CheckVersion(*version_);
    ASSERT_TRUE(checked.ok()) << checked << "\n" << VersionText(*version_);
  }
  void Take(std::vector<TabletEdit> tablets,
            const std::optional<SstableFile>& file = std::nullopt) {
    Edit edit;
    if (file) edit.new_files = {*file};
    edit.tables.push_back({.table_id = 1, .tablets = std::move(tablets)});
    Take(std::move(edit));
  }

  KeyRange AnyRange() {
    const uint64_t first = random_.Below(kRows);
    return {RowAt(first), RowAt(first + 1 + random_.Below(random_.OneIn(4) ? kRows : 5)), false};
  }

  SstableFile NewFile(const RowKeys& rows) {
    SstableFile file = TestFile(next_file_++, *rows.begin(), *rows.rbegin());
    files_[file.number] = rows;
    return file;
  }

  void Flush() {
    const KeyRange range = AnyRange();
    RowKeys rows;
    for (uint64_t i = 0; i < kRows; ++i) {
      if (range.Contains(RowAt(i)) && random_.OneIn(3)) rows.insert(RowAt(i));
    }
    if (rows.empty()) return;
    const SstableFile file = NewFile(rows);
    sequence_ += 10;
    Take(InstallFlush(table(), file, sequence_, sequence_ + 5), file);
    for (const std::string& row : rows) expected_[row].insert(expected_[row].begin(), file.number);
  }

  void Drop() {
    const KeyRange range = AnyRange();
    Take(Excise(table(), range));
    for (auto& [row, files] : expected_) {
      if (range.Contains(row)) files.clear();
    }
    for (Job& job : jobs_) {
      for (uint64_t i = 0; i < kRows; ++i) {
        if (range.Contains(RowAt(i))) job.dropped.insert(RowAt(i));
      }
    }
  }

  RowKeys RowsOfInputs(const Job& job) const {
    RowKeys rows;
    for (const SstableReference& input : job.inputs) {
      for (const std::string& row : files_.at(input.file->number)) {
        if (input.range.Contains(row)) rows.insert(row);
      }
    }
    return rows;
  }

  void BeginJob() {
    const Tablet& tablet = table().tablets[random_.Below(table().tablets.size())];
    const bool is_busy = std::any_of(jobs_.begin(), jobs_.end(),
                                     [&](const Job& job) { return job.tablet == tablet.range; });
    if (is_busy || tablet.stack.empty()) return;
    Job job{.tablet = tablet.range, .moves = random_.OneIn(3)};
    const auto begin = static_cast<std::ptrdiff_t>(random_.Below(tablet.stack.size()));
    const auto count = 1 + random_.Below(tablet.stack.size() - static_cast<size_t>(begin));
    job.inputs.assign(tablet.stack.begin() + begin,
                      tablet.stack.begin() + begin + static_cast<std::ptrdiff_t>(count));
    const RowKeys rows = RowsOfInputs(job);
    if (rows.empty()) return;
    // The picker picks only inputs whose output may be installed.
    if (job.moves) {
      if (!InstallMetadataMerge(table(), job.tablet, job.inputs).ok()) return;
    } else {
      job.output = NewFile(rows);
      if (!InstallCompaction(table(), job.tablet, job.inputs, job.output).ok()) return;
    }
    jobs_.push_back(std::move(job));
  }

  void EndJob() {
    if (jobs_.empty()) return;
    const auto at = jobs_.begin() + static_cast<std::ptrdiff_t>(random_.Below(jobs_.size()));
    const Job job = *at;
    jobs_.erase(at);
    if (!job.dropped.empty()) ++ends_after_drops_;
    const auto installed = job.moves
                               ? InstallMetadataMerge(table(), job.tablet, job.inputs)
                               : InstallCompaction(table(), job.tablet, job.inputs, job.output);
    ASSERT_TRUE(installed.ok()) << installed.status();
    if (job.moves) return Take({*installed});
    const bool is_shown = std::any_of(
        installed->stack.begin(), installed->stack.end(),
        [&](const ReferenceEdit& reference) { return reference.file_number == job.output.number; });
    Take({*installed}, is_shown ? std::optional(job.output) : std::nullopt);
    if (!is_shown) ++empty_outputs_;
    Expect(job);
  }

  // In every row that was not dropped, the output replaces the inputs at their place.
  void Expect(const Job& job) {
    std::set<uint64_t> inputs;
    for (const SstableReference& input : job.inputs) inputs.insert(input.file->number);
    for (const std::string& row : files_.at(job.output.number)) {
      if (job.dropped.contains(row)) continue;
      std::vector<uint64_t>& files = expected_[row];
      const auto is_input = [&](uint64_t number) { return inputs.contains(number); };
      const auto place = std::find_if(files.begin(), files.end(), is_input);
      ASSERT_NE(place, files.end());
      *place = job.output.number;
      files.erase(std::remove_if(std::next(place), files.end(), is_input), files.end());
    }
  }

  void Compare() {
    for (uint64_t i = 0; i < kRows; ++i) {
      const std::string row = RowAt(i);
      std::vector<uint64_t> shown;
      for (const Tablet& tablet : table().tablets) {
        for (const SstableReference& reference : tablet.stack) {
          const uint64_t number = reference.file->number;
          if (reference.range.Contains(row) && files_.at(number).contains(row))
            shown.push_back(number);
        }
      }
      ASSERT_EQ(shown, expected_[row]) << "row " << row << "\n" << VersionText(*version_);
    }
  }

  Random random_{0};
  std::shared_ptr<const Version> version_;
  std::map<uint64_t, RowKeys> files_;  // the rows of each file
  // For each row, the files that contain it, newest first.
  std::map<std::string, std::vector<uint64_t>> expected_;
  std::vector<Job> jobs_;  // at most one per tablet
  uint64_t next_file_ = 10;
  uint64_t sequence_ = 0;
  int ends_after_drops_ = 0;
  int empty_outputs_ = 0;
};

TEST_F(DropsBesideJobsTest, EveryJobIsInstalledAndShowsJustWhatIsLeft) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Begin(seed);
    for (uint64_t step = 0; step < 60; ++step) {
      const uint64_t kind = random_.Below(10);
      if (kind < 4) {
        Flush();
      } else if (kind < 6) {
        Drop();
      } else if (kind < 8) {
        BeginJob();
      } else {
        EndJob();
      }
      ASSERT_NO_FATAL_FAILURE(Compare()) << "seed " << seed << " step " << step;
    }
  }
  EXPECT_GT(ends_after_drops_, 500);
  EXPECT_GT(empty_outputs_, 10);
}

}  // namespace
}  // namespace stele::internal
