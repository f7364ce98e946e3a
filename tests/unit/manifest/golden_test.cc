// A manifest of format version 1, kept byte for byte: it must open, say the same, and be written the same today.
// STELE_REWRITE=1 writes the files anew: only for a format that was never released.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "io/crash_file_system.h"
#include "manifest/edit.h"
#include "manifest/manifest_log.h"
#include "support/base_test_data.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

std::string GoldenPath(const std::string& name) { return TestDataPath("golden/manifest/" + name); }

std::string ReadGolden(const std::string& name) {
  std::ifstream in(GoldenPath(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteGolden(const std::string& name, const std::string& bytes) { std::ofstream(GoldenPath(name), std::ios::binary) << bytes; }

// A fixed history: two tables, all rules, shared and cut files, a dropped table.
std::unique_ptr<CrashFileSystem> WriteToday() {
  auto files = std::make_unique<CrashFileSystem>();
  EXPECT_TRUE(files->CreateDirectory("/db").ok());
  const auto log = ManifestLog::Create(files.get(), "/db", 0x0123456789abcdef, 1, Version());
  EXPECT_TRUE(log.ok());
  VersionHistory history(21, /*recuts=*/false);
  for (int step = 0; step < 25; ++step) EXPECT_TRUE((*log)->Append(history.Next()).ok());
  EXPECT_TRUE((*log)->Close().ok());
  return files;
}

TEST(GoldenManifestTest, IsWrittenTheSameToday) {
  const auto files = WriteToday();
  const std::string manifest = *files->ReadFile("/db/MANIFEST-000001");
  const std::string current = *files->ReadFile("/db/CURRENT");
  if (std::getenv("STELE_REWRITE") != nullptr) {
    WriteGolden("MANIFEST-000001", manifest);
    WriteGolden("CURRENT", current);
    WriteGolden("MANIFEST-000001.txt", *DumpManifest(files.get(), "/db/MANIFEST-000001"));
  }
  EXPECT_EQ(manifest, ReadGolden("MANIFEST-000001"));
  EXPECT_EQ(current, ReadGolden("CURRENT"));
}

TEST(GoldenManifestTest, OpensAndDumpsAsItDid) {
  CrashFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/db").ok());
  ASSERT_TRUE(files.WriteFile("/db/MANIFEST-000001", ReadGolden("MANIFEST-000001")).ok());
  ASSERT_TRUE(files.WriteFile("/db/CURRENT", ReadGolden("CURRENT")).ok());
  EXPECT_EQ(DumpManifest(&files, "/db/MANIFEST-000001").value(), ReadGolden("MANIFEST-000001.txt"));
  const auto recovered = ManifestLog::Recover(&files, "/db", true);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  EXPECT_TRUE(recovered->closed);
  VersionHistory history(21, /*recuts=*/false);
  for (int step = 0; step < 25; ++step) history.Next();
  EXPECT_EQ(VersionText(*recovered->version), VersionText(*history.version()));
}

// Tokens of every answer, with gaps between their entries. One is too old by the second edit, and stays as long as its neighbours.
std::unique_ptr<CrashFileSystem> WriteTokensToday() {
  auto files = std::make_unique<CrashFileSystem>();
  EXPECT_TRUE(files->CreateDirectory("/db").ok());
  const auto log = ManifestLog::Create(files.get(), "/db", 0x0123456789abcdef, 1, Version());
  EXPECT_TRUE(log.ok());
  const StoredToken plain{{.token = "eight by", .answer = TokenAnswer::kOk, .entries = {{0, 1}}}, 1'000'000};
  const StoredToken matched{{.token = std::string("zero \0 in it", 12), .answer = TokenAnswer::kPredicateMatched, .entries = {{0, 1}}},
                            2'000'000};
  const StoredToken unmatched{{.token = std::string(1024, 't'), .answer = TokenAnswer::kPredicateNotMatched, .entries = {{0, 1}}},
                              3'000'000};
  const StoredToken bulk{{.token = "of a bulk", .answer = TokenAnswer::kOk, .entries = {{0, 3}, {4, 300}, {70'000, 70'001}}},
                         kTokenMemoryMicros + 1'500'000};
  Edit first;
  first.clock_mark = 3'000'000;
  first.last_sequence = 300;
  first.tokens = {plain, matched, unmatched};
  Edit second;
  second.clock_mark = kTokenMemoryMicros + 1'500'000;
  second.last_sequence = 400;
  second.tokens = {bulk};
  EXPECT_TRUE((*log)->Append(first).ok());
  EXPECT_TRUE((*log)->Append(second).ok());
  EXPECT_TRUE((*log)->Close().ok());
  return files;
}

TEST(GoldenManifestTest, TokensAreWrittenAndReadAsTheyWere) {
  const auto today = WriteTokensToday();
  const std::string manifest = *today->ReadFile("/db/MANIFEST-000001");
  if (std::getenv("STELE_REWRITE") != nullptr) {
    WriteGolden("TOKENS-000001", manifest);
    WriteGolden("TOKENS-000001.txt", *DumpManifest(today.get(), "/db/MANIFEST-000001"));
  }
  EXPECT_EQ(manifest, ReadGolden("TOKENS-000001"));
  CrashFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/db").ok());
  ASSERT_TRUE(files.WriteFile("/db/MANIFEST-000001", ReadGolden("TOKENS-000001")).ok());
  ASSERT_TRUE(files.WriteFile("/db/CURRENT", *today->ReadFile("/db/CURRENT")).ok());
  EXPECT_EQ(DumpManifest(&files, "/db/MANIFEST-000001").value(), ReadGolden("TOKENS-000001.txt"));
  const auto recovered = ManifestLog::Recover(&files, "/db", true);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  const auto& chunks = recovered->version->tokens;
  ASSERT_EQ(chunks.size(), 2u) << "the first chunk has tokens that live still";
  ASSERT_EQ(chunks[0]->size(), 3u);
  EXPECT_EQ(chunks[0]->at(1).use.answer, TokenAnswer::kPredicateMatched);
  EXPECT_EQ(chunks[0]->at(2).use.answer, TokenAnswer::kPredicateNotMatched);
  ASSERT_EQ(chunks[1]->size(), 1u);
  EXPECT_TRUE(chunks[1]->at(0).use.Covers(299));
  EXPECT_FALSE(chunks[1]->at(0).use.Covers(300));
  EXPECT_TRUE(chunks[1]->at(0).use.Covers(70'000));
}

TEST(GoldenManifestTest, ADumpShowsDamageAndGoesOn) {
  CrashFileSystem files;
  std::string bytes = ReadGolden("MANIFEST-000001");
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  bytes += "torn";
  ASSERT_TRUE(files.WriteFile("/MANIFEST-000001", bytes).ok());
  const std::string dump = DumpManifest(&files, "/MANIFEST-000001").value();
  EXPECT_NE(dump.find("damage @"), std::string::npos) << dump;
  EXPECT_NE(dump.find("torn tail @"), std::string::npos);
  EXPECT_NE(dump.find("end mark"), std::string::npos) << "records behind the damage are shown";
}

}  // namespace
}  // namespace stele::internal
