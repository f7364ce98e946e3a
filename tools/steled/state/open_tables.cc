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
// When a retired table was deleted, in microseconds; empty for any other.
constexpr char kRetiredProperty[] = "steled.deleted";

std::optional<int64_t> RetiredMicros(const Schema& schema) {
  const auto property = schema.properties().find(kRetiredProperty);
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
  const std::unique_lock lock(mutex_);
  if (hidden_.contains(stored_name) || retired_.contains(stored_name) ||
      IsClosedLocked(stored_name))
    return TableNotFound(wire_name);
  absl::StatusOr<Table> table = database_.OpenTable(stored_name);
  if (absl::IsNotFound(table.status())) return TableNotFound(wire_name);
  if (!table.ok()) return table.status();
  STELED_ASSIGN_OR_RETURN(const Schema schema, table->schema());
  OpenTable opened{.table = *std::move(table), .traits = TraitsOf(schema)};
  by_wire_name_.insert_or_assign(std::string(wire_name), opened);
  return opened;
}

void OpenTables::Forget(std::string_view wire_name) {
  const std::unique_lock lock(mutex_);
  const auto found = by_wire_name_.find(wire_name);
  if (found != by_wire_name_.end()) by_wire_name_.erase(found);
}

absl::StatusOr<Table> OpenTables::Create(const std::string& stored_name, const Schema& schema) {
  {
    // Code that closes instances holds changes(), as the caller does.
    const std::unique_lock lock(mutex_);
    STELED_RETURN_IF_ERROR(CheckOpenLocked(stored_name));
    STELED_RETURN_IF_ERROR(ReplaceRetiredLocked(stored_name));
  }
  return CreateChecked(stored_name, schema);
}

absl::Status OpenTables::CheckOpenLocked(const std::string& stored_name) const {
  if (!IsClosedLocked(stored_name)) return absl::OkStatus();
  return FailedPrecondition("Its instance is being deleted; delete it again to finish that: {}",
                            WireTableName(stored_name));
}

absl::StatusOr<Table> OpenTables::CreateChecked(const std::string& stored_name,
                                                const Schema& schema) {
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
  const std::unique_lock lock(mutex_);
  return DeleteLocked(stored_name);
}

absl::Status OpenTables::DeleteHidden(const std::string& stored_name) {
  const std::unique_lock lock(mutex_);
  if (!hidden_.contains(stored_name)) return absl::OkStatus();
  return DeleteLocked(stored_name);
}

absl::Status OpenTables::DeleteLocked(const std::string& stored_name) {
  const absl::Status status = database_.DeleteTable(stored_name);
  by_wire_name_.erase(WireTableName(stored_name));
  if (status.ok()) {
    hidden_.erase(stored_name);
    retired_.erase(stored_name);
    ForgetBackups(stored_name).IgnoreError();  // fails on a full disk; CreateChecked does it then
  }
  return absl::IsNotFound(status) ? TableNotFound(WireTableName(stored_name)) : status;
}

absl::StatusOr<Table> OpenTables::CreateHidden(const std::string& stored_name, Schema schema) {
  schema.SetProperty(kHiddenProperty, "true");
  // The backup may be of a table that was retired at that time.
  if (RetiredMicros(schema).has_value()) schema.SetProperty(kRetiredProperty, "");
  const std::unique_lock lock(mutex_);
  STELED_RETURN_IF_ERROR(CheckOpenLocked(stored_name));
  STELED_RETURN_IF_ERROR(ReplaceRetiredLocked(stored_name));
  STELED_ASSIGN_OR_RETURN(Table table, CreateChecked(stored_name, schema));
  hidden_.insert(stored_name);
  return table;
}

absl::Status OpenTables::Reveal(const std::string& stored_name) {
  const std::unique_lock lock(mutex_);
  STELED_ASSIGN_OR_RETURN(Table table, database_.OpenTable(stored_name));
  STELED_RETURN_IF_ERROR(table.SetProperty(kHiddenProperty, ""));
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

// ---- deleted tables that can be restored ----

absl::Status OpenTables::Retire(const std::string& stored_name, int64_t micros) {
  const std::unique_lock lock(mutex_);
  STELED_ASSIGN_OR_RETURN(Table table, database_.OpenTable(stored_name));
  STELED_RETURN_IF_ERROR(table.SetProperty(kRetiredProperty, std::to_string(micros)));
  by_wire_name_.erase(WireTableName(stored_name));
  retired_.insert_or_assign(stored_name, micros);
  return absl::OkStatus();
}

absl::Status OpenTables::Unretire(const std::string& stored_name) {
  const std::unique_lock lock(mutex_);
  STELED_RETURN_IF_ERROR(CheckOpenLocked(stored_name));
  const std::string wire_name = WireTableName(stored_name);
  absl::StatusOr<Table> table = database_.OpenTable(stored_name);
  if (absl::IsNotFound(table.status())) return TableNotFound(wire_name);
  if (!table.ok()) return table.status();
  if (!retired_.contains(stored_name)) return AlreadyExists("Table already exists: {}", wire_name);
  // Protection first: after a crash in between the table is still deleted.
  STELED_RETURN_IF_ERROR(
      table->SetProperty(std::string(kDeletionProtection), ProtectionText(true)));
  STELED_RETURN_IF_ERROR(table->SetProperty(kRetiredProperty, ""));
  retired_.erase(stored_name);
  return absl::OkStatus();
}

absl::Status OpenTables::ReplaceRetiredLocked(const std::string& stored_name) {
  if (!retired_.contains(stored_name)) return absl::OkStatus();
  // While writes are refused, DeleteTable works and CreateTable does not, so the old table would be
  // lost.
  STELED_RETURN_IF_ERROR(database_.WriteRefusal());
  return DropRetiredLocked(stored_name);
}

absl::Status OpenTables::DropRetiredLocked(const std::string& stored_name) {
  if (!retired_.contains(stored_name)) return absl::OkStatus();
  STELED_RETURN_IF_ERROR(database_.DeleteTable(stored_name));
  retired_.erase(stored_name);
  ForgetBackups(stored_name).IgnoreError();  // as in DeleteLocked
  return absl::OkStatus();
}

absl::Status OpenTables::PurgeRetired(int64_t micros, const std::stop_token& stop) {
  std::vector<std::string> names;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [name, retired_micros] : retired_) {
      if (retired_micros <= micros) names.push_back(name);
    }
  }
  absl::Status status;
  for (const std::string& name : names) {
    if (stop.stop_requested()) break;
    const std::unique_lock lock(mutex_);
    const auto retired = retired_.find(name);
    // It was restored meanwhile.
    if (retired == retired_.end() || retired->second > micros) continue;
    status.Update(DropRetiredLocked(name));
  }
  return status;
}

absl::Status OpenTables::LoadRetired() {
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> names, database_.ListTables());
  const std::unique_lock lock(mutex_);
  for (const std::string& name : names) {
    STELED_ASSIGN_OR_RETURN(const Table table, database_.OpenTable(name));
    STELED_ASSIGN_OR_RETURN(const Schema schema, table.schema());
    if (const std::optional<int64_t> micros = RetiredMicros(schema); micros.has_value())
      retired_.insert_or_assign(name, *micros);
  }
  return absl::OkStatus();
}

bool OpenTables::IsTaken(const std::string& stored_name) const {
  const std::shared_lock lock(mutex_);
  return !retired_.contains(stored_name) && database_.OpenTable(stored_name).ok();
}

bool OpenTables::IsClosedLocked(std::string_view stored_name) const {
  return std::any_of(closed_.begin(), closed_.end(),
                     [&](const std::string& prefix) { return stored_name.starts_with(prefix); });
}

absl::Status OpenTables::CloseAndDelete(const std::string& stored_prefix) {
  {
    const std::unique_lock lock(mutex_);
    closed_.insert(stored_prefix);
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
    return !name.starts_with(stored_prefix) || hidden_.contains(name) || retired_.contains(name) ||
           IsClosedLocked(name);
  });
  return names;
}

}  // namespace stele::server
