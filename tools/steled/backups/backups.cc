#include "steled/backups/backups.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "remote/wire/names.h"
#include "remote/wire/schema_translation.h"
#include "remote/wire/timestamps.h"
#include "steled/backups/backup_list.h"
#include "steled/backups/table_copy.h"
#include "steled/base/errors.h"
#include "steled/base/log.h"
#include "steled/rpc/no_exceptions.h"

namespace stele::server {

using internal::BackupPrefix;
using internal::CheckBackupId;
using internal::CheckTableId;
using internal::kAutomatedBackupPolicy;
using internal::kDeletionProtection;
using internal::MicrosOf;
using internal::ParseBackupName;
using internal::StoredPrefix;
using internal::StoredTableName;
using internal::ToWireTable;
using internal::ToWireTime;
using internal::WireTableName;

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;

constexpr hours kLifeMin(6);
constexpr hours kHotMin(24);
constexpr days kLifeMax(90);
constexpr days kLifeOfCopyMax(30);
constexpr std::chrono::seconds kExpiryInterval(60);
constexpr int kBackupsPerPage = 1000;

absl::Status BackupNotFound(std::string_view name) {
  return NotFound("Backup not found: {}", name);
}

absl::Status CheckPoint(const google::protobuf::Timestamp& point, std::string_view field) {
  constexpr int64_t kYear9999Seconds = 253'402'300'799;
  const bool is_point = point.seconds() > 0 && point.seconds() <= kYear9999Seconds &&
                        point.nanos() >= 0 && point.nanos() < 1'000'000'000;
  if (!is_point) return InField(InvalidArgument("must be set, to a valid point in time"), field);
  if (point.nanos() % 1'000 != 0)
    return InField(InvalidArgument("must be of whole microseconds"), field);
  return absl::OkStatus();
}

// `from_micros` is the start of the backup's life.
absl::Status CheckExpiry(const google::protobuf::Timestamp& expiry, int64_t from_micros,
                         days life_max) {
  STELED_RETURN_IF_ERROR(CheckPoint(expiry, "expire_time"));
  const microseconds life(MicrosOf(expiry) - from_micros);
  if (life >= kLifeMin && life <= life_max) return absl::OkStatus();
  return InField(InvalidArgument("must be at least {} hours and at most {} days ahead",
                                 kLifeMin.count(), life_max.count()),
                 "expire_time");
}

absl::Status CheckHotToStandard(const google::protobuf::Timestamp& time, bool is_hot,
                                int64_t start_micros) {
  if (!is_hot)
    return InField(InvalidArgument("applies only to hot backups (backup_type HOT)"),
                   "hot_to_standard_time");
  STELED_RETURN_IF_ERROR(CheckPoint(time, "hot_to_standard_time"));
  if (microseconds(MicrosOf(time) - start_micros) >= kHotMin) return absl::OkStatus();
  return InField(
      InvalidArgument("must be at least {} hours after the backup's start_time", kHotMin.count()),
      "hot_to_standard_time");
}

// Returns "projects/P/instances/I/" from any name below it.
std::string_view InstancePartOf(std::string_view name) {
  size_t end = 0;
  for (int level = 0; level < 4 && end != std::string_view::npos; ++level)
    end = name.find('/', end + 1);
  return end == std::string_view::npos ? name : name.substr(0, end + 1);
}

absl::StatusOr<std::string> NewBackupName(const std::string& parent, const std::string& backup_id) {
  STELED_ASSIGN_OR_RETURN(const std::string prefix, BackupPrefix(parent));
  if (!prefix.ends_with("/backups/"))
    return InvalidArgument("A backup is made in one cluster, not in \"{}\"", parent);
  STELED_RETURN_IF_ERROR(CheckBackupId(backup_id));
  return prefix + backup_id;
}

admin_wire::BackupInfo InfoOf(const admin_wire::Backup& backup) {
  admin_wire::BackupInfo info;
  info.set_backup(backup.name());
  *info.mutable_start_time() = backup.start_time();
  *info.mutable_end_time() = backup.end_time();
  info.set_source_table(backup.source_table());
  info.set_source_backup(backup.source_backup());
  return info;
}

Operations::Outcome OutcomeOf(const absl::Status& status, const google::protobuf::Message& metadata,
                              const google::protobuf::Message& response) {
  Operations::Outcome outcome{.status = status};
  outcome.metadata.PackFrom(metadata);
  if (status.ok()) outcome.response.PackFrom(response);
  return outcome;
}

// The token of a page: the last backup of the previous page, with all fields that an order may use.
std::string PageTokenOf(const admin_wire::Backup& backup) {
  const std::string bytes = backup.SerializeAsString();
  return absl::WebSafeBase64Escape(bytes);
}

absl::StatusOr<admin_wire::Backup> LastOfPage(const std::string& page_token) {
  std::string bytes;
  admin_wire::Backup backup;
  if (absl::WebSafeBase64Unescape(page_token, &bytes) && backup.ParseFromString(bytes))
    return backup;
  return InField(InvalidArgument("was not given by this server"), "page_token");
}

// Sets the times in the mask.
absl::Status ChangeTimes(const admin_wire::UpdateBackupRequest& request,
                         admin_wire::Backup* backup) {
  const int64_t start_micros = MicrosOf(backup->start_time());
  for (const std::string& path : request.update_mask().paths()) {
    if (path == "expire_time") {
      const days life_max = backup->source_backup().empty() ? kLifeMax : kLifeOfCopyMax;
      STELED_RETURN_IF_ERROR(CheckExpiry(request.backup().expire_time(), start_micros, life_max));
      *backup->mutable_expire_time() = request.backup().expire_time();
    } else if (request.backup().has_hot_to_standard_time()) {
      const bool is_hot = backup->backup_type() == admin_wire::Backup::HOT;
      STELED_RETURN_IF_ERROR(
          CheckHotToStandard(request.backup().hot_to_standard_time(), is_hot, start_micros));
      *backup->mutable_hot_to_standard_time() = request.backup().hot_to_standard_time();
    } else {
      backup->clear_hot_to_standard_time();  // a hot backup stays hot
    }
  }
  return absl::OkStatus();
}

// Returns the schema of a restored table: the stored one without the properties of a backup,
// deletion protection and automated backups.
Schema RestoredSchema(const Schema& stored) {
  Schema schema;
  for (const FamilySchema& family : stored.families()) schema.AddFamily(family);
  for (const std::string& split : stored.splits()) schema.AddSplit(split);
  for (const auto& [property, value] : stored.properties()) {
    const bool is_own = property != kBackupProperty && property != kDeletionProtection &&
                        property != kAutomatedBackupPolicy;
    if (is_own) schema.SetProperty(property, value);
  }
  schema.SetGranularity(stored.granularity())
      .SetCompression(stored.compression())
      .SetLimits(stored.limits());
  return schema;
}

}  // namespace

// ---- reading ----

class Backups::ReadPin {
 public:
  ReadPin(Backups* owner, admin_wire::Backup backup) : owner_(*owner), backup_(std::move(backup)) {}
  ~ReadPin() {
    const std::lock_guard lock(owner_.mutex_);
    --owner_.entries_.at(backup_.name()).reader_count;
  }
  ReadPin(const ReadPin&) = delete;
  ReadPin& operator=(const ReadPin&) = delete;

  const admin_wire::Backup& backup() const { return backup_; }

 private:
  Backups& owner_;
  const admin_wire::Backup backup_;
};

// Removes a reserved backup from the list, unless work was started that will finish it.
class Backups::Reservation {
 public:
  // Both must outlive this object.
  Reservation(Backups* owner, const std::string& name) : owner_(*owner), name_(name) {}
  ~Reservation() {
    if (is_started_) return;
    const std::lock_guard lock(owner_.mutex_);
    owner_.entries_.erase(name_);
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  void SetStarted() { is_started_ = true; }

 private:
  Backups& owner_;
  const std::string& name_;
  bool is_started_ = false;
};

Backups::Backups(Database database, OpenTables* tables, Operations* operations, std::string root,
                 std::shared_ptr<TimestampClock> clock)
    : database_(std::move(database)),
      tables_(*tables),
      operations_(*operations),
      is_offered_(!root.empty()),
      directory_(std::move(root)),
      clock_(std::move(clock)),
      expiring_([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          {
            std::unique_lock lock(mutex_);
            waiting_.wait_for(lock, stop, kExpiryInterval, [] { return false; });
          }
          if (stop.stop_requested()) return;
          RunRound("the removal of expired backups", [this] { RemoveExpired(); });
        }
      }) {}

absl::Status Backups::CheckDirectory() { return directory_.CheckUsable(); }

absl::Status Backups::Load() {
  if (!is_offered_) return absl::OkStatus();
  const auto report = [](const absl::Status& status) {
    Log(LogLevel::kWarning, fmt::format("a backup is left as it is: {}", TextOf(status)));
  };
  STELED_ASSIGN_OR_RETURN(std::vector<admin_wire::Backup> backups, directory_.Scan(report));
  {
    const std::lock_guard lock(mutex_);
    for (admin_wire::Backup& backup : backups) {
      std::string name = backup.name();
      entries_.insert_or_assign(std::move(name), Entry{.backup = std::move(backup)});
    }
  }
  RemoveExpired();
  return absl::OkStatus();
}

absl::Status Backups::CheckOffered() const {
  return is_offered_ ? absl::OkStatus()
                     : FailedPrecondition(
                           "A database in memory has no place for backups; serve one on disk");
}

bool Backups::IsExpired(const admin_wire::Backup& backup) const {
  return MicrosOf(backup.expire_time()) <= clock_->Now().micros();
}

const Backups::Entry* Backups::FindLocked(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() || IsExpired(found->second.backup) ? nullptr : &found->second;
}

absl::StatusOr<Backups::Entry*> Backups::FindReadyLocked(const std::string& name) {
  STELED_RETURN_IF_ERROR(ParseBackupName(name).status());
  if (FindLocked(name) == nullptr) return BackupNotFound(name);
  Entry& entry = entries_.at(name);
  if (entry.backup.state() != admin_wire::Backup::READY)
    return FailedPrecondition("Backup {} is still being created", name);
  return &entry;
}

absl::StatusOr<admin_wire::Backup> Backups::FindUnread(const std::string& name) {
  const std::lock_guard lock(mutex_);
  STELED_ASSIGN_OR_RETURN(const Entry* const entry, FindReadyLocked(name));
  if (entry->reader_count > 0)
    return FailedPrecondition("Backup {} is being restored or copied", name);
  return entry->backup;
}

absl::StatusOr<std::unique_ptr<Backups::ReadPin>> Backups::PinForRead(const std::string& name) {
  const std::lock_guard changing(changing_);
  const std::lock_guard lock(mutex_);
  STELED_ASSIGN_OR_RETURN(Entry* const entry, FindReadyLocked(name));
  ++entry->reader_count;
  return std::make_unique<ReadPin>(this, entry->backup);
}

// ---- creating ----

absl::Status Backups::Reserve(const admin_wire::Backup& backup) {
  RemoveExpired();
  const std::lock_guard lock(mutex_);
  if (entries_.contains(backup.name()))
    return AlreadyExists("Backup already exists: {}", backup.name());
  entries_.emplace(backup.name(), Entry{.backup = backup});
  return absl::OkStatus();
}

absl::Status Backups::FinishReserved(const absl::Status& made, const admin_wire::Backup& backup) {
  const std::lock_guard lock(mutex_);
  if (!made.ok()) {
    entries_.erase(backup.name());
    return made;
  }
  absl::Status listed = StatusOfStep([&] {
    entries_.at(backup.name()).backup = backup;
    return absl::OkStatus();
  });
  if (listed.ok()) return listed;
  entries_.erase(backup.name());
  // If this fails, too, the backup is in the list after the next start.
  RunRound("the removal of a backup", [&] { directory_.Remove(backup.name()).IgnoreError(); });
  return listed;
}

absl::StatusOr<google::longrunning::Operation> Backups::StartReserved(
    const admin_wire::Backup& backup, const google::protobuf::Message& metadata,
    Operations::Work work) {
  STELED_RETURN_IF_ERROR(Reserve(backup));
  Reservation reservation(this, backup.name());
  auto operation = operations_.Start(backup.name(), metadata, std::move(work));
  if (operation.ok()) reservation.SetStarted();
  return operation;
}

absl::StatusOr<admin_wire::Backup> Backups::NewBackup(
    const admin_wire::CreateBackupRequest& request) {
  STELED_RETURN_IF_ERROR(CheckOffered());
  admin_wire::Backup backup;
  STELED_ASSIGN_OR_RETURN(*backup.mutable_name(),
                          NewBackupName(request.parent(), request.backup_id()));
  if (InstancePartOf(request.backup().source_table()) != InstancePartOf(backup.name())) {
    return InField(InvalidArgument("must be a table of the backup's instance, not \"{}\"",
                                   request.backup().source_table()),
                   "source_table");
  }
  const int64_t start_micros = clock_->Now().micros();
  STELED_RETURN_IF_ERROR(CheckExpiry(request.backup().expire_time(), start_micros, kLifeMax));
  const bool is_hot = request.backup().backup_type() == admin_wire::Backup::HOT;
  backup.set_backup_type(is_hot ? admin_wire::Backup::HOT : admin_wire::Backup::STANDARD);
  if (request.backup().has_hot_to_standard_time()) {
    STELED_RETURN_IF_ERROR(
        CheckHotToStandard(request.backup().hot_to_standard_time(), is_hot, start_micros));
    *backup.mutable_hot_to_standard_time() = request.backup().hot_to_standard_time();
  }
  STELED_RETURN_IF_ERROR(tables_.Find(request.backup().source_table()).status());
  backup.set_source_table(request.backup().source_table());
  *backup.mutable_expire_time() = request.backup().expire_time();
  *backup.mutable_start_time() = ToWireTime(start_micros);
  backup.set_state(admin_wire::Backup::CREATING);
  return backup;
}

absl::Status Backups::Make(const std::stop_token& stop, admin_wire::Backup* backup) {
  const absl::Status made = StatusOfStep([&]() -> absl::Status {
    STELED_ASSIGN_OR_RETURN(const std::string stored_table,
                            StoredTableName(backup->source_table()));
    return directory_.Make(database_, stored_table, clock_.get(), stop, backup);
  });
  const absl::Status status = FinishReserved(made, *backup);
  return absl::IsNotFound(status) ? TableNotFound(backup->source_table()) : status;
}

absl::StatusOr<admin_wire::Backup> Backups::CreateAndWait(
    const admin_wire::CreateBackupRequest& request, const std::stop_token& stop) {
  STELED_ASSIGN_OR_RETURN(admin_wire::Backup backup, NewBackup(request));
  STELED_RETURN_IF_ERROR(Reserve(backup));
  STELED_RETURN_IF_ERROR(Make(stop, &backup));
  return backup;
}

absl::StatusOr<google::longrunning::Operation> Backups::Create(
    const admin_wire::CreateBackupRequest& request) {
  STELED_ASSIGN_OR_RETURN(const admin_wire::Backup backup, NewBackup(request));
  admin_wire::CreateBackupMetadata metadata;
  metadata.set_name(backup.name());
  metadata.set_source_table(backup.source_table());
  *metadata.mutable_start_time() = backup.start_time();
  Operations::Work work = [this, made = backup, metadata](const std::stop_token& stop) mutable {
    const absl::Status status = Make(stop, &made);
    *metadata.mutable_end_time() = ToWireTime(clock_->Now().micros());
    return OutcomeOf(status, metadata, made);
  };
  return StartReserved(backup, metadata, std::move(work));
}

absl::StatusOr<google::longrunning::Operation> Backups::Copy(
    const admin_wire::CopyBackupRequest& request) {
  STELED_RETURN_IF_ERROR(CheckOffered());
  admin_wire::Backup backup;
  STELED_ASSIGN_OR_RETURN(*backup.mutable_name(),
                          NewBackupName(request.parent(), request.backup_id()));
  STELED_RETURN_IF_ERROR(
      CheckExpiry(request.expire_time(), clock_->Now().micros(), kLifeOfCopyMax));
  STELED_ASSIGN_OR_RETURN(std::shared_ptr<ReadPin> source, PinForRead(request.source_backup()));
  if (!source->backup().source_backup().empty()) {
    return FailedPrecondition("Backup {} is a copy, and a copy cannot be copied",
                              request.source_backup());
  }
  std::string name = std::move(*backup.mutable_name());
  backup = source->backup();
  backup.set_name(std::move(name));
  backup.set_backup_type(admin_wire::Backup::STANDARD);
  backup.clear_hot_to_standard_time();
  backup.set_source_backup(request.source_backup());
  *backup.mutable_expire_time() = request.expire_time();
  *backup.mutable_start_time() = ToWireTime(clock_->Now().micros());
  backup.set_state(admin_wire::Backup::CREATING);
  admin_wire::CopyBackupMetadata metadata;
  metadata.set_name(backup.name());
  *metadata.mutable_source_backup_info() = InfoOf(source->backup());
  *metadata.mutable_progress()->mutable_start_time() = backup.start_time();
  Operations::Work work = [this, source, backup, metadata](const std::stop_token& stop) mutable {
    const absl::Status made = StatusOfStep([&]() -> absl::Status {
      STELED_ASSIGN_OR_RETURN(const BackupDirectory::Opened opened,
                              directory_.Open(source->backup().name()));
      return directory_.Make(opened.database, opened.table.name(), clock_.get(), stop, &backup);
    });
    const absl::Status status = FinishReserved(made, backup);
    metadata.mutable_progress()->set_progress_percent(100);
    *metadata.mutable_progress()->mutable_end_time() = ToWireTime(clock_->Now().micros());
    return OutcomeOf(status, metadata, backup);
  };
  return StartReserved(backup, metadata, std::move(work));
}

// ---- restoring ----

absl::StatusOr<google::longrunning::Operation> Backups::Restore(
    const admin_wire::RestoreTableRequest& request) {
  STELED_RETURN_IF_ERROR(CheckOffered());
  STELED_ASSIGN_OR_RETURN(const std::string prefix, StoredPrefix(request.parent()));
  STELED_RETURN_IF_ERROR(CheckTableId(request.table_id()));
  if (request.source_case() != admin_wire::RestoreTableRequest::kBackup)
    return InvalidArgument("No source: set backup");
  STELED_ASSIGN_OR_RETURN(std::shared_ptr<ReadPin> source, PinForRead(request.backup()));
  const std::string stored_name = prefix + request.table_id();
  if (tables_.IsTaken(stored_name))
    return AlreadyExists("Table already exists: {}", WireTableName(stored_name));
  admin_wire::RestoreTableMetadata metadata;
  metadata.set_name(WireTableName(stored_name));
  metadata.set_source_type(admin_wire::BACKUP);
  *metadata.mutable_backup_info() = InfoOf(source->backup());
  *metadata.mutable_progress()->mutable_start_time() = ToWireTime(clock_->Now().micros());
  const auto work = [this, source, stored_name, metadata](const std::stop_token& stop) mutable {
    const absl::Status status = RestoreInto(*source, stored_name, stop);
    metadata.mutable_progress()->set_progress_percent(status.ok() ? 100 : 0);
    *metadata.mutable_progress()->mutable_end_time() = ToWireTime(clock_->Now().micros());
    admin_wire::Table restored;
    if (const absl::StatusOr<Table> table = tables_.Open(stored_name); status.ok() && table.ok()) {
      restored = ToWireTable(metadata.name(), table->schema().value_or(Schema()),
                             admin_wire::Table::SCHEMA_VIEW);
    }
    return OutcomeOf(status, metadata, restored);
  };
  return operations_.Start(metadata.name(), metadata, work);
}

absl::Status Backups::RestoreInto(const ReadPin& source, const std::string& stored_name,
                                  const std::stop_token& stop) {
  STELED_ASSIGN_OR_RETURN(const BackupDirectory::Opened opened,
                          directory_.Open(source.backup().name()));
  STELED_ASSIGN_OR_RETURN(const Schema stored_schema, opened.table.schema());
  STELED_ASSIGN_OR_RETURN(Table table,
                          tables_.CreateHidden(stored_name, RestoredSchema(stored_schema)));
  absl::Status status = StatusOfStep([&] {
    absl::Status copied = CopyTable(opened.table, &table, stop);
    return copied.ok() ? tables_.Reveal(stored_name) : copied;
  });
  // If this fails, too, the next start deletes it.
  if (!status.ok()) tables_.DeleteHidden(stored_name).IgnoreError();
  return status;
}

// ---- reading and changing the list ----

absl::StatusOr<admin_wire::Backup> Backups::Get(const std::string& name) const {
  STELED_RETURN_IF_ERROR(ParseBackupName(name).status());
  const std::lock_guard lock(mutex_);
  const Entry* const entry = FindLocked(name);
  if (entry == nullptr) return BackupNotFound(name);
  return Current(entry->backup);
}

absl::StatusOr<admin_wire::Backup> Backups::Update(const admin_wire::UpdateBackupRequest& request) {
  if (request.update_mask().paths().empty())
    return InvalidArgument("update_mask must not be empty");
  for (const std::string& path : request.update_mask().paths()) {
    if (path != "expire_time" && path != "hot_to_standard_time")
      return InField(InvalidArgument("\"{}\" cannot be updated", path), "update_mask");
  }
  const std::lock_guard changing(changing_);
  STELED_ASSIGN_OR_RETURN(const admin_wire::Backup present, FindUnread(request.backup().name()));
  admin_wire::Backup updated = Current(present);
  STELED_RETURN_IF_ERROR(ChangeTimes(request, &updated));
  STELED_RETURN_IF_ERROR(directory_.Update(updated));
  const std::lock_guard lock(mutex_);
  entries_.at(updated.name()).backup = updated;
  return updated;
}

admin_wire::Backup Backups::Current(const admin_wire::Backup& backup) const {
  admin_wire::Backup current = backup;
  if (current.has_hot_to_standard_time() &&
      MicrosOf(current.hot_to_standard_time()) <= clock_->Now().micros()) {
    current.set_backup_type(admin_wire::Backup::STANDARD);
    current.clear_hot_to_standard_time();
  }
  return current;
}

absl::Status Backups::Delete(const std::string& name) {
  const std::lock_guard changing(changing_);
  STELED_RETURN_IF_ERROR(FindUnread(name).status());
  return Remove(name);
}

absl::Status Backups::Remove(const std::string& name) {
  STELED_RETURN_IF_ERROR(directory_.Remove(name));
  const std::lock_guard lock(mutex_);
  entries_.erase(name);
  return absl::OkStatus();
}

void Backups::RemoveExpired() {
  // Not the clock's time: if that were wrong, valid backups would be removed.
  const int64_t collection_micros = database_.Stats().clock.collection_time.micros();
  const auto is_removable = [&](const Entry& entry) {
    return entry.backup.state() == admin_wire::Backup::READY && entry.reader_count == 0 &&
           IsExpired(entry.backup) && MicrosOf(entry.backup.expire_time()) <= collection_micros;
  };
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, entry] : entries_) {
      if (is_removable(entry)) names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    const std::lock_guard changing(changing_);
    {
      const std::lock_guard lock(mutex_);
      // Another thread has removed it, or a clock that was set back lets an operation read it.
      const auto found = entries_.find(name);
      if (found == entries_.end() || !is_removable(found->second)) continue;
    }
    const absl::Status status = Remove(name);
    if (!status.ok()) {
      LogLimited(&removal_limit_, LogLevel::kError,
                 fmt::format("an expired backup cannot be removed: {}", TextOf(status)));
    }
  }
}

absl::Status Backups::List(const admin_wire::ListBackupsRequest& request,
                           admin_wire::ListBackupsResponse* response) const {
  STELED_ASSIGN_OR_RETURN(const std::string prefix, BackupPrefix(request.parent()));
  STELED_ASSIGN_OR_RETURN(const BackupFilter filter, BackupFilter::Parse(request.filter()));
  STELED_ASSIGN_OR_RETURN(const BackupOrder is_before, BackupOrder::Parse(request.order_by()));
  const int page =
      request.page_size() <= 0 ? kBackupsPerPage : std::min(request.page_size(), kBackupsPerPage);
  std::vector<admin_wire::Backup> backups;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, entry] : entries_) {
      if (name.starts_with(prefix) && !IsExpired(entry.backup) && filter.Matches(entry.backup))
        backups.push_back(Current(entry.backup));
    }
  }
  std::sort(backups.begin(), backups.end(), is_before);
  auto next = backups.begin();
  if (!request.page_token().empty()) {
    STELED_ASSIGN_OR_RETURN(const admin_wire::Backup last, LastOfPage(request.page_token()));
    next = std::upper_bound(backups.begin(), backups.end(), last, is_before);
  }
  for (; next != backups.end(); ++next) {
    if (response->backups_size() == page) {
      response->set_next_page_token(PageTokenOf(*std::prev(next)));
      break;
    }
    *response->add_backups() = *next;
  }
  return absl::OkStatus();
}

bool Backups::HasBackupOf(std::string_view name) const {
  const std::string prefix = fmt::format("{}/", name);
  const std::lock_guard lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const auto& entry) { return entry.first.starts_with(prefix); });
}

}  // namespace stele::server
