// Tests the permitted contents of crash images against a plain record of every sector's versions.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/io_open.h"

namespace stele::internal {
namespace {

std::string ImageOf(const CrashFileSystem& fs, const CrashPolicy& policy, uint64_t seed,
                    const std::string& path) {
  return fs.Crash(policy, seed)->ReadFile(path).value_or("(missing)");
}

// Records every version that each sector of one file had since the last sync.
class SectorHistory {
 public:
  void Write(size_t offset, const std::string& bytes) {
    if (live_.size() < offset + bytes.size()) live_.resize(offset + bytes.size(), '\0');
    for (size_t i = 0; i < bytes.size(); ++i) {
      live_[offset + i] = bytes[i];
      if (i + 1 == bytes.size() || (offset + i + 1) % kSectorBytes == 0)
        Remember((offset + i) / kSectorBytes);
    }
  }
  void Sync() {
    versions_.clear();
    synced_ = live_;
    for (size_t sector = 0; sector * kSectorBytes < live_.size(); ++sector) Remember(sector);
  }
  // Returns "" if `image` is possible, else the reason why it is not.
  std::string Explain(const std::string& image) const {
    if (image.size() < synced_.size()) return "shorter than what was synced";
    if (image.size() > live_.size()) return "longer than the file ever was";
    for (size_t sector = 0; sector * kSectorBytes < image.size(); ++sector) {
      const std::string bytes = image.substr(sector * kSectorBytes, kSectorBytes);
      if (!IsAVersion(sector, bytes))
        return "sector " + std::to_string(sector) + " never looked like this";
    }
    return "";
  }
  const std::string& live() const { return live_; }
  const std::string& synced() const { return synced_; }

 private:
  void Remember(size_t sector) {
    versions_[sector].push_back(live_.substr(sector * kSectorBytes, kSectorBytes));
  }
  static bool SameButForZeros(std::string_view shorter, std::string_view longer) {
    return longer.substr(0, shorter.size()) == shorter &&
           longer.find_first_not_of('\0', shorter.size()) == std::string_view::npos;
  }
  bool IsAVersion(size_t sector, const std::string& bytes) const {
    if (bytes.find_first_not_of('\0') == std::string::npos &&
        sector * kSectorBytes >= synced_.size())
      return true;
    const auto found = versions_.find(sector);
    if (found == versions_.end()) return false;
    for (const std::string& version : found->second) {
      // The file's size is independent of its contents: it may cut a version, or extend it with
      // zeros.
      if (version.size() <= bytes.size() ? SameButForZeros(version, bytes)
                                         : SameButForZeros(bytes, version))
        return true;
    }
    return false;
  }

  std::string live_;
  std::string synced_;
  std::map<size_t, std::vector<std::string>> versions_;
};

TEST(CrashImages, EverySectorIsOneOfItsVersions) {
  CrashPolicy policy = CrashPolicy::PowerLoss();
  policy.tear_bytes = false;
  policy.grow_garbage = false;
  Random random(7);
  std::set<std::string> distinct;
  for (int round = 0; round < 30; ++round) {
    CrashFileSystem fs;
    SectorHistory history;
    ASSERT_TRUE(fs.WriteFile("f", "").ok());
    const std::unique_ptr<File> file = Open(fs, "f");
    for (int step = 0; step < 30; ++step) {
      const std::string bytes(1 + random.Below(1500), static_cast<char>('A' + random.Below(50)));
      const size_t offset =
          random.OneIn(2) ? history.live().size() : random.Below(history.live().size() + 1);
      ASSERT_TRUE(file->Write(offset, bytes).ok());
      history.Write(offset, bytes);
      if (random.OneIn(8)) {
        ASSERT_TRUE(file->Sync().ok());
        history.Sync();
      }
      for (uint64_t seed = 0; seed < 10; ++seed) {
        const std::string image = ImageOf(fs, policy, random.Next(), "f");
        ASSERT_EQ(history.Explain(image), "") << "round " << round << " step " << step;
        distinct.insert(image);
      }
    }
    EXPECT_EQ(ImageOf(fs, CrashPolicy::DropUnsynced(), 1, "f"), history.synced());
    EXPECT_EQ(ImageOf(fs, CrashPolicy::KeepAll(), 1, "f"), history.live());
    EXPECT_EQ(ImageOf(fs, CrashPolicy::KilledProcess(), 1, "f"), history.live());
  }
  EXPECT_GT(distinct.size(), 2500u);  // of 9,000: a policy with little variety finds few bugs
}

TEST(CrashImages, SyncedBytesAndNamesSurviveEverything) {
  CrashFileSystem fs;
  const std::unique_ptr<File> file = Open(fs, "f", OpenMode::kCreate);
  std::string bytes(3000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
  ASSERT_TRUE(file->Write(0, bytes).ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  ASSERT_TRUE(file->Write(3000, bytes).ok());  // unsynced, in the same sector as synced data
  for (uint64_t seed = 0; seed < 500; ++seed) {
    ASSERT_EQ(ImageOf(fs, CrashPolicy::PowerLoss(), seed, "f").substr(0, 3000), bytes) << seed;
    ASSERT_EQ(ImageOf(fs, CrashPolicy::Random(seed), seed, "f").substr(0, 3000), bytes) << seed;
  }
}

TEST(CrashImages, SameSeedSameImage) {
  CrashFileSystem fs;
  Random random(3);
  for (const char* name : {"a", "b", "c"}) {
    const std::unique_ptr<File> file = Open(fs, name, OpenMode::kCreate);
    for (int i = 0; i < 20; ++i)
      ASSERT_TRUE(file->Write(random.Below(5000), std::string(random.Below(2000), 'x')).ok());
  }
  const auto describe = [](CrashFileSystem& image) {
    std::string all;
    const std::vector<std::string> names = image.List("/").value();
    for (const std::string& name : names) all += name + "=" + image.ReadFile(name).value() + ";";
    return all;
  };
  std::set<std::string> distinct;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string first = describe(*fs.Crash(CrashPolicy::PowerLoss(), seed));
    EXPECT_EQ(first, describe(*fs.Crash(CrashPolicy::PowerLoss(), seed)));
    distinct.insert(first);
  }
  EXPECT_GT(distinct.size(), 20u);
}

TEST(CrashImages, ImagesAndTheirSourceGoTheirOwnWays) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("f", "source").ok());
  const std::unique_ptr<File> file = Open(fs, "f");
  const std::unique_ptr<CrashFileSystem> first = fs.Crash(CrashPolicy::KeepAll(), 1);
  const std::unique_ptr<CrashFileSystem> second = fs.Crash(CrashPolicy::KeepAll(), 1);
  ASSERT_TRUE(file->Write(0, "SOURCE").ok());
  ASSERT_TRUE(Open(*first, "f")->Write(0, "first!").ok());
  ASSERT_TRUE(first->Remove("f").ok());
  EXPECT_EQ(*fs.ReadFile("f"), "SOURCE");
  EXPECT_EQ(*second->ReadFile("f"), "source");
  EXPECT_FALSE(first->ReadFile("f").ok());
  // An image is completely synced, and can crash again.
  EXPECT_EQ(ImageOf(*second, CrashPolicy::DropUnsynced(), 1, "f"), "source");
  ASSERT_TRUE(Open(*second, "f")->Write(0, "S").ok());
  EXPECT_EQ(ImageOf(*second, CrashPolicy::DropUnsynced(), 1, "f"), "source");
  EXPECT_EQ(ImageOf(*second, CrashPolicy::KeepAll(), 1, "f"), "Source");
}

TEST(CrashImages, ImagesHoldNoLocksAndNoFaults) {
  CrashFileSystem fs;
  absl::StatusOr<std::unique_ptr<FileLock>> held = fs.Lock("LOCK", LockMode::kExclusive, "me");
  ASSERT_TRUE(held.ok());
  fs.FailKind(CallKind::kSync, 1, {.error_number = 5, .sticky = true});
  fs.SetCapacity(0);
  fs.SetCrashAtCall(fs.calls() + 1);
  ASSERT_FALSE(fs.Remove("LOCK").ok());
  const std::unique_ptr<CrashFileSystem> image = fs.Crash(CrashPolicy::KilledProcess(), 1);
  EXPECT_TRUE(image->Lock("LOCK", LockMode::kExclusive, "next").ok());
  const std::unique_ptr<File> file = Open(*image, "f", OpenMode::kCreate);
  EXPECT_TRUE(file->Write(0, "x").ok());
  EXPECT_TRUE(file->Sync().ok());
}

TEST(CrashImages, RenameIsNeverHalfDone) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectory("d").ok());
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  ASSERT_TRUE(fs.WriteFile("a", "moved").ok());
  ASSERT_TRUE(fs.Rename("a", "d/b").ok());
  int moved_count = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::unique_ptr<CrashFileSystem> image = fs.Crash(CrashPolicy::PowerLoss(), seed);
    const bool at_source = image->ReadFile("a").ok();
    const bool at_target = image->ReadFile("d/b").ok();
    ASSERT_NE(at_source, at_target) << seed;
    moved_count += at_target;
  }
  EXPECT_GT(moved_count, 0);
  EXPECT_LT(moved_count, 100);
  // The source directory's sync does not cover the target directory.
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  EXPECT_TRUE(fs.Crash(CrashPolicy::DropUnsynced(), 1)->ReadFile("a").ok());
  ASSERT_TRUE(fs.SyncDirectory("d").ok());
  const std::unique_ptr<CrashFileSystem> image = fs.Crash(CrashPolicy::DropUnsynced(), 1);
  EXPECT_TRUE(image->ReadFile("d/b").ok());
  EXPECT_FALSE(image->ReadFile("a").ok());
}

TEST(CrashImages, NamesDependOnEarlierChangesOfTheSameNames) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("x", "1").ok());
  ASSERT_TRUE(fs.Rename("x", "y").ok());
  ASSERT_TRUE(fs.Rename("y", "z").ok());
  { Open(fs, "other", OpenMode::kCreate); }
  std::set<std::string> places;
  bool other_without_rename = false;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::unique_ptr<CrashFileSystem> image = fs.Crash(CrashPolicy::PowerLoss(), seed);
    std::string place;
    for (const char* name : {"x", "y", "z"}) place += image->ReadFile(name).ok() ? name : "";
    ASSERT_EQ(place.size(), 1u) << place;
    places.insert(place);
    other_without_rename = other_without_rename || (place == "x" && image->ReadFile("other").ok());
  }
  EXPECT_EQ(places, (std::set<std::string>{"x", "y", "z"}));
  EXPECT_TRUE(other_without_rename);
}

TEST(CrashImages, DirectoryMustBeSyncedInItsParent) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectory("db").ok());
  const std::unique_ptr<File> file = Open(fs, "db/f", OpenMode::kCreate);
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(fs.SyncDirectory("db").ok());
  EXPECT_FALSE(fs.Crash(CrashPolicy::DropUnsynced(), 1)->Stat("db").ok());
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  EXPECT_TRUE(fs.Crash(CrashPolicy::DropUnsynced(), 1)->Stat("db/f").ok());
}

TEST(CrashImages, LinksStayOneFile) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("a", "abc").ok());
  ASSERT_TRUE(fs.Link("a", "b").ok());
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  const std::unique_ptr<CrashFileSystem> image = fs.Crash(CrashPolicy::PowerLoss(), 1);
  ASSERT_TRUE(Open(*image, "a")->Write(0, "X").ok());
  EXPECT_EQ(*image->ReadFile("b"), "Xbc");
  EXPECT_EQ(image->used_bytes(), 3u);
}

TEST(CrashImages, TruncationIsKeptInOrderWithWrites) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("f", "old old old").ok());
  const std::unique_ptr<File> file = Open(fs, "f");
  ASSERT_TRUE(file->Truncate(0).ok());
  ASSERT_TRUE(file->Write(0, "new").ok());
  std::set<std::string> images;
  for (uint64_t seed = 0; seed < 200; ++seed)
    images.insert(ImageOf(fs, {.keep = CrashPolicy::Keep::kPrefix}, seed, "f"));
  EXPECT_EQ(images, (std::set<std::string>{"old old old", "", "new"}));
}

TEST(CrashImages, GrowthStopsAtATruncationThatWasNotKept) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("f", "0123456789").ok());
  const std::unique_ptr<File> file = Open(fs, "f");
  ASSERT_TRUE(file->Write(10, "more").ok());
  ASSERT_TRUE(file->Truncate(0).ok());
  ASSERT_TRUE(file->Write(0, std::string(100, 'n')).ok());
  const CrashPolicy policy = {.keep = CrashPolicy::Keep::kNothing, .grow_zeros = true};
  std::set<std::string> images;
  for (uint64_t seed = 0; seed < 100; ++seed) images.insert(ImageOf(fs, policy, seed, "f"));
  EXPECT_EQ(images, (std::set<std::string>{"0123456789", std::string("0123456789\0\0\0\0", 14)}));
}

TEST(CrashImages, NamesKeptInOrderAreAPrefix) {
  CrashFileSystem fs;
  for (const char* name : {"c", "a", "b"}) Open(fs, name, OpenMode::kCreate);
  const CrashPolicy policy = {.keep = CrashPolicy::Keep::kPrefix, .lose_entries = true};
  std::set<std::string> images;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::string names;
    for (const char* name : {"c", "a", "b"})
      names += fs.Crash(policy, seed)->Stat(name).ok() ? name : "";
    images.insert(names);
  }
  EXPECT_EQ(images, (std::set<std::string>{"", "c", "ca", "cab"}));
}

TEST(CrashImages, SavingARenameSavesWhatItRestsOn) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectory("d").ok());
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  { Open(fs, "a", OpenMode::kCreate); }
  ASSERT_TRUE(fs.Rename("a", "d/b").ok());
  ASSERT_TRUE(fs.SyncDirectory("d").ok());
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::unique_ptr<CrashFileSystem> image = fs.Crash(CrashPolicy::PowerLoss(), seed);
    EXPECT_TRUE(image->Stat("d/b").ok());
    EXPECT_FALSE(image->Stat("a").ok());  // its creation must not reappear alone
  }
}

TEST(CrashImages, GarbageNeverCoversWhatWasKept) {
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("f", "synced").ok());
  ASSERT_TRUE(Open(fs, "f")->Write(6, std::string(2000, 'k')).ok());
  const CrashPolicy policy = {
      .keep = CrashPolicy::Keep::kEverything, .grow_zeros = true, .grow_garbage = true};
  for (uint64_t seed = 0; seed < 100; ++seed)
    ASSERT_EQ(ImageOf(fs, policy, seed, "f"), "synced" + std::string(2000, 'k'));
}

TEST(CrashImages, GarbageMayBeWhatARemovedFileHeld) {
  const std::string removed(kSectorBytes, 'S');
  CrashFileSystem fs;
  ASSERT_TRUE(fs.WriteFile("old", removed + removed).ok());
  ASSERT_TRUE(fs.Remove("old").ok());
  ASSERT_TRUE(fs.WriteFile("new", "").ok());
  ASSERT_TRUE(Open(fs, "new")->Write(0, std::string(2 * kSectorBytes, 'N')).ok());
  bool stale_seen = false;
  bool random_seen = false;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::string image =
        ImageOf(fs, {.keep = CrashPolicy::Keep::kPrefix, .grow_garbage = true}, seed, "new");
    stale_seen = stale_seen || image.find(removed) != std::string::npos;
    random_seen =
        random_seen || image.find_first_not_of(std::string("NS\0", 3)) != std::string::npos;
  }
  EXPECT_TRUE(stale_seen);
  EXPECT_TRUE(random_seen);
}

}  // namespace
}  // namespace stele::internal
