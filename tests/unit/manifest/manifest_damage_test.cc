// Damage: every bit of every byte, every truncation, zeroed and foreign sectors, exchanged records and files. What comes back is the truth,
// or DataLoss that names the file; a damaged end of a manifest that was not closed may only lose the edit that could be torn.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "io/crash_file_system.h"
#include "manifest/current_file.h"
#include "manifest/manifest_format.h"
#include "manifest/manifest_log.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

constexpr char kManifest[] = "/db/MANIFEST-000001";
constexpr char kCurrent[] = "/db/CURRENT";

// A small database's manifest and CURRENT, with the versions after each record and where the last edit begins.
struct Sample {
  std::string manifest;
  std::string current;
  std::string before_last;
  std::string after_last;
  std::set<std::string> earlier;
  size_t last_edit_offset = 0;
};

Sample MakeSample(bool close, uint64_t database_id = 99) {
  CrashFileSystem files;
  EXPECT_TRUE(files.CreateDirectory("/db").ok());
  const auto log = ManifestLog::Create(&files, "/db", database_id, 1, Version()).value();
  VersionHistory history(8);
  Sample sample;
  for (int step = 0; step < 4; ++step) {
    sample.before_last = VersionText(*log->version());
    sample.earlier.insert(sample.before_last);
    sample.last_edit_offset = files.ReadFile(kManifest)->size();
    EXPECT_TRUE(log->Append(history.Next()).ok());
  }
  sample.after_last = VersionText(*log->version());
  EXPECT_TRUE(!close || log->Close().ok());
  sample.manifest = *files.ReadFile(kManifest);
  sample.current = *files.ReadFile(kCurrent);
  return sample;
}

class Damage {
 public:
  explicit Damage(const Sample& sample) : sample_(sample) { EXPECT_TRUE(files_.CreateDirectory("/db").ok()); }

  // Recovers from these bytes: "lost" is DataLoss that names the file; else the version that was found, as of "after" or "before" the last
  // edit or "earlier", and "closed" if the manifest says that it is complete.
  std::string Verdict(std::string_view manifest, std::string_view current) {
    EXPECT_TRUE(files_.WriteFile(kManifest, manifest).ok());
    EXPECT_TRUE(files_.WriteFile(kCurrent, current).ok());
    const auto recovered = ManifestLog::Recover(&files_, "/db", true);
    if (!recovered.ok()) {
      const std::string_view message = ToStd(recovered.status().message());
      const bool named = message.starts_with("MANIFEST-000001 @") || message.starts_with("CURRENT @") || message.starts_with("MANIFEST-");
      if (absl::IsDataLoss(recovered.status()) && named) return "lost";
      return recovered.status().ToString();
    }
    const std::string text = VersionText(*recovered->version);
    const std::string state = recovered->closed ? " closed" : "";
    if (text == sample_.after_last) return "after" + state;
    if (text == sample_.before_last) return "before" + state;
    return (sample_.earlier.contains(text) ? "earlier" : "never seen:\n" + text) + state;
  }

 private:
  const Sample& sample_;
  CrashFileSystem files_;
};

TEST(ManifestDamageTest, TheSampleIsWhatItSays) {
  const Sample closed = MakeSample(true);
  const Sample open = MakeSample(false);
  EXPECT_EQ(Damage(closed).Verdict(closed.manifest, closed.current), "after closed");
  EXPECT_EQ(Damage(open).Verdict(open.manifest, open.current), "after");
  EXPECT_EQ(closed.manifest.size(), open.manifest.size() + kRecordFrameBytes);
  EXPECT_NE(open.before_last, open.after_last);
}

TEST(ManifestDamageTest, EveryBitOfAClosedManifest) {
  const Sample sample = MakeSample(true);
  Damage damage(sample);
  const size_t mark = sample.manifest.size() - kRecordFrameBytes;
  std::string bytes = sample.manifest;
  for (size_t offset = 0; offset < bytes.size(); ++offset) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
      // A damaged end mark says nothing, and nothing is lost with it.
      ASSERT_EQ(damage.Verdict(bytes, sample.current), offset < mark ? "lost" : "after") << "byte " << offset << " bit " << bit;
      bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
    }
  }
}

TEST(ManifestDamageTest, EveryBitOfAManifestInUse) {
  const Sample sample = MakeSample(false);
  Damage damage(sample);
  std::string bytes = sample.manifest;
  for (size_t offset = 0; offset < bytes.size(); ++offset) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
      ASSERT_EQ(damage.Verdict(bytes, sample.current), offset < sample.last_edit_offset ? "lost" : "before") << offset << " bit " << bit;
      bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
    }
  }
}

// A cut is a torn tail to a reader of this file alone: what the file system lost of a synced file it cannot know. It never invents a
// version, and never takes what is left for complete.
TEST(ManifestDamageTest, EveryTruncation) {
  const Sample sample = MakeSample(true);
  Damage damage(sample);
  std::map<std::string, int> counts;
  for (size_t bytes = 0; bytes < sample.manifest.size(); ++bytes) {
    ++counts[damage.Verdict(sample.manifest.substr(0, bytes), sample.current)];
  }
  EXPECT_EQ(counts["after"], static_cast<int>(kRecordFrameBytes));
  EXPECT_EQ(counts["before"], static_cast<int>(sample.manifest.size() - kRecordFrameBytes - sample.last_edit_offset));
  EXPECT_GT(counts["lost"], static_cast<int>(kManifestHeaderBytes));
  EXPECT_EQ(counts.size(), 4u) << "and \"earlier\"";
}

TEST(ManifestDamageTest, ZeroedStaleAndForeignSectors) {
  const Sample sample = MakeSample(true);
  const Sample foreign = MakeSample(true, 100);
  Damage damage(sample);
  ASSERT_EQ(foreign.manifest.size(), sample.manifest.size());
  const size_t mark = sample.manifest.size() - kRecordFrameBytes;
  for (size_t begin = 0; begin < mark; begin += 64) {
    const size_t bytes = std::min<size_t>(64, mark - begin);
    std::string zeroed = sample.manifest;
    zeroed.replace(begin, bytes, bytes, '\0');
    EXPECT_TRUE(zeroed == sample.manifest || damage.Verdict(zeroed, sample.current) == "lost") << begin;
    std::string ones = sample.manifest;
    ones.replace(begin, bytes, bytes, '\xff');
    EXPECT_EQ(damage.Verdict(ones, sample.current), "lost") << begin;
    std::string mixed = sample.manifest;
    mixed.replace(begin, bytes, foreign.manifest, begin, bytes);
    EXPECT_TRUE(mixed == sample.manifest || damage.Verdict(mixed, sample.current) == "lost") << begin;
  }
}

TEST(ManifestDamageTest, GarbageBehindTheEndIsATornTail) {
  const Sample sample = MakeSample(false);
  CrashFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/db").ok());
  ASSERT_TRUE(files.WriteFile(kCurrent, sample.current).ok());
  for (const std::string& tail : {std::string(1, 'x'), std::string(31, '\0'), std::string(3000, '\0'), std::string(70'000, '\xff')}) {
    ASSERT_TRUE(files.WriteFile(kManifest, sample.manifest + tail).ok());
    const auto recovered = ManifestLog::Recover(&files, "/db", true);
    ASSERT_TRUE(recovered.ok()) << recovered.status();
    EXPECT_EQ(recovered->discarded_bytes, tail.size());
    EXPECT_EQ(VersionText(*recovered->version), sample.after_last);
  }
}

TEST(ManifestDamageTest, ExchangedRecordsAreNotReplayed) {
  const Sample sample = MakeSample(true);
  Damage damage(sample);
  std::vector<std::string> records;
  for (size_t offset = kManifestHeaderBytes; offset < sample.manifest.size();) {
    const size_t bytes = kRecordFrameBytes + LoadFixed32(sample.manifest.data() + offset);
    records.push_back(sample.manifest.substr(offset, bytes));
    offset += bytes;
  }
  for (size_t a = 0; a < records.size(); ++a) {
    for (size_t b = a + 1; b < records.size(); ++b) {
      std::vector<std::string> exchanged = records;
      std::swap(exchanged[a], exchanged[b]);
      std::string bytes = sample.manifest.substr(0, kManifestHeaderBytes);
      for (const std::string& record : exchanged) bytes += record;
      const std::string verdict = damage.Verdict(bytes, sample.current);
      // With the end mark moved forward no later record stands where it says: then it is a manifest that is not closed.
      const bool cut = b + 1 == records.size() && (verdict == "before" || verdict == "earlier");
      EXPECT_TRUE(verdict == "lost" || cut) << a << " " << b << " " << verdict;
    }
  }
}

// A record that was written in this very place once, in another course of events, is whole but follows something else.
TEST(ManifestDamageTest, AStaleRecordDoesNotFollow) {
  CrashFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/db").ok());
  const std::string header = EncodeManifestHeader({99, 1, false});
  const uint64_t seed = RecordSeed(99, 1);
  const auto write = [&](uint64_t second_sequence, uint64_t third_follows) {
    std::string bytes = header;
    uint64_t previous = ManifestHeaderChecksum(header);
    for (const uint64_t sequence : {uint64_t{1}, second_sequence, uint64_t{9}}) {
      Edit edit;
      edit.last_sequence = sequence;
      if (sequence == 9 && third_follows != 0) previous = third_follows;
      const std::string record = EncodeRecord(ManifestRecordType::kEdit, EncodeEdit(edit), bytes.size(), previous, seed);
      previous = DecodeFrame(record).checksum;
      bytes += record;
    }
    return bytes;
  };
  ASSERT_TRUE(files.WriteFile(kCurrent, EncodeCurrent({1, 99})).ok());
  ASSERT_TRUE(files.WriteFile(kManifest, write(5, 0)).ok());
  EXPECT_EQ(ManifestLog::Recover(&files, "/db", true)->version->last_sequence, 9u);
  ASSERT_TRUE(files.WriteFile(kManifest, write(5, 12345)).ok());
  const absl::Status status = ManifestLog::Recover(&files, "/db", true).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_NE(ToStd(status.message()).find("does not follow"), std::string_view::npos) << status;
}

TEST(ManifestDamageTest, EveryBitAndEveryLengthOfCurrent) {
  const Sample sample = MakeSample(true);
  Damage damage(sample);
  std::string bytes = sample.current;
  for (size_t offset = 0; offset < bytes.size(); ++offset) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
      ASSERT_EQ(damage.Verdict(sample.manifest, bytes), "lost") << offset;
      bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
    }
    ASSERT_EQ(damage.Verdict(sample.manifest, bytes.substr(0, offset)), "lost") << offset;
  }
  ASSERT_EQ(damage.Verdict(sample.manifest, bytes + "x"), "lost");
}

TEST(ManifestDamageTest, FilesOfAnotherDatabaseAreRefused) {
  const Sample mine = MakeSample(true, 1);
  const Sample other = MakeSample(true, 2);
  EXPECT_EQ(Damage(mine).Verdict(other.manifest, mine.current), "lost");
  EXPECT_EQ(Damage(mine).Verdict(mine.manifest, EncodeCurrent({2, 1})), "lost") << "a manifest that is not there";
}

TEST(ManifestDamageTest, ANewerFormatIsRefusedWithBothNumbers) {
  Sample sample = MakeSample(true);
  ManifestHeader header{99, 1, true};
  std::string bytes = EncodeManifestHeader(header);
  StoreFixed32(bytes.data() + 8, 2);
  bytes.resize(kManifestHeaderBytes - 8);
  AppendFixed64(bytes, Checksum64(bytes));
  const std::string verdict = Damage(sample).Verdict(bytes, sample.current);
  EXPECT_NE(verdict.find("UNIMPLEMENTED"), std::string::npos) << verdict;
  EXPECT_NE(verdict.find("version 2; this Stele reads version 1"), std::string::npos) << verdict;
}

}  // namespace
}  // namespace stele::internal
