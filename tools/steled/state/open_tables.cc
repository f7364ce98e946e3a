#include "steled/state/open_tables.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "remote/wire/names.h"
#include "remote/wire/schema_translation.h"
#include "steled/base/errors.h"
#include "steled/state/records.h"

namespace stele::server {
namespace {

// Set for a hidden table, so that the next process recognises it; empty once it was revealed.
constexpr char kHiddenProperty[] = "steled.hidden";
// When a soft-deleted table was deleted, in microseconds; empty for any other.
constexpr char kSoftDeletedProperty[] = "steled.deleted";

std::optional<int64_t> SoftDeletionMicros(const Schema& schema) {
  const auto property = schema.properties().find(kSoftDeletedProperty);
  if (property == schema.properties().end() || property->second.empty()) return std::nullopt;
  int64_t micros = 0;  // an invalid time counts as the oldest
  std::from_chars(property->second.data(), property->second.data() + property->second.size(),
                  micros);
  return micros;
}

}  // namespace

using internal::kDeletionProtection;
using internal::ProtectionText;
using internal::StoredTableName;
using internal::TraitsOf;
using internal::WireTableName;

absl::Status TableNotFound(std::string_view wire_name) {
  return NotFound("Table not found: {}", wire_name);
}

absl::StatusOr<OpenTable> OpenTables::Find(std::string_view wire_name) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = by_wire_name_.find(wire_name); found != by_wire_name_.end())
      return found->second;
  }
  STELED_ASSIGN_OR_RETURN(const std::string stored_name, StoredTableName(wire_name));
  uint64_t forgotten_before = 0;
  {
    const std::shared_lock lock(mutex_);
    if (IsUnseenLocked(stored_name)) return TableNotFound(wire_name);
    forgotten_before = forgotten_;
  }
  absl::StatusOr<Table> table = database_.OpenTable(stored_name);
  if (absl::IsNotFound(table.status())) return TableNotFound(wire_name);
  if (!table.ok()) return table.status();
  STELED_ASSIGN_OR_RETURN(const Schema schema, table->schema());
  OpenTable opened{.table = *std::move(table), .traits = TraitsOf(schema)};
  const std::unique_lock lock(mutex_);
  if (IsUnseenLocked(stored_name)) return TableNotFound(wire_name);
  // If a table was changed meanwhile, it may be this one, and the handle may be outdated.
  if (forgotten_ == forgotten_before)
    by_wire_name_.insert_or_assign(std::string(wire_name), opened);
  return opened;
}

void OpenTables::Forget(std::string_view wire_name) {
  const std::unique_lock lock(mutex_);
  ForgetLocked(wire_name);
}

void OpenTables::ForgetLocked(std::string_view wire_name) {
  ++forgotten_;
  const auto found = by_wire_name_.find(wire_name);
  if (found != by_wire_name_.end()) by_wire_name_.erase(found);
}

absl::StatusOr<Table> OpenTables::Create(const std::string& stored_name, const Schema& schema) {
  const std::lock_guard changing(table_changes_);
  STELED_RETURN_IF_ERROR(CheckOpenNow(stored_name));
  STELED_RETURN_IF_ERROR(ReplaceSoftDeletedNow(stored_name));
  return CreateNow(stored_name, schema);
}

absl::Status OpenTables::CheckOpenNow(const std::string& stored_name) const {
  const std::shared_lock lock(mutex_);
  if (!IsClosedLocked(stored_name)) return absl::OkStatus();
  return FailedPrecondition("Its instance is being deleted; delete it again to finish that: {}",
                            WireTableName(stored_name));
}

absl::StatusOr<Table> OpenTables::CreateNow(const std::string& stored_name, const Schema& schema) {
  if (absl::IsNotFound(database_.OpenTable(stored_name).status()))
    STELED_RETURN_IF_ERROR(ForgetBackups(stored_name));  // if its deletion could not
  absl::StatusOr<Table> table = database_.CreateTable(stored_name, schema);
  if (!absl::IsAlreadyExists(table.status())) return table;
  return AlreadyExists("Table already exists: {}", WireTableName(stored_name));
}

absl::Status OpenTables::ForgetBackups(const std::string& stored_name) const {
  return Records(database_).Remove(AutomatedBackupKey(WireTableName(stored_name)));
}

absl::Status OpenTables::Delete(const std::string& stored_name) {
  const std::lock_guard changing(table_changes_);
  return DeleteNow(stored_name);
}

absl::Status OpenTables::DeleteHidden(const std::string& stored_name) {
  const std::lock_guard changing(table_changes_);
  {
    const std::shared_lock lock(mutex_);
    if (!hidden_.contains(stored_name)) return absl::OkStatus();
  }
  return DeleteNow(stored_name);
}

absl::Status OpenTables::DeleteNow(const std::string& stored_name) {
  const absl::Status status = database_.DeleteTable(stored_name);
  {
    const std::unique_lock lock(mutex_);
    ForgetLocked(WireTableName(stored_name));
    if (status.ok()) {
      hidden_.erase(stored_name);
      soft_deleted_.erase(stored_name);
    }
  }
  // Fails on a full disk; CreateNow does it then.
  if (status.ok()) ForgetBackups(stored_name).IgnoreError();
  return absl::IsNotFound(status) ? TableNotFound(WireTableName(stored_name)) : status;
}

absl::StatusOr<Table> OpenTables::CreateHidden(const std::string& stored_name, Schema schema) {
  schema.SetProperty(kHiddenProperty, "true");
  // The backup may be of a table that was soft-deleted at that time.
  if (SoftDeletionMicros(schema).has_value()) schema.SetProperty(kSoftDeletedProperty, "");
  const std::lock_guard changing(table_changes_);
  STELED_RETURN_IF_ERROR(CheckOpenNow(stored_name));
  STELED_RETURN_IF_ERROR(ReplaceSoftDeletedNow(stored_name));
  if (database_.OpenTable(stored_name).ok())
    return AlreadyExists("Table already exists: {}", WireTableName(stored_name));
  {
    const std::unique_lock lock(mutex_);
    hidden_.insert(stored_name);  // before it exists, so that no request finds it
  }
  absl::StatusOr<Table> table = CreateNow(stored_name, schema);
  if (!table.ok()) {
    const std::unique_lock lock(mutex_);
    hidden_.erase(stored_name);
  }
  return table;
}

absl::Status OpenTables::Reveal(const std::string& stored_name) {
  const std::lock_guard changing(table_changes_);
  STELED_ASSIGN_OR_RETURN(Table table, database_.OpenTable(stored_name));
  STELED_RETURN_IF_ERROR(table.SetProperty(kHiddenProperty, ""));
  const std::unique_lock lock(mutex_);
  hidden_.erase(stored_name);
  return absl::OkStatus();
}

absl::Status OpenTables::DeleteUnrevealed() {
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> names, database_.ListTables());
  for (const std::string& name : names) {
    STELED_ASSIGN_OR_RETURN(const Table table, database_.OpenTable(name));
    STELED_ASSIGN_OR_RETURN(const Schema schema, table.schema());
    const auto property = schema.properties().find(kHiddenProperty);
    if (property == schema.properties().end() || property->second.empty()) continue;
    STELED_RETURN_IF_ERROR(database_.DeleteTable(name));
  }
  return absl::OkStatus();
}

// ---- soft-deleted tables ----

absl::Status OpenTables::SoftDelete(const std::string& stored_name, int64_t micros) {
  const std::lock_guard changing(table_changes_);
  STELED_ASSIGN_OR_RETURN(Table table, database_.OpenTable(stored_name));
  STELED_RETURN_IF_ERROR(table.SetProperty(kSoftDeletedProperty, std::to_string(micros)));
  const std::unique_lock lock(mutex_);
  ForgetLocked(WireTableName(stored_name));
  soft_deleted_.insert_or_assign(stored_name, micros);
  return absl::OkStatus();
}

absl::Status OpenTables::Undelete(const std::string& stored_name, int64_t micros) {
  const std::lock_guard changing(table_changes_);
  STELED_RETURN_IF_ERROR(CheckOpenNow(stored_name));
  const std::string wire_name = WireTableName(stored_name);
  absl::StatusOr<Table> table = database_.OpenTable(stored_name);
  if (absl::IsNotFound(table.status())) return TableNotFound(wire_name);
  if (!table.ok()) return table.status();
  const std::optional<int64_t> deleted_micros = SoftDeletedAt(stored_name);
  if (!deleted_micros.has_value()) return AlreadyExists("Table already exists: {}", wire_name);
  if (*deleted_micros <= micros) return TableNotFound(wire_name);  // and not yet purged
  // Protection first: after a crash in between the table is still deleted.
  STELED_RETURN_IF_ERROR(
      table->SetProperty(std::string(kDeletionProtection), ProtectionText(true)));
  STELED_RETURN_IF_ERROR(table->SetProperty(kSoftDeletedProperty, ""));
  const std::unique_lock lock(mutex_);
  soft_deleted_.erase(stored_name);
  return absl::OkStatus();
}

std::optional<int64_t> OpenTables::SoftDeletedAt(const std::string& stored_name) const {
  const std::shared_lock lock(mutex_);
  const auto found = soft_deleted_.find(stored_name);
  return found == soft_deleted_.end() ? std::nullopt : std::optional<int64_t>(found->second);
}

absl::Status OpenTables::ReplaceSoftDeletedNow(const std::string& stored_name) {
  if (!SoftDeletedAt(stored_name).has_value()) return absl::OkStatus();
  // While writes are refused, DeleteTable works and CreateTable does not, so the old table would be
  // lost.
  STELED_RETURN_IF_ERROR(database_.WriteRefusal());
  return DropSoftDeletedNow(stored_name);
}

absl::Status OpenTables::DropSoftDeletedNow(const std::string& stored_name) {
  STELED_RETURN_IF_ERROR(database_.DeleteTable(stored_name));
  {
    const std::unique_lock lock(mutex_);
    soft_deleted_.erase(stored_name);
  }
  ForgetBackups(stored_name).IgnoreError();  // as in DeleteNow
  return absl::OkStatus();
}

absl::Status OpenTables::PurgeSoftDeleted(int64_t micros, const std::stop_token& stop) {
  const auto names_due = [&] {
    std::vector<std::string> names;
    const std::shared_lock lock(mutex_);
    for (const auto& [name, deleted_micros] : soft_deleted_) {
      if (deleted_micros <= micros) names.push_back(name);
    }
    return names;
  };
  absl::Status status;
  for (const std::string& name : names_due()) {
    if (stop.stop_requested()) break;
    const std::lock_guard changing(table_changes_);
    // It may have been restored meanwhile.
    const std::optional<int64_t> deleted_micros = SoftDeletedAt(name);
    if (deleted_micros.has_value() && *deleted_micros <= micros)
      status.Update(DropSoftDeletedNow(name));
  }
  return status;
}

absl::Status OpenTables::LoadSoftDeleted() {
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> names, database_.ListTables());
  const std::unique_lock lock(mutex_);
  for (const std::string& name : names) {
    STELED_ASSIGN_OR_RETURN(const Table table, database_.OpenTable(name));
    STELED_ASSIGN_OR_RETURN(const Schema schema, table.schema());
    if (const std::optional<int64_t> micros = SoftDeletionMicros(schema); micros.has_value())
      soft_deleted_.insert_or_assign(name, *micros);
  }
  return absl::OkStatus();
}

bool OpenTables::IsTaken(const std::string& stored_name) const {
  const std::shared_lock lock(mutex_);
  return !soft_deleted_.contains(stored_name) && database_.OpenTable(stored_name).ok();
}

bool OpenTables::IsClosedLocked(std::string_view stored_name) const {
  return std::any_of(closed_.begin(), closed_.end(),
                     [&](const std::string& prefix) { return stored_name.starts_with(prefix); });
}

bool OpenTables::IsUnseenLocked(const std::string& stored_name) const {
  return hidden_.contains(stored_name) || soft_deleted_.contains(stored_name) ||
         IsClosedLocked(stored_name);
}

absl::Status OpenTables::CloseAndDelete(const std::string& stored_prefix) {
  {
    const std::lock_guard changing(table_changes_);
    const std::unique_lock lock(mutex_);
    closed_.insert(stored_prefix);
    ++forgotten_;
    std::erase_if(by_wire_name_, [&](const auto& entry) {
      return entry.second.table.name().starts_with(stored_prefix);
    });
  }
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> names, database_.ListTables());
  for (const std::string& name : names) {
    if (!name.starts_with(stored_prefix)) continue;
    STELED_RETURN_IF_ERROR(Delete(name));
  }
  return absl::OkStatus();
}

void OpenTables::Reopen(const std::string& stored_prefix) {
  const std::unique_lock lock(mutex_);
  closed_.erase(stored_prefix);
}

absl::StatusOr<std::vector<std::string>> OpenTables::List(std::string_view stored_prefix) const {
  STELED_ASSIGN_OR_RETURN(std::vector<std::string> names, database_.ListTables());
  const std::shared_lock lock(mutex_);
  std::erase_if(names, [&](const std::string& name) {
    return !name.starts_with(stored_prefix) || IsUnseenLocked(name);
  });
  return names;
}

}  // namespace stele::server
