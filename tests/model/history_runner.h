// model/history_runner.h: runs a history on an engine and on the reference side by side, and says where they first differ.
//
// Crash:     the file system forgets what the policy allows; the reopened database must be the reference after some prefix of the acked
//            writes that holds all synced ones (all of them, when only the process was killed), batches whole; the reference then goes
//            back to that prefix. Where several prefixes look alike, the rows in which they differ unseen are deleted on both sides.
// Threads:   thread-compatible.
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

#include "db/engine_options.h"
#include "io/crash_file_system.h"
#include "model/operation.h"
#include "model/reference_store.h"
#include "stele/stele.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {

class LocalDatabase;

// One way to build the engine, as a line of a history: engine(crash|mem,MEMTABLE_BYTES,ROW_GROUP_BYTES,CACHE_BYTES,SEGMENT_BYTES,THREADS)
// or engine(...,THREADS,TABLET_BYTES) or engine(...,TABLET_BYTES,OPEN_FILES); without TABLET_BYTES tablets are as large as the engine makes
// them, and without OPEN_FILES, or 0 of them, as many SSTables are open as there are.
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
  size_t index = 0;  // of the operation
  std::string what;
};

class HistoryRunner {
 public:
  explicit HistoryRunner(const RunnerOptions& options);
  ~HistoryRunner();

  // Nothing: the engine did all as the reference.
  std::optional<RunFailure> Run(const History& history);
  // How often what happened.
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
    bool is_snapshot = false;  // asked for by the operation
    bool met_rows = false;
    bool met_pieces = false;
  };

  // Each answers what is wrong; nothing: "".
  std::string Step(const Term& operation);
  std::string RunWrite(const Term& operation);
  std::string RunBulk(const Term& operation);
  std::string RunUnder(const Term& operation);
  // How the journal says it: under the token, if there is one.
  Term Journaled(const Term& operation, size_t entry = 0) const;
  WriteOptions OptionsOf(const Term& durability) const;
  std::string RunLoad(const Term& operation);
  std::string RunConditional(const Term& operation);
  absl::Status WriteToEngine(const Term& operation);
  std::string RunRead(const Term& operation);
  std::string RunRows(const Term& operation, ReadContext& context);
  std::string RunScan(const Term& operation, ReadContext& context);
  std::string RunCare(const Term& operation);
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
  // What the reader may see of a row, one of several where samples decide; reads it once more, unfiltered, where the reference is not
  // certain.
  std::string Expect(ReadContext& context, const std::string& row_key, const ReferenceStore::RowData& row,
                     std::vector<ReferenceRow>* expected);
  // Of a read that met rows: its kind, and those of its filters.
  void CountRead(const Term& operation, const ReadContext& context);
  // Of a write that was applied, or repeated: its kind, and those of its changes.
  void CountWrite(const Term& write, bool is_repeat);
  void CountChanges(const Term& row);
  void CountRepeat(const Term& write);
  void CountConditional(const Term& operation, bool matched);
  // The token, if a write under it did that entry and is remembered; none: nullptr.
  const ReferenceStore::TokenUse* UsedToken(const std::string& token, int64_t entry) const;
  bool Crashed() const { return crash_ != nullptr && crash_->crashed(); }
  void MarkDurable();
  void CountStats();
  // Of the file system; any thread.
  void Observe(CallKind kind, const std::string& path);
  void Forget();

  const RunnerOptions options_;
  std::shared_ptr<ManualClock> clock_;
  std::shared_ptr<FileSystem> file_system_;
  CrashFileSystem* crash_ = nullptr;                           // file_system_, if it can crash
  std::vector<std::unique_ptr<ObservedFileSystem>> observed_;  // over file_system_ and those before it
  std::function<void()> between_;                              // what to do at the next call of between_kind_; never set with threads
  CallKind between_kind_ = CallKind::kRead;
  std::atomic<uint64_t> segments_reused_{0};
  std::string directory_ = "/db";
  std::shared_ptr<LocalDatabase> local_;  // database_'s
  Database database_;
  std::map<std::string, Table> handles_;
  std::map<std::string, HeldSnapshot> snapshots_;
  std::string planned_policy_;  // of crashat
  uint64_t planned_seed_ = 0;

  ReferenceStore reference_;
  ReferenceStore base_;       // the reference before journal_
  History journal_;           // acked writes since, and the clock
  size_t durable_count_ = 0;  // of them survive a power loss
  History unsure_;            // writes that failed as the crash came: done or not
  std::set<std::string> spoilt_copies_;
  std::string token_;                    // of the write under way; empty: none
  std::set<std::string> spoilt_tokens_;  // used or not: a crash left it open
  size_t fresh_tokens_ = 0;
  // When a token's first write was done: how many reopenings and crashes came before.
  std::map<std::string, std::pair<uint64_t, uint64_t>> tokens_born_;
  uint64_t reopenings_ = 0;
  uint64_t crashes_ = 0;
  bool acked_after_crash_ = false;  // an entry of a bulk, behind one that met the crash
  std::map<std::string, uint64_t> coverage_;
};

}  // namespace stele::internal
