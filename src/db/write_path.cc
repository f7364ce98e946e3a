#include "db/write_path.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "db/engine.h"
#include "db/write_attempt.h"

namespace stele::internal {
namespace {

constexpr size_t kSharedBatchBytes = size_t{512} << 10;  // neighbours of a BulkApply in one batch: enough to amortise the commit
constexpr size_t kSharedBatchRows = 4096;

// `now`: all cells that one call stamps get the same time.
WriteContext TakeContext(Engine& engine, int64_t now) {
  WriteContext context{.generation = engine.committer->generation()};
  context.view = engine.state.view();
  context.now = now;
  return context;
}

// One attempt. Aborted: again. `entry`: of the call, where it is one of several.
absl::Status TryTogether(Engine& engine, AttemptMode mode, std::span<const WriteEntry> entries, int64_t now, const WriteOptions& options,
                         uint64_t entry) {
  if (entries.empty()) return absl::OkStatus();
  bool is_repeat = false;
  STELE_RETURN_IF_ERROR(RunPart(engine, mode, [&]() -> absl::Status {
    STELE_ASSIGN_OR_RETURN(UsedToken used, FindToken(engine, options));
    is_repeat = used.Covering(entry) != nullptr;
    if (is_repeat) return absl::OkStatus();
    WriteContext context = TakeContext(engine, now);
    context.token = std::move(used.unchanged);
    context.use = {.entries = {{entry, entry + 1}}};
    STELE_ASSIGN_OR_RETURN(const SealPlan plan, PlanSeals(*context.view, entries));
    const std::optional<RowLatches::Hold> hold = HoldRows(engine, mode, plan.row_keys());
    return CommitEntries(engine, std::move(context), entries, plan, options, {});
  }));
  return is_repeat ? SyncIfAsked(engine, options) : absl::OkStatus();
}

// Some entries of a BulkApply, from `begin` to `end`, which are one batch.
struct Neighbours {
  size_t begin = 0;
  size_t end = 0;
  UsedToken done = {};  // covers what was applied before, and is left out
  BatchWriter writer = {};
  std::vector<size_t> members = {};          // what the batch holds
  std::vector<FailedMutation> refused = {};  // what is wrong, and left out
};

// About what the batch of these will take, so that it does not outgrow its memory again and again.
size_t BatchBytesOf(std::span<const RowMutation> mutations) {
  constexpr size_t kRowBytes = 32;  // beside what the mutation has
  size_t bytes = 0;
  for (size_t i = 0; i < mutations.size() && i < kSharedBatchRows && bytes < kSharedBatchBytes; ++i)
    bytes += BytesOf(mutations[i]) + kRowBytes;
  return std::min(bytes, 2 * kSharedBatchBytes);
}

// Encodes neighbours into the batch.
void AppendNeighbours(const WriteContext& context, uint32_t table_id, std::span<const RowMutation> mutations, Neighbours* batch) {
  const absl::StatusOr<MutationSchema> schema = SchemaOf(*context.view, table_id);
  batch->writer.Reserve(BatchBytesOf(mutations.subspan(batch->begin)));
  size_t& i = batch->end;
  for (i = batch->begin; i < mutations.size(); ++i) {
    if (batch->members.size() >= kSharedBatchRows || batch->writer.bytes() >= kSharedBatchBytes) break;
    if (batch->done.Covering(i) != nullptr) continue;
    if (schema.ok() && NeedsSeal(*context.view->Find(table_id), *schema, mutations[i])) break;
    // A large one is a batch of its own: beside others it could come to more than a batch may hold, though alone it would not.
    if (BytesOf(mutations[i]) > kSharedBatchBytes) break;
    const absl::Status status = schema.ok() ? AppendMutation(mutations[i], *schema, context.now, &batch->writer, {}) : schema.status();
    if (status.ok()) {
      batch->members.push_back(i);
    } else {
      batch->refused.push_back({.index = i, .status = status});
    }
  }
}

TokenUse UseOf(const std::vector<size_t>& members) {
  TokenUse use;
  for (const size_t member : members) {
    if (!use.entries.empty() && use.entries.back().end == member) {
      ++use.entries.back().end;
    } else {
      use.entries.push_back({member, member + 1});
    }
  }
  return use;
}

// What a batch of neighbours is made from.
struct NeighbourSource {
  uint32_t table_id = 0;
  std::span<const RowMutation> mutations;
  int64_t now = 0;
  const WriteOptions* options = nullptr;
};

// Makes the batch. What the caller still needs of it are its members and what was refused. An error: the token could not be looked up, and
// the members are what would have been written.
absl::Status MakeNeighbours(Engine& engine, const NeighbourSource& source, WriteContext* context, Neighbours* batch) {
  *batch = {.begin = batch->begin};
  absl::StatusOr<UsedToken> found = FindToken(engine, *source.options);
  if (found.ok()) batch->done = *std::move(found);
  *context = TakeContext(engine, source.now);
  AppendNeighbours(*context, source.table_id, source.mutations, batch);
  context->view.reset();
  context->token = batch->done.unchanged;
  context->use = UseOf(batch->members);
  return found.status();
}

absl::Status CommitNeighbours(Engine& engine, AttemptMode mode, const NeighbourSource& source, WriteContext* context, Neighbours* batch) {
  if (mode == AttemptMode::kOptimistic) return CommitBatch(engine, &batch->writer, *context, *source.options, {});
  return RunPart(engine, mode, [&]() -> absl::Status {
    STELE_RETURN_IF_ERROR(MakeNeighbours(engine, source, context, batch));
    if (batch->members.empty()) return absl::OkStatus();
    return CommitBatch(engine, &batch->writer, *context, *source.options, {});
  });
}

// Applies a run of neighbours, at least one unless the first needs a seal or is large; answers how far it came.
size_t ApplyNeighbours(Engine& engine, uint32_t table_id, std::span<const RowMutation> mutations, size_t begin, int64_t now,
                       const WriteOptions& options, std::vector<FailedMutation>* failed) {
  const NeighbourSource source{.table_id = table_id, .mutations = mutations, .now = now, .options = &options};
  for (int attempt = 0;; ++attempt) {
    Neighbours batch{.begin = begin};
    WriteContext context;
    const auto frees_space = [&] {
      return std::all_of(batch.members.begin(), batch.members.end(), [&](size_t member) { return OnlyDeletes(mutations[member]); });
    };
    absl::Status status = MakeNeighbours(engine, source, &context, &batch);
    if (status.ok()) status = engine.CheckWritable(frees_space);
    const LargeWrites::Hold hold(&engine.large_writes, batch.writer.bytes());
    if (status.ok()) status = engine.AwaitTurn(batch.writer.bytes(), options, frees_space);
    if (status.ok()) status = CheckAwaited(options);
    if (status.ok() && !batch.members.empty()) status = CommitNeighbours(engine, ModeOf(attempt), source, &context, &batch);
    if (status.ok() && batch.members.empty() && !batch.done.uses.empty()) status = SyncIfAsked(engine, options);
    if (MadeRoomFor(engine, status, frees_space)) continue;
    if (status.code() == absl::StatusCode::kAborted) {
      if (MayAttemptAgain(attempt)) continue;
      status = KeptChanging();
    }
    // What is refused was reported. A repeat that could not be made as durable as it is asked to be is not acknowledged either.
    std::vector<size_t> failing = batch.members;
    for (size_t i = begin; i < batch.end && IsSynced(engine, options); ++i) {
      if (batch.done.Covering(i) != nullptr) failing.push_back(i);
    }
    for (const size_t i : failing) {
      if (!status.ok()) batch.refused.push_back({.index = i, .status = status});
    }
    std::sort(batch.refused.begin(), batch.refused.end(),
              [](const FailedMutation& a, const FailedMutation& b) { return a.index < b.index; });
    failed->insert(failed->end(), batch.refused.begin(), batch.refused.end());
    return batch.end;
  }
}

absl::Status ApplyAt(Engine& engine, std::span<const WriteEntry> entries, int64_t now, const WriteOptions& options, uint64_t entry) {
  uint64_t bytes = 0;
  for (const WriteEntry& written : entries) bytes += BytesOf(*written.mutation);
  const auto frees_space = [entries] {
    return std::all_of(entries.begin(), entries.end(), [](const WriteEntry& written) { return OnlyDeletes(*written.mutation); });
  };
  const auto attempt = [&](AttemptMode mode) { return TryTogether(engine, mode, entries, now, options, entry); };
  return AttemptWrite(engine, bytes, options, attempt, frees_space);
}

}  // namespace

absl::Status ApplyTogether(Engine& engine, std::span<const WriteEntry> entries, const WriteOptions& options) {
  return ApplyAt(engine, entries, engine.clock.Now(), options, 0);
}

std::vector<FailedMutation> ApplyEach(Engine& engine, uint32_t table_id, std::span<const RowMutation> mutations,
                                      const WriteOptions& options) {
  std::vector<FailedMutation> failed;
  const int64_t now = engine.clock.Now();
  size_t next = 0;
  while (next < mutations.size()) {
    const size_t end = ApplyNeighbours(engine, table_id, mutations, next, now, options, &failed);
    if (end > next) {
      next = end;
      continue;
    }
    const WriteEntry entry{.table_id = table_id, .mutation = &mutations[next]};
    const absl::Status status = ApplyAt(engine, std::span(&entry, 1), now, options, next);
    if (!status.ok()) failed.push_back({.index = next, .status = status});
    ++next;
  }
  return failed;
}

}  // namespace stele::internal
