// tests/model/history_runner.h: runs a history on the engine and on the reference in parallel, and
// reports the first difference.
//
// Crash:     The file system loses the data that the policy allows. The reopened database must
//            equal the reference after some prefix of the acknowledged writes. The prefix includes
//            all synced writes, or all writes if only the process was killed. A batch is in it as a
//            whole or not at all. The reference then returns to that prefix. If several prefixes
//            have the same visible state, the rows whose hidden state differs are deleted on both
//            sides.
// Threads:   Thread-compatible.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/operation.h"
#include "model/reference_store.h"
#include "state/engine_options.h"
#include "stele/stele.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {

class LocalDatabase;

// Options of the engine. As a line of a history:
// engine(crash|mem,MEMTABLE_BYTES,ROW_GROUP_BYTES,CACHE_BYTES,SEGMENT_BYTES,THREADS), optionally
// followed by TABLET_BYTES, or by TABLET_BYTES,OPEN_FILES.
// Without TABLET_BYTES the engine's default tablet size applies. Without OPEN_FILES, or with 0, all
// SSTables are open at the same time.
struct RunnerOptions {
  bool crash_file_system = true;
  uint64_t memtable_bytes = 64 << 10;
  uint32_t row_group_bytes = 4 << 10;
  uint64_t cache_bytes = 1 << 20;
  uint64_t segment_bytes = 256 << 10;
  int threads = 0;
  uint64_t tablet_bytes = EngineSizes().tablet_bytes_max;
  size_t open_files = 0;

  static RunnerOptions FromTerm(const Term& term);
  Term ToTerm() const;
};

struct RunFailure {
  size_t index = 0;  // the operation's index in the history
  std::string what;
};

class HistoryRunner {
 public:
  explicit HistoryRunner(const RunnerOptions& options);
  ~HistoryRunner();

  // Returns nothing if the engine and the reference agree on every operation.
  std::optional<RunFailure> Run(const History& history);
  // The number of occurrences of each kind of event.
  const std::map<std::string, uint64_t>& coverage() const { return coverage_; }

 private:
  struct HeldSnapshot {
    Snapshot snapshot;
    ReferenceStore reference;
    std::map<std::string, Table> handles;
  };
  struct Dump;
  struct ReadContext {
    Table handle;
    const ReferenceStore::Table* table = nullptr;
    int64_t now = 0;
    Term filter;
    ReadOptions options;
    bool is_snapshot = false;  // named by the operation
    bool met_rows = false;
    bool met_pieces = false;
  };

  // These functions return the first fault, or "" if there is none.
  std::string Step(const Term& operation);
  std::string RunWrite(const Term& operation);
  std::string RunBulk(const Term& operation);
  std::string RunUnder(const Term& operation);
  // Returns the operation as the journal records it: under its token, if it has one.
  Term Journaled(const Term& operation, size_t entry = 0) const;
  WriteOptions OptionsOf(const Term& durability) const;
  std::string RunLoad(const Term& operation);
  std::string RunConditional(const Term& operation);
  absl::Status WriteToEngine(const Term& operation);
  std::string RunRead(const Term& operation);
  std::string RunRows(const Term& operation, ReadContext& context);
  std::string RunScan(const Term& operation, ReadContext& context);
  std::string RunMaintenance(const Term& operation);
  std::string MoveClock(const Term& operation);
  std::string RunBetween(const Term& operation);
  std::string TakeSnapshot(const std::string& name);
  std::string Reopen();
  std::string Checkpoint(const std::string& name, bool adopt);
  std::string Crash(const std::string& policy, uint64_t seed);
  std::string FindPrefix(const Dump& dump, size_t least);
  std::string DeleteUnsure(const std::set<std::pair<std::string, std::string>>& rows);
  std::string CheckAll(Database& database, const ReferenceStore& reference);

  absl::StatusOr<Database> Open(const std::string& directory, bool read_only = false);
  absl::Status DeleteTable(const std::string& name);
  absl::StatusOr<Dump> ReadAll(Database& database);
  std::string Differs(const ReferenceStore& reference, const Dump& dump) const;
  absl::StatusOr<Table> Handle(const std::string& name);
  // Finds the rows that the reader may return; there are several if samples decide. If the
  // reference is uncertain, reads the row once more without a filter.
  std::string Expect(ReadContext& context, const std::string& row_key,
                     const ReferenceStore::RowData& row, std::vector<ReferenceRow>* expected);
  // Counts a read that returned rows: its kind and the kinds of its filters.
  void CountRead(const Term& operation, const ReadContext& context);
  // Counts a write that was applied or repeated: its kind and the kinds of its changes.
  void CountWrite(const Term& write, bool is_repeat);
  void CountChanges(const Term& row);
  void CountRepeat(const Term& write);
  void CountConditional(const Term& operation, bool matched);
  // Returns the remembered use of the token for that entry, or nullptr.
  const ReferenceStore::TokenUse* TokenState(const std::string& token, int64_t entry) const;
  bool Crashed() const { return crash_ != nullptr && crash_->crashed(); }
  void MarkDurable();
  void CountStats();
  // The observer of the file system. Any thread may call it.
  void Observe(CallKind kind, const std::string& path);
  void Forget();

  const RunnerOptions options_;
  std::shared_ptr<ManualClock> clock_;
  std::shared_ptr<FileSystem> file_system_;
  CrashFileSystem* crash_ = nullptr;  // file_system_, if it can crash
  // Over file_system_ and its predecessors.
  std::vector<std::unique_ptr<ObservedFileSystem>> observed_;
  std::function<void()> between_;  // runs at the next call of between_kind_; never set with threads
  CallKind between_kind_ = CallKind::kRead;
  std::atomic<uint64_t> segments_reused_{0};
  std::string directory_ = "/db";
  std::shared_ptr<LocalDatabase> local_;  // the local database of database_
  Database database_;
  std::map<std::string, Table> handles_;
  std::map<std::string, HeldSnapshot> snapshots_;
  std::string planned_policy_;  // the policy of crashat
  uint64_t planned_seed_ = 0;

  ReferenceStore reference_;
  ReferenceStore base_;       // the reference before journal_
  History journal_;           // later acknowledged writes and clock steps
  size_t durable_count_ = 0;  // entries of journal_ that survive a power loss
  History unsure_;            // writes that failed because of the crash: applied or not
  std::set<std::string> spoilt_copies_;
  std::string token_;                    // token of the current write; empty: none
  std::set<std::string> spoilt_tokens_;  // tokens that may be used or not, because of a crash
  size_t fresh_tokens_ = 0;
  // The numbers of reopenings and crashes before the token's first write.
  std::map<std::string, std::pair<uint64_t, uint64_t>> tokens_born_;
  uint64_t reopenings_ = 0;
  uint64_t crashes_ = 0;
  // An entry of a bulk write was acknowledged after an entry that met the crash.
  bool acked_after_crash_ = false;
  std::map<std::string, uint64_t> coverage_;
};

}  // namespace stele::internal
