// Tests RunFlush: its output for a frozen memtable (tests/data/flush/jobs.txt), and that it leaves
// a synced file or none.
#include "jobs/flush_job.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/status.h"
#include "io/file_names.h"
#include "io/mem_file_system.h"
#include "support/cell_text.h"
#include "support/compaction_fixture.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/memtable_fill.h"

namespace stele::internal {
namespace {

constexpr char kPath[] = "/000007.sst";

FlushInput NewInput(FileSystem* file_system, const Memtable* memtable, const TextCase& text_case) {
  FlushInput input;
  input.job.file_system = file_system;
  input.job.directory = "/";
  input.job.file_number = 7;
  input.job.file_id = 4711;
  input.memtable = memtable;
  input.definition = DefinitionOf(text_case);
  input.now = text_case.has("now") ? text_case.number("now") : 1'000'000;
  input.newest_commit_time =
      text_case.has("newest_commit_time") ? text_case.number("newest_commit_time") : 0;
  input.reaches_end = text_case.has("reaches_end");
  if (text_case.has("through")) input.sequence = static_cast<uint64_t>(text_case.number("through"));
  return input;
}

// Input lines: "commit", then the operations of one commit. The oldest commit comes first.
void Fill(Memtable* memtable, const std::vector<std::string>& lines) {
  uint64_t sequence = 10;
  std::string operations;
  for (const std::string& line : lines) {
    if (line != "commit") {
      operations += line + "\n";
      continue;
    }
    if (!operations.empty()) ApplyLines(memtable, sequence++, operations);
    operations.clear();
  }
  if (!operations.empty()) ApplyLines(memtable, sequence, operations);
}

std::string RunCase(const TextCase& text_case) {
  MemFileSystem files;
  Memtable memtable(TestFamilies());
  Fill(&memtable, text_case.input);
  const auto output = RunFlush(NewInput(&files, &memtable, text_case));
  if (!output.ok()) return fmt::format("{}\n", ToStd(output.status().message()));
  const std::string dropped =
      fmt::format("dropped: {} versions, {} tombstones\n", output->retention.garbage_cells,
                  output->retention.tombstones_dropped);
  if (!output->file.has_value())
    return dropped + (files.Stat(kPath).ok() ? "a file without rows was left\n" : "no file\n");
  const SstableFile& file = *output->file;
  EXPECT_EQ(file.number, 7u);
  EXPECT_EQ(file.summary.file_id, 4711u);
  EXPECT_FALSE(file.bottommost_codec);
  return fmt::format("{}newest_commit_time={}\n{}", dropped, file.newest_commit_time,
                     TextOf(&files, "/", file));
}

TEST(FlushJobTest, TextCases) { RunTextCases("flush/jobs.txt", RunCase); }

TEST(FlushJobTest, AFaultInEveryCallLeavesNoFile) {
  Memtable memtable(TestFamilies());
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += fmt::format("row{:03} a:q @{} = value {}\n", i, i + 1, i);
  ApplyLines(&memtable, 3, lines);
  ApplyLines(&memtable, 4, "row001 DELETE\nrow002 a:q @900 = new\n");
  uint64_t calls = 0;
  std::string expected;
  for (uint64_t at = 0; at <= calls; ++at) {
    CrashFileSystem files;
    const FlushInput input = NewInput(&files, &memtable, {});
    if (at > 0)
      files.FailCall(at, {.error_number = at % 2 == 0 ? EIO : ENOSPC, .partial = at % 3 == 0});
    const auto output = RunFlush(input);
    files.ClearFaults();
    if (at == 0) {
      ASSERT_TRUE(output.ok()) << output.status();
      calls = files.calls();
      expected = TextOf(&files, "/", *output->file);
      const auto lost_power = files.Crash(CrashPolicy::DropUnsynced(), 1);
      ASSERT_EQ(TextOf(lost_power.get(), "/", *output->file), expected)
          << "synced, and so is its name";
      continue;
    }
    ASSERT_FALSE(output.ok()) << "call " << at;
    ASSERT_TRUE(absl::IsNotFound(files.Stat(kPath).status())) << "call " << at;
    const auto again = RunFlush(input);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(TextOf(&files, "/", *again->file), expected);
  }
  EXPECT_GT(calls, 3u);
}

TEST(FlushJobTest, AStoppedFlushLeavesNoFile) {
  MemFileSystem files;
  Memtable memtable(TestFamilies());
  ApplyLines(&memtable, 1, "row a:q @1 = v\n");
  FlushInput input = NewInput(&files, &memtable, {});
  std::atomic<bool> stop = true;
  input.job.stop = &stop;
  EXPECT_TRUE(absl::IsCancelled(RunFlush(input).status()));
  EXPECT_FALSE(files.Stat(kPath).ok());
}

}  // namespace
}  // namespace stele::internal
