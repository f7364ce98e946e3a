// Tests damage: every bit of every byte, every truncation, zeroed and foreign sectors, exchanged
// records and files. Recovery returns the true state, or DataLoss that names the file. Damage at
// the end of a manifest that was not closed may only lose the edit that could be torn.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "manifest/current_file.h"
#include "manifest/manifest_format.h"
#include "manifest/manifest_log.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

constexpr char kManifest[] = "/db/MANIFEST-000001";
constexpr char kCurrent[] = "/db/CURRENT";

// A small database's manifest and CURRENT, with the version after each record and the offset of the
// last edit.
struct Sample {
  std::string manifest;
  std::string current;
  std::string before_last;
  std::string after_last;
  std::set<std::string> earlier;
  size_t last_edit_offset = 0;
};

// An edit larger than `part_bytes` takes several records.
Sample MakeSample(bool close, uint64_t database_id = 99,
                  uint32_t part_bytes = kRecordPayloadBytesMax) {
  CrashFileSystem files;
  EXPECT_TRUE(files.CreateDirectory("/db").ok());
  const auto log =
      ManifestLog::Create(&files, "/db", database_id, 1, Version(), {.part_bytes = part_bytes})
          .value();
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
  explicit Damage(const Sample& sample) : sample_(sample) {
    EXPECT_TRUE(files_.CreateDirectory("/db").ok());
  }

  // Recovers from these bytes. Returns "lost" for DataLoss that names the file. Otherwise returns
  // the version found: "after" or "before" the last edit, or "earlier". "closed" is appended if the
  // manifest has its end mark.
  std::string Verdict(std::string_view manifest, std::string_view current) {
    EXPECT_TRUE(files_.WriteFile(kManifest, manifest).ok());
    EXPECT_TRUE(files_.WriteFile(kCurrent, current).ok());
    const auto recovered = ManifestLog::Recover(&files_, "/db", true);
    if (!recovered.ok()) {
      const std::string_view message = ToStd(recovered.status().message());
      const bool named = message.starts_with("MANIFEST-000001 @") ||
                         message.starts_with("CURRENT @") || message.starts_with("MANIFEST-");
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
  EXPECT_EQ(closed.manifest.size(), open.manifest.size() + kManifestRecordHeaderBytes);
  EXPECT_NE(open.before_last, open.after_last);
}

// Sets the format version of a file whose checksum covers the bytes before `checksum_at`.
std::string WithVersion(std::string bytes, uint32_t version, size_t checksum_at) {
  StoreFixed32(bytes.data() + 8, version);
  StoreFixed64(bytes.data() + checksum_at,
               Checksum64(std::string_view(bytes).substr(0, checksum_at)));
  return bytes;
}

// A directory of an older release is reported as such, not as damage.
TEST(ManifestDamageTest, AnotherFormatVersionIsNotDamage) {
  const Sample sample = MakeSample(true);
  Damage damage(sample);
  for (const uint32_t version : {0u, 1u, 3u}) {
    for (const std::string& verdict :
         {damage.Verdict(sample.manifest, WithVersion(sample.current, version, 32)),
          damage.Verdict(WithVersion(sample.manifest, version, 64), sample.current)}) {
      EXPECT_TRUE(verdict.starts_with("UNIMPLEMENTED: ")) << verdict;
      EXPECT_NE(verdict.find(fmt::format("format version {}", version)), std::string::npos);
      EXPECT_NE(verdict.find("version 2"), std::string::npos) << verdict;
      EXPECT_EQ(verdict.find("older") != std::string::npos, version < 2) << verdict;
    }
  }
  // At first the header of version 1 had no nonce.
  const std::string short_header = WithVersion(sample.manifest.substr(0, 64), 1, 56);
  const std::string verdict =
      damage.Verdict(short_header + sample.manifest.substr(72), sample.current);
  EXPECT_TRUE(verdict.starts_with("UNIMPLEMENTED: ")) << verdict;
}

TEST(ManifestDamageTest, EveryBitOfAClosedManifest) {
  const Sample sample = MakeSample(true);
  Damage damage(sample);
  const size_t mark = sample.manifest.size() - kManifestRecordHeaderBytes;
  std::string bytes = sample.manifest;
  for (size_t offset = 0; offset < bytes.size(); ++offset) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
      // A damaged end mark has no meaning, and no edit is lost with it.
      ASSERT_EQ(damage.Verdict(bytes, sample.current), offset < mark ? "lost" : "after")
          << "byte " << offset << " bit " << bit;
      bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
    }
  }
}

class ManifestPartsDamageTest : public ::testing::TestWithParam<uint32_t> {};  // bytes of a part

TEST_P(ManifestPartsDamageTest, EveryBitOfAManifestInUse) {
  const Sample sample = MakeSample(false, 99, GetParam());
  Damage damage(sample);
  std::string bytes = sample.manifest;
  for (size_t offset = 0; offset < bytes.size(); ++offset) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
      ASSERT_EQ(damage.Verdict(bytes, sample.current),
                offset < sample.last_edit_offset ? "lost" : "before")
          << offset << " bit " << bit;
      bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
    }
  }
}

// To a reader of this file alone, a truncation is a torn tail: it cannot know which synced bytes
// the file system lost. It never invents a version, and never treats the rest as complete.
TEST_P(ManifestPartsDamageTest, EveryTruncation) {
  const Sample sample = MakeSample(true, 99, GetParam());
  Damage damage(sample);
  std::map<std::string, int> counts;
  for (size_t bytes = 0; bytes < sample.manifest.size(); ++bytes) {
    ++counts[damage.Verdict(sample.manifest.substr(0, bytes), sample.current)];
  }
  EXPECT_EQ(counts["after"], static_cast<int>(kManifestRecordHeaderBytes));
  EXPECT_EQ(counts["before"], static_cast<int>(sample.manifest.size() - kManifestRecordHeaderBytes -
                                               sample.last_edit_offset));
  EXPECT_GT(counts["lost"], static_cast<int>(kManifestHeaderBytes));
  EXPECT_EQ(counts.size(), 4u) << "and \"earlier\"";
}

INSTANTIATE_TEST_SUITE_P(WholeAndInParts, ManifestPartsDamageTest,
                         ::testing::Values(kRecordPayloadBytesMax, 40));

// Of an edit in parts any part may be missing, also if a later part was written: all parts are
// written before one sync.
TEST(ManifestDamageTest, AnEditWithoutOneOfItsPartsNeverHappened) {
  const Sample sample = MakeSample(false, 99, 40);
  Damage damage(sample);
  std::vector<size_t> parts;
  for (size_t offset = sample.last_edit_offset; offset < sample.manifest.size();) {
    parts.push_back(offset);
    offset += kManifestRecordHeaderBytes + LoadFixed32(sample.manifest.data() + offset);
  }
  ASSERT_GE(parts.size(), 3u);
  for (const size_t part : parts) {
    std::string bytes = sample.manifest;
    bytes.replace(part, kManifestRecordHeaderBytes, kManifestRecordHeaderBytes, '\0');
    EXPECT_EQ(damage.Verdict(bytes, sample.current), "before") << part;
  }
}

TEST(ManifestDamageTest, ZeroedStaleAndForeignSectors) {
  const Sample sample = MakeSample(true);
  const Sample foreign = MakeSample(true, 100);
  Damage damage(sample);
  ASSERT_EQ(foreign.manifest.size(), sample.manifest.size());
  const size_t mark = sample.manifest.size() - kManifestRecordHeaderBytes;
  for (size_t begin = 0; begin < mark; begin += 64) {
    const size_t bytes = std::min<size_t>(64, mark - begin);
    std::string zeroed = sample.manifest;
    zeroed.replace(begin, bytes, bytes, '\0');
    EXPECT_TRUE(zeroed == sample.manifest || damage.Verdict(zeroed, sample.current) == "lost")
        << begin;
    std::string ones = sample.manifest;
    ones.replace(begin, bytes, bytes, '\xff');
    EXPECT_EQ(damage.Verdict(ones, sample.current), "lost") << begin;
    std::string mixed = sample.manifest;
    mixed.replace(begin, bytes, foreign.manifest, begin, bytes);
    EXPECT_TRUE(mixed == sample.manifest || damage.Verdict(mixed, sample.current) == "lost")
        << begin;
  }
}

TEST(ManifestDamageTest, GarbageBehindTheEndIsATornTail) {
  const Sample sample = MakeSample(false);
  CrashFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/db").ok());
  ASSERT_TRUE(files.WriteFile(kCurrent, sample.current).ok());
  for (const std::string& tail : {std::string(1, 'x'), std::string(31, '\0'),
                                  std::string(3000, '\0'), std::string(70'000, '\xff')}) {
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
    const size_t bytes = kManifestRecordHeaderBytes + LoadFixed32(sample.manifest.data() + offset);
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
      // If the end mark is moved forward, no later record is at its recorded offset. The manifest
      // then counts as not closed.
      const bool cut = b + 1 == records.size() && (verdict == "before" || verdict == "earlier");
      EXPECT_TRUE(verdict == "lost" || cut) << a << " " << b << " " << verdict;
    }
  }
}

// A valid record that was once written at this offset, in another history, does not follow the
// record before it.
TEST(ManifestDamageTest, AStaleRecordDoesNotFollow) {
  CrashFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/db").ok());
  const ManifestHeader header_fields{.database_id = 99, .number = 1, .nonce = 3};
  const std::string header = EncodeManifestHeader(header_fields);
  const uint64_t seed = RecordSeed(header_fields);
  const auto write = [&](uint64_t second_sequence, uint64_t third_follows) {
    std::string bytes = header;
    uint64_t previous = ManifestHeaderChecksum(header);
    for (const uint64_t sequence : {uint64_t{1}, second_sequence, uint64_t{9}}) {
      Edit edit;
      edit.last_sequence = sequence;
      if (sequence == 9 && third_follows != 0) previous = third_follows;
      ManifestRecordHeader record_header{.type = static_cast<uint32_t>(ManifestRecordType::kEdit),
                                         .previous_checksum = previous,
                                         .offset = bytes.size(),
                                         .edit_offset = bytes.size()};
      bytes += EncodeRecord(&record_header, EncodeEdit(edit), seed);
      previous = record_header.checksum;
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

// Creates a database of two tables, the second with this property. Returns the offset of its edit.
size_t WriteTwoTables(CrashFileSystem* files, uint64_t nonce, const std::string& property) {
  EXPECT_TRUE(files->CreateDirectory("/db").ok());
  const auto log = ManifestLog::Create(files, "/db", 99, 1, Version(), {.nonce = nonce}).value();
  size_t offset = 0;
  for (const uint32_t id : {1, 2}) {
    Schema schema;
    schema.AddFamily("cf").SetProperty("p", id == 2 ? property : "plain");
    Edit edit;
    edit.tables.push_back(
        NewTable(MakeDefinition(id, fmt::format("t{}", id), 1, schema, {{id, "cf"}})));
    edit.next_table_id = edit.next_family_id = id + 1;
    offset = files->ReadFile(kManifest)->size();
    EXPECT_TRUE(log->Append(edit).ok());
  }
  return offset;
}

// A user's value may contain record headers for the exact offset at which it is stored. Without the
// manifest's nonce they are not valid records.
TEST(ManifestDamageTest, BytesOfAUserAreNoRecords) {
  constexpr size_t kRecordHeaders = 1000;
  std::string property(kRecordHeaders * kManifestRecordHeaderBytes, 'x');
  CrashFileSystem plain;
  const size_t edit_offset = WriteTwoTables(&plain, 1, property);
  const size_t property_offset = plain.ReadFile(kManifest)->find(property);
  ASSERT_NE(property_offset, std::string::npos);
  // Each record header claims that a later edit was written, so that the data before it must have
  // been synced.
  const uint64_t guessed_nonce = 7;
  const uint64_t seed = RecordSeed({.database_id = 99, .number = 1, .nonce = guessed_nonce});
  for (size_t i = 0; i < kRecordHeaders; ++i) {
    ManifestRecordHeader record_header{.type = 1,
                                       .offset = property_offset + i * kManifestRecordHeaderBytes,
                                       .edit_offset = property_offset};
    property.replace(i * kManifestRecordHeaderBytes, kManifestRecordHeaderBytes,
                     EncodeRecord(&record_header, "", seed));
  }
  for (const uint64_t nonce : {guessed_nonce, uint64_t{0}}) {  // 0: a random one
    CrashFileSystem files;
    ASSERT_EQ(WriteTwoTables(&files, nonce, property), edit_offset);
    std::string torn = *files.ReadFile(kManifest);
    torn.pop_back();
    ASSERT_TRUE(files.WriteFile(kManifest, torn).ok());
    const auto recovered = ManifestLog::Recover(&files, "/db", /*read_only=*/true);
    if (nonce == guessed_nonce) {
      EXPECT_TRUE(absl::IsDataLoss(recovered.status()))
          << "the record headers would be taken for records";
      continue;
    }
    ASSERT_TRUE(recovered.ok()) << recovered.status();
    EXPECT_EQ(recovered->version->tables.size(), 1u);
    EXPECT_EQ(recovered->discarded_bytes, torn.size() - edit_offset);
  }
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
  EXPECT_EQ(Damage(mine).Verdict(mine.manifest, EncodeCurrent({2, 1})), "lost")
      << "a manifest that is not there";
}

}  // namespace
}  // namespace stele::internal
