// Tests the replay, with a small memory budget, of a log written with a large one. Memory stays
// within the budget, nothing is lost, and nothing is applied twice, also if the replay is
// interrupted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "db/engine.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr int kBatches = 30;

EngineOptions Large(FileSystem* files) {
  EngineOptions options = SmallEngineOptions(files);
  options.sizes.memtable_bytes = 64 << 20;
  options.sizes.write_memory_bytes = 256 << 20;
  options.sizes.log_bytes_max = 256 << 20;
  return options;
}

EngineOptions Small(FileSystem* files) {
  EngineOptions options = SmallEngineOptions(files);
  options.sizes.memtable_bytes = 16 << 10;
  options.sizes.write_memory_bytes = 48 << 10;
  return options;
}

// Writes batches over two tables, flushes one table in the middle, and kills the process. Returns
// the contents.
std::string FillAndKill(std::unique_ptr<CrashFileSystem>* killed, size_t value_bytes) {
  CrashFileSystem files;
  WorkloadDatabase database(Large(&files), "/db");
  EXPECT_EQ(database.Open(), absl::OkStatus());
  Table a = *database.database().CreateTable("a", Schema().AddFamily("f").AddFamily("g"));
  Table b = *database.database().CreateTable("b", Schema().AddFamily("f").AddFamily("g"));
  for (int i = 0; i < kBatches; ++i) {
    const auto mutation = [i, value_bytes](std::string_view table) {
      return RowMutation(fmt::format("row{:03}", i))
          .SetCell("f", table, Timestamp::FromMicros(1000), std::string(value_bytes, 'v'));
    };
    EXPECT_EQ(database.database().Apply(WriteBatch().Add(a, mutation("a")).Add(b, mutation("b"))),
              absl::OkStatus());
    if (i == kBatches / 3) {
      EXPECT_EQ(a.Flush(), absl::OkStatus());
    }
  }
  *killed = files.Crash(CrashPolicy::KilledProcess(), 1);
  return DumpDatabase(database.database()).value_or("unreadable");
}

uint64_t CellsOf(Database& database) {
  uint64_t cells = 0;
  for (const char* name : {"a", "b"})
    cells += database.OpenTable(name)->Stats().value_or(TableStats()).cells;
  return cells;
}

TEST(RecoveryMemoryTest, ASmallerBudgetIsKeptWhileTheLogIsReplayed) {
  std::unique_ptr<CrashFileSystem> files;
  const std::string contents = FillAndKill(&files, 4000);
  int flushes = 0;
  EngineOptions options = Small(files.get());
  options.database.on_event = [&flushes](const DatabaseEvent& event) {
    flushes += event.kind == DatabaseEvent::Kind::kFlush ? 1 : 0;
  };
  WorkloadDatabase database(options, "/db");
  ASSERT_EQ(database.Open(), absl::OkStatus());
  EXPECT_LE(database.engine().storage().state.memtable_bytes(), options.sizes.write_memory_bytes);
  EXPECT_GT(flushes, 4) << "the log holds several times what the memtables may";
  EXPECT_EQ(DumpDatabase(database.database()).value_or("unreadable"), contents);
  EXPECT_EQ(CellsOf(database.database()), 2u * kBatches);
  // A later commit gets a new sequence number and survives.
  ASSERT_EQ(database.WriteProbe("v"), absl::OkStatus());
  const std::string now = DumpDatabase(database.database()).value_or("unreadable");
  const auto image = files->Crash(CrashPolicy::DropUnsynced(), 1);
  WorkloadDatabase again(Large(image.get()), "/db");
  ASSERT_EQ(again.Open(), absl::OkStatus());
  EXPECT_EQ(DumpDatabase(again.database()).value_or("unreadable"), now);
}

// A crash at every third call of such a replay. The log must not release records that were not
// applied yet.
TEST(RecoveryMemoryTest, ACrashDuringTheReplayLosesNothing) {
  std::unique_ptr<CrashFileSystem> killed;
  const std::string contents = FillAndKill(&killed, 4000);
  int images = 0;
  for (uint64_t call = 1;; call += 3) {
    const auto files = killed->Crash(CrashPolicy::KilledProcess(), 1);
    files->SetCrashAtCall(files->calls() + call);
    const bool finished = [&] {
      WorkloadDatabase database(Small(files.get()), "/db");
      return database.Open().ok();
    }() && !files->crashed();
    for (uint64_t seed = 1; seed <= 3; ++seed, ++images) {
      const CrashPolicy policy = seed == 1   ? CrashPolicy::KilledProcess()
                                 : seed == 2 ? CrashPolicy::DropUnsynced()
                                             : CrashPolicy::Random(call);
      const auto image = files->Crash(policy, seed * 1000 + call);
      WorkloadDatabase again(seed == 3 ? Large(image.get()) : Small(image.get()), "/db");
      ASSERT_EQ(again.Open(), absl::OkStatus()) << "call " << call << " seed " << seed;
      ASSERT_EQ(DumpDatabase(again.database()).value_or("unreadable"), contents)
          << "call " << call << " seed " << seed;
      ASSERT_EQ(CellsOf(again.database()), 2u * kBatches) << "call " << call << " seed " << seed;
    }
    if (finished) break;
    ASSERT_LT(call, 1000u);
  }
  EXPECT_GT(images, 60);
}

// On a disk without room for files, data that fits into the budget next to the cache stays in
// memory. More data is rejected, and nothing is lost.
TEST(RecoveryMemoryTest, AFullDiskIsNoReasonToRefuseWhatFitsTheBudget) {
  std::unique_ptr<CrashFileSystem> files;
  const std::string contents = FillAndKill(&files, 8000);
  for (const bool fits : {true, false}) {
    EngineOptions options = Small(files.get());
    options.database.memory_budget_bytes = fits ? 64 << 20 : 256 << 10;
    files->FailKind(CallKind::kCreate, 1,
                    Fault{.error_number = ENOSPC, .sticky = true, .path_part = ".sst"});
    WorkloadDatabase database(options, "/db");
    const absl::Status opened = database.Open();
    EXPECT_EQ(opened.code(), fits ? absl::StatusCode::kOk : absl::StatusCode::kResourceExhausted)
        << opened;
    if (fits) {
      EXPECT_EQ(DumpDatabase(database.database()).value_or("unreadable"), contents);
    }
    database.Drop();
    files->ClearFaults();
  }
  WorkloadDatabase database(Small(files.get()), "/db");
  ASSERT_EQ(database.Open(), absl::OkStatus());
  EXPECT_EQ(DumpDatabase(database.database()).value_or("unreadable"), contents);
}

TEST(RecoveryMemoryTest, AReaderRefusesALogThatDoesNotFit) {
  std::unique_ptr<CrashFileSystem> files;
  const std::string contents = FillAndKill(&files, 8000);
  EngineOptions options = Small(files.get());
  options.database.read_only = true;
  options.database.memory_budget_bytes = 256 << 10;
  {
    WorkloadDatabase reader(options, "/db");
    const absl::Status refused = reader.Open();
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  }
  options.database.memory_budget_bytes = 64 << 20;
  WorkloadDatabase reader(options, "/db");
  ASSERT_EQ(reader.Open(), absl::OkStatus());
  EXPECT_EQ(DumpDatabase(reader.database()).value_or("unreadable"), contents);
}

}  // namespace
}  // namespace stele::internal
