// steled/open_tables.h: the tables of the database, as requests name them.
//
// Keeps the handles of tables that were asked for, with what of a table's schema never changes, so that a request for one row does not copy
// a schema. Every creation and deletion of a table goes through here; no other process can have the database open.
//
// Errors:    InvalidArgument for a name, NotFound for a table; the library's own.
// Threads:   thread-safe. Deleting a table holds up requests that name tables, for as long as the deletion takes to be durable.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/database.h"
#include "stele/table.h"
#include "wire/mutation_translation.h"

namespace stele::server {

using internal::TableTraits;

struct OpenTable {
  Table table;
  TableTraits traits;
};

class OpenTables {
 public:
  explicit OpenTables(Database database) : database_(std::move(database)) {}

  // By its name on the wire.
  absl::StatusOr<OpenTable> Find(std::string_view wire_name);

  // What is remembered of its schema is read anew: its families were changed.
  void Forget(std::string_view wire_name);

  // By the name under which it is kept.
  absl::StatusOr<Table> Create(const std::string& stored_name, const Schema& schema);
  absl::Status Delete(const std::string& stored_name);

  // Makes a table that no request sees until Reveal, or Delete. What was not revealed when a process ended goes with DeleteUnrevealed(), to
  // be called before anything else.
  absl::StatusOr<Table> CreateHidden(const std::string& stored_name, Schema schema);
  absl::Status Reveal(const std::string& stored_name);
  absl::Status DeleteUnrevealed();

  // Deletes all whose names begin so. From here until Reopen none of them is found or listed, and none is made: also after an error, when
  // some may be left.
  absl::Status CloseAndDelete(const std::string& stored_prefix);
  void Reopen(const std::string& stored_prefix);

  // Those whose names begin so, sorted.
  absl::StatusOr<std::vector<std::string>> List(std::string_view stored_prefix) const;
  absl::StatusOr<Table> Open(const std::string& stored_name) const { return database_.OpenTable(stored_name); }

  // Held by a request that changes tables or instances, from asking about protection to the change.
  std::mutex& changes() { return changes_; }

 private:
  absl::Status CheckOpenLocked(const std::string& stored_name) const;
  absl::StatusOr<Table> CreateChecked(const std::string& stored_name, const Schema& schema);
  bool IsClosedLocked(std::string_view stored_name) const;

  Database database_;
  std::mutex changes_;  // before mutex_
  mutable std::shared_mutex mutex_;
  std::map<std::string, OpenTable, std::less<>> by_wire_name_;  // guarded by mutex_
  std::set<std::string, std::less<>> hidden_;                   // stored names; guarded by mutex_
  std::set<std::string, std::less<>> closed_;                   // prefixes of stored names; guarded by mutex_
};

// NotFound, as Bigtable says it.
absl::Status TableNotFound(std::string_view wire_name);

}  // namespace stele::server
