// Tests manifests of any size: long properties and row keys, edits and snapshots that span several
// records, a full disk, and forged manifests that try to use much more memory than their bytes.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/status.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "manifest/current_file.h"
#include "manifest/edit.h"
#include "manifest/edit_writer.h"
#include "model/access.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr size_t kLongestRowKey = 65'535;

// Valid properties of 39 MB; a quarter in sanitizer builds, which are slow.
Schema SchemaOfLongProperties() {
  Schema schema;
  schema.AddFamily("f");
  for (uint64_t i = 0; i < ReducedPart(600); ++i)
    schema.SetProperty(fmt::format("property{}", i),
                       std::string(65'000, static_cast<char>('a' + i % 26)));
  return schema;
}

class LargeManifestTest : public ::testing::Test {
 protected:
  static std::shared_ptr<LocalDatabase> Open(CrashFileSystem* files) {
    EngineOptions options = SmallEngineOptions(files);
    options.sizes = SizesFor(uint64_t{256} << 20);
    auto opened = OpenDatabase("/db", std::move(options));
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  static RowMutation Row(const std::string& row_key) {
    return RowMutation(row_key).SetCell("f", "q", Timestamp::FromMicros(1000), "v");
  }
  CrashFileSystem files_;
};

TEST_F(LargeManifestTest, TablesWithLongPropertiesOpenForWritingAfterAKill) {
  const Schema schema = SchemaOfLongProperties();
  std::shared_ptr<LocalDatabase> local = Open(&files_);
  Database database = Access::Make<Database>(local);
  for (const char* name : {"one", "two"}) {
    auto table = database.CreateTable(name, schema);
    ASSERT_TRUE(table.ok()) << table.status();
    ASSERT_TRUE(table->Apply(Row("r")).ok());
  }
  for (int round = 0; round < 2; ++round) {
    const std::unique_ptr<CrashFileSystem> killed = files_.Crash(CrashPolicy::KilledProcess(), 0);
    const std::shared_ptr<LocalDatabase> reopened = Open(killed.get());
    ASSERT_NE(reopened, nullptr);
    Database again = Access::Make<Database>(reopened);
    auto table = again.OpenTable("two");
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(*table->schema(), schema);
    EXPECT_TRUE(table->Exists("r").value_or(false));
    ASSERT_TRUE(table->Apply(Row("s")).ok());
    ASSERT_TRUE(table->Flush().ok());
    ASSERT_EQ(again.Close(), absl::OkStatus());
    // Also with a manifest that starts with such a snapshot.
    ASSERT_TRUE(database.OpenTable("one")->SetProperty("last", std::to_string(round)).ok());
  }
}

TEST_F(LargeManifestTest, ATableOfLongRowKeysIsFlushed) {
  Schema schema;
  schema.AddFamily("f").SetLimits({.row_key_bytes = kLongestRowKey});
  const auto row = [](int i) {
    return fmt::format("{:05}{}", i, std::string(kLongestRowKey - 5, 'k'));
  };
  constexpr int kTablets = static_cast<int>(ReducedPart(540));
  for (int i = 1; i <= kTablets; ++i) schema.AddSplit(row(2 * i));
  std::shared_ptr<LocalDatabase> local = Open(&files_);
  Database database = Access::Make<Database>(local);
  Table table = database.CreateTable("t", schema).value();
  for (int i = 0; i <= kTablets; ++i) ASSERT_TRUE(table.Apply(Row(row(2 * i + 1))).ok()) << i;
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  const std::unique_ptr<CrashFileSystem> killed = files_.Crash(CrashPolicy::KilledProcess(), 0);
  const std::shared_ptr<LocalDatabase> reopened = Open(killed.get());
  ASSERT_NE(reopened, nullptr);
  Table again = Access::Make<Database>(reopened).OpenTable("t").value();
  for (int i = 0; i <= kTablets; i += 60)
    EXPECT_TRUE(again.Exists(row(2 * i + 1)).value_or(false)) << i;
  ASSERT_TRUE(again.Apply(Row("more")).ok());
  EXPECT_EQ(again.Flush(), absl::OkStatus());
}

// A bound longer than any row key is cut to the maximum length of a row key.
TEST_F(LargeManifestTest, ADropOfAnEndlessPrefixDropsNothingElse) {
  Schema schema;
  schema.AddFamily("f").SetLimits({.row_key_bytes = kLongestRowKey});
  std::shared_ptr<LocalDatabase> local = Open(&files_);
  Database database = Access::Make<Database>(local);
  Table table = database.CreateTable("t", schema).value();
  const std::string longest(kLongestRowKey, 'k');
  for (const std::string& row : {std::string("a"), longest, std::string("z")})
    ASSERT_TRUE(table.Apply(Row(row)).ok());
  ASSERT_EQ(table.DropRowRange(RowRange::Prefix(std::string(1 << 20, 'k'))), absl::OkStatus());
  ASSERT_EQ(table.DropRowRange(RowRange::Open(longest + "k", longest + "kkkk")), absl::OkStatus());
  for (const std::string& row : {std::string("a"), longest, std::string("z")})
    EXPECT_TRUE(table.Exists(row).value_or(false));
  ASSERT_EQ(table.DropRowRange(RowRange::StartingAt(longest + "k")), absl::OkStatus());
  EXPECT_TRUE(table.Exists(longest).value_or(false));
  EXPECT_FALSE(table.Exists("z").value_or(true));
  EXPECT_TRUE(database.Verify()->ok());
}

// Makes a database whose manifest consists of this edit.
void ForgeManifest(CrashFileSystem* files, const std::string& edit) {
  ASSERT_TRUE(files->CreateDirectory("/db").ok());
  const ManifestHeader header{.database_id = 5, .number = 1};
  const std::string head = EncodeManifestHeader(header);
  const auto file = files->Open("/db/MANIFEST-000001", OpenMode::kCreate).value();
  ASSERT_TRUE(file->Write(0, head).ok());
  EditWriter writer(file.get(), RecordSeed(header), head.size(), ManifestHeaderChecksum(head),
                    kRecordPayloadBytesMax);
  ASSERT_TRUE(writer.Append(edit).ok() && writer.Finish().ok());
  ASSERT_TRUE(files->WriteFile("/db/CURRENT", EncodeCurrent({1, 5})).ok());
}

// 3 MB of file references, each to all rows of a tablet with long keys. Copies of the keys would
// take more than 50 GB.
TEST_F(LargeManifestTest, AForgedManifestTakesMemoryByItsBytes) {
  const auto forge = [](size_t key_bytes) {
    Edit edit;
    TableEdit& table = edit.tables.emplace_back(TableEdit{.table_id = 1});
    table.tablets.push_back({KeyRange{"", std::string(key_bytes, 'z'), false}, {}});
    std::string bytes = EncodeEdit(edit);
    const size_t without = bytes.size();
    table.tablets[0].stack.push_back({7, table.tablets[0].range, 1, 1});
    const std::string reference = EncodeEdit(edit).substr(without);
    while (bytes.size() < 3'000'000) bytes += reference;
    return bytes;
  };
  for (const size_t key_bytes : {kLongestRowKey + 1, size_t{1} << 20}) {
    CrashFileSystem files;
    ForgeManifest(&files, forge(key_bytes));
    const absl::Status status = OpenDatabase("/db", SmallEngineOptions(&files)).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_NE(ToStd(status.message()).find("MANIFEST-000001 @72"), std::string_view::npos)
        << status;
  }
}

}  // namespace
}  // namespace stele::internal
