// Tests automated backup policies and hot backups: checks of requests, the schedule, and
// conversion.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stop_token>

#include "absl/status/status.h"
#include "remote/wire/schema_translation.h"
#include "remote/wire/timestamps.h"
#include "steled/backups/automated_backups.h"
#include "steled/server_fixture.h"
#include "steled/state/records.h"

namespace stele::server {
namespace {

namespace admin = ::google::bigtable::admin::v2;

constexpr int64_t kHourMicros = int64_t{3600} * 1'000'000;
constexpr int64_t kDayMicros = 24 * kHourMicros;
constexpr char kPolicyTable[] = "projects/p/instances/i/tables/t";

// The components of a server that create backups, with a clock that the test moves.
class PolicyShop {
 public:
  PolicyShop()
      : clock(std::make_shared<ManualClock>(Timestamp::FromMicros(1'700'000'000LL * 1'000'000))) {
    absl::StatusOr<Database> opened = Database::Open(directory.path() + "/db", {.clock = clock});
    EXPECT_TRUE(opened.ok()) << opened.status();
    database = *opened;
    tables = std::make_unique<OpenTables>(database);
    backups = std::make_unique<Backups>(database, tables.get(), &operations,
                                        directory.path() + "/db-backups", clock);
    records = std::make_unique<Records>(database);
    instances = std::make_unique<Instances>(
        tables.get(), records.get(), [](std::string_view) { return false; },
        /*is_strict=*/false);
    automated = std::make_unique<AutomatedBackups>(tables.get(), instances.get(), backups.get(),
                                                   records.get(), clock);
    EXPECT_TRUE(backups->Load().ok());
  }

  void CreateTable(const std::string& table_id, const std::string& policy) {
    ASSERT_TRUE(
        tables
            ->Create("p/i/" + table_id, Schema().AddFamily("f").SetProperty(
                                            std::string(internal::kAutomatedBackupPolicy), policy))
            .ok());
  }

  // Creates the table t, and its first backup. No record fits.
  void MakeBackupWithoutRecord() {
    CreateTable("t", "259200 86400");
    const Schema no_record_fits =
        Schema().AddFamily("record").SetLimits(TableLimits{.value_bytes = 1});
    ASSERT_TRUE(database.CreateTable(kRecordTable, no_record_fits).ok());
    EXPECT_FALSE(automated->MakeDue({}).ok());
    EXPECT_EQ(List().size(), 1u);
  }

  std::vector<admin::Backup> List() const {
    admin::ListBackupsRequest request;
    request.set_parent("projects/p/instances/i/clusters/-");
    admin::ListBackupsResponse response;
    EXPECT_TRUE(backups->List(request, &response).ok());
    return {response.backups().begin(), response.backups().end()};
  }

  // Creates a backup of the table with a life of 30 days. `text` has its other fields, as protobuf
  // text.
  absl::StatusOr<admin::Backup> Make(const std::string& backup_id, const std::string& text,
                                     int64_t hot_micros = 0) {
    admin::CreateBackupRequest request;
    Parse(text, request.mutable_backup());
    request.set_parent("projects/p/instances/i/clusters/local");
    request.set_backup_id(backup_id);
    request.mutable_backup()->set_source_table(kPolicyTable);
    *request.mutable_backup()->mutable_expire_time() =
        internal::ToWireTime(clock->Now().micros() + 30 * kDayMicros);
    if (hot_micros != 0) {
      *request.mutable_backup()->mutable_hot_to_standard_time() =
          internal::ToWireTime(clock->Now().micros() + hot_micros);
    }
    return backups->CreateAndWait(request, {});
  }

  absl::StatusOr<admin::Backup> SetHotTime(const std::string& name, std::optional<int64_t> micros) {
    admin::UpdateBackupRequest request;
    request.mutable_update_mask()->add_paths("hot_to_standard_time");
    request.mutable_backup()->set_name(name);
    if (micros.has_value())
      *request.mutable_backup()->mutable_hot_to_standard_time() = internal::ToWireTime(*micros);
    return backups->Update(request);
  }

  ScratchDirectory directory;
  std::shared_ptr<ManualClock> clock;
  Database database;
  Operations operations;
  std::unique_ptr<OpenTables> tables;
  std::unique_ptr<Backups> backups;
  std::unique_ptr<Records> records;
  std::unique_ptr<Instances> instances;
  std::unique_ptr<AutomatedBackups> automated;
};

TEST(AutomatedBackup, IsMadeEachDayAndExpires) {
  PolicyShop shop;
  shop.CreateTable("t", "259200 86400");
  shop.CreateTable("without", "");
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  ASSERT_EQ(shop.List().size(), 1u) << "one a day";
  const admin::Backup first = shop.List().front();
  EXPECT_EQ(first.source_table(), kPolicyTable);
  EXPECT_EQ(first.state(), admin::Backup::READY);
  EXPECT_TRUE(first.name().starts_with("projects/p/instances/i/clusters/local/backups/auto-"))
      << first.name();
  EXPECT_EQ(internal::MicrosOf(first.expire_time()) - internal::MicrosOf(first.start_time()),
            3 * kDayMicros);
  shop.clock->Advance(std::chrono::hours(23));
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  EXPECT_EQ(shop.List().size(), 1u);
  shop.clock->Advance(std::chrono::hours(1));
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  EXPECT_EQ(shop.List().size(), 2u);
  shop.clock->Advance(std::chrono::hours(49));
  EXPECT_EQ(shop.List().size(), 1u) << "the first one expired";
}

TEST(AutomatedBackup, OneThatWasMadeInTheFutureDoesNotHoldUpTheNext) {
  PolicyShop shop;
  shop.CreateTable("t", "259200 86400");
  shop.clock->Advance(std::chrono::hours(24 * 365));
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  EXPECT_EQ(shop.List().size(), 1u);
  shop.clock->Advance(-std::chrono::hours(24 * 365));
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  EXPECT_EQ(shop.List().size(), 2u);
}

TEST(AutomatedBackup, OneTableThatFailsDoesNotStopTheOthers) {
  PolicyShop shop;
  shop.CreateTable("a", "9999999999 86400");  // longer than any backup's life
  shop.CreateTable("b", "259200 86400");
  EXPECT_FALSE(shop.automated->MakeDue({}).ok());
  ASSERT_EQ(shop.List().size(), 1u);
  EXPECT_EQ(shop.List().front().source_table(), "projects/p/instances/i/tables/b");
}

TEST(AutomatedBackup, OneThatFailsIsTriedLessAndLessOften) {
  PolicyShop shop;
  shop.CreateTable("a", "9999999999 86400");  // longer than any backup's life
  EXPECT_FALSE(shop.automated->MakeDue({}).ok());
  for (const int pause : {20, 40, 80}) {
    shop.clock->Advance(std::chrono::seconds(pause - 1));
    EXPECT_TRUE(shop.automated->MakeDue({}).ok()) << "it waits";
    shop.clock->Advance(std::chrono::seconds(1));
    EXPECT_FALSE(shop.automated->MakeDue({}).ok());
  }
  for (int i = 0; i < 10; ++i) {
    shop.clock->Advance(std::chrono::hours(1));
    EXPECT_FALSE(shop.automated->MakeDue({}).ok()) << i;
  }
  shop.clock->Advance(std::chrono::minutes(59));
  EXPECT_TRUE(shop.automated->MakeDue({}).ok());
  shop.clock->Set(Timestamp::FromMicros(1'600'000'000LL * 1'000'000));
  EXPECT_FALSE(shop.automated->MakeDue({}).ok()) << "a clock that was set back ends the pause";
}

// As on a full disk, while the backups are on another one.
TEST(AutomatedBackup, OneWhoseRecordCannotBeWrittenIsNotMadeAgain) {
  PolicyShop shop;
  shop.MakeBackupWithoutRecord();
  for (int i = 0; i < 20; ++i) {
    shop.clock->Advance(std::chrono::hours(1));
    EXPECT_FALSE(shop.automated->MakeDue({}).ok()) << "there still is no record";
  }
  EXPECT_EQ(shop.List().size(), 1u);
  shop.clock->Advance(std::chrono::hours(4));
  EXPECT_FALSE(shop.automated->MakeDue({}).ok());
  EXPECT_EQ(shop.List().size(), 2u) << "that of the next day";
  ASSERT_TRUE(shop.database.DeleteTable(kRecordTable).ok());
  shop.clock->Advance(std::chrono::hours(1));
  EXPECT_TRUE(shop.automated->MakeDue({}).ok());
  // The next process knows only the record.
  AutomatedBackups next(shop.tables.get(), shop.instances.get(), shop.backups.get(),
                        shop.records.get(), shop.clock);
  EXPECT_TRUE(next.MakeDue({}).ok());
  EXPECT_EQ(shop.List().size(), 2u);
}

TEST(AutomatedBackup, ANewTableOfTheNameGetsItsFirstAtOnce) {
  PolicyShop shop;
  const auto record_count = [&shop] {
    return shop.records->List<google::protobuf::Timestamp>("automated_backup/")->size();
  };
  shop.CreateTable("t", "259200 86400");
  shop.CreateTable("t2", "259200 86400");
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  ASSERT_EQ(shop.List().size(), 2u);
  ASSERT_TRUE(shop.tables->SoftDelete("p/i/t", 100).ok());
  ASSERT_TRUE(shop.tables->Undelete("p/i/t").ok());
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  EXPECT_EQ(shop.List().size(), 2u) << "it is the same table";
  ASSERT_TRUE(shop.tables->SoftDelete("p/i/t", 100).ok());
  shop.CreateTable("t", "259200 86400");
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  EXPECT_EQ(shop.List().size(), 3u);
  ASSERT_TRUE(shop.tables->Delete("p/i/t").ok());
  EXPECT_EQ(record_count(), 1u) << "that of t2";
  shop.CreateTable("t", "259200 86400");
  ASSERT_TRUE(shop.automated->MakeDue({}).ok());
  EXPECT_EQ(shop.List().size(), 4u);
  ASSERT_TRUE(shop.tables->SoftDelete("p/i/t", 100).ok());
  EXPECT_EQ(record_count(), 2u);
  ASSERT_TRUE(shop.tables->PurgeSoftDeleted(100).ok());
  EXPECT_EQ(record_count(), 1u);
  // As after a deletion on a full disk.
  ASSERT_TRUE(shop.records
                  ->Put("automated_backup/" + std::string(kPolicyTable),
                        internal::ToWireTime(shop.clock->Now().micros()))
                  .ok());
  shop.CreateTable("t", "259200 86400");
  EXPECT_EQ(record_count(), 1u);
}

TEST(AutomatedBackup, ANewTableDoesNotGetTheTimeOfABackupWithoutARecord) {
  PolicyShop shop;
  shop.MakeBackupWithoutRecord();
  ASSERT_TRUE(shop.tables->Delete("p/i/t").ok());
  shop.CreateTable("t", "259200 86400");
  shop.clock->Advance(std::chrono::hours(1));
  EXPECT_FALSE(shop.automated->MakeDue({}).ok());
  EXPECT_EQ(shop.List().size(), 2u);
}

// Requests a stop when it is read.
class StoppingClock final : public TimestampClock {
 public:
  explicit StoppingClock(std::shared_ptr<TimestampClock> clock) : clock_(std::move(clock)) {}
  Timestamp Now() override {
    stop_.request_stop();
    return clock_->Now();
  }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  const std::shared_ptr<TimestampClock> clock_;
  std::stop_source stop_;
};

TEST(AutomatedBackup, AStopEndsTheOneThatIsBeingMade) {
  PolicyShop shop;
  shop.CreateTable("a", "259200 86400");
  shop.CreateTable("b", "259200 86400");
  const auto clock = std::make_shared<StoppingClock>(shop.clock);
  AutomatedBackups stopped(shop.tables.get(), shop.instances.get(), shop.backups.get(),
                           shop.records.get(), clock);
  EXPECT_TRUE(stopped.MakeDue(clock->token()).ok());
  EXPECT_TRUE(shop.List().empty());
  EXPECT_TRUE(stopped.MakeDue({}).ok()) << "a stop is no failure";
  EXPECT_EQ(shop.List().size(), 2u);
}

TEST(HotBackup, BecomesAStandardOneAtItsTime) {
  PolicyShop shop;
  shop.CreateTable("t", "");
  EXPECT_TRUE(absl::IsInvalidArgument(
      shop.Make("standard", "backup_type: STANDARD", 25 * kHourMicros).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(shop.Make("unnamed", "", 25 * kHourMicros).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      shop.Make("soon", "backup_type: HOT", 24 * kHourMicros - 1).status()));
  const absl::StatusOr<admin::Backup> hot = shop.Make("hot", "backup_type: HOT", 24 * kHourMicros);
  ASSERT_TRUE(hot.ok()) << hot.status();
  const absl::StatusOr<admin::Backup> stays = shop.Make("stays", "backup_type: HOT");
  ASSERT_TRUE(stays.ok()) << stays.status();
  EXPECT_EQ(shop.backups->Get(hot->name())->backup_type(), admin::Backup::HOT);
  shop.clock->Advance(std::chrono::hours(24));
  const absl::StatusOr<admin::Backup> turned = shop.backups->Get(hot->name());
  EXPECT_EQ(turned->backup_type(), admin::Backup::STANDARD);
  EXPECT_FALSE(turned->has_hot_to_standard_time());
  EXPECT_EQ(shop.backups->Get(stays->name())->backup_type(), admin::Backup::HOT);
  for (const admin::Backup& backup : shop.List()) {
    EXPECT_EQ(backup.backup_type(),
              backup.name() == hot->name() ? admin::Backup::STANDARD : admin::Backup::HOT);
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      shop.SetHotTime(hot->name(), shop.clock->Now().micros() + 48 * kHourMicros).status()))
      << "a standard backup never becomes hot";
}

TEST(HotBackup, ItsTimeCanBeChangedAndRemoved) {
  PolicyShop shop;
  shop.CreateTable("t", "");
  const int64_t start = shop.clock->Now().micros();
  const absl::StatusOr<admin::Backup> hot = shop.Make("hot", "backup_type: HOT", 30 * kHourMicros);
  ASSERT_TRUE(hot.ok()) << hot.status();
  EXPECT_TRUE(
      absl::IsInvalidArgument(shop.SetHotTime(hot->name(), start + 23 * kHourMicros).status()));
  EXPECT_EQ(internal::MicrosOf(
                shop.SetHotTime(hot->name(), start + 26 * kHourMicros)->hot_to_standard_time()),
            start + 26 * kHourMicros);
  EXPECT_FALSE(shop.SetHotTime(hot->name(), std::nullopt)->has_hot_to_standard_time());
  shop.clock->Advance(std::chrono::hours(31));
  EXPECT_EQ(shop.backups->Get(hot->name())->backup_type(), admin::Backup::HOT);
}

// Each CreateBackup tries to remove it again.
TEST(ExpiredBackup, OneThatCannotBeRemovedDoesNotFillTheLog) {
  constexpr int kCalls = 1'000;
  PolicyShop shop;
  shop.CreateTable("t", "");
  ASSERT_TRUE(shop.Make("b", "").ok());
  shop.clock->Advance(std::chrono::hours(31 * 24));
  const std::string root = shop.directory.path() + "/db-backups";
  std::filesystem::rename(root, root + ".away");
  std::ofstream(root) << "a file";
  testing::internal::CaptureStderr();
  for (int i = 0; i < kCalls; ++i) shop.backups->RemoveExpired();
  const std::string logged = testing::internal::GetCapturedStderr();
  EXPECT_NE(logged.find("an expired backup cannot be removed"), std::string::npos) << logged;
  EXPECT_LT(std::count(logged.begin(), logged.end(), '\n'), kCalls);
}

class BackupPolicyTest : public ServerTest {
 protected:
  grpc::StatusCode Create(const std::string& table_id, const std::string& policy) {
    admin::CreateTableRequest request;
    Parse("parent: 'projects/p/instances/i' table_id: '" + table_id +
              "' table { automated_backup_policy { " + policy + " } }",
          &request);
    admin::Table table;
    grpc::ClientContext context;
    return client().admin().CreateTable(&context, request, &table).error_code();
  }
  grpc::StatusCode Update(const std::string& text) {
    admin::UpdateTableRequest request;
    Parse(text, &request);
    request.mutable_table()->set_name(Client::TableName("policy"));
    google::longrunning::Operation operation;
    grpc::ClientContext context;
    return client().admin().UpdateTable(&context, request, &operation).error_code();
  }
  // Returns "RETENTION FREQUENCY" in seconds, or "none".
  std::string PolicyOf(const std::string& table_id) {
    admin::GetTableRequest request;
    request.set_name(Client::TableName(table_id));
    request.set_view(admin::Table::FULL);
    admin::Table table;
    grpc::ClientContext context;
    EXPECT_TRUE(client().admin().GetTable(&context, request, &table).ok());
    if (!table.has_automated_backup_policy()) return "none";
    const admin::AutomatedBackupPolicy& policy = table.automated_backup_policy();
    return std::to_string(policy.retention_period().seconds()) + " " +
           std::to_string(policy.frequency().seconds());
  }
};

TEST_F(BackupPolicyTest, IsCheckedKeptChangedAndRemoved) {
  constexpr auto kInvalid = grpc::StatusCode::INVALID_ARGUMENT;
  EXPECT_EQ(Create("wrong", ""), kInvalid) << "a retention is required";
  EXPECT_EQ(Create("wrong", "retention_period { seconds: 259199 }"), kInvalid);
  EXPECT_EQ(Create("wrong", "retention_period { seconds: 7776001 }"), kInvalid);
  EXPECT_EQ(Create("wrong", "retention_period { seconds: 259200 } frequency { seconds: 3600 }"),
            kInvalid);
  ASSERT_EQ(Create("policy", "retention_period { seconds: 259200 }"), grpc::StatusCode::OK);
  EXPECT_EQ(PolicyOf("policy"), "259200 86400") << "24 hours where none is set";
  EXPECT_EQ(Update("table { automated_backup_policy { retention_period { seconds: 7776000 } } } "
                   "update_mask { paths: 'automated_backup_policy.retention_period' }"),
            grpc::StatusCode::OK);
  EXPECT_EQ(PolicyOf("policy"), "7776000 86400");
  EXPECT_EQ(Update("table { automated_backup_policy { retention_period { seconds: 1 } } } "
                   "update_mask { paths: 'automated_backup_policy' paths: 'deletion_protection' }"),
            kInvalid);
  EXPECT_EQ(PolicyOf("policy"), "7776000 86400");
  EXPECT_EQ(Update("update_mask { paths: 'automated_backup_policy.other' }"), kInvalid);
  EXPECT_EQ(Update("update_mask { paths: 'automated_backup_policy' }"), grpc::StatusCode::OK);
  EXPECT_EQ(PolicyOf("policy"), "none");
}

}  // namespace
}  // namespace stele::server
