// Tests a golden manifest of format version 2: it must open, decode to the same version, and be
// written with the same bytes.
// STELE_REWRITE=1 writes the files again. Use it only for a format that was never released.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "manifest/edit.h"
#include "manifest/manifest_log.h"
#include "manifest/token_table.h"
#include "support/base_test_data.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

std::string GoldenPath(const std::string& name) { return TestDataPath("golden/manifest/" + name); }

std::string ReadGolden(const std::string& name) {
  std::ifstream in(GoldenPath(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteGolden(const std::string& name, const std::string& bytes) {
  std::ofstream(GoldenPath(name), std::ios::binary) << bytes;
}

// A fixed nonce; other manifests use a random one.
constexpr ManifestOptions kFixed{.nonce = 0x5eed};

// Writes a fixed history: two tables, all kinds of GC rules, shared and cut files, a dropped table.
std::unique_ptr<CrashFileSystem> WriteToday() {
  auto files = std::make_unique<CrashFileSystem>();
  EXPECT_TRUE(files->CreateDirectory("/db").ok());
  const auto log =
      ManifestLog::Create(files.get(), "/db", 0x0123456789abcdef, 1, Version(), kFixed);
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

// Writes the key of the tokens, their table, and a flush of that table.
std::unique_ptr<CrashFileSystem> WriteTokensToday() {
  auto files = std::make_unique<CrashFileSystem>();
  EXPECT_TRUE(files->CreateDirectory("/db").ok());
  Version initial;
  initial.token_key = {.first = 0x0123456789abcdef, .second = 0xfedcba9876543210};
  initial.tables.Set(kTokenTableId, EmptyTokenTable());
  const auto log = ManifestLog::Create(files.get(), "/db", 0x0123456789abcdef, 1, initial, kFixed);
  EXPECT_TRUE(log.ok());
  Edit flush;
  flush.clock_mark = 3'000'000;
  flush.last_sequence = 300;
  flush.tables.push_back({.table_id = kTokenTableId, .flushed_through = 300});
  EXPECT_TRUE((*log)->Append(flush).ok());
  EXPECT_TRUE((*log)->Close().ok());
  return files;
}

TEST(GoldenManifestTest, TheTokensTableIsWrittenAndReadAsItWas) {
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
  const Version& version = *recovered->version;
  EXPECT_EQ(version.token_key, (SipKey{.first = 0x0123456789abcdef, .second = 0xfedcba9876543210}));
  ASSERT_TRUE(version.tables.contains(kTokenTableId));
  EXPECT_EQ(version.tables.at(kTokenTableId)->definition, TokenTableDefinition());
  EXPECT_EQ(version.tables.at(kTokenTableId)->flushed_through, 300u);
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
