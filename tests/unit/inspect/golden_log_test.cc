// Tests a golden log: batches with every kind of operation and with tokens. The log must replay,
// writing its batches must give the same bytes, and its dump must be the same. Only the nonce at
// the start of a segment differs between segments.
// STELE_REWRITE=1 writes the files again. Use it only for a format that was never released.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "inspect/dump.h"
#include "mutation/batch.h"
#include "support/base_test_data.h"
#include "support/cell_naive_fold.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/wal_fixture.h"
#include "wal/commit_log.h"

namespace stele::internal {
namespace {

constexpr const char* kSegment = "/db/000001.log";

std::string GoldenPath(const std::string& name) { return TestDataPath("golden/log/" + name); }

std::string ReadGolden(const std::string& name) {
  std::ifstream in(GoldenPath(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteGolden(const std::string& name, const std::string& bytes) {
  std::ofstream(GoldenPath(name), std::ios::binary) << bytes;
}

std::string Finished(BatchWriter* writer, int64_t clock_micros) {
  std::string batch = writer->Finish();
  SetBatchClock(&batch, clock_micros);
  return batch;
}

std::vector<std::string> BatchesToday() {
  std::vector<std::string> batches;
  BatchWriter writer;
  const std::string number = NaiveNumber(-41);
  const std::string sketch = NaiveSketch({"one", "two", "three"});
  writer.StartRow(1, "every kind");
  writer.Add({.kind = CellKind::kDeleteRow});
  writer.Add({.kind = CellKind::kDeleteFamily, .family_id = 2});
  writer.Add({.kind = CellKind::kDeleteRange,
              .family_id = 2,
              .timestamp = 2999,
              .range_start = 1000,
              .qualifier = "q"});
  writer.Add({.kind = CellKind::kSet,
              .family_id = 2,
              .timestamp = 2000,
              .qualifier = "q",
              .value = "value"});
  writer.Add(
      {.kind = CellKind::kSum, .family_id = 3, .timestamp = 0, .qualifier = "", .value = number});
  writer.Add(
      {.kind = CellKind::kMin, .family_id = 4, .timestamp = 0, .qualifier = "", .value = number});
  writer.Add({.kind = CellKind::kMax,
              .family_id = 5,
              .timestamp = INT64_MAX,
              .qualifier = "",
              .value = number});
  writer.Add(
      {.kind = CellKind::kHll, .family_id = 6, .timestamp = 7, .qualifier = "s", .value = sketch});
  batches.push_back(Finished(&writer, 1'000'000));
  writer.StartRow(1, "under a token");
  writer.Add(
      {.kind = CellKind::kSet, .family_id = 2, .timestamp = 0, .qualifier = "q", .value = ""});
  writer.StartRow(0, std::string("16 bytes of hash", 16));
  const size_t place = writer.AddStamped({.kind = CellKind::kSet,
                                          .family_id = UINT32_MAX,
                                          .qualifier = std::string_view("\0\0\0\0", 4),
                                          .value = std::string_view("\0\1\0\1", 4)});
  std::string under_token = writer.Finish();
  SetBatchClock(&under_token, 2'000'000, place);
  batches.push_back(std::move(under_token));
  for (const std::string_view row_key : {"first", "second"}) {
    writer.StartRow(9, row_key);
    writer.Add({.kind = CellKind::kSum,
                .family_id = 3,
                .timestamp = 0,
                .qualifier = "n",
                .value = number});
  }
  batches.push_back(Finished(&writer, INT64_MAX));
  return batches;
}

// Writes one record per batch.
void WriteToday() {
  CrashFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/db").ok());
  WalNumbers numbers;
  CommitLogOptions options = WalOptions(&files, "/db", &numbers);
  SyncedManifestEnd manifest_end{.number = 3, .bytes = 500};
  options.synced_manifest_end = [&manifest_end] { return manifest_end; };
  const auto log = CommitLog::Start(options, LogTail{});
  ASSERT_TRUE(log.ok()) << log.status();
  uint64_t sequence = 0;
  for (const std::string& batch : BatchesToday()) {
    const LogRecord record{++sequence, batch};
    manifest_end.bytes += 70'000;
    ASSERT_TRUE((*log)->Append({&record, 1}).ok());
  }
  ASSERT_TRUE((*log)->Close().ok());
  WriteGolden("000001.log", *files.ReadFile(kSegment));
  WriteGolden("000001.log.txt", *DumpFile(&files, kSegment, true));
}

TEST(GoldenLogTest, ReplaysAndDumpsAsEver) {
  if (std::getenv("STELE_REWRITE") != nullptr) WriteToday();
  CrashFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/db").ok());
  ASSERT_TRUE(files.WriteFile(kSegment, ReadGolden("000001.log")).ok());
  const WalReplay replay = ReplayWal(&files, "/db");
  ASSERT_TRUE(replay.status.ok()) << replay.status;
  EXPECT_TRUE(replay.tail.clean);
  EXPECT_EQ(replay.tail.synced_manifest_end, (SyncedManifestEnd{.number = 3, .bytes = 210'500}));
  const std::vector<std::string> batches = BatchesToday();
  ASSERT_EQ(replay.records.size(), batches.size());
  for (size_t i = 0; i < batches.size(); ++i) {
    EXPECT_EQ(replay.records[i].sequence, i + 1);
    EXPECT_TRUE(replay.records[i].payload == batches[i])
        << "batch " << i << " is written in other bytes than it was";
  }
  EXPECT_EQ(DumpFile(&files, kSegment, true).value(), ReadGolden("000001.log.txt"));
}

}  // namespace
}  // namespace stele::internal
