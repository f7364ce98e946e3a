// Tests CrashFileSystem with planted bugs. Each bug must be exposed by one kind of data loss. Every
// bug runs with all 256 combinations of a policy's switches. The combinations named by its
// `exposed_by` must break it with some seed, and all others with none. So every switch has an
// effect, no switch has the effect of another, and a removed switch is noticed.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/crash_fs/crash_file_system.h"
#include "support/io_open.h"

namespace stele::internal {
namespace {

struct PlantedBug {
  const char* name;
  std::function<void(CrashFileSystem&)> run;  // ends when the program believes its data to be safe
  // The property that the program relies on after the crash.
  std::function<bool(const CrashFileSystem&)> intact;
  std::function<bool(const CrashPolicy&)> exposed_by;
};
void PrintTo(const PlantedBug& bug, std::ostream* out) { *out << bug.name; }

void Write(CrashFileSystem& fs, const std::string& path, uint64_t offset, std::string_view bytes) {
  EXPECT_TRUE(Open(fs, path)->Write(offset, bytes).ok());
}
std::string Sector(char c) { return std::string(kSectorBytes, c); }
std::string SectorOf(const CrashFileSystem& fs, const std::string& path, size_t index) {
  return fs.ReadFile(path)->substr(index * kSectorBytes, kSectorBytes);
}

CrashPolicy PolicyOfSwitches(int switches) {
  CrashPolicy policy;
  policy.reorder_files = switches & 1;
  policy.lose_sectors = switches & 2;
  policy.stale_sectors = switches & 4;
  policy.tear_last_write = switches & 8;
  policy.tear_bytes = switches & 16;
  policy.lose_entries = switches & 32;
  policy.grow_zeros = switches & 64;
  policy.grow_garbage = switches & 128;
  return policy;
}

std::vector<PlantedBug> BugsWithNames() {
  return {
      {"RenameWithoutDirectorySync",
       [](CrashFileSystem& fs) {
         ASSERT_TRUE(fs.WriteFile("CURRENT", "old").ok());
         const std::unique_ptr<File> file = Open(fs, "CURRENT.tmp", OpenMode::kCreate);
         ASSERT_TRUE(file->Write(0, "new").ok());
         ASSERT_TRUE(file->Sync().ok());
         ASSERT_TRUE(fs.Rename("CURRENT.tmp", "CURRENT").ok());
       },
       [](const CrashFileSystem& fs) { return fs.ReadFile("CURRENT").value_or("") == "new"; },
       [](const CrashPolicy& policy) { return policy.lose_entries; }},

      {"NewFileWithoutDirectorySync",
       [](CrashFileSystem& fs) {
         const std::unique_ptr<File> file = Open(fs, "1.sst", OpenMode::kCreate);
         ASSERT_TRUE(file->Write(0, "table").ok());
         ASSERT_TRUE(file->Sync().ok());
       },
       [](const CrashFileSystem& fs) { return fs.ReadFile("1.sst").value_or("") == "table"; },
       [](const CrashPolicy& policy) { return policy.lose_entries; }},

      {"RemovedFileTakenAsGone",
       [](CrashFileSystem& fs) {
         ASSERT_TRUE(fs.WriteFile("1.log", "replayed twice").ok());
         ASSERT_TRUE(fs.Remove("1.log").ok());
       },
       [](const CrashFileSystem& fs) { return !fs.ReadFile("1.log").ok(); },
       [](const CrashPolicy& policy) { return policy.lose_entries; }},

  };
}

std::vector<PlantedBug> BugsWithWrites() {
  return {
      {"CommitInOneFileBeforeDataInAnotherIsSynced",
       [](CrashFileSystem& fs) {
         ASSERT_TRUE(fs.WriteFile("data", Sector(0)).ok());
         ASSERT_TRUE(fs.WriteFile("commit", Sector(0)).ok());
         Write(fs, "data", 0, "D");
         Write(fs, "commit", 0, "C");
       },
       [](const CrashFileSystem& fs) {
         return SectorOf(fs, "commit", 0)[0] != 'C' || SectorOf(fs, "data", 0)[0] == 'D';
       },
       [](const CrashPolicy& policy) { return policy.reorder_files || policy.lose_sectors; }},

      {"HeaderAfterDataWithoutSyncBetween",
       [](CrashFileSystem& fs) {
         ASSERT_TRUE(fs.WriteFile("log", Sector(0) + Sector(0)).ok());
         Write(fs, "log", kSectorBytes, "D");
         Write(fs, "log", 0, "H");
       },
       [](const CrashFileSystem& fs) {
         return SectorOf(fs, "log", 0)[0] != 'H' || SectorOf(fs, "log", 1)[0] == 'D';
       },
       [](const CrashPolicy& policy) { return policy.lose_sectors; }},

      {"LongWriteTakenAsAtomic",
       [](CrashFileSystem& fs) {
         ASSERT_TRUE(fs.WriteFile("log", std::string(3 * kSectorBytes, '\0')).ok());
         Write(fs, "log", 0, std::string(3 * kSectorBytes, 'N'));
       },
       [](const CrashFileSystem& fs) {
         return SectorOf(fs, "log", 0) == SectorOf(fs, "log", 1) &&
                SectorOf(fs, "log", 1) == SectorOf(fs, "log", 2);
       },
       [](const CrashPolicy& policy) { return policy.tear_last_write || policy.lose_sectors; }},

      {"NumberInsideASectorTakenAsAtomic",
       [](CrashFileSystem& fs) {
         ASSERT_TRUE(fs.WriteFile("log", Sector(0)).ok());
         Write(fs, "log", 0, Sector('N'));
       },
       [](const CrashFileSystem& fs) {
         return SectorOf(fs, "log", 0).front() == SectorOf(fs, "log", 0).back();
       },
       [](const CrashPolicy& policy) { return policy.tear_last_write && policy.tear_bytes; }},

  };
}

std::vector<PlantedBug> BugsWithSizesAndReuse() {
  return {
      {"FileSizeTrusted",
       [](CrashFileSystem& fs) {
         ASSERT_TRUE(fs.WriteFile("log", "").ok());
         Write(fs, "log", 0, Sector('R'));
         Write(fs, "log", kSectorBytes, Sector('R'));
       },
       [](const CrashFileSystem& fs) {
         const size_t record_count = fs.ReadFile("log")->size() / kSectorBytes;
         for (size_t i = 0; i < record_count; ++i) {
           if (SectorOf(fs, "log", i) != Sector('R')) return false;
         }
         return true;
       },
       [](const CrashPolicy& policy) {
         return policy.grow_zeros || policy.grow_garbage || policy.lose_sectors;
       }},

      {"WhatIsNotZeroTakenAsARecord",
       [](CrashFileSystem& fs) {
         ASSERT_TRUE(fs.WriteFile("log", "").ok());
         Write(fs, "log", 0, Sector('R'));
         Write(fs, "log", kSectorBytes, Sector('R'));
       },
       [](const CrashFileSystem& fs) {
         const size_t record_count = fs.ReadFile("log")->size() / kSectorBytes;
         for (size_t i = 0; i < record_count && SectorOf(fs, "log", i)[0] != '\0'; ++i) {
           if (SectorOf(fs, "log", i) != Sector('R')) return false;
         }
         return true;
       },
       [](const CrashPolicy& policy) {
         return policy.grow_garbage ||
                (policy.grow_zeros && policy.tear_last_write && policy.tear_bytes);
       }},

      {"RecycledFileWithoutNonce",
       // An end mark vouches for the records before it, which contain only their own position.
       [](CrashFileSystem& fs) {
         ASSERT_TRUE(fs.WriteFile("1.log", Sector('O') + Sector('O') + Sector(0)).ok());
         ASSERT_TRUE(fs.Rename("1.log", "2.log").ok());
         ASSERT_TRUE(fs.SyncDirectory("/").ok());
         Write(fs, "2.log", 0, Sector('N'));
         Write(fs, "2.log", kSectorBytes, Sector('N'));
         Write(fs, "2.log", 2 * kSectorBytes, "E");
       },
       [](const CrashFileSystem& fs) {
         if (SectorOf(fs, "2.log", 2)[0] != 'E') return true;
         return SectorOf(fs, "2.log", 0) == Sector('N') && SectorOf(fs, "2.log", 1) == Sector('N');
       },
       [](const CrashPolicy& policy) { return policy.stale_sectors; }},
  };
}

std::vector<PlantedBug> PlantedBugs() {
  std::vector<PlantedBug> bugs = BugsWithNames();
  for (const auto& more : {BugsWithWrites(), BugsWithSizesAndReuse()})
    bugs.insert(bugs.end(), more.begin(), more.end());
  return bugs;
}

// Returns the seed of an image that breaks the program, or -1.
int BreakingSeed(const PlantedBug& bug, const CrashFileSystem& fs, const CrashPolicy& policy,
                 int seed_count) {
  for (int seed = 0; seed < seed_count; ++seed) {
    if (!bug.intact(*fs.Crash(policy, static_cast<uint64_t>(seed)))) return seed;
  }
  return -1;
}

class PlantedBugTest : public testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugTest, IsShownByItsSwitchesAndByNoOthers) {
  const PlantedBug& bug = GetParam();
  CrashFileSystem fs;
  bug.run(fs);
  for (int switches = 0; switches < 256; ++switches) {
    const CrashPolicy policy = PolicyOfSwitches(switches);
    const bool exposed = bug.exposed_by(policy);
    const int seed = BreakingSeed(bug, fs, policy, exposed ? 1000 : 60);
    EXPECT_EQ(seed >= 0, exposed) << "switches " << switches << " seed " << seed;
  }
}

TEST_P(PlantedBugTest, IsShownByAPowerLossAndByRandomPoliciesButNotByAKill) {
  const PlantedBug& bug = GetParam();
  CrashFileSystem fs;
  bug.run(fs);
  EXPECT_GE(BreakingSeed(bug, fs, CrashPolicy::PowerLoss(), 1000), 0);
  EXPECT_EQ(BreakingSeed(bug, fs, CrashPolicy::KilledProcess(), 10), -1);
  EXPECT_EQ(BreakingSeed(bug, fs, CrashPolicy::KeepAll(), 10), -1);
  bool shown = false;
  for (uint64_t seed = 0; seed < 2000 && !shown; ++seed)
    shown = !bug.intact(*fs.Crash(CrashPolicy::Random(seed), seed));
  EXPECT_TRUE(shown);
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBugTest, testing::ValuesIn(PlantedBugs()),
                         [](const testing::TestParamInfo<PlantedBug>& info) {
                           return std::string(info.param.name);
                         });

TEST(CrashPolicyTest, ForgottenSyncIsShownByWhatIsKept) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("log", "").ok());
  Write(fs, "log", 0, "acked");
  const auto lost_with = [&](CrashPolicy::Keep keep) {
    for (uint64_t seed = 0; seed < 100; ++seed) {
      if (*fs.Crash({.keep = keep}, seed)->ReadFile("log") != "acked") return true;
    }
    return false;
  };
  EXPECT_TRUE(lost_with(CrashPolicy::Keep::kNothing));
  EXPECT_TRUE(lost_with(CrashPolicy::Keep::kPrefix));
  EXPECT_FALSE(lost_with(CrashPolicy::Keep::kEverything));
  EXPECT_FALSE(lost_with(CrashPolicy::Keep::kPageCache));
}

// The correct version of the program: no crash at any time may break it.
absl::Status ReplaceCurrent(CrashFileSystem& fs, std::string_view bytes) {
  absl::StatusOr<std::unique_ptr<File>> file = fs.Open("CURRENT.tmp", OpenMode::kCreate);
  if (!file.ok()) return file.status();
  for (const absl::Status& status : {(*file)->Write(0, bytes), (*file)->Sync(),
                                     fs.SyncDirectory("/"), fs.Rename("CURRENT.tmp", "CURRENT")}) {
    if (!status.ok()) return status;
  }
  return fs.SyncDirectory("/");
}

TEST(CrashPolicyTest, SoundProtocolSurvivesACrashAtEveryCall) {
  const std::string old_bytes(700, 'o');
  const std::string new_bytes(1500, 'n');
  bool acked = false;
  for (uint64_t call = 1; !acked; ++call) {
    CrashFileSystem fs;
    ASSERT_TRUE(fs.WriteFile("CURRENT", old_bytes).ok());
    fs.SetCrashAtCall(call);
    acked = ReplaceCurrent(fs, new_bytes).ok();
    EXPECT_EQ(fs.crashed(), !acked);
    bool seen_old = false;
    for (uint64_t seed = 0; seed < 300; ++seed) {
      const CrashPolicy policy =
          seed % 2 == 0 ? CrashPolicy::PowerLoss() : CrashPolicy::Random(seed);
      const std::string bytes = fs.Crash(policy, seed)->ReadFile("CURRENT").value_or("(missing)");
      ASSERT_TRUE(bytes == new_bytes || (!acked && bytes == old_bytes))
          << "call " << call << " seed " << seed;
      seen_old = seen_old || bytes == old_bytes;
    }
    EXPECT_EQ(seen_old, !acked);
  }
}

}  // namespace
}  // namespace stele::internal
