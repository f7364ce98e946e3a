// write/write_steps.h: the steps that all writes share: look up the token, read the schema, latch
// the rows, encode the entries with their GC fences, commit, sync.
//
// Used by:   write/write_path.cc, write/conditional_writes.cc.
// Calls:     write/token_rows.h, mutation/check.h, write/gc_fence.h, then commit/committer.h.
// Errors:    Aborted from a commit: repeat the attempt. All other errors are the write's result.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "commit/committer.h"
#include "commit/row_latches.h"
#include "model/access.h"
#include "mutation/batch.h"
#include "mutation/check.h"
#include "mutation/write_entry.h"
#include "read/read_view.h"
#include "state/read_path.h"
#include "stele/options.h"
#include "wal/commit_log.h"
#include "write/gc_fence.h"
#include "write/token_rows.h"
#include "write/write_admission.h"

namespace stele::internal {

// The state that a write is based on. The generation is read before the view, so that the leader
// detects a change after it.
struct WriteContext {
  uint64_t generation = 0;
  // Release it before waiting for anything: destroying the last view removes the files that only it
  // uses.
  std::shared_ptr<const ReadView> view;
  int64_t now = 0;  // the timestamp of cells without one
  // For the token's row, which the batch writes; nullopt: the write has no token.
  std::optional<RowCondition> token = {};
  TokenUse use = {};              // the contents of the row
  uint64_t* committed = nullptr;  // if not null, receives the sequence of the commit
};

absl::StatusOr<MutationSchema> SchemaOf(const ReadView& view, uint32_t table_id);
// True if the mutation only deletes.
bool OnlyDeletes(const RowMutation& mutation);
// The options for reading the row that a write depends on.
ReadOptions ReadOptionsOf(const WriteOptions& options);
// The size of a mutation as its user passed it.
inline uint64_t BytesOf(const RowMutation& mutation) {
  return mutation.row_key().size() + Access::EncodedOps(mutation).size();
}

class WriteSteps {
 public:
  // All parts must outlive it.
  struct Parts {
    EngineState* state = nullptr;
    Committer* committer = nullptr;
    CommitLog* log = nullptr;  // null when read-only
    const ReadPath* reads = nullptr;
    RowLatches* latches = nullptr;
  };
  // `durability` is for writes that do not set WriteOptions::durability.
  WriteSteps(const Parts& parts, Durability durability) : parts_(parts), durability_(durability) {}

  // `now` is the timestamp of all cells without one, so that they are the same in one call.
  WriteContext TakeContext(int64_t now) const;
  uint64_t generation() const { return parts_.committer->generation(); }
  // Call it before the row is read (commit/row_watches.h).
  RowWatches::Watch WatchRow(uint32_t table_id, std::string_view row_key) const {
    return parts_.committer->row_watches().Begin(table_id, row_key);
  }
  absl::StatusOr<TokenState> FindToken(const WriteOptions& options,
                                       TokenWatch use = TokenWatch::kChecks) const {
    EventCounts& counts = parts_.state->event_counts();
    if (!options.idempotency_token.empty()) EventCounts::Add(counts.token_reads);
    absl::StatusOr<TokenState> used =
        internal::FindToken(*parts_.reads, &parts_.committer->row_watches(), options, use);
    if (used.ok()) EventCounts::Add(counts.token_uses_read, used->uses.size());
    return used;
  }

  bool IsSynced(const WriteOptions& options) const {
    return options.durability.value_or(durability_) == Durability::kDisk;
  }
  // Makes a write that was repeated with its token as durable as `options` request. The first write
  // may have requested less. Returns Cancelled or DeadlineExceeded if the repeat was stopped while
  // it waited for the sync.
  absl::Status SyncIfRequested(const WriteOptions& options) const;

  // Calls `run`, the part of an attempt that reads the write's dependencies and commits. In
  // exclusive mode it runs as an exclusive section. An attempt calls this at most once. Returns
  // Cancelled or DeadlineExceeded if the write was stopped while it waited for the exclusive
  // section.
  absl::Status RunInMode(AttemptMode mode, const WriteOptions& options,
                         absl::FunctionRef<absl::Status()> run) const;
  // Takes the latches of the rows, in optimistic mode. An exclusive attempt needs none, and must
  // not wait for one. Returns Cancelled or DeadlineExceeded if the write was stopped while it
  // waited.
  absl::StatusOr<RowLatches::Guard> LatchRows(AttemptMode mode,
                                              const std::vector<std::string_view>& row_keys,
                                              const WriteOptions& options) const;

  absl::Status CommitBatch(BatchWriter* writer, WriteContext context, const WriteOptions& options,
                           std::vector<RowCondition> conditions) const;
  // Commits all entries, and the token's row if there is one, in one batch. The rows in `plan` must
  // be latched. `conditions` are added to the fences' conditions.
  absl::Status CommitEntries(WriteContext context, std::span<const WriteEntry> entries,
                             const GcFencePlan& plan, const WriteOptions& options,
                             std::vector<RowCondition> conditions) const;

 private:
  // True if changes of the entries may be freed once they are encoded, because this attempt is
  // exclusive and nothing refuses the batch later. Returns an error if a pause refuses it.
  absl::StatusOr<bool> MayFree(std::span<const WriteEntry> entries) const;

  const Parts parts_;
  const Durability durability_;
};

}  // namespace stele::internal
