// Tests that a sync which takes long holds up only the changes of tables and backups, not the
// requests that read and write.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "remote/wire/timestamps.h"
#include "steled/backups/backups.h"
#include "steled/server_fixture.h"
#include "steled/state/open_tables.h"
#include "steled/sync_hook.h"

namespace stele::server {
namespace {

namespace admin_wire = ::google::bigtable::admin::v2;

constexpr char kChangedBackup[] = "projects/p/instances/i/clusters/c/backups/b";

std::string NameOf(const std::string& table_id) {
  return "projects/p/instances/i/tables/" + table_id;
}

// True in the thread of the change: the database has other threads that sync.
thread_local bool is_changing = false;

// Runs `change` in a thread. Once it syncs, that sync waits until `requests` have ended.
void ExpectNoWait(const std::function<absl::Status()>& change,
                  const std::function<void()>& requests) {
  std::promise<void> syncing;
  std::promise<void> released;
  std::atomic<bool> is_first = true;
  const SyncHook hook([&](int) {
    if (is_changing && is_first.exchange(false)) {
      syncing.set_value();
      released.get_future().wait();
    }
    return 0;
  });
  std::future<absl::Status> changed = std::async(std::launch::async, [&change] {
    is_changing = true;
    return change();
  });
  ASSERT_EQ(syncing.get_future().wait_for(std::chrono::minutes(5)), std::future_status::ready)
      << "the change syncs nothing";
  std::future<void> ended = std::async(std::launch::async, requests);
  EXPECT_EQ(ended.wait_for(std::chrono::minutes(5)), std::future_status::ready);
  EXPECT_EQ(changed.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  released.set_value();
  EXPECT_EQ(changed.get(), absl::OkStatus());
  ended.get();
}

class WaitingSyncsTest : public testing::Test {
 protected:
  WaitingSyncsTest() {
    for (const char* const id : {"t", "cached", "deleted", "soft-deleted"})
      EXPECT_TRUE(tables_.Create("p/i/" + std::string(id), Schema().AddFamily("f")).ok());
    EXPECT_TRUE(tables_.Find(NameOf("cached")).ok());
  }
  ~WaitingSyncsTest() override { EXPECT_EQ(database_.Close(), absl::OkStatus()); }

  void ExpectTablesAreFound() {
    EXPECT_TRUE(tables_.Find(NameOf("cached")).ok());
    EXPECT_TRUE(tables_.Find(NameOf("t")).ok());
    EXPECT_TRUE(absl::IsNotFound(tables_.Find(NameOf("unknown")).status()));
    EXPECT_TRUE(tables_.IsTaken("p/i/t"));
    EXPECT_TRUE(tables_.List("p/i/").ok());
  }

  const ScratchDirectory directory_;
  Database database_ = Database::Open(directory_.path() + "/db").value();
  OpenTables tables_{database_};
};

TEST_F(WaitingSyncsTest, RequestsDoNotWaitForTheDeletionOfATable) {
  ExpectNoWait([this] { return tables_.Delete("p/i/deleted"); },
               [this] { ExpectTablesAreFound(); });
  EXPECT_TRUE(absl::IsNotFound(tables_.Find(NameOf("deleted")).status()));
}

TEST_F(WaitingSyncsTest, RequestsDoNotWaitForASoftDeletedTable) {
  ExpectNoWait([this] { return tables_.SoftDelete("p/i/soft-deleted", 100); },
               [this] { ExpectTablesAreFound(); });
  EXPECT_TRUE(absl::IsNotFound(tables_.Find(NameOf("soft-deleted")).status()));
  ExpectNoWait([this] { return tables_.Undelete("p/i/soft-deleted"); },
               [this] {
                 ExpectTablesAreFound();
                 EXPECT_TRUE(absl::IsNotFound(tables_.Find(NameOf("soft-deleted")).status()));
               });
  EXPECT_TRUE(tables_.Find(NameOf("soft-deleted")).ok());
}

TEST_F(WaitingSyncsTest, NoRequestSeesATableThatIsBeingRestored) {
  ExpectNoWait(
      [this] { return tables_.CreateHidden("p/i/hidden", Schema().AddFamily("f")).status(); },
      [this] {
        ExpectTablesAreFound();
        EXPECT_TRUE(absl::IsNotFound(tables_.Find(NameOf("hidden")).status()));
      });
  EXPECT_TRUE(absl::IsNotFound(tables_.Find(NameOf("hidden")).status()));
  ExpectNoWait([this] { return tables_.Reveal("p/i/hidden"); }, [this] { ExpectTablesAreFound(); });
  EXPECT_TRUE(tables_.Find(NameOf("hidden")).ok());
}

TEST_F(WaitingSyncsTest, ATableThatIsMadeAgainIsFound) {
  ExpectNoWait([this] { return tables_.Delete("p/i/deleted"); },
               [this] { tables_.Find(NameOf("deleted")).status().IgnoreError(); });
  ASSERT_TRUE(tables_.Create("p/i/deleted", Schema().AddFamily("g")).ok());
  absl::StatusOr<OpenTable> found = tables_.Find(NameOf("deleted"));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->table.Apply(RowMutation("r").SetCell("g", "", "v")), absl::OkStatus());
}

TEST_F(WaitingSyncsTest, BackupsAreReadWhileOneIsChanged) {
  Operations operations;
  Backups backups(database_, &tables_, &operations, directory_.path() + "/db-backups",
                  std::make_shared<ManualClock>(Timestamp::FromMicros(1'700'000'000'000'000)));
  ASSERT_EQ(backups.Load(), absl::OkStatus());
  admin_wire::CreateBackupRequest request;
  request.set_parent("projects/p/instances/i/clusters/c");
  request.set_backup_id("b");
  request.mutable_backup()->set_source_table(NameOf("t"));
  request.mutable_backup()->mutable_expire_time()->set_seconds(1'700'000'000 + 86'400);
  ASSERT_TRUE(backups.CreateAndWait(request, {}).ok());
  const auto expect_listed = [&](int count) {
    admin_wire::ListBackupsRequest list;
    list.set_parent(request.parent());
    admin_wire::ListBackupsResponse response;
    EXPECT_EQ(backups.List(list, &response), absl::OkStatus());
    EXPECT_EQ(response.backups_size(), count);
    EXPECT_EQ(backups.Get(kChangedBackup).ok(), count == 1);
    EXPECT_EQ(backups.HasBackupOf("projects/p/instances/i"), count == 1);
  };
  admin_wire::UpdateBackupRequest update;
  update.mutable_backup()->set_name(kChangedBackup);
  update.mutable_backup()->mutable_expire_time()->set_seconds(1'700'000'000 + 2 * 86'400);
  update.mutable_update_mask()->add_paths("expire_time");
  ExpectNoWait([&] { return backups.Update(update).status(); }, [&] { expect_listed(1); });
  EXPECT_EQ(backups.Get(kChangedBackup)->expire_time().seconds(), 1'700'000'000 + 2 * 86'400);
  ExpectNoWait([&] { return backups.Delete(kChangedBackup); }, [&] { expect_listed(1); });
  expect_listed(0);
}

}  // namespace
}  // namespace stele::server
