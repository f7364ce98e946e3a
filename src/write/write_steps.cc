#include "write/write_steps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/status.h"
#include "model/access.h"
#include "model/mutation_ops.h"

namespace stele::internal {
namespace {

constexpr size_t kBatchBytesMax = size_t{256} << 20;  // engine rule 21

// The fences come before all other operations of the batch, so that a fence does not delete a
// version that another entry writes to the same row.
void AppendGcFences(const GcFencePlan& plan, const GcFences& fences, BatchWriter* writer) {
  for (const GcFencePlan::Row& row : plan.rows) {
    const std::span<const BatchOp> ops = fences.OpsOf(row.entry);
    if (ops.empty()) continue;
    writer->StartRow(row.table_id, row.row_key);
    for (const BatchOp& op : ops) writer->Add(op);
  }
}

// True if the entry's changes may be freed before the commit. A write that only deletes may be
// repeated when the reserve was released for it.
bool IsFreeable(const WriteEntry& entry) {
  return entry.owned != nullptr && !OnlyDeletes(*entry.owned);
}

// An upper bound of the batch's size, so that its memory is allocated once.
size_t BatchBytesOf(std::span<const WriteEntry> entries) {
  constexpr size_t kRowBytes = 64;  // in addition to the mutation
  size_t bytes = 0;
  for (const WriteEntry& entry : entries) bytes += BytesOf(*entry.mutation) + kRowBytes;
  return bytes;
}

// The changes of the write were freed, so it cannot be attempted again.
absl::Status Final(const absl::Status& status) {
  STELE_INVARIANT(!absl::IsAborted(status));
  if (!absl::IsAborted(status)) return status.ok() ? status : AsFinal(status);
  return MakeStatus(absl::StatusCode::kInternal,
                    "an exclusive write was refused: " + std::string(ToStd(status.message())));
}

}  // namespace

WriteContext WriteSteps::TakeContext(int64_t now) const {
  WriteContext context{.generation = parts_.committer->generation()};
  context.view = parts_.state->view();
  context.now = now;
  return context;
}

absl::Status WriteSteps::SyncIfRequested(const WriteOptions& options) const {
  if (!IsSynced(options)) return absl::OkStatus();
  const auto sync = [this] {
    const absl::Status status = parts_.log->Sync();
    if (!status.ok()) parts_.committer->Poison(status);
    return status;
  };
  const absl::Status status = parts_.committer->RunExclusive(sync, LimitsOf(options));
  if (absl::IsCancelled(status))
    return Cancelled("the repeated write was stopped by its stop token before it was synced");
  if (absl::IsDeadlineExceeded(status))
    return DeadlineExceeded("the repeated write was not synced before its deadline");
  return status;
}

absl::StatusOr<MutationSchema> SchemaOf(const ReadView& view, uint32_t table_id) {
  const TableView* table = view.Find(table_id);
  if (table == nullptr) return NotFound("the table was deleted");
  const TableDefinition& definition = table->definition();
  return MutationSchema{.table_id = table_id,
                        .families = &definition.families,
                        .limits = definition.schema.limits(),
                        .granularity = definition.schema.granularity(),
                        .family_schemas = definition.family_schemas};
}

absl::Status WriteSteps::RunInMode(AttemptMode mode, const WriteOptions& options,
                                   absl::FunctionRef<absl::Status()> run) const {
  if (mode == AttemptMode::kOptimistic) return run();
  EventCounts::Add(parts_.state->event_counts().exclusive_attempts);
  return parts_.committer->RunExclusive(run, LimitsOf(options));
}

absl::StatusOr<RowLatches::Guard> WriteSteps::LatchRows(
    AttemptMode mode, const std::vector<std::string_view>& row_keys,
    const WriteOptions& options) const {
  if (mode == AttemptMode::kExclusive) return RowLatches::Guard();
  return RowLatches::Guard::Acquire(parts_.latches, row_keys, AwaitedCheckOf(options));
}

ReadOptions ReadOptionsOf(const WriteOptions& options) {
  return {.stop = options.stop,
          .deadline = options.deadline,
          .reserve_large_value = options.reserve_large_value};
}

bool OnlyDeletes(const RowMutation& mutation) {
  MutationOpReader reader(Access::EncodedOps(mutation));
  MutationOp op;
  while (reader.Next(&op)) {
    if (op.kind < MutationOp::Kind::kDeleteFromColumn) return false;
  }
  return mutation.count() > 0;
}

absl::Status WriteSteps::CommitBatch(BatchWriter* writer, WriteContext context,
                                     const WriteOptions& options,
                                     std::vector<RowCondition> conditions) const {
  const size_t token_stamp =
      context.token.has_value() ? AppendTokenUse(*context.token, context.use, writer) : 0;
  if (writer->bytes() > kBatchBytesMax) {
    return InvalidArgument("a batch of {} bytes exceeds the limit of {}; divide it",
                           writer->bytes(), kBatchBytesMax);
  }
  const bool has_range_delete = writer->has_range_delete();
  CommitRequest request{.batch = writer->Finish(),
                        .sync = IsSynced(options),
                        .generation = context.generation,
                        .has_range_delete = has_range_delete,
                        .conditions = std::move(conditions),
                        .token = std::move(context.token),
                        .token_stamp = token_stamp,
                        .committed = context.committed,
                        .limits = LimitsOf(options)};
  return parts_.committer->Commit(std::move(request));
}

absl::StatusOr<bool> WriteSteps::MayFree(std::span<const WriteEntry> entries) const {
  if (std::none_of(entries.begin(), entries.end(), IsFreeable)) return false;
  if (!parts_.committer->IsInSection()) return false;
  std::vector<uint32_t> tables;
  for (const WriteEntry& entry : entries) tables.push_back(entry.table_id);
  STELE_RETURN_IF_ERROR(parts_.committer->CheckPauses(std::move(tables)));
  return true;
}

absl::Status WriteSteps::CommitEntries(WriteContext context, std::span<const WriteEntry> entries,
                                       const GcFencePlan& plan, const WriteOptions& options,
                                       std::vector<RowCondition> conditions) const {
  GcFences fences;
  if (!plan.rows.empty()) {
    const GcFenceSource source{.committer = parts_.committer,
                               .reads = parts_.reads,
                               .counts = &parts_.state->event_counts()};
    STELE_ASSIGN_OR_RETURN(fences, MakeGcFences(source, plan));
  }
  STELE_ASSIGN_OR_RETURN(const bool frees, MayFree(entries));
  BatchWriter writer;
  if (frees) writer.Reserve(BatchBytesOf(entries));
  AppendGcFences(plan, fences, &writer);
  for (size_t i = 0; i < entries.size(); ++i) {
    STELE_ASSIGN_OR_RETURN(const MutationSchema schema,
                           SchemaOf(*context.view, entries[i].table_id));
    const absl::Status status =
        AppendMutation(entries[i].row_key(), *entries[i].mutation, schema, context.now, &writer);
    if (!status.ok())
      return entries.size() == 1 ? status
                                 : WithContext(status, fmt::format("mutation {} of the batch", i));
    if (frees && IsFreeable(entries[i])) Access::FreeOps(entries[i].owned);
  }
  if (writer.row_count() == 0 && !context.token.has_value()) return absl::OkStatus();
  context.view.reset();
  for (RowCondition& condition : fences.conditions) conditions.push_back(std::move(condition));
  const absl::Status committed =
      CommitBatch(&writer, std::move(context), options, std::move(conditions));
  return frees ? Final(committed) : committed;
}

}  // namespace stele::internal
