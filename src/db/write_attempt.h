// db/write_attempt.h: what every write does once it knows its mutations: encode them with their seals, commit, and begin again when the
// commit leader refused.
//
// Path:      write_path.cc, conditional_writes.cc -> here -> mutation/check.h, db/seal.h -> db/committer.h.
// Errors:    Aborted from an attempt: make it anew. All others are the write's answer.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "db/committer.h"
#include "db/row_latches.h"
#include "db/seal.h"
#include "db/token_rows.h"
#include "db/write_entry.h"
#include "mutation/batch.h"
#include "mutation/check.h"
#include "read/read_view.h"
#include "stele/options.h"

namespace stele::internal {

class Engine;

// What a writer goes by: the generation is read before the view, so that a change after it is noticed by the leader.
struct WriteContext {
  uint64_t generation = 0;
  // Let go before the writer waits for anything: with the last view go the files that only it needs, and whoever lets it go removes them.
  std::shared_ptr<const ReadView> view;
  int64_t now = 0;                         // stamps cells without a timestamp
  std::optional<RowCondition> token = {};  // of the token's row, which the batch is to write; none: the write has no token
  TokenUse use = {};                       // what the row is to say
};

bool IsSynced(const Engine& engine, const WriteOptions& options);
// For a repeat under a token: it is to be as durable as its options ask, whatever those of the first were.
absl::Status SyncIfAsked(Engine& engine, const WriteOptions& options);

absl::StatusOr<MutationSchema> SchemaOf(const ReadView& view, uint32_t table_id);

// How an attempt runs. Other writes run beside an optimistic one, and the commit leader refuses it if one of them got in its way. An
// exclusive one has no other write beside it, so nothing refuses it; it comes after several refusals, so that every write gets done.
enum class AttemptMode { kOptimistic, kExclusive };
AttemptMode ModeOf(int attempts);
// Runs the part of an attempt that reads what the write depends on, and commits. In exclusive mode it is an exclusive section.
absl::Status RunPart(Engine& engine, AttemptMode mode, const std::function<absl::Status()>& part);

// Waits for its turn to write `bytes`, and calls `attempt` until it returns anything but Aborted. `attempt` calls RunPart at most once.
using Attempt = std::function<absl::Status(AttemptMode mode)>;
// `frees_space`: the write is admitted on a full disk where this answers true.
absl::Status AttemptWrite(Engine& engine, uint64_t bytes, const WriteOptions& options, const Attempt& attempt,
                          const std::function<bool()>& frees_space = nullptr);
// The log had no room for a write, and the reserve gave it some just now: then the write is worth another attempt.
bool MadeRoomFor(Engine& engine, const absl::Status& refused, const std::function<bool()>& frees_space);
// The mutation only deletes.
bool OnlyDeletes(const RowMutation& mutation);
// Cancelled or DeadlineExceeded: nobody waits for the write any more.
absl::Status CheckAwaited(const WriteOptions& options);
// How a write reads the row that it depends on.
ReadOptions ReadOptionsOf(const WriteOptions& options);
bool MayAttemptAgain(int attempts);
absl::Status KeptChanging();

// The latches of the rows, in optimistic mode. An exclusive attempt needs none, and must not wait for one.
std::optional<RowLatches::Hold> HoldRows(Engine& engine, AttemptMode mode, const std::vector<std::string_view>& row_keys);

absl::Status CommitBatch(Engine& engine, BatchWriter* writer, const WriteContext& context, const WriteOptions& options,
                         std::vector<RowCondition> conditions);

// All entries in one batch, and the token's row, if there is one; no entries: that row alone. HoldRows holds the rows in `plan`;
// `conditions` come beside those of the seals.
absl::Status CommitEntries(Engine& engine, WriteContext context, std::span<const WriteEntry> entries, const SealPlan& plan,
                           const WriteOptions& options, std::vector<RowCondition> conditions);

// Of a mutation as its user handed it over.
inline uint64_t BytesOf(const RowMutation& mutation) { return mutation.row_key().size() + mutation.encoded_ops().size(); }

}  // namespace stele::internal
