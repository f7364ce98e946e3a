// Tests a backup whose last sync fails.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "steled/backups/backup_directory.h"
#include "steled/server_fixture.h"
#include "steled/sync_hook.h"

namespace stele::server {
namespace {

namespace admin_wire = ::google::bigtable::admin::v2;
namespace fs = std::filesystem;

constexpr char kBackup[] = "projects/p/instances/i/clusters/c/backups/b";
constexpr char kFolder[] = "p@i@c@b";

bool ContainsFolder(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t bytes = readlink(link.c_str(), path.data(), path.size());
  std::error_code error;
  return bytes > 0 &&
         fs::exists(fs::path(std::string(path.data(), static_cast<size_t>(bytes))) / kFolder,
                    error);
}

TEST(BackupSync, ABackupWhoseLastSyncFailsIsGone) {
  const ScratchDirectory directory;
  const std::string root = directory.path() + "/db-backups";
  absl::StatusOr<Database> database = Database::Open(directory.path() + "/db");
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE(database->CreateTable("p/i/t", Schema().AddFamily("f")).ok());
  BackupDirectory backups(root);
  ManualClock clock;
  admin_wire::Backup backup;
  backup.set_name(kBackup);
  std::optional<SyncHook> hook;
  hook.emplace([](int descriptor) { return ContainsFolder(descriptor) ? EIO : 0; });
  const absl::Status failed = backups.Make(*database, "p/i/t", &clock, {}, &backup);
  hook.reset();
  EXPECT_TRUE(absl::IsUnavailable(failed)) << failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(root))
    EXPECT_EQ(entry.path().filename(), ".lock");
  const auto report = [](const absl::Status& status) { ADD_FAILURE() << status; };
  EXPECT_TRUE(backups.Scan(report)->empty());
  EXPECT_TRUE(backups.Make(*database, "p/i/t", &clock, {}, &backup).ok()) << "its name is free";
  EXPECT_EQ(backups.Scan(report)->size(), 1u);
  EXPECT_TRUE(database->Close().ok());
}

}  // namespace
}  // namespace stele::server
