// Tests backups: their contents, visibility and removal, and what remains of one that was
// interrupted.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <thread>

#include "absl/status/status.h"
#include "remote/wire/timestamps.h"
#include "steled/backups/backups.h"
#include "steled/no_threads.h"
#include "steled/server_fixture.h"
#include "support/model_leaping_clock.h"

namespace stele::server {
namespace {

using internal::ToWireTime;

namespace admin_wire = ::google::bigtable::admin::v2;
namespace fs = std::filesystem;
using google::longrunning::Operation;
using Rows = std::vector<std::string>;

constexpr int64_t kHour = int64_t{3600} * 1'000'000;
constexpr int64_t kStart = int64_t{1'700'000'000} * 1'000'000;
constexpr char kCluster[] = "projects/p/instances/i/clusters/c";

// Calls a function whenever backups read the time.
class HookClock final : public TimestampClock {
 public:
  explicit HookClock(std::shared_ptr<TimestampClock> clock) : clock_(std::move(clock)) {}
  Timestamp Now() override {
    if (on_now != nullptr) on_now();
    return clock_->Now();
  }
  std::function<void()> on_now;

 private:
  const std::shared_ptr<TimestampClock> clock_;
};

// A database, its tables and its backups, with a clock that the test moves, without a server.
class Shop {
 public:
  // `database_clock` may be null: the database has the clock of the backups.
  explicit Shop(const std::string& directory,
                const std::shared_ptr<TimestampClock>& database_clock = nullptr)
      : clock(std::make_shared<ManualClock>(Timestamp::FromMicros(kStart))) {
    absl::StatusOr<Database> opened = Database::Open(
        directory + "/db", {.clock = database_clock != nullptr ? database_clock : clock});
    EXPECT_TRUE(opened.ok()) << opened.status();
    database = *opened;
    tables = std::make_unique<OpenTables>(database);
    operations = std::make_unique<Operations>();
    hook_clock = std::make_shared<HookClock>(clock);
    backups = std::make_unique<Backups>(database, tables.get(), operations.get(),
                                        directory + "/db-backups", hook_clock);
    EXPECT_TRUE(tables->DeleteUnrevealed().ok());
    EXPECT_TRUE(backups->Load().ok());
  }
  ~Shop() { operations.reset(); }

  Table Create(const std::string& stored_name, const Schema& schema) {
    absl::StatusOr<Table> table = tables->Create(stored_name, schema);
    EXPECT_TRUE(table.ok()) << table.status();
    return *table;
  }

  // Returns the operation once it is done.
  Operation Await(absl::StatusOr<Operation> operation) {
    if (!operation.ok()) {
      Operation failed;
      failed.mutable_error()->set_code(operation.status().raw_code());
      return failed;
    }
    while (!operation->done()) {
      google::longrunning::GetOperationRequest request;
      request.set_name(operation->name());
      EXPECT_TRUE(operations->GetOperation(request, &*operation).ok());
      std::this_thread::yield();
    }
    return *operation;
  }

  Operation Back(const std::string& backup_id, const std::string& table,
                 int64_t life_micros = 7 * kHour) {
    admin_wire::CreateBackupRequest request;
    request.set_parent(kCluster);
    request.set_backup_id(backup_id);
    request.mutable_backup()->set_source_table("projects/p/instances/i/tables/" + table);
    *request.mutable_backup()->mutable_expire_time() =
        ToWireTime(clock->Now().micros() + life_micros);
    return Await(backups->Create(request));
  }

  Operation Restore(const std::string& backup_id, const std::string& instance,
                    const std::string& table_id) {
    admin_wire::RestoreTableRequest request;
    request.set_parent(instance);
    request.set_table_id(table_id);
    request.set_backup(NameOf(backup_id));
    return Await(backups->Restore(request));
  }

  Operation Copy(const std::string& from, const std::string& to) {
    admin_wire::CopyBackupRequest request;
    request.set_parent("projects/other/instances/o/clusters/c");
    request.set_backup_id(to);
    request.set_source_backup(from);
    *request.mutable_expire_time() = ToWireTime(clock->Now().micros() + 7 * kHour);
    return Await(backups->Copy(request));
  }

  Rows List(const std::string& parent, const std::string& filter = "",
            const std::string& order_by = "") const {
    admin_wire::ListBackupsRequest request;
    request.set_parent(parent);
    request.set_page_size(2);
    request.set_filter(filter);
    request.set_order_by(order_by);
    Rows names;
    do {
      admin_wire::ListBackupsResponse response;
      EXPECT_TRUE(backups->List(request, &response).ok());
      for (const admin_wire::Backup& backup : response.backups())
        names.push_back(backup.name().substr(backup.name().rfind('/') + 1));
      request.set_page_token(response.next_page_token());
    } while (!request.page_token().empty());
    return names;
  }

  // Cancels the operations that run.
  void CancelAll() const {
    google::longrunning::ListOperationsResponse running;
    EXPECT_TRUE(operations->ListOperations({}, &running).ok());
    for (const Operation& operation : running.operations()) {
      google::longrunning::CancelOperationRequest request;
      request.set_name(operation.name());
      google::protobuf::Empty nothing;
      EXPECT_TRUE(operations->CancelOperation(request, &nothing).ok());
    }
  }

  static std::string NameOf(const std::string& backup_id) {
    return std::string(kCluster) + "/backups/" + backup_id;
  }

  std::shared_ptr<ManualClock> clock;
  std::shared_ptr<HookClock> hook_clock;
  Database database;
  std::unique_ptr<OpenTables> tables;
  std::unique_ptr<Operations> operations;
  std::unique_ptr<Backups> backups;
};

// Returns all stored cells, as text.
Rows CellsOf(const Table& table) {
  Rows cells;
  RowReader reader = table.ReadRows(RowSet::All(), Filter(), {.apply_gc = false});
  while (reader.Next()) {
    for (const CellView& cell : reader.row().cells()) {
      cells.push_back(std::string(reader.row().row_key()) + " " + std::string(cell.family()) + ":" +
                      std::string(cell.qualifier()) + "@" +
                      std::to_string(cell.timestamp().micros()) + "=" + std::string(cell.value()));
    }
  }
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  return cells;
}

Schema MixedSchema() {
  return Schema()
      .AddFamily("f")
      .AddFamily({.name = "distinct", .value_type = ValueType::kHll})
      .AddFamily({.name = "least", .value_type = ValueType::kInt64Min})
      .AddFamily({.name = "sum", .value_type = ValueType::kInt64Sum})
      .AddSplit("m")
      .SetProperty("deletion_protection", "true")
      .SetProperty("owner", "somebody")
      .SetProperty("value_type.f", "string")
      .SetGranularity(TimestampGranularity::kMicros);
}

void FillMixed(Table* table) {
  const Timestamp then = Timestamp::FromMicros(7);
  for (const char* const row_key : {"a", "m", "z"}) {
    for (int64_t version = 1; version <= 4; ++version) {
      ASSERT_TRUE(table
                      ->Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMicros(version),
                                                           std::to_string(version)))
                      .ok());
    }
    ASSERT_TRUE(table
                    ->Apply(RowMutation(row_key)
                                .AddToCell("sum", "n", then, int64_t{5})
                                .AddToCell("sum", "n", then, int64_t{-7})
                                .AddToCell("least", "n", then, int64_t{-3})
                                .AddToCell("distinct", "n", then, "one")
                                .AddToCell("distinct", "n", then, "two"))
                    .ok());
  }
  ASSERT_TRUE(table->Apply(RowMutation("only sums").AddToCell("sum", "n", then, int64_t{1})).ok());
}

TEST(Backup, ARestoredTableHasAllCellsOfEveryKindAndTheSchema) {
  const ScratchDirectory directory;
  Shop shop(directory.path());
  Table table = shop.Create("p/i/t", MixedSchema());
  FillMixed(&table);
  // A rule collects cells that are still stored: hidden cells are copied, too.
  ASSERT_TRUE(table.Flush().ok());
  ASSERT_TRUE(
      table.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxNumVersions(2))}).ok());
  const Rows before = CellsOf(table);
  ASSERT_EQ(before.size(), 22u);
  ASSERT_FALSE(shop.Back("b", "t").has_error());
  ASSERT_TRUE(table.DropRowRange(RowRange::All()).ok());
  const Operation restored = shop.Restore("b", "projects/p2/instances/i2", "again");
  ASSERT_TRUE(restored.has_response()) << restored.ShortDebugString();
  admin_wire::Table answered;
  ASSERT_TRUE(restored.response().UnpackTo(&answered));
  EXPECT_EQ(answered.name(), "projects/p2/instances/i2/tables/again");
  EXPECT_EQ(answered.column_families_size(), 4);
  EXPECT_TRUE(answered.column_families().at("f").value_type().has_string_type());
  const absl::StatusOr<Table> again = shop.tables->Open("p2/i2/again");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(CellsOf(*again), before);
  const Schema schema = *again->schema();
  EXPECT_EQ(schema.families(), table.schema()->families());
  EXPECT_EQ(schema.splits(), MixedSchema().splits());
  EXPECT_EQ(schema.granularity(), TimestampGranularity::kMicros);
  EXPECT_FALSE(schema.properties().contains("deletion_protection"));
  EXPECT_FALSE(schema.properties().contains(std::string(kBackupProperty)));
  EXPECT_EQ(schema.properties().find("owner")->second, "somebody");
  EXPECT_EQ(shop.Restore("b", "projects/p2/instances/i2", "again").error().code(), 6);
  EXPECT_EQ(shop.Restore("none", "projects/p2/instances/i2", "t2").error().code(), 5);
}

TEST(Backup, ARowBeyondWhatAMutationMayHaveIsRestoredWhole) {
  const ScratchDirectory directory;
  Shop shop(directory.path());
  TableLimits limits;
  limits.mutations = 10;
  limits.row_bytes = 2'000;
  limits.value_bytes = 1'000;
  Table table =
      shop.Create("p/i/t", Schema()
                               .AddFamily("f")
                               .AddFamily({.name = "sum", .value_type = ValueType::kInt64Sum})
                               .SetLimits(limits));
  for (int i = 0; i < 60; ++i) {
    const Timestamp then = Timestamp::FromMillis(i);
    ASSERT_TRUE(table
                    .Apply(RowMutation("wide")
                               .SetCell("f", "q", then, std::string(900, 'v'))
                               .AddToCell("sum", "n", then, int64_t{i}))
                    .ok());
  }
  ASSERT_TRUE(table.Apply(RowMutation("x").SetCell("f", "q", Timestamp(), "small")).ok());
  ASSERT_FALSE(shop.Back("b", "t").has_error());
  ASSERT_FALSE(shop.Restore("b", "projects/p/instances/i", "again").has_error());
  EXPECT_EQ(CellsOf(*shop.tables->Open("p/i/again")), CellsOf(table));
}

TEST(Backup, IsOfItsMomentAndHoldsNoOtherTable) {
  const ScratchDirectory directory;
  Shop shop(directory.path());
  Table table = shop.Create("p/i/t", Schema().AddFamily("f"));
  Table other = shop.Create("p/i/other", Schema().AddFamily("f"));
  ASSERT_TRUE(table.Apply(RowMutation("r").SetCell("f", "q", Timestamp(), "old")).ok());
  ASSERT_TRUE(
      other.Apply(RowMutation("r").SetCell("f", "q", Timestamp(), std::string(100'000, 'o'))).ok());
  ASSERT_TRUE(other.Flush().ok());
  const Operation made = shop.Back("b", "t");
  ASSERT_TRUE(made.has_response()) << made.ShortDebugString();
  admin_wire::CreateBackupMetadata metadata;
  ASSERT_TRUE(made.metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.name(), Shop::NameOf("b"));
  EXPECT_TRUE(metadata.has_end_time());
  admin_wire::Backup backup;
  ASSERT_TRUE(made.response().UnpackTo(&backup));
  EXPECT_EQ(backup.state(), admin_wire::Backup::READY);
  EXPECT_EQ(backup.backup_type(), admin_wire::Backup::STANDARD);
  EXPECT_GT(backup.size_bytes(), 0);
  EXPECT_LT(backup.size_bytes(), 10'000);
  ASSERT_TRUE(table.Apply(RowMutation("r").SetCell("f", "q", Timestamp(), "new")).ok());
  ASSERT_FALSE(shop.Restore("b", "projects/p/instances/i", "again").has_error());
  EXPECT_EQ(CellsOf(*shop.tables->Open("p/i/again")), Rows({"r f:q@0=old"}));
  const absl::StatusOr<Database> by_itself =
      Database::Open(directory.path() + "/db-backups/p@i@c@b", {.read_only = true});
  ASSERT_TRUE(by_itself.ok()) << by_itself.status();
  EXPECT_EQ(*by_itself->ListTables(), Rows({"p/i/t"}));
  uint64_t stored_bytes = 0;
  for (const auto& entry : fs::directory_iterator(directory.path() + "/db-backups/p@i@c@b")) {
    if (entry.path().extension() == ".sst") stored_bytes += entry.file_size();
  }
  EXPECT_LT(stored_bytes, 10'000u) << "the other table's files are gone";
}

TEST(Backup, NamesAndTimesAreChecked) {
  const ScratchDirectory directory;
  Shop shop(directory.path());
  shop.Create("p/i/t", Schema().AddFamily("f"));
  EXPECT_EQ(shop.Back("b", "none").error().code(), 5);
  EXPECT_EQ(shop.Back("-b", "t").error().code(), 3);
  EXPECT_EQ(shop.Back(std::string(51, 'b'), "t").error().code(), 3);
  EXPECT_EQ(shop.Back("b", "t", 6 * kHour - 1).error().code(), 3);
  EXPECT_EQ(shop.Back("b", "t", 90 * 24 * kHour + 1).error().code(), 3);
  EXPECT_FALSE(shop.Back("least", "t", 6 * kHour).has_error());
  EXPECT_FALSE(shop.Back("most", "t", 90 * 24 * kHour).has_error());
  EXPECT_EQ(shop.Back("least", "t").error().code(), 6);
  admin_wire::CreateBackupRequest request;
  request.set_parent("projects/p/instances/other/clusters/c");
  request.set_backup_id("b");
  request.mutable_backup()->set_source_table("projects/p/instances/i/tables/t");
  *request.mutable_backup()->mutable_expire_time() = ToWireTime(kStart + 7 * kHour);
  EXPECT_TRUE(absl::IsInvalidArgument(shop.backups->Create(request).status()))
      << "another instance's table";
  request.set_parent("projects/p/instances/i/clusters/-");
  EXPECT_TRUE(absl::IsInvalidArgument(shop.backups->Create(request).status())) << "in no cluster";
  request.set_parent(kCluster);
  request.mutable_backup()->mutable_expire_time()->set_nanos(1);
  EXPECT_TRUE(absl::IsInvalidArgument(shop.backups->Create(request).status()))
      << "below a microsecond";
  request.mutable_backup()->clear_expire_time();
  EXPECT_TRUE(absl::IsInvalidArgument(shop.backups->Create(request).status())) << "without an end";
  EXPECT_TRUE(
      absl::IsInvalidArgument(shop.backups->Get("projects/p/instances/i/backups/b").status()));
  EXPECT_TRUE(absl::IsNotFound(shop.backups->Get(Shop::NameOf("b")).status()));
  EXPECT_TRUE(absl::IsNotFound(shop.backups->Delete(Shop::NameOf("b"))));
}

TEST(Backup, ListsAreOfAClusterOrAnInstanceTheNewestFirst) {
  const ScratchDirectory directory;
  Shop shop(directory.path());
  shop.Create("p/i/t", Schema().AddFamily("f"));
  for (const char* const backup_id : {"b", "c", "a"}) {
    ASSERT_FALSE(shop.Back(backup_id, "t").has_error());
    shop.clock->Advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(shop.List(kCluster), Rows({"a", "c", "b"}));
  EXPECT_EQ(shop.List("projects/p/instances/i/clusters/-"), Rows({"a", "c", "b"}));
  EXPECT_EQ(shop.List(kCluster, "state:READY", "name desc"), Rows({"c", "b", "a"}))
      << "over pages, too";
  EXPECT_EQ(shop.List(kCluster, "name:backups/b"), Rows({"b"}));
  admin_wire::ListBackupsRequest request;
  request.set_parent(kCluster);
  request.set_page_token("?");
  admin_wire::ListBackupsResponse response;
  EXPECT_TRUE(absl::IsInvalidArgument(shop.backups->List(request, &response)));
  EXPECT_EQ(shop.List("projects/p/instances/i/clusters/other"), Rows());
  EXPECT_EQ(shop.List("projects/p/instances/i2/clusters/-"), Rows());
  EXPECT_TRUE(shop.backups->HasBackupOf("projects/p/instances/i"));
  EXPECT_FALSE(shop.backups->HasBackupOf("projects/p/instances/"));
  EXPECT_TRUE(shop.backups->Delete(Shop::NameOf("c")).ok());
  EXPECT_EQ(shop.List(kCluster), Rows({"a", "b"}));
  EXPECT_FALSE(fs::exists(directory.path() + "/db-backups/p@i@c@c"));
}

TEST(Backup, GoesWhenItExpiresAndCanBeGivenMoreTime) {
  const ScratchDirectory directory;
  Shop shop(directory.path());
  shop.Create("p/i/t", Schema().AddFamily("f"));
  ASSERT_FALSE(shop.Back("short", "t", 6 * kHour).has_error());
  ASSERT_FALSE(shop.Back("longer", "t", 6 * kHour).has_error());
  admin_wire::UpdateBackupRequest update;
  update.mutable_backup()->set_name(Shop::NameOf("longer"));
  *update.mutable_backup()->mutable_expire_time() = ToWireTime(kStart + 9 * kHour);
  EXPECT_TRUE(absl::IsInvalidArgument(shop.backups->Update(update).status())) << "no mask";
  update.mutable_update_mask()->add_paths("source_table");
  EXPECT_TRUE(absl::IsInvalidArgument(shop.backups->Update(update).status()));
  update.mutable_update_mask()->set_paths(0, "expire_time");
  ASSERT_TRUE(shop.backups->Update(update).ok());
  shop.clock->Advance(std::chrono::hours(6));
  EXPECT_EQ(shop.List(kCluster), Rows({"longer"}));
  EXPECT_TRUE(absl::IsNotFound(shop.backups->Get(Shop::NameOf("short")).status()));
  EXPECT_EQ(shop.Restore("short", "projects/p/instances/i", "again").error().code(), 5);
  EXPECT_TRUE(fs::exists(directory.path() + "/db-backups/p@i@c@short"));
  shop.backups->RemoveExpired();
  EXPECT_FALSE(fs::exists(directory.path() + "/db-backups/p@i@c@short"));
  EXPECT_TRUE(fs::exists(directory.path() + "/db-backups/p@i@c@longer"));
}

// The clock is not one whose word is taken, so a leap does not expire anything.
TEST(Backup, IsNotRemovedByAClockThatLeaps) {
  const ScratchDirectory directory;
  const auto machine_clock = std::make_shared<LeapingClock>(Timestamp::FromMicros(kStart));
  Shop shop(directory.path(), machine_clock);
  shop.Create("p/i/t", Schema().AddFamily("f"));
  ASSERT_FALSE(shop.Back("b", "t", 6 * kHour).has_error());
  const std::string path = directory.path() + "/db-backups/p@i@c@b";
  constexpr std::chrono::hours kLeap(24 * 365);
  machine_clock->Leap(kLeap);
  shop.clock->Advance(kLeap);
  EXPECT_EQ(shop.List(kCluster), Rows()) << "hidden while the clock is ahead";
  shop.backups->RemoveExpired();
  EXPECT_TRUE(fs::exists(path));
  machine_clock->Leap(-kLeap);
  shop.clock->Advance(-kLeap);
  EXPECT_EQ(shop.List(kCluster), Rows({"b"}));
  machine_clock->Pass(std::chrono::hours(7));
  shop.clock->Advance(std::chrono::hours(7));
  shop.backups->RemoveExpired();
  EXPECT_FALSE(fs::exists(path));
}

TEST(Backup, OutlivesTheProcessTheTableAndTheDatabase) {
  const ScratchDirectory directory;
  std::string before;
  {
    Shop shop(directory.path());
    Table table = shop.Create("p/i/t", Schema().AddFamily("f"));
    ASSERT_TRUE(table.Apply(RowMutation("r").SetCell("f", "q", Timestamp(), "kept")).ok());
    ASSERT_FALSE(shop.Back("b", "t").has_error());
    ASSERT_TRUE(shop.tables->Delete("p/i/t").ok());
    before = shop.backups->Get(Shop::NameOf("b"))->SerializeAsString();
  }
  fs::remove_all(directory.path() + "/db");
  Shop shop(directory.path());
  ASSERT_TRUE(shop.backups->Get(Shop::NameOf("b")).ok());
  EXPECT_EQ(shop.backups->Get(Shop::NameOf("b"))->SerializeAsString(), before);
  ASSERT_FALSE(shop.Restore("b", "projects/p/instances/i", "t").has_error());
  EXPECT_EQ(CellsOf(*shop.tables->Open("p/i/t")), Rows({"r f:q@0=kept"}));
}

TEST(Backup, ACopyIsABackupOfItsOwnAndIsNotCopiedAgain) {
  const ScratchDirectory directory;
  Shop shop(directory.path());
  Table table = shop.Create("p/i/t", Schema().AddFamily("f"));
  ASSERT_TRUE(table.Apply(RowMutation("r").SetCell("f", "q", Timestamp(), "kept")).ok());
  ASSERT_FALSE(shop.Back("b", "t").has_error());
  const Operation copied = shop.Copy(Shop::NameOf("b"), "copy");
  ASSERT_TRUE(copied.has_response()) << copied.ShortDebugString();
  admin_wire::Backup copy;
  ASSERT_TRUE(copied.response().UnpackTo(&copy));
  EXPECT_EQ(copy.name(), "projects/other/instances/o/clusters/c/backups/copy");
  EXPECT_EQ(copy.source_backup(), Shop::NameOf("b"));
  EXPECT_EQ(copy.source_table(), "projects/p/instances/i/tables/t");
  EXPECT_EQ(shop.Copy(copy.name(), "copy2").error().code(), 9);
  EXPECT_EQ(shop.Copy(Shop::NameOf("b"), "copy").error().code(), 6);
  ASSERT_TRUE(shop.backups->Delete(Shop::NameOf("b")).ok());
  admin_wire::RestoreTableRequest request;
  request.set_parent("projects/other/instances/o");
  request.set_table_id("again");
  request.set_backup(copy.name());
  ASSERT_FALSE(shop.Await(shop.backups->Restore(request)).has_error());
  EXPECT_EQ(CellsOf(*shop.tables->Open("other/o/again")), Rows({"r f:q@0=kept"}));
}

TEST(Backup, WhatWasCutOffLeavesNothing) {
  const ScratchDirectory directory;
  const std::string root = directory.path() + "/db-backups";
  {
    Shop shop(directory.path());
    shop.Create("p/i/t", Schema().AddFamily("f"));
    ASSERT_FALSE(shop.Back("b", "t").has_error());
    // The state after a process ended during a copy and a restoration.
    fs::copy(root + "/p@i@c@b", root + "/.unfinished-1");
    ASSERT_TRUE(shop.tables->CreateHidden("p/i/half", Schema().AddFamily("f")).ok());
    EXPECT_EQ(*shop.tables->List("p/i/"), Rows({"p/i/t"}));
    EXPECT_TRUE(absl::IsNotFound(shop.tables->Find("projects/p/instances/i/tables/half").status()));
    EXPECT_TRUE(absl::IsAlreadyExists(shop.tables->Create("p/i/half", Schema()).status()));
  }
  Shop shop(directory.path());
  EXPECT_FALSE(fs::exists(root + "/.unfinished-1"));
  EXPECT_EQ(*shop.database.ListTables(), Rows({"p/i/t"}));
  EXPECT_EQ(shop.List(kCluster), Rows({"b"}));
}

// Returns the names in the directory of the backups, ascending.
Rows BackupFiles(const ScratchDirectory& directory) {
  Rows names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory.path() + "/db-backups"))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// A backup and a copy that fail, beside a table and a backup "b" of it.
class FailedBackup : public testing::Test {
 protected:
  void SetUp() override {
    shop_.Create("p/i/t", Schema().AddFamily("f"));
    ASSERT_FALSE(shop_.Back("b", "t").has_error());
  }
  // Makes a backup "c" and a copy "d", and expects that both fail and leave nothing.
  void ExpectNothingLeft(absl::StatusCode code) {
    EXPECT_EQ(shop_.Back("c", "t").error().code(), static_cast<int>(code));
    EXPECT_EQ(shop_.Copy(Shop::NameOf("b"), "d").error().code(), static_cast<int>(code));
    EXPECT_EQ(BackupFiles(directory_), Rows({".lock", "p@i@c@b"}));
  }
  void ExpectNamesFree() {
    shop_.hook_clock->on_now = nullptr;
    EXPECT_EQ(shop_.List(kCluster), Rows({"b"}));
    EXPECT_EQ(shop_.List("projects/other/instances/o/clusters/c"), Rows());
    EXPECT_FALSE(shop_.Back("c", "t").has_error());
    EXPECT_FALSE(shop_.Copy(Shop::NameOf("b"), "d").has_error());
  }

  const ScratchDirectory directory_;
  Shop shop_{directory_.path()};
};

// A stop of the server is a cancellation of all operations.
TEST_F(FailedBackup, OneThatIsCancelledLeavesNothing) {
  // The work reads the time when the checkpoint is complete.
  shop_.hook_clock->on_now = [this] { shop_.CancelAll(); };
  ExpectNothingLeft(absl::StatusCode::kCancelled);
  ExpectNamesFree();
}

TEST_F(FailedBackup, OneWhoseWorkThrowsLeavesNothing) {
  // The work reads the time when the checkpoint is complete. Requests read it on this thread.
  shop_.hook_clock->on_now = [caller = std::this_thread::get_id()] {
    if (std::this_thread::get_id() != caller) throw std::bad_alloc();
  };
  ExpectNothingLeft(absl::StatusCode::kResourceExhausted);
  ExpectNamesFree();
}

TEST_F(FailedBackup, OneThatGetsNoThreadLeavesNothing) {
  {
    const NoThreads none;
    ExpectNothingLeft(absl::StatusCode::kResourceExhausted);
  }
  ExpectNamesFree();
}

TEST(Backup, OtherNamesThatBeginWithADotAreLeftAlone) {
  const ScratchDirectory directory;
  const std::string root = directory.path() + "/db-backups";
  fs::create_directories(root + "/.ssh");
  for (const char* const name : {"/.keep", "/.ssh/key", "/.unfinished"})
    std::ofstream(root + name) << "precious";
  const Shop shop(directory.path());
  for (const char* const name : {"/.keep", "/.ssh/key", "/.unfinished"})
    EXPECT_TRUE(fs::exists(root + name)) << name;
  EXPECT_EQ(shop.List(kCluster), Rows());
}

TEST(Backup, ADirectoryIsOfOneServer) {
  const ScratchDirectory directory;
  const auto report = [](const absl::Status& status) { ADD_FAILURE() << status; };
  BackupDirectory second(directory.path() + "/db-backups");
  {
    Shop first(directory.path());
    EXPECT_TRUE(second.Scan(report).ok()) << "nobody has made it yet";
    first.Create("p/i/t", Schema().AddFamily("f"));
    ASSERT_FALSE(first.Back("b", "t").has_error());
    fs::create_directory(directory.path() + "/db-backups/.unfinished-7");
    EXPECT_TRUE(absl::IsFailedPrecondition(second.Scan(report).status()));
    EXPECT_TRUE(fs::exists(directory.path() + "/db-backups/.unfinished-7"))
        << "the first may be making it";
    admin_wire::Backup backup;
    backup.set_name(Shop::NameOf("c"));
    EXPECT_TRUE(absl::IsFailedPrecondition(
        second.Make(first.database, "p/i/t", first.clock.get(), {}, &backup)));
  }
  const auto backups = second.Scan(report);
  ASSERT_TRUE(backups.ok()) << backups.status();
  EXPECT_EQ(backups->size(), 1u);
}

TEST(Backup, OneWhoseFolderIsGoneCanBeDeleted) {
  const ScratchDirectory directory;
  Shop shop(directory.path());
  shop.Create("p/i/t", Schema().AddFamily("f"));
  ASSERT_FALSE(shop.Back("b", "t").has_error());
  fs::remove_all(directory.path() + "/db-backups/p@i@c@b");
  EXPECT_TRUE(shop.backups->Delete(Shop::NameOf("b")).ok());
  EXPECT_EQ(shop.List(kCluster), Rows());
}

TEST(Backup, OneThatCannotBeReadStaysAndKeepsItsName) {
  const ScratchDirectory directory;
  const std::string folder = directory.path() + "/db-backups/p@i@c@b";
  {
    Shop shop(directory.path());
    shop.Create("p/i/t", Schema().AddFamily("f"));
    ASSERT_FALSE(shop.Back("b", "t").has_error());
  }
  std::ofstream(folder + "/CURRENT", std::ios::trunc) << "nonsense";
  Shop shop(directory.path());
  EXPECT_EQ(shop.List(kCluster), Rows());
  EXPECT_TRUE(fs::exists(folder));
  EXPECT_EQ(shop.Back("b", "t").error().code(), 6) << "what is there is not written over";
  EXPECT_TRUE(fs::exists(folder));
}

TEST(Backup, ADatabaseInMemoryHasNone) {
  const absl::StatusOr<Database> database = Database::Open("mem:");
  ASSERT_TRUE(database.ok());
  OpenTables tables(*database);
  Operations operations;
  Backups backups(*database, &tables, &operations, "", std::make_shared<ManualClock>());
  EXPECT_TRUE(backups.Load().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(backups.Create({}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(backups.Restore({}).status()));
}

}  // namespace
}  // namespace stele::server
