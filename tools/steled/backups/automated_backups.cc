#include "steled/backups/automated_backups.h"

#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "remote/wire/names.h"
#include "remote/wire/schema_translation.h"
#include "remote/wire/timestamps.h"
#include "steled/base/errors.h"

namespace stele::server {

using internal::BackupPolicyOf;
using internal::MicrosOf;
using internal::ToWireTime;
using internal::WireTableName;

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kPauseMinMicros = 20 * kMicrosPerSecond;
constexpr int64_t kPauseMaxMicros = 3600 * kMicrosPerSecond;

bool IsDeleted(const Table& table) { return absl::IsNotFound(table.schema().status()); }

}  // namespace

AutomatedBackups::AutomatedBackups(OpenTables* tables, const Instances* instances, Backups* backups,
                                   Records* records, std::shared_ptr<TimestampClock> clock)
    : tables_(*tables),
      instances_(*instances),
      backups_(*backups),
      records_(*records),
      clock_(std::move(clock)) {}

absl::Status AutomatedBackups::MakeDue(const std::stop_token& stop) {
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> names, tables_.List(""));
  std::erase_if(unfinished_, [&names](const auto& entry) {
    return std::find(names.begin(), names.end(), entry.first) == names.end();
  });
  absl::Status first;
  for (const std::string& name : names) {
    if (IsBackingOff(name)) continue;
    absl::Status made = stop.stop_requested() ? absl::CancelledError() : MakeIfDue(name, stop);
    if (absl::IsCancelled(made) && stop.stop_requested()) return absl::OkStatus();
    const bool is_deleted = absl::IsNotFound(made) && !tables_.IsTaken(name);
    if (made.ok() || is_deleted) {
      unfinished_.erase(name);
      continue;
    }
    NoteFailure(name);
    if (first.ok()) first = std::move(made);
  }
  return first;
}

bool AutomatedBackups::IsBackingOff(const std::string& stored_name) const {
  const auto found = unfinished_.find(stored_name);
  if (found == unfinished_.end()) return false;
  const int64_t waited_micros = clock_->Now().micros() - found->second.failed_micros;
  // A clock that was set back ends the pause.
  return waited_micros >= 0 && waited_micros < found->second.pause_micros;
}

void AutomatedBackups::NoteFailure(const std::string& stored_name) {
  Unfinished& unfinished = unfinished_[stored_name];
  unfinished.failed_micros = clock_->Now().micros();
  unfinished.pause_micros =
      std::clamp(2 * unfinished.pause_micros, kPauseMinMicros, kPauseMaxMicros);
}

absl::Status AutomatedBackups::MakeIfDue(const std::string& stored_name,
                                         const std::stop_token& stop) {
  const std::string table_name = WireTableName(stored_name);
  if (table_name.empty()) return absl::OkStatus();  // not a client's table
  STELED_ASSIGN_OR_RETURN(const Table table, tables_.Open(stored_name));
  STELED_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  const std::optional<admin_wire::AutomatedBackupPolicy> policy = BackupPolicyOf(schema);
  if (!policy.has_value()) return absl::OkStatus();
  const std::string record_key = AutomatedBackupKey(table_name);
  STELED_ASSIGN_OR_RETURN(const auto recorded,
                          records_.Get<google::protobuf::Timestamp>(record_key));
  int64_t made_micros = 0;
  if (const auto found = unfinished_.find(stored_name);
      found != unfinished_.end() && !IsDeleted(found->second.table))
    made_micros = found->second.made_micros;
  const int64_t last_micros =
      std::max(made_micros, recorded.has_value() ? MicrosOf(*recorded) : int64_t{0});
  // A backup from the future, made while the clock was ahead, must not delay the next one for
  // longer.
  const bool is_due = last_micros == 0 || std::abs(clock_->Now().micros() - last_micros) >=
                                              policy->frequency().seconds() * kMicrosPerSecond;
  if (is_due) {
    STELED_ASSIGN_OR_RETURN(made_micros, Make(table_name, *policy, stop));
    Unfinished& unfinished = unfinished_[stored_name];
    unfinished.made_micros = made_micros;
    unfinished.table = table;
  }
  const std::lock_guard lock(tables_.changes());
  // A new table of the name has had no backup.
  if (made_micros == 0 || IsDeleted(table)) return absl::OkStatus();
  return records_.Put(record_key, ToWireTime(made_micros));
}

absl::StatusOr<int64_t> AutomatedBackups::Make(const std::string& table_name,
                                               const admin_wire::AutomatedBackupPolicy& policy,
                                               const std::stop_token& stop) {
  const int64_t now_micros = clock_->Now().micros();
  STELED_ASSIGN_OR_RETURN(
      const std::vector<admin_wire::Cluster> clusters,
      instances_.ListClusters(table_name.substr(0, table_name.rfind("/tables/"))));
  admin_wire::CreateBackupRequest request;
  request.set_parent(clusters.front().name());
  request.set_backup_id(fmt::format("auto-{}-{}", now_micros, ++made_count_));
  request.mutable_backup()->set_source_table(table_name);
  *request.mutable_backup()->mutable_expire_time() =
      ToWireTime(now_micros + policy.retention_period().seconds() * kMicrosPerSecond);
  STELED_ASSIGN_OR_RETURN(const admin_wire::Backup backup, backups_.CreateAndWait(request, stop));
  return MicrosOf(backup.start_time());
}

}  // namespace stele::server
