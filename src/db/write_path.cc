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
  WriteContext context{.schema_generation = engine.committer->schema_generation()};
  context.view = engine.state.view();
  context.now = now;
  return context;
}

// One attempt. Aborted: again.
absl::Status TryTogether(Engine& engine, std::span<const WriteEntry> entries, int64_t now, const WriteOptions& options) {
  WriteContext context = TakeContext(engine, now);
  STELE_ASSIGN_OR_RETURN(const SealPlan plan, PlanSeals(*context.view, entries));
  const RowLatches::Hold hold(&engine.latches, plan.row_keys());
  return CommitEntries(engine, std::move(context), entries, plan, options, {});
}

// Encodes neighbours from `begin` on into one batch; those that are wrong are reported and left out. Answers where it stopped.
size_t AppendNeighbours(const WriteContext& context, uint32_t table_id, std::span<const RowMutation> mutations, size_t begin,
                        BatchWriter* writer, std::vector<FailedMutation>* failed, std::vector<size_t>* members) {
  const absl::StatusOr<MutationSchema> schema = SchemaOf(*context.view, table_id);
  size_t i = begin;
  for (; i < mutations.size() && members->size() < kSharedBatchRows && writer->bytes() < kSharedBatchBytes; ++i) {
    if (schema.ok() && NeedsSeal(*context.view->Find(table_id), *schema, mutations[i])) break;
    // A large one is a batch of its own: beside others it could come to more than a batch may hold, though alone it would not.
    if (BytesOf(mutations[i]) > kSharedBatchBytes) break;
    const absl::Status status = schema.ok() ? AppendMutation(mutations[i], *schema, context.now, writer, {}) : schema.status();
    if (status.ok()) {
      members->push_back(i);
    } else {
      failed->push_back({.index = i, .status = status});
    }
  }
  return i;
}

// Applies a run of neighbours, at least one unless the first needs a seal or is large; answers how far it came.
size_t ApplyNeighbours(Engine& engine, uint32_t table_id, std::span<const RowMutation> mutations, size_t begin, int64_t now,
                       const WriteOptions& options, std::vector<FailedMutation>* failed) {
  for (int attempt = 0;; ++attempt) {
    WriteContext context = TakeContext(engine, now);
    BatchWriter writer;
    std::vector<FailedMutation> refused;
    std::vector<size_t> members;
    const size_t end = AppendNeighbours(context, table_id, mutations, begin, &writer, &refused, &members);
    context.view.reset();
    absl::Status status = engine.CheckWritable();
    const LargeWrites::Hold hold(&engine.large_writes, writer.bytes());
    if (status.ok()) status = engine.AwaitTurn(writer.bytes());
    if (status.ok() && !members.empty()) status = CommitBatch(engine, &writer, context, options, {});
    if (status.code() == absl::StatusCode::kAborted) {
      if (MayAttemptAgain(attempt)) continue;
      status = KeptChanging();
    }
    for (const size_t member : members) {
      if (!status.ok()) refused.push_back({.index = member, .status = status});
    }
    std::sort(refused.begin(), refused.end(), [](const FailedMutation& a, const FailedMutation& b) { return a.index < b.index; });
    failed->insert(failed->end(), refused.begin(), refused.end());
    return end;
  }
}

absl::Status ApplyAt(Engine& engine, std::span<const WriteEntry> entries, int64_t now, const WriteOptions& options) {
  uint64_t bytes = 0;
  for (const WriteEntry& entry : entries) bytes += BytesOf(*entry.mutation);
  return AttemptWrite(engine, bytes, [&] { return TryTogether(engine, entries, now, options); });
}

}  // namespace

absl::Status ApplyTogether(Engine& engine, std::span<const WriteEntry> entries, const WriteOptions& options) {
  return ApplyAt(engine, entries, engine.clock.Now(), options);
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
    const absl::Status status = ApplyAt(engine, std::span(&entry, 1), now, options);
    if (!status.ok()) failed.push_back({.index = next, .status = status});
    ++next;
  }
  return failed;
}

}  // namespace stele::internal
