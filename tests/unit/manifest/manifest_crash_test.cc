// Tests a crash before every call, and a fault in every call, of creating, appending to, switching
// and recovering manifests. After a crash the database has every acknowledged edit and at most one
// more, or it was never created. A failed call leaves a log that reports the failure.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/status.h"
#include "io/file_names.h"
#include "manifest/manifest_log.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

constexpr ManifestOptions kSmallest{.bytes_min = 1200, .snapshot_multiple = 1};
// The same with edits of several records.
constexpr ManifestOptions kInParts{.bytes_min = 3000, .snapshot_multiple = 1, .part_bytes = 100};
constexpr int kEditCount = 14;

// Returns the version's text without the numbers that a switch of manifests changes.
std::string TextOf(const Version& version) {
  const std::string text = VersionText(version);
  return fmt::format("last_sequence={} clock_mark={}\n{}", version.last_sequence,
                     version.clock_mark, text.substr(text.find('\n') + 1));
}

struct Work {
  bool created = false;
  absl::Status created_status;
  std::vector<std::string> acked;  // versions; the first is empty
  std::string attempted;           // the version after the edit that failed
  absl::Status failure;
  bool poisoned = false;
  int acked_after_failure = 0;
};

// Creates a database and appends edits. After a failure it appends the same edit again, as a retry
// does.
Work WriteHistory(CrashFileSystem* files, const ManifestOptions& options = kSmallest) {
  Work work;
  auto log = ManifestLog::Create(files, "/db", 77, 1, Version(), options);
  work.created_status = log.status();
  if (!log.ok()) return work;
  work.created = true;
  work.acked.push_back(TextOf(*(*log)->version()));
  VersionHistory history(12);
  for (int step = 0; step < kEditCount; ++step) {
    const Edit edit = history.Next();
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto version = (*log)->Append(edit);
      if (version.ok()) {
        work.acked.push_back(TextOf(**version));
        work.acked_after_failure += work.failure.ok() ? 0 : 1;
        break;
      }
      work.failure = version.status();
      work.attempted = TextOf(*history.version());
    }
    if (!work.failure.ok() && (*log)->poisoned()) break;
  }
  work.poisoned = (*log)->poisoned();
  return work;
}

// A reopening must find the last acknowledged version, or the one of the edit in progress.
void CheckReopened(CrashFileSystem* files, const Work& work, const std::string& where) {
  const auto state = InspectDirectory(files, "/db");
  ASSERT_TRUE(state.ok()) << where << ": " << state.status();
  if (*state != DirectoryState::kDatabase) {
    ASSERT_FALSE(work.created) << where << ": an acked database is gone";
    ASSERT_NE(*state, DirectoryState::kMissing) << where;
    const auto log = ManifestLog::Create(files, "/db", 78, 1, Version());
    ASSERT_TRUE(log.ok()) << where << ": " << log.status();
    return;
  }
  const auto read_only = ManifestLog::Recover(files, "/db", true, kSmallest);
  ASSERT_TRUE(read_only.ok()) << where << ": " << read_only.status();
  const std::string text = TextOf(*read_only->version);
  if (work.created) {
    ASSERT_TRUE(text == work.acked.back() || text == work.attempted) << where << "\n" << text;
  } else {
    ASSERT_TRUE(read_only->version->tables.empty()) << where;
  }
  const auto recovered = ManifestLog::Recover(files, "/db", false, kSmallest);
  ASSERT_TRUE(recovered.ok()) << where << ": " << recovered.status();
  ASSERT_EQ(TextOf(*recovered->version), text) << where;
  // The recovered state is durable: a power loss changes nothing.
  const auto lost_power = files->Crash(CrashPolicy::DropUnsynced(), 1);
  const auto again = ManifestLog::Recover(lost_power.get(), "/db", true, kSmallest);
  ASSERT_TRUE(again.ok()) << where << ": " << again.status();
  ASSERT_EQ(TextOf(*again->version), text) << where;
}

std::unique_ptr<CrashFileSystem> NewFiles() {
  auto files = std::make_unique<CrashFileSystem>();
  EXPECT_TRUE(files->CreateDirectory("/db").ok());
  EXPECT_TRUE(files->SyncDirectory("/").ok());
  return files;
}

class ManifestCrashOptionsTest : public ::testing::TestWithParam<ManifestOptions> {};
INSTANTIATE_TEST_SUITE_P(WholeAndInParts, ManifestCrashOptionsTest,
                         ::testing::Values(kSmallest, kInParts), [](const auto& test) {
                           return test.param.part_bytes == kInParts.part_bytes ? "Parts" : "Whole";
                         });

TEST_P(ManifestCrashOptionsTest, ACrashBeforeEveryCall) {
  auto whole = NewFiles();
  const uint64_t first_call = whole->calls() + 1;
  const Work all = WriteHistory(whole.get(), GetParam());
  ASSERT_TRUE(all.created && all.failure.ok());
  const uint64_t calls = whole->calls();
  int image_count = 0;
  for (uint64_t call = first_call; call <= calls + 1; ++call) {
    auto files = NewFiles();
    files->SetCrashAtCall(call);
    Work work = WriteHistory(files.get(), GetParam());
    if (work.attempted.empty() && !work.acked.empty()) work.attempted = work.acked.back();
    for (uint64_t seed = 0; seed < 14; ++seed) {
      const CrashPolicy policy = seed == 0   ? CrashPolicy::KilledProcess()
                                 : seed == 1 ? CrashPolicy::DropUnsynced()
                                 : seed == 2 ? CrashPolicy::KeepAll()
                                 : seed < 9  ? CrashPolicy::PowerLoss()
                                             : CrashPolicy::Random(seed);
      const auto image = files->Crash(policy, seed * 1000 + call);
      CheckReopened(image.get(), work, fmt::format("call {} seed {}", call, seed));
      if (HasFatalFailure()) return;
      ++image_count;
    }
  }
  EXPECT_GT(image_count, 500);
}

// With and without an edit that was interrupted.
TEST_P(ManifestCrashOptionsTest, ACrashBeforeEveryCallOfRecovery) {
  auto whole = NewFiles();
  Work work = WriteHistory(whole.get(), GetParam());
  work.attempted = work.acked.back();
  const auto killed = whole->Crash(CrashPolicy::KilledProcess(), 0);
  const std::string name = JoinPath(
      "/db", ManifestName(ManifestLog::Recover(killed.get(), "/db", true)->manifest_number));
  ASSERT_TRUE(killed->WriteFile(name, *killed->ReadFile(name) + std::string(700, 'x')).ok());
  for (uint64_t call = 1;; ++call) {
    const auto files = killed->Crash(CrashPolicy::KeepAll(), 0);
    files->SetCrashAtCall(files->calls() + call);
    const bool finished =
        ManifestLog::Recover(files.get(), "/db", false, GetParam()).ok() && !files->crashed();
    for (uint64_t seed = 0; seed < 14; ++seed) {
      const auto image =
          files->Crash(seed < 8 ? CrashPolicy::PowerLoss() : CrashPolicy::Random(seed), seed);
      CheckReopened(image.get(), work, fmt::format("recovery call {} seed {}", call, seed));
      if (HasFatalFailure()) return;
    }
    if (finished) break;
    ASSERT_LT(call, 100u);
  }
}

// If an edit of several records cannot be written completely, none of its records remains, and the
// edit can be retried.
TEST(ManifestCrashTest, AnEditInPartsIsUndoneAtEachOfThem) {
  for (uint64_t part = 1;; ++part) {
    auto files = NewFiles();
    const auto log =
        ManifestLog::Create(files.get(), "/db", 77, 1, Version(), {.part_bytes = 40}).value();
    VersionHistory history(12);
    const Edit edit = history.Next();
    const std::string before = *files->ReadFile("/db/MANIFEST-000001");
    files->FailKind(CallKind::kWrite, part, {.error_number = ENOSPC, .partial = true});
    if (log->Append(edit).ok()) {
      ASSERT_GT(part, 2u) << "it takes several records";
      break;
    }
    ASSERT_EQ(*files->ReadFile("/db/MANIFEST-000001"), before);
    ASSERT_TRUE(log->Append(edit).ok());
    ASSERT_EQ(TextOf(*ManifestLog::Recover(files.get(), "/db", true)->version),
              TextOf(*history.version()));
  }
}

// Recovery needs no space: it continues in the existing manifest. So does Append while a new
// manifest cannot be created.
TEST(ManifestCrashTest, AFullDiskDoesNotKeepADatabaseFromOpening) {
  auto files = NewFiles();
  const Work work = WriteHistory(files.get());
  const auto killed = files->Crash(CrashPolicy::KilledProcess(), 0);
  const uint64_t number = ManifestLog::Recover(killed.get(), "/db", true)->manifest_number;
  const std::string path = JoinPath("/db", ManifestName(number));
  const std::string whole = *killed->ReadFile(path);
  ASSERT_TRUE(killed->WriteFile(path, whole + "torn").ok());
  killed->SetCapacity(killed->used_bytes());
  auto recovered = ManifestLog::Recover(killed.get(), "/db", false, kSmallest);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  EXPECT_EQ(recovered->manifest_number, number);
  EXPECT_EQ(recovered->discarded_bytes, 4u);
  EXPECT_EQ(TextOf(*recovered->version), work.acked.back());
  EXPECT_EQ(*killed->ReadFile(path), whole);
  // There is room for edits, but not for a snapshot next to the existing manifest.
  for (int i = 0; i < 40; ++i) {
    killed->SetCapacity(killed->used_bytes() + 100);
    Edit edit;
    edit.last_sequence = 1'000 + static_cast<uint64_t>(i);
    const auto appended = recovered->log->Append(edit);
    ASSERT_TRUE(appended.ok()) << i << ": " << appended.status();
  }
  EXPECT_EQ(recovered->log->number(), number);
  killed->SetCapacity(UINT64_MAX);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(recovered->log->Append(Edit()).ok());
  EXPECT_GT(recovered->log->number(), number) << "a switch is tried again";
}

// Makes one call fail at each place. The log either continues, or is poisoned and acknowledges
// nothing more. The state on disk is as after a crash.
void FailEveryCall(int error_number, bool partial, FailedSync mode) {
  auto whole = NewFiles();
  const uint64_t first_call = whole->calls() + 1;
  WriteHistory(whole.get());
  const uint64_t calls = whole->calls();
  int poisoned_count = 0;
  int survived_count = 0;
  for (uint64_t call = first_call; call <= calls; ++call) {
    auto files = NewFiles();
    files->SetFailedSync(mode);
    files->FailCall(call, {.error_number = error_number, .partial = partial});
    const Work work = WriteHistory(files.get());
    const std::string where =
        fmt::format("call {} error {} partial {}", call, error_number, partial);
    poisoned_count += work.poisoned ? 1 : 0;
    survived_count += work.acked_after_failure > 0 ? 1 : 0;
    if (work.poisoned) {
      ASSERT_EQ(work.acked_after_failure, 0) << where;
    } else if (work.created) {
      ASSERT_EQ(work.acked.size(), 1u + kEditCount) << where << ": " << work.failure;
    }
    files->ClearFaults();
    for (uint64_t seed = 0; seed < 6; ++seed) {
      const CrashPolicy policy = seed == 0   ? CrashPolicy::KilledProcess()
                                 : seed == 1 ? CrashPolicy::DropUnsynced()
                                             : CrashPolicy::PowerLoss();
      const auto image = files->Crash(policy, seed);
      CheckReopened(image.get(), work, fmt::format("{} seed {}", where, seed));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(poisoned_count, kEditCount);
  EXPECT_GT(survived_count, kEditCount / 2) << "a failed write is undone";
}

TEST(ManifestCrashTest, AnErrorInEveryCall) { FailEveryCall(EIO, false, FailedSync::kCleanNew); }
TEST(ManifestCrashTest, AFullDiskInEveryCall) {
  FailEveryCall(ENOSPC, true, FailedSync::kCleanNew);
}
TEST(ManifestCrashTest, AnErrorInEveryCallThatLosesCachedPages) {
  FailEveryCall(EIO, true, FailedSync::kCleanOld);
}

TEST(ManifestCrashTest, AFailedWriteIsUndone) {
  auto files = NewFiles();
  const auto log = ManifestLog::Create(files.get(), "/db", 77, 1, Version()).value();
  VersionHistory history(12);
  const Edit edit = history.Next();
  const uint64_t bytes = files->Stat("/db/MANIFEST-000001")->bytes;
  files->FailKind(CallKind::kWrite, 1, {.error_number = ENOSPC, .partial = true});
  EXPECT_TRUE(absl::IsResourceExhausted(log->Append(edit).status()));
  EXPECT_EQ(files->Stat("/db/MANIFEST-000001")->bytes, bytes)
      << "what was written of it must not come back after a crash";
  EXPECT_FALSE(log->poisoned());
  EXPECT_TRUE(log->Append(edit).ok());

  const Edit next = history.Next();
  files->FailKind(CallKind::kWrite, 1, {.error_number = ENOSPC, .partial = true});
  files->FailKind(CallKind::kTruncate, 1, {.error_number = EIO});
  const absl::Status first = log->Append(next).status();
  EXPECT_TRUE(log->poisoned());
  EXPECT_EQ(log->Append(next).status(), first) << "the first error stays";
}

// An edit with a table whose definition takes several pages of the page cache.
Edit BigEdit(uint32_t table_id) {
  Schema schema;
  schema.AddFamily("cf").SetProperty("big", std::string(20'000, static_cast<char>('a' + table_id)));
  Edit edit;
  edit.tables.push_back(NewTable(
      MakeDefinition(table_id, fmt::format("t{}", table_id), 1, schema, {{table_id, "cf"}})));
  edit.next_table_id = edit.next_family_id = table_id + 1;
  return edit;
}

// After a failed sync the page cache has bytes that no later sync writes. A reopening must not rely
// on them.
TEST(ManifestCrashTest, WhatAFailedSyncLeftInTheCacheIsWrittenAnew) {
  auto files = NewFiles();
  files->SetFailedSync(FailedSync::kCleanNew);
  {
    const auto log = ManifestLog::Create(files.get(), "/db", 77, 1, Version()).value();
    ASSERT_TRUE(log->Append(BigEdit(1)).ok());
    files->FailKind(CallKind::kSync, 1, {.error_number = EIO});
    ASSERT_FALSE(log->Append(BigEdit(2)).ok());
    ASSERT_TRUE(log->poisoned());
  }
  files->ClearFaults();
  auto recovered = ManifestLog::Recover(files.get(), "/db", false);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  ASSERT_EQ(recovered->version->tables.size(), 2u) << "the cache showed it";
  ASSERT_TRUE(recovered->log->Append(BigEdit(3)).ok());
  const auto image = files->Crash(CrashPolicy::DropUnsynced(), 3);
  const auto again = ManifestLog::Recover(image.get(), "/db", true);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->version->tables.size(), 3u);
}

TEST(ManifestCrashTest, AFailedReadIsAnErrorAndNoLoss) {
  auto files = NewFiles();
  const Work work = WriteHistory(files.get());
  const uint64_t before = files->reads();
  ASSERT_TRUE(ManifestLog::Recover(files.get(), "/db", true, kSmallest).ok());
  const uint64_t reads = files->reads() - before;
  ASSERT_GT(reads, 3u);
  for (uint64_t read = 1; read <= reads; ++read) {
    files->FailRead(files->reads() + read, {.error_number = EIO});
    const auto recovered = ManifestLog::Recover(files.get(), "/db", true, kSmallest);
    EXPECT_TRUE(absl::IsUnavailable(recovered.status())) << read << ": " << recovered.status();
    files->ClearFaults();
  }
  const auto recovered = ManifestLog::Recover(files.get(), "/db", true, kSmallest);
  ASSERT_TRUE(recovered.ok());
  EXPECT_EQ(TextOf(*recovered->version), work.acked.back());
}

}  // namespace
}  // namespace stele::internal
