// Tests OnDamage::kReadAround with a manifest that is damaged in one edit: the edits after it and
// those in the SSTables repeat what it said.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "db/local_database.h"
#include "manifest/edit.h"
#include "manifest/manifest_format.h"
#include "manifest/manifest_reader.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

// An edit of the manifest, which is one record.
struct EditRecord {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  Edit edit;
};

class DamagedManifestTest : public ::testing::Test {
 protected:
  absl::StatusOr<Database> Open(bool read_only) {
    EngineOptions options = SmallEngineOptions(&files_);
    options.database.read_only = read_only;
    if (read_only) options.database.on_damage = OnDamage::kReadAround;
    STELE_ASSIGN_OR_RETURN(std::shared_ptr<LocalDatabase> local,
                           OpenDatabase("/db", std::move(options)));
    return Access::Make<Database>(std::move(local));
  }
  static void Put(Table table, const std::string& row_key) {
    ASSERT_EQ(table.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(1), "v")),
              absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  static std::string RowsOf(const Database& database, const std::string& table) {
    const absl::StatusOr<Table> found = database.OpenTable(table);
    if (!found.ok()) return found.status().ToString();
    std::string rows;
    RowReader reader = found->ReadRows(RowSet::All());
    while (reader.Next()) rows += reader.row().row_key();
    return reader.status().ok() ? rows : reader.status().ToString();
  }
  // "once" has one SSTable, "twice" two, and "merged" one that a compaction wrote.
  void MakeTables() {
    Database database = *Open(/*read_only=*/false);
    for (const char* const name : {"once", "twice", "merged"}) {
      const Table table = *database.CreateTable(name, Schema().AddFamily("f"));
      Put(table, "a");
      if (std::string_view(name) != "once") Put(table, "b");
      if (std::string_view(name) == "merged") {
        ASSERT_EQ(Table(table).Compact(), absl::OkStatus());
      }
    }
    ASSERT_EQ(database.Close(), absl::OkStatus());
  }
  std::string ManifestPath() {
    const std::vector<std::string> names = *files_.List("/db");
    return "/db/" + *std::find_if(names.begin(), names.end(), [](const std::string& name) {
             return name.starts_with("MANIFEST");
           });
  }
  // Without the end mark.
  std::vector<EditRecord> ReadEdits() {
    const std::unique_ptr<File> file = *files_.Open(ManifestPath(), OpenMode::kRead);
    const uint64_t file_bytes = *file->Size();
    const ManifestScan scan =
        *ReadManifest(*file, "MANIFEST", [](const Edit&) { return absl::OkStatus(); });
    std::vector<EditRecord> edits;
    for (uint64_t offset = kManifestHeaderBytes; offset < file_bytes;) {
      RecordView record = *ReadRecord(*file, offset, file_bytes, RecordSeed(scan.header));
      EXPECT_TRUE(record.good) << record.what;
      const uint64_t bytes = kManifestRecordHeaderBytes + record.payload.size();
      if (record.record_header.type == static_cast<uint8_t>(ManifestRecordType::kEdit))
        edits.push_back({offset, bytes, *DecodeEdit(record.payload.view())});
      offset += bytes;
    }
    return edits;
  }
  CrashFileSystem files_;
};

const std::map<std::string, std::string> kRowsOfTables = {
    {"once", "a"}, {"twice", "ab"}, {"merged", "ab"}};

TEST_F(DamagedManifestTest, EverythingInSstablesIsRead) {
  MakeTables();
  const std::vector<EditRecord> edits = ReadEdits();
  ASSERT_GT(edits.size(), 3 * kRowsOfTables.size());
  for (size_t i = 1; i < edits.size(); ++i) {
    const auto flip = [&] {
      ASSERT_EQ(files_.FlipBit(ManifestPath(), edits[i].offset + edits[i].bytes - 1, 4),
                absl::OkStatus());
    };
    flip();
    const absl::StatusOr<Database> database = Open(/*read_only=*/true);
    ASSERT_TRUE(database.ok()) << i << ": " << database.status();
    for (const auto& [name, rows] : kRowsOfTables)
      EXPECT_EQ(RowsOf(*database, name), rows) << i << ": " << name;
    EXPECT_FALSE(database->Verify()->ok()) << i;
    flip();
  }
}

// The log says how long the manifest was.
TEST_F(DamagedManifestTest, AManifestThatLostItsLastEdits) {
  MakeTables();
  const std::vector<EditRecord> edits = ReadEdits();
  const std::string whole = *ReadWholeFile(&files_, ManifestPath());
  for (size_t i = 1; i < edits.size(); ++i) {
    ASSERT_EQ(files_.WriteFile(ManifestPath(), whole.substr(0, edits[i].offset)), absl::OkStatus());
    const absl::StatusOr<Database> database = Open(/*read_only=*/true);
    ASSERT_TRUE(database.ok()) << i << ": " << database.status();
    for (const auto& [name, rows] : kRowsOfTables)
      EXPECT_EQ(RowsOf(*database, name), rows) << i << ": " << name;
    EXPECT_FALSE(database->Verify()->ok()) << i;
  }
}

}  // namespace
}  // namespace stele::internal
