// Tests RunCompaction: its output for given inputs (tests/data/compaction/jobs.txt), and that it
// leaves a synced file or none.
#include "jobs/compaction_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/status.h"
#include "io/file_names.h"
#include "io/mem_file_system.h"
#include "manifest/stack_edits.h"
#include "merge/merge_cursor.h"
#include "support/cell_text.h"
#include "support/compaction_fixture.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

constexpr uint64_t kOutputNumber = 99;

size_t InputCount(const CompactionInput& input) {
  size_t count = 0;
  for (const Subcompaction& subcompaction : input.subcompactions)
    count += subcompaction.inputs.size();
  return count;
}

// Adds an input with these lines to the last subcompaction.
void AddInput(FileSystem* file_system, CompactionInput* input, std::string_view lines,
              KeyRange range, int64_t newest_commit_time) {
  auto file = WriteLines(file_system, "/", InputCount(*input) + 1, lines);
  ASSERT_TRUE(file.ok()) << file.status();
  file->newest_commit_time = newest_commit_time;
  auto reader = OpenFile(file_system, "/", *file);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const uint64_t sequence = 100 - InputCount(*input);
  input->subcompactions.back().inputs.push_back(
      {std::make_shared<SstableFile>(*file), std::move(range), sequence, sequence});
  input->subcompactions.back().readers.push_back(*reader);
}

CompactionInput NewInput(FileSystem* file_system, const TextCase& text_case) {
  CompactionInput input;
  input.job.file_system = file_system;
  input.job.directory = "/";
  input.job.file_number = kOutputNumber;
  input.job.file_id = 4711;
  input.definition = DefinitionOf(text_case);
  input.subcompactions.push_back({.inputs = {},
                                  .readers = {},
                                  .range = ParseRange(text_case.value("range")),
                                  .reaches_end = text_case.has("reaches_end")});
  input.now = text_case.has("now") ? text_case.number("now") : 1'000'000;
  return input;
}

// Input lines: "file [range=a..c] [newest_commit_time=N]", then the file's cells, newest file
// first. "subcompaction range=a..c [reaches_end]" starts another subcompaction.
void AddInputs(FileSystem* file_system, const TextCase& text_case, CompactionInput* input) {
  std::string cells;
  KeyRange range;
  int64_t newest_commit_time = 0;
  bool open = false;
  const auto finish = [&] {
    if (open) AddInput(file_system, input, cells, range, newest_commit_time);
    cells.clear();
    open = true;
  };
  for (const std::string& line : text_case.input) {
    if (line.rfind("subcompaction ", 0) == 0) {
      finish();
      open = false;
      const size_t at = line.find("range=") + 6;
      input->subcompactions.push_back(
          {.inputs = {},
           .readers = {},
           .range = ParseRange(line.substr(at, line.find(' ', at) - at)),
           .reaches_end = line.find("reaches_end") != std::string::npos});
      continue;
    }
    if (line.rfind("file", 0) != 0) {
      cells += line + "\n";
      continue;
    }
    finish();
    const size_t range_at = line.find("range=");
    const size_t time_at = line.find("newest_commit_time=");
    range = range_at == std::string::npos
                ? KeyRange::All()
                : ParseRange(line.substr(range_at + 6, line.find(' ', range_at) - range_at - 6));
    newest_commit_time = time_at == std::string::npos ? 0 : std::stoll(line.substr(time_at + 19));
  }
  finish();
}

std::string RunJobCase(const TextCase& text_case) {
  MemFileSystem files;
  CompactionInput input = NewInput(&files, text_case);
  AddInputs(&files, text_case, &input);
  const auto output = RunCompaction(input);
  if (!output.ok()) return fmt::format("{}\n", ToStd(output.status().message()));
  const std::string dropped =
      fmt::format("dropped: {} versions, {} tombstones\n", output->retention.garbage_cells,
                  output->retention.tombstones_dropped);
  if (!output->file.has_value()) {
    const bool left = files.Stat(JoinPath("/", SstableName(kOutputNumber))).ok();
    return dropped + (left ? "a file without rows was left\n" : "no file\n");
  }
  const SstableFile& file = *output->file;
  EXPECT_EQ(file.number, kOutputNumber);
  EXPECT_EQ(file.summary.file_id, 4711u);
  EXPECT_EQ(files.Stat(JoinPath("/", SstableName(kOutputNumber)))->bytes, file.summary.file_bytes);
  return fmt::format("{}newest_commit_time={}{} rows \"{}\" to \"{}\"\n{}", dropped,
                     file.newest_commit_time, file.bottommost_codec ? " bottommost_codec" : "",
                     file.summary.first_row, file.summary.last_row, TextOf(&files, "/", file));
}

TEST(CompactionJobTest, TextCases) { RunTextCases("compaction/jobs.txt", RunJobCase); }

// Makes a fixed input for fault tests: a newer file of sets and tombstones, and an older file with
// a long row.
void AddTwoInputs(FileSystem* file_system, CompactionInput* input) {
  std::string older;
  for (int i = 0; i < 40; ++i) older += fmt::format("row{:03} a:q @{} = value {}\n", i, i + 1, i);
  for (int i = 0; i < 60; ++i) older += fmt::format("wide a:q{:03} @5 = value {}\n", i, i);
  AddInput(file_system, input, "row001 DELETE\nrow002 a:q @900 = new\nwide b:q @1 = b\n",
           KeyRange::All(), 70);
  AddInput(file_system, input, older, KeyRange::All(), 60);
}

TEST(CompactionJobTest, AFaultInEveryCallLeavesNoFile) {
  uint64_t calls = 0;
  uint64_t reads = 0;
  uint64_t reads_told = 0;
  std::string expected;
  for (uint64_t at = 0; at <= calls + reads; ++at) {
    CrashFileSystem files;
    CompactionInput input = NewInput(&files, {});
    AddTwoInputs(&files, &input);
    ASSERT_TRUE(files.SyncDirectory("/").ok());
    const uint64_t calls_before = files.calls();
    const uint64_t reads_before = files.reads();
    const Fault fault{.error_number = at % 2 == 0 ? EIO : ENOSPC, .partial = at % 3 == 0};
    if (at > 0 && at <= calls) files.FailCall(calls_before + at, fault);
    if (at > calls) files.FailRead(reads_before + at - calls, {.error_number = EIO});
    const auto output = RunCompaction(input);
    files.ClearFaults();
    if (at == 0) {
      ASSERT_TRUE(output.ok()) << output.status();
      calls = files.calls() - calls_before;
      reads = files.reads() - reads_before;
      expected = TextOf(&files, "/", *output->file);
      // The file is synced, and so is its directory entry.
      const auto lost_power = files.Crash(CrashPolicy::DropUnsynced(), 1);
      ASSERT_EQ(TextOf(lost_power.get(), "/", *output->file), expected);
      ASSERT_GT(output->bytes_read, 0u);
      continue;
    }
    // The failed call was a readahead; the job succeeded by reading less.
    if (at > calls && output.ok()) {
      ASSERT_EQ(TextOf(&files, "/", *output->file), expected);
      continue;
    }
    if (at > calls) ++reads_told;
    ASSERT_FALSE(output.ok()) << "call " << at;
    ASSERT_TRUE(absl::IsUnavailable(output.status()) || absl::IsResourceExhausted(output.status()))
        << output.status();
    ASSERT_TRUE(absl::IsNotFound(files.Stat(JoinPath("/", SstableName(kOutputNumber))).status()))
        << "call " << at;
    // A second attempt succeeds.
    const auto again = RunCompaction(input);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(TextOf(&files, "/", *again->file), expected);
  }
  EXPECT_GT(calls, 3u);
  EXPECT_GT(reads, 2u);
  EXPECT_GT(reads_told, 0u);
}

TEST(CompactionJobTest, LittleEffortIsMoreBytesOfTheSame) {
  MemFileSystem files;
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += fmt::format("row{:04} a:q @1 = the {} lines of number {} and {}\n", i, i % 7,
                        i * 31 % 97, i * i % 1009);
  std::map<ZstdEffort, uint64_t> file_bytes;
  std::set<std::string> texts;
  for (const ZstdEffort effort : {ZstdEffort::kThorough, ZstdEffort::kQuick}) {
    CompactionInput input = NewInput(&files, {});
    AddInput(&files, &input, text, KeyRange::All(), 1);
    input.subcompactions.front().reaches_end = true;
    input.zstd_effort = effort;
    const auto output = RunCompaction(input);
    ASSERT_TRUE(output.ok()) << output.status();
    file_bytes[effort] = output->file->summary.file_bytes;
    texts.insert(TextOf(&files, "/", *output->file));
    for (const uint64_t number : {uint64_t{1}, kOutputNumber})
      files.Remove(JoinPath("/", SstableName(number))).IgnoreError();
  }
  EXPECT_EQ(texts.size(), 1u);
  EXPECT_GT(file_bytes[ZstdEffort::kQuick], file_bytes[ZstdEffort::kThorough]);
}

TEST(CompactionJobTest, AStoppedJobLeavesNoFile) {
  MemFileSystem files;
  CompactionInput input = NewInput(&files, {});
  AddTwoInputs(&files, &input);
  std::atomic<bool> stop = true;
  input.job.stop = &stop;
  EXPECT_TRUE(absl::IsCancelled(RunCompaction(input).status()));
  EXPECT_FALSE(files.Stat(JoinPath("/", SstableName(kOutputNumber))).ok());
}

TEST(CompactionJobTest, AFileThatIsThereIsNotTouched) {
  MemFileSystem files;
  CompactionInput input = NewInput(&files, {});
  AddTwoInputs(&files, &input);
  input.job.file_number = 1;
  EXPECT_TRUE(absl::IsAlreadyExists(RunCompaction(input).status()));
  EXPECT_TRUE(files.Stat("/000001.sst").ok());
}

TEST(CompactionJobTest, DamageOfAnInputIsNamed) {
  CrashFileSystem files;
  CompactionInput input = NewInput(&files, {});
  AddTwoInputs(&files, &input);
  ASSERT_TRUE(files.FlipBit("/000002.sst", 100, 3).ok());
  const absl::Status status = RunCompaction(input).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_EQ(ToStd(status.message()).substr(0, 12), "000002.sst @");
  EXPECT_FALSE(files.Stat(JoinPath("/", SstableName(kOutputNumber))).ok());
}

TEST(CompactionJobTest, ProgressAddsUpToTheFile) {
  MemFileSystem files;
  CompactionInput input = NewInput(&files, {});
  AddTwoInputs(&files, &input);
  uint64_t bytes = 0;
  input.on_progress = [&](uint64_t written) {
    bytes += written;
    return absl::OkStatus();
  };
  const auto output = RunCompaction(input);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(bytes, output->file->summary.file_bytes);
}

TEST(CompactionJobTest, AnErrorOfItsProgressEndsItAndLeavesNoFile) {
  MemFileSystem files;
  CompactionInput input = NewInput(&files, {});
  AddTwoInputs(&files, &input);
  input.on_progress = [](uint64_t) { return ResourceExhausted("the space is for flushes"); };
  EXPECT_EQ(RunCompaction(input).status(), ResourceExhausted("the space is for flushes"));
  EXPECT_TRUE(absl::IsNotFound(files.Stat(JoinPath("/", SstableName(kOutputNumber))).status()));
}

// Files written in row order form one source: the job reads each to its end before it opens the
// next. It reads an older file in parallel, as its rows are due.
TEST(CompactionJobTest, InputsWithoutARowInCommonAreReadOneAfterTheOther) {
  MemFileSystem files;
  std::vector<std::string> paths;  // paths read, without consecutive duplicates
  ObservedFileSystem observed(&files, [&paths](CallKind kind, const std::string& path) {
    if (kind == CallKind::kRead && (paths.empty() || paths.back() != path)) paths.push_back(path);
  });
  CompactionInput input = NewInput(&observed, {});
  const auto lines = [](char letter, int first, int end, std::string_view value) {
    std::string text;
    for (int i = first; i < end; ++i)
      text += fmt::format("{}{:03} a:q @{} = {} {}\n", letter, i, i + 1, value, i);
    return text;
  };
  AddInput(&observed, &input, lines('b', 0, 90, "new"), KeyRange::All(), 70);
  AddInput(&observed, &input, lines('c', 0, 90, "new"), {"c", "c050", false}, 70);
  AddInput(&observed, &input, lines('a', 0, 90, "new"), KeyRange::All(), 70);
  AddInput(&observed, &input, "gone a:q @1 = outside\n", {"h", "i", false}, 70);
  paths.clear();
  const auto output = RunCompaction(input);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(paths, (std::vector<std::string>{"/000003.sst", "/000001.sst", "/000002.sst"}));
  const std::string text = TextOf(&files, "/", *output->file);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 90 + 90 + 50);
  EXPECT_LT(text.find("a089"), text.find("b000"));
  EXPECT_EQ(text.find("c050"), std::string::npos);

  AddInput(&observed, &input,
           lines('a', 0, 90, "old") + lines('b', 40, 99, "old") + lines('c', 40, 60, "old"),
           KeyRange::All(), 60);
  input.job.file_number = kOutputNumber + 1;
  const auto merged = RunCompaction(input);
  ASSERT_TRUE(merged.ok()) << merged.status();
  const std::string merged_text = TextOf(&files, "/", *merged->file);
  EXPECT_EQ(std::count(merged_text.begin(), merged_text.end(), '\n'), 90 + 99 + 60);
  for (const char* expected :
       {"a089 a:q @90 = new 89\n", "b089 a:q @90 = new 89\n", "b098 a:q @99 = old 98\n",
        "c049 a:q @50 = new 49\n", "c050 a:q @51 = old 50\n"}) {
    EXPECT_NE(merged_text.find(expected), std::string::npos) << expected << "\n"
                                                             << merged_text.substr(0, 300);
  }
}

TEST(CompactionJobTest, CodecsByAge) {
  EXPECT_EQ(CodecFor(Compression::kNone, false), Codec::kNone);
  EXPECT_EQ(CodecFor(Compression::kNone, true), Codec::kNone);
  EXPECT_EQ(CodecFor(Compression::kFast, true), Codec::kLz4);
  EXPECT_EQ(CodecFor(Compression::kBalanced, false), Codec::kLz4);
  EXPECT_EQ(CodecFor(Compression::kBalanced, true), Codec::kZstd);
}

}  // namespace
}  // namespace stele::internal
