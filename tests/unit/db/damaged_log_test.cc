// Tests a database whose log is damaged: an Open is refused, OnDamage::kReadBefore shows the state
// before the damage and nothing later, kReadAround shows all readable commits, also if the manifest
// or CURRENT is damaged, and Verify lists the places.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "wal/segment_reader.h"

namespace stele::internal {
namespace {

// Table "safe" is in an SSTable. Rows 1 to 9 of "busy" are in the log, three in each of three
// segments, each synced.
class DamagedLogTest : public ::testing::Test {
 protected:
  struct Record {
    std::string file;
    uint64_t offset = 0;
    uint64_t end_offset = 0;
    std::string path() const { return "/db/" + file; }
  };

  void SetUp() override {
    for (int session = 0; session < 3; ++session) {
      Database database = *Open(OnDamage::kRefuse, /*read_only=*/false);
      if (session == 0) {
        for (const char* table : {"safe", "busy"})
          ASSERT_EQ(database.CreateTable(table, Schema().AddFamily("f")).status(),
                    absl::OkStatus());
        Set(database, "safe", 0);
        ASSERT_EQ(database.OpenTable("safe")->Flush(), absl::OkStatus());
      }
      for (int row = 1; row <= 3; ++row) Set(database, "busy", 3 * session + row);
      ASSERT_EQ(database.Close(), absl::OkStatus());
    }
    for (int row = 1; row <= 9; ++row) records_.push_back(Find(fmt::format("value{}", row)));
    ASSERT_NE(records_[0].file, records_[3].file);
    ASSERT_NE(records_[3].file, records_[6].file);
  }

  absl::StatusOr<Database> Open(OnDamage on_damage, bool read_only = true) {
    EngineOptions options = SmallEngineOptions(&files_);
    options.database.read_only = read_only;
    options.database.on_damage = on_damage;
    STELE_ASSIGN_OR_RETURN(std::shared_ptr<LocalDatabase> local,
                           OpenDatabase("/db", std::move(options)));
    return Access::Make<Database>(std::move(local));
  }
  static void Set(const Database& database, const char* table, int row) {
    Table found = *database.OpenTable(table);
    const RowMutation mutation =
        RowMutation(fmt::format("{}", row))
            .SetCell("f", "q", Timestamp::FromMillis(1), fmt::format("value{}", row));
    ASSERT_EQ(found.Apply(mutation, {.durability = Durability::kDisk}), absl::OkStatus());
  }
  // The log record that contains the text.
  Record Find(const std::string& text) {
    const std::vector<std::string> names = *files_.List("/db");
    for (const std::string& name : names) {
      const std::optional<FileName> parsed = ParseFileName(name);
      if (!parsed.has_value() || parsed->type != FileType::kSegment) continue;
      SegmentReader reader = *SegmentReader::Open(&files_, "/db/" + name, parsed->number);
      if (!reader.IsStarted(std::nullopt)) continue;
      for (uint64_t offset = kFirstRecordOffset;;) {
        const auto record = *reader.FindRecord(offset);
        if (!record.has_value()) break;
        if (record->payload.find(text) != std::string_view::npos)
          return {.file = name, .offset = record->offset, .end_offset = record->end_offset};
        offset = record->end_offset;
      }
    }
    ADD_FAILURE() << text << " is not in the log";
    return {};
  }
  const Record& RecordOf(int row) const { return records_[static_cast<size_t>(row - 1)]; }
  void Flip(const Record& record, uint64_t byte) {
    ASSERT_EQ(files_.FlipBit(record.path(), record.offset + byte, 3), absl::OkStatus());
  }
  void ReplaceBytes(const Record& record, std::string_view bytes) {
    ASSERT_EQ(files_.WriteFile(record.path(), bytes), absl::OkStatus());
  }

  // The rows of the table, or the code and text of the error.
  std::string Rows(OnDamage on_damage, const char* table) {
    const absl::StatusOr<Database> database = Open(on_damage);
    if (!database.ok()) return database.status().ToString();
    std::string rows;
    RowReader reader = database->OpenTable(table)->ReadRows(RowSet::All());
    while (reader.Next()) rows += reader.row().row_key();
    return reader.status().ok() ? rows : reader.status().ToString();
  }
  void ExpectRows(const std::string& before, const std::string& around) {
    for (const bool read_only : {false, true})
      EXPECT_TRUE(absl::IsDataLoss(Open(OnDamage::kRefuse, read_only).status()));
    EXPECT_EQ(Rows(OnDamage::kReadBefore, "busy"), before);
    EXPECT_EQ(Rows(OnDamage::kReadBefore, "safe"), "0");
    EXPECT_EQ(Rows(OnDamage::kReadAround, "busy"), around);
    EXPECT_EQ(Rows(OnDamage::kReadAround, "safe"), "0");
  }
  // "file @offset" of each damage that Verify lists for table "busy".
  std::vector<std::string> Places() {
    std::vector<std::string> places;
    const absl::StatusOr<Database> database = Open(OnDamage::kReadAround);
    if (!database.ok()) return {database.status().ToString()};
    const absl::StatusOr<VerifyReport> report = database->Verify();
    if (!report.ok()) return {report.status().ToString()};
    for (const VerifyReport::Damage& damage : report->damages) {
      if (damage.table == "busy")
        places.push_back(fmt::format("{} @{}", damage.file, damage.offset));
    }
    return places;
  }
  static std::string PlaceOf(const Record& record) {
    return fmt::format("{} @{}", record.file, record.offset);
  }
  // Every message of every damage.
  std::string Messages() {
    std::string text;
    const VerifyReport report = *Open(OnDamage::kReadAround)->Verify();
    for (const VerifyReport::Damage& damage : report.damages)
      text += fmt::format("{} @{} {}: {}\n", damage.file, damage.offset, damage.table, damage.what);
    return text;
  }

  CrashFileSystem files_;
  std::vector<Record> records_;
};

// It would replace a checkpoint that has all rows.
TEST_F(DamagedLogTest, ADamagedDatabaseIsNotCopiedAsACheckpoint) {
  ASSERT_EQ(Open(OnDamage::kRefuse)->Checkpoint("/copy"), absl::OkStatus());
  const auto before = ReadDirectory(&files_, "/copy");
  Flip(RecordOf(5), 20);
  for (const OnDamage on_damage : {OnDamage::kReadBefore, OnDamage::kReadAround}) {
    const absl::Status refused = Open(on_damage)->Checkpoint("/copy");
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_EQ(*ReadDirectory(&files_, "/copy"), *before);
  }
}

TEST_F(DamagedLogTest, AnIntactLogIsReadWholeInEveryMode) {
  for (const OnDamage on_damage :
       {OnDamage::kRefuse, OnDamage::kReadBefore, OnDamage::kReadAround}) {
    EXPECT_EQ(Rows(on_damage, "busy"), "123456789");
    EXPECT_TRUE(Open(on_damage)->Verify()->ok());
  }
}

TEST_F(DamagedLogTest, AFlippedBitInEveryByteOfARecordLosesThisRecordOnly) {
  const Record& record = RecordOf(5);
  for (uint64_t byte = 0; byte < record.end_offset - record.offset; ++byte) {
    Flip(record, byte);
    ASSERT_EQ(Rows(OnDamage::kReadBefore, "busy"), "1234") << byte;
    ASSERT_EQ(Rows(OnDamage::kReadAround, "busy"), "12346789") << byte;
    ASSERT_EQ(Places(), std::vector<std::string>{PlaceOf(record)}) << byte;
    Flip(record, byte);
  }
  Flip(record, 0);
  ExpectRows("1234", "12346789");
}

TEST_F(DamagedLogTest, TheFirstAndTheLastRecordOfASegment) {
  for (int row = 1; row <= 9; ++row) {
    Flip(RecordOf(row), 70);
    const std::string all = "123456789";
    const auto at = static_cast<size_t>(row - 1);
    ExpectRows(all.substr(0, at), all.substr(0, at) + all.substr(at + 1));
    EXPECT_EQ(Places(), std::vector<std::string>{PlaceOf(RecordOf(row))});
    Flip(RecordOf(row), 70);
  }
}

TEST_F(DamagedLogTest, TwoDamagedRecordsAreBothListed) {
  Flip(RecordOf(2), 10);
  Flip(RecordOf(8), 60);
  ExpectRows("1", "1345679");
  EXPECT_EQ(Places(), (std::vector<std::string>{PlaceOf(RecordOf(2)), PlaceOf(RecordOf(8))}));
}

TEST_F(DamagedLogTest, ADamagedRecordAndAMissingSstable) {
  Flip(RecordOf(5), 60);
  const std::vector<std::string> names = *files_.List("/db");
  for (const std::string& name : names) {
    if (name.ends_with(".sst")) ASSERT_EQ(files_.Remove("/db/" + name), absl::OkStatus());
  }
  EXPECT_EQ(Rows(OnDamage::kReadBefore, "busy"), "1234");
  EXPECT_EQ(Rows(OnDamage::kReadAround, "busy"), "12346789");
  EXPECT_NE(Rows(OnDamage::kReadAround, "safe").find("the file is missing"), std::string::npos);
  EXPECT_NE(Messages().find("the file is missing"), std::string::npos) << Messages();
  EXPECT_EQ(Places(), std::vector<std::string>{PlaceOf(RecordOf(5))});
}

TEST_F(DamagedLogTest, AShortenedSegment) {
  const Record& record = RecordOf(5);
  const std::string bytes = *ReadWholeFile(&files_, record.path());
  ReplaceBytes(record, std::string_view(bytes).substr(0, record.offset + 20));
  ExpectRows("1234", "1234789");
}

TEST_F(DamagedLogTest, ASegmentThatOnlyLostItsUnusedEndHasLostNoCommit) {
  const Record& record = RecordOf(6);
  const std::string bytes = *ReadWholeFile(&files_, record.path());
  ReplaceBytes(record, std::string_view(bytes).substr(0, bytes.size() - 8));
  ExpectRows("123456789", "123456789");
  EXPECT_NE(Messages().find("no commit is lost"), std::string::npos) << Messages();
}

TEST_F(DamagedLogTest, AZeroedPage) {
  const Record& record = RecordOf(5);
  std::string bytes = *ReadWholeFile(&files_, record.path());
  const size_t page = record.offset / 512 * 512;
  bytes.replace(page, 512, std::string(512, '\0'));
  ReplaceBytes(record, bytes);
  EXPECT_TRUE(absl::IsDataLoss(Open(OnDamage::kRefuse).status()));
  const std::string before = Rows(OnDamage::kReadBefore, "busy");
  EXPECT_EQ(std::string("1234").find(before), 0u) << before;
  const std::string around = Rows(OnDamage::kReadAround, "busy");
  EXPECT_EQ(around.find('5'), std::string::npos) << around;
  EXPECT_EQ(around.find("123"), 0u) << around;
  EXPECT_TRUE(around.ends_with("789")) << around;
}

TEST_F(DamagedLogTest, AMissingAndAnEmptySegment) {
  const Record& record = RecordOf(5);
  ReplaceBytes(record, "");
  ExpectRows("123", "123789");
  ASSERT_EQ(files_.Remove(record.path()), absl::OkStatus());
  ExpectRows("123", "123789");
  EXPECT_NE(Messages().find(record.file + " is missing or corrupt"), std::string::npos)
      << Messages();
}

TEST_F(DamagedLogTest, TheLastSegmentIsMissing) {
  ASSERT_EQ(files_.Remove(RecordOf(9).path()), absl::OkStatus());
  ExpectRows("123456", "123456");
}

// It is unknown which commits the SSTables lack, so only kReadAround shows them.
TEST_F(DamagedLogTest, TheFirstSegmentIsMissing) {
  ASSERT_EQ(files_.Remove(RecordOf(1).path()), absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(Open(OnDamage::kRefuse).status()));
  EXPECT_TRUE(absl::IsDataLoss(Open(OnDamage::kReadBefore).status()));
  EXPECT_EQ(Rows(OnDamage::kReadAround, "busy"), "456789");
  EXPECT_EQ(Rows(OnDamage::kReadAround, "safe"), "0");
}

TEST_F(DamagedLogTest, SstablesWithCommitsAfterTheDamageAreNotShownAsBeforeIt) {
  {
    Database database = *Open(OnDamage::kRefuse, /*read_only=*/false);
    Set(database, "safe", 1);
    ASSERT_EQ(database.OpenTable("safe")->Flush(), absl::OkStatus());
    ASSERT_EQ(database.Close(), absl::OkStatus());
  }
  Flip(RecordOf(5), 60);
  const absl::Status refused = Open(OnDamage::kReadBefore).status();
  EXPECT_TRUE(absl::IsDataLoss(refused)) << refused;
  EXPECT_NE(refused.message().find("after the damage"), std::string::npos) << refused;
  EXPECT_EQ(Rows(OnDamage::kReadAround, "safe"), "01");
  EXPECT_EQ(Rows(OnDamage::kReadAround, "busy"), "12346789");
}

TEST_F(DamagedLogTest, AManifestThatLostItsEnd) {
  const std::vector<std::string> names = *files_.List("/db");
  const std::string manifest = *std::find_if(
      names.begin(), names.end(), [](const auto& name) { return name.starts_with("MANIFEST"); });
  const std::string bytes = *ReadWholeFile(&files_, "/db/" + manifest);
  ASSERT_EQ(files_.WriteFile("/db/" + manifest, bytes.substr(0, bytes.size() - 1)),
            absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(Open(OnDamage::kRefuse).status()));
  EXPECT_TRUE(absl::IsDataLoss(Open(OnDamage::kReadBefore).status()));
  EXPECT_EQ(Rows(OnDamage::kReadAround, "busy"), "123456789");
  EXPECT_NE(Messages().find(manifest + " @"), std::string::npos) << Messages();
}

TEST_F(DamagedLogTest, CurrentIsMissingOrDamaged) {
  const std::string current = *ReadWholeFile(&files_, "/db/CURRENT");
  for (size_t byte = 0; byte <= current.size(); ++byte) {
    if (byte == current.size()) {
      ASSERT_EQ(files_.Remove("/db/CURRENT"), absl::OkStatus());
    } else {
      ASSERT_EQ(files_.FlipBit("/db/CURRENT", byte, 2), absl::OkStatus());
    }
    for (const OnDamage on_damage : {OnDamage::kRefuse, OnDamage::kReadBefore})
      ASSERT_FALSE(Open(on_damage).ok()) << byte;
    ASSERT_EQ(Rows(OnDamage::kReadAround, "busy"), "123456789") << byte;
    ASSERT_EQ(Rows(OnDamage::kReadAround, "safe"), "0") << byte;
    ASSERT_EQ(Messages().find("CURRENT @0"), 0u) << Messages();
    if (byte == current.size()) continue;
    ASSERT_EQ(files_.FlipBit("/db/CURRENT", byte, 2), absl::OkStatus());
  }
}

// Table "safe" is in an SSTable, which repeats what a damaged edit said.
TEST_F(DamagedLogTest, AManifestThatIsDamagedInTheMiddle) {
  const std::vector<std::string> names = *files_.List("/db");
  const std::string name = *std::find_if(
      names.begin(), names.end(), [](const auto& file) { return file.starts_with("MANIFEST"); });
  const std::string bytes = *ReadWholeFile(&files_, "/db/" + name);
  size_t added = 0;
  for (size_t offset = 0; offset < bytes.size(); ++offset) {
    ASSERT_EQ(files_.FlipBit("/db/" + name, offset, 4), absl::OkStatus());
    const absl::StatusOr<Database> database = Open(OnDamage::kReadAround);
    ASSERT_EQ(database.status(), absl::OkStatus()) << offset;
    ASSERT_EQ(Rows(OnDamage::kReadAround, "safe"), "0") << offset;
    const std::vector<std::string> tables = *database->ListTables();
    if (std::find(tables.begin(), tables.end(), "busy") != tables.end()) {
      ASSERT_EQ(Rows(OnDamage::kReadAround, "busy"), "123456789") << offset;
    }
    ASSERT_FALSE(Open(OnDamage::kReadAround)->Verify()->ok()) << offset;
    const bool is_added =
        Messages().find("1 SSTables that it does not list are read") != std::string::npos;
    added += is_added ? 1 : 0;
    ASSERT_EQ(files_.FlipBit("/db/" + name, offset, 4), absl::OkStatus());
  }
  EXPECT_GT(added, 0u);
}

// Table "busy" has no SSTable.
TEST_F(DamagedLogTest, WithoutAManifestTheSstablesAreRead) {
  const std::vector<std::string> names = *files_.List("/db");
  for (const std::string& name : names) {
    if (name.ends_with(".sst") || name.ends_with(".log")) continue;
    ASSERT_EQ(files_.Remove("/db/" + name), absl::OkStatus());
  }
  for (const OnDamage on_damage : {OnDamage::kRefuse, OnDamage::kReadBefore})
    EXPECT_TRUE(absl::IsFailedPrecondition(Open(on_damage).status()));
  EXPECT_EQ(*Open(OnDamage::kReadAround)->ListTables(), std::vector<std::string>{"safe"});
  EXPECT_EQ(Rows(OnDamage::kReadAround, "safe"), "0");
  EXPECT_NE(Messages().find("no manifest is readable"), std::string::npos) << Messages();
}

TEST_F(DamagedLogTest, ALogAloneIsRefusedInEveryMode) {
  const std::vector<std::string> names = *files_.List("/db");
  for (const std::string& name : names) {
    if (name.ends_with(".log")) continue;
    ASSERT_EQ(files_.Remove("/db/" + name), absl::OkStatus());
  }
  for (const OnDamage on_damage : {OnDamage::kRefuse, OnDamage::kReadBefore, OnDamage::kReadAround})
    EXPECT_TRUE(absl::IsFailedPrecondition(Open(on_damage).status()));
}

TEST_F(DamagedLogTest, ReadingChangesNoFile) {
  Flip(RecordOf(5), 60);
  const auto before = *ReadDirectory(&files_, "/db");
  EXPECT_EQ(Rows(OnDamage::kReadBefore, "busy"), "1234");
  EXPECT_EQ(Messages().empty(), false);
  EXPECT_EQ(*ReadDirectory(&files_, "/db"), before);
}

TEST(OnDamageTest, NeedsReadOnly) {
  const absl::Status status = Database::Open("mem:", {.on_damage = OnDamage::kReadAround}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

}  // namespace
}  // namespace stele::internal
