#include "db/write_path.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "db/engine.h"
#include "db/seal.h"
#include "mutation/batch.h"
#include "mutation/check.h"

namespace stele::internal {
namespace {

constexpr int kRetriesMax = 1000;                        // refusals by the commit leader; each means that another writer got on
constexpr size_t kBatchBytesMax = size_t{256} << 20;     // engine rule 21
constexpr size_t kSharedBatchBytes = size_t{512} << 10;  // neighbours of a BulkApply in one batch: enough to amortise the commit
constexpr size_t kSharedBatchRows = 4096;

absl::Status KeptChanging() { return Aborted("the rows or the schema kept changing under the write; try again"); }

// What a writer goes by: the generation is read first, so that a schema change after it is noticed by the leader.
struct WriteContext {
  uint64_t schema_generation = 0;
  // Let go before the writer waits for anything: with the last view go the files that only it needs, and whoever lets it go removes them.
  std::shared_ptr<const ReadView> view;
  int64_t now = 0;
};

// `now`: all cells that one call stamps get the same time.
WriteContext TakeContext(Engine& engine, int64_t now) {
  WriteContext context{.schema_generation = engine.committer->schema_generation()};
  context.view = engine.state.view();
  context.now = now;
  return context;
}

absl::StatusOr<MutationSchema> SchemaOf(const ReadView& view, uint32_t table_id) {
  const TableView* table = view.Find(table_id);
  if (table == nullptr) return NotFound("the table was deleted");
  const TableDefinition& definition = table->definition();
  return MutationSchema{.table_id = table_id,
                        .families = &definition.families,
                        .limits = definition.schema.limits(),
                        .granularity = definition.schema.granularity()};
}

absl::Status CommitBatch(Engine& engine, BatchWriter* writer, const WriteContext& context, const WriteOptions& options,
                         std::vector<RowCondition> conditions) {
  if (writer->bytes() > kBatchBytesMax) {
    return InvalidArgument("a batch of {} bytes is over the limit of {}; divide it", writer->bytes(), kBatchBytesMax);
  }
  CommitRequest request{.batch = writer->Finish(),
                        .sync = options.durability.value_or(engine.options.database.durability) == Durability::kDisk,
                        .schema_generation = context.schema_generation,
                        .conditions = std::move(conditions)};
  return engine.committer->Commit(std::move(request));
}

// Before all else in the batch: what one entry writes must not fall to the seal of another that has the same row.
void AppendSeals(const SealPlan& plan, const Seals& seals, BatchWriter* writer) {
  for (const SealPlan::Row& row : plan.rows) {
    const std::span<const BatchOp> ops = seals.OpsOf(row.entry);
    if (ops.empty()) continue;
    writer->StartRow(row.table_id, row.mutation->row_key());
    for (const BatchOp& op : ops) writer->Add(op);
  }
}

// One attempt. Aborted: again.
absl::Status TryTogether(Engine& engine, std::span<const WriteEntry> entries, int64_t now, const WriteOptions& options) {
  WriteContext context = TakeContext(engine, now);
  STELE_ASSIGN_OR_RETURN(const SealPlan plan, PlanSeals(*context.view, entries));
  const RowLatches::Hold hold(&engine.latches, plan.row_keys());
  Seals seals;
  if (!plan.rows.empty()) {
    STELE_ASSIGN_OR_RETURN(seals, MakeSeals(engine, plan));
  }
  BatchWriter writer;
  AppendSeals(plan, seals, &writer);
  for (size_t i = 0; i < entries.size(); ++i) {
    STELE_ASSIGN_OR_RETURN(const MutationSchema schema, SchemaOf(*context.view, entries[i].table_id));
    const absl::Status status = AppendMutation(*entries[i].mutation, schema, context.now, &writer, {});
    if (!status.ok()) return entries.size() == 1 ? status : WithContext(status, fmt::format("mutation {} of the batch", i));
  }
  if (writer.row_count() == 0) return absl::OkStatus();
  context.view.reset();
  return CommitBatch(engine, &writer, context, options, std::move(seals.conditions));
}

size_t BytesOf(const RowMutation& mutation) { return mutation.row_key().size() + mutation.encoded_ops().size(); }

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
      if (attempt < kRetriesMax) continue;
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
  STELE_RETURN_IF_ERROR(engine.CheckWritable());
  uint64_t bytes = 0;
  for (const WriteEntry& entry : entries) bytes += BytesOf(*entry.mutation);
  const LargeWrites::Hold hold(&engine.large_writes, bytes);
  if (hold.is_alone()) STELE_RETURN_IF_ERROR(engine.DrainMemtables());
  STELE_RETURN_IF_ERROR(engine.AwaitTurn(bytes));
  for (int attempt = 0; attempt < kRetriesMax; ++attempt) {
    const absl::Status status = TryTogether(engine, entries, now, options);
    if (status.code() != absl::StatusCode::kAborted) return status;
  }
  return KeptChanging();
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
