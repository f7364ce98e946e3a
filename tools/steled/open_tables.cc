#include "open_tables.h"

#include <algorithm>
#include <utility>

#include "errors.h"
#include "wire/names.h"
#include "wire/schema_translation.h"

namespace stele::server {
namespace {

// Of a table that is hidden, kept with it so that a next process knows it; empty once it was revealed.
constexpr char kHiddenProperty[] = "steled.hidden";

}  // namespace

using internal::StoredTableName;
using internal::TraitsOf;
using internal::WireTableName;

absl::Status TableNotFound(std::string_view wire_name) { return NotFound("Table not found: {}", wire_name); }

absl::StatusOr<OpenTable> OpenTables::Find(std::string_view wire_name) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = by_wire_name_.find(wire_name); found != by_wire_name_.end()) return found->second;
  }
  STELED_ASSIGN_OR_RETURN(const std::string stored_name, StoredTableName(wire_name));
  const std::unique_lock lock(mutex_);
  if (hidden_.contains(stored_name) || IsClosedLocked(stored_name)) return TableNotFound(wire_name);
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
    const std::shared_lock lock(mutex_);  // what closes instances holds changes(), as the caller does
    STELED_RETURN_IF_ERROR(CheckOpenLocked(stored_name));
  }
  return CreateChecked(stored_name, schema);
}

absl::Status OpenTables::CheckOpenLocked(const std::string& stored_name) const {
  if (!IsClosedLocked(stored_name)) return absl::OkStatus();
  return FailedPrecondition("Its instance is being deleted; delete it again to finish that: {}", WireTableName(stored_name));
}

absl::StatusOr<Table> OpenTables::CreateChecked(const std::string& stored_name, const Schema& schema) {
  absl::StatusOr<Table> table = database_.CreateTable(stored_name, schema);
  if (!absl::IsAlreadyExists(table.status())) return table;
  return AlreadyExists("Table already exists: {}", WireTableName(stored_name));
}

absl::Status OpenTables::Delete(const std::string& stored_name) {
  const std::unique_lock lock(mutex_);
  const absl::Status status = database_.DeleteTable(stored_name);
  by_wire_name_.erase(WireTableName(stored_name));
  if (status.ok()) hidden_.erase(stored_name);
  return absl::IsNotFound(status) ? TableNotFound(WireTableName(stored_name)) : status;
}

absl::StatusOr<Table> OpenTables::CreateHidden(const std::string& stored_name, Schema schema) {
  schema.SetProperty(kHiddenProperty, "true");
  const std::unique_lock lock(mutex_);
  STELED_RETURN_IF_ERROR(CheckOpenLocked(stored_name));
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

bool OpenTables::IsClosedLocked(std::string_view stored_name) const {
  return std::any_of(closed_.begin(), closed_.end(), [&](const std::string& prefix) { return stored_name.starts_with(prefix); });
}

absl::Status OpenTables::CloseAndDelete(const std::string& stored_prefix) {
  {
    const std::unique_lock lock(mutex_);
    closed_.insert(stored_prefix);
    std::erase_if(by_wire_name_, [&](const auto& entry) { return entry.second.table.name().starts_with(stored_prefix); });
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
  std::erase_if(
      names, [&](const std::string& name) { return !name.starts_with(stored_prefix) || hidden_.contains(name) || IsClosedLocked(name); });
  return names;
}

}  // namespace stele::server
