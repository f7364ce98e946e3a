// steled/state/open_tables.h: finds the tables of the database by their names in requests.
//
// It caches the handles of requested tables, with the parts of their schemas that requests for data
// need, so that a request for one row does not copy a schema. Every table of a client is created
// and deleted through this class; no other process can have the database open. A new table does not
// inherit the record of the last automated backup of an earlier one.
//
// Errors:    InvalidArgument for a name, NotFound for a table; the library's errors.
// Threads:   thread-safe. Find, IsTaken and List wait for no other call's I/O. Only one call that
//            changes tables runs at a time.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/mutation_translation.h"
#include "stele/database.h"
#include "stele/table.h"

namespace stele::server {

using internal::TableTraits;

struct OpenTable {
  Table table;
  TableTraits traits;
};

class OpenTables {
 public:
  explicit OpenTables(Database database) : database_(std::move(database)) {}

  // Returns the table with this name in the API.
  absl::StatusOr<OpenTable> Find(std::string_view wire_name);

  // Discards the cached schema after families changed.
  void Forget(std::string_view wire_name);

  // Creates a table under its stored name.
  absl::StatusOr<Table> Create(const std::string& stored_name, const Schema& schema);
  absl::Status Delete(const std::string& stored_name);

  // Creates a table that no request sees until Reveal or Delete. DeleteUnrevealed() deletes tables
  // that were not revealed when a process ended; call it first.
  absl::StatusOr<Table> CreateHidden(const std::string& stored_name, Schema schema);
  absl::Status Reveal(const std::string& stored_name);
  // Deletes a hidden table. Does nothing if there is none of that name: another request deleted it,
  // and the name may belong to a new table.
  absl::Status DeleteHidden(const std::string& stored_name);
  absl::Status DeleteUnrevealed();

  // Marks a table as deleted at `micros`: no request finds or lists it, and its data is kept. After
  // a crash it is either unchanged or soft-deleted.
  absl::Status SoftDelete(const std::string& stored_name, int64_t micros);
  // Restores the soft-deleted table with that name, protected against deletion. NotFound if it was
  // soft-deleted at `micros` or before, or there is none; AlreadyExists if a table has the name.
  absl::Status Undelete(const std::string& stored_name, int64_t micros = -1);
  // Deletes the data of tables that were soft-deleted at `micros` or before. If one fails, the
  // others are still deleted; returns the first error. Returns early once `stop` is requested.
  absl::Status PurgeSoftDeleted(int64_t micros, const std::stop_token& stop = {});
  // Finds the soft-deleted tables of an earlier process; call it before requests.
  absl::Status LoadSoftDeleted();
  // True if a table has that name, or is being restored under it; not for a soft-deleted one.
  bool IsTaken(const std::string& stored_name) const;

  // Deletes all tables with this prefix. Until Reopen none of them is found or listed, and none can
  // be created. After an error some may still exist on disk.
  absl::Status CloseAndDelete(const std::string& stored_prefix);
  void Reopen(const std::string& stored_prefix);

  // The tables with this prefix, sorted.
  absl::StatusOr<std::vector<std::string>> List(std::string_view stored_prefix) const;
  absl::StatusOr<Table> Open(const std::string& stored_name) const {
    return database_.OpenTable(stored_name);
  }

  // The time that gives the age of soft-deleted tables: the clock's, unless the clock is not
  // trusted.
  int64_t CollectionMicros() const { return database_.Stats().clock.collection_time.micros(); }

  // A request that changes tables or instances holds this from its check of protection to the
  // change.
  std::mutex& changes() { return changes_; }

 private:
  // The caller holds table_changes_.
  absl::Status DeleteNow(const std::string& stored_name);
  absl::StatusOr<Table> CreateNow(const std::string& stored_name, const Schema& schema);
  absl::Status DropSoftDeletedNow(const std::string& stored_name);
  // Deletes the data of the soft-deleted table with this name, if there is one, since a new table
  // replaces it. Fails if writes are refused.
  absl::Status ReplaceSoftDeletedNow(const std::string& stored_name);
  // FailedPrecondition while the table's instance is being deleted.
  absl::Status CheckOpenNow(const std::string& stored_name) const;

  // Removes the record of the table's last automated backup.
  absl::Status ForgetBackups(const std::string& stored_name) const;
  // When the table was soft-deleted; nullopt: it is not.
  std::optional<int64_t> SoftDeletedAt(const std::string& stored_name) const;
  void ForgetLocked(std::string_view wire_name);
  bool IsClosedLocked(std::string_view stored_name) const;
  // True if no request finds the table, although it may exist.
  bool IsUnseenLocked(const std::string& stored_name) const;

  Database database_;
  std::mutex changes_;        // acquired before table_changes_
  std::mutex table_changes_;  // held during the I/O of a change; acquired before mutex_
  mutable std::shared_mutex mutex_;
  std::map<std::string, OpenTable, std::less<>> by_wire_name_;  // guarded by mutex_
  uint64_t forgotten_ = 0;  // how often a handle was discarded; guarded by mutex_
  std::set<std::string, std::less<>> hidden_;  // stored names; guarded by mutex_
  // The time of deletion, by stored name; guarded by mutex_.
  std::map<std::string, int64_t, std::less<>> soft_deleted_;
  // Prefixes of stored names; guarded by mutex_.
  std::set<std::string, std::less<>> closed_;
};

// NotFound with Bigtable's message.
absl::Status TableNotFound(std::string_view wire_name);

}  // namespace stele::server
