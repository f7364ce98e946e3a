#include "db/write_attempt.h"

#include <utility>

#include "base/status.h"
#include "db/engine.h"
#include "model/mutation_ops.h"

namespace stele::internal {
namespace {

constexpr int kOptimisticAttempts = 8;                // afterwards a write runs alone
constexpr int kRetriesMax = 1000;                     // refusals of any kind, those under one token among them
constexpr size_t kBatchBytesMax = size_t{256} << 20;  // engine rule 21

// Before all else in the batch: what one entry writes must not fall to the seal of another that has the same row.
void AppendSeals(const SealPlan& plan, const Seals& seals, BatchWriter* writer) {
  for (const SealPlan::Row& row : plan.rows) {
    const std::span<const BatchOp> ops = seals.OpsOf(row.entry);
    if (ops.empty()) continue;
    writer->StartRow(row.table_id, row.row_key);
    for (const BatchOp& op : ops) writer->Add(op);
  }
}

}  // namespace

bool IsSynced(const Engine& engine, const WriteOptions& options) {
  return options.durability.value_or(engine.options.database.durability) == Durability::kDisk;
}

absl::Status SyncIfAsked(Engine& engine, const WriteOptions& options) {
  if (!IsSynced(engine, options)) return absl::OkStatus();
  return engine.committer->RunExclusive([&engine] {
    const absl::Status status = engine.log->Sync();
    if (!status.ok()) engine.committer->Poison(status);
    return status;
  });
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

absl::Status KeptChanging() { return Aborted("the rows or the schema kept changing under the write; try again"); }

AttemptMode ModeOf(int attempts) { return attempts < kOptimisticAttempts ? AttemptMode::kOptimistic : AttemptMode::kExclusive; }

absl::Status RunPart(Engine& engine, AttemptMode mode, const std::function<absl::Status()>& part) {
  if (mode == AttemptMode::kOptimistic) return part();
  EventCounts::Add(engine.state.event_counts.exclusive_attempts);
  engine.committer->AwaitReleases();
  return engine.committer->RunExclusive(part);
}

std::optional<RowLatches::Hold> HoldRows(Engine& engine, AttemptMode mode, const std::vector<std::string_view>& row_keys) {
  if (mode == AttemptMode::kExclusive) return std::nullopt;
  return std::make_optional<RowLatches::Hold>(&engine.latches, row_keys);
}

bool MayAttemptAgain(int attempts) { return attempts < kRetriesMax; }

absl::Status CheckAwaited(const WriteOptions& options) {
  if (options.stop.stop_requested()) return Cancelled("the write was stopped by its stop token before it was committed");
  if (options.deadline.has_value() && std::chrono::steady_clock::now() >= *options.deadline) {
    return DeadlineExceeded("the write was not committed before its deadline");
  }
  return absl::OkStatus();
}

ReadOptions ReadOptionsOf(const WriteOptions& options) { return {.stop = options.stop, .deadline = options.deadline}; }

absl::Status AttemptWrite(Engine& engine, uint64_t bytes, const WriteOptions& options, const Attempt& attempt,
                          const std::function<bool()>& frees_space) {
  STELE_RETURN_IF_ERROR(engine.CheckWritable(frees_space));
  const LargeWrites::Hold hold(&engine.large_writes, bytes);
  if (hold.is_alone()) STELE_RETURN_IF_ERROR(engine.DrainMemtables());
  STELE_RETURN_IF_ERROR(engine.AwaitTurn(bytes, options, frees_space));
  for (int attempts = 0; MayAttemptAgain(attempts); ++attempts) {
    STELE_RETURN_IF_ERROR(CheckAwaited(options));
    const absl::Status status = attempt(ModeOf(attempts));
    if (MadeRoomFor(engine, status, frees_space)) continue;
    if (status.code() != absl::StatusCode::kAborted) return status;
  }
  return KeptChanging();
}

bool MadeRoomFor(Engine& engine, const absl::Status& refused, const std::function<bool()>& frees_space) {
  return absl::IsResourceExhausted(refused) && frees_space && frees_space() && engine.SpaceIsScarce() && engine.MakeRoom();
}

bool OnlyDeletes(const RowMutation& mutation) {
  MutationOpReader reader(mutation.encoded_ops());
  MutationOp op;
  while (reader.Next(&op)) {
    if (op.kind < MutationOp::Kind::kDeleteFromColumn) return false;
  }
  return mutation.count() > 0;
}

absl::Status CommitBatch(Engine& engine, BatchWriter* writer, const WriteContext& context, const WriteOptions& options,
                         std::vector<RowCondition> conditions) {
  const size_t token_stamp = context.token.has_value() ? AppendTokenUse(*context.token, context.use, writer) : 0;
  if (writer->bytes() > kBatchBytesMax) {
    return InvalidArgument("a batch of {} bytes is over the limit of {}; divide it", writer->bytes(), kBatchBytesMax);
  }
  const bool has_ranged_delete = writer->has_ranged_delete();
  CommitRequest request{.batch = writer->Finish(),
                        .sync = IsSynced(engine, options),
                        .generation = context.generation,
                        .has_ranged_delete = has_ranged_delete,
                        .conditions = std::move(conditions),
                        .token = context.token,
                        .token_stamp = token_stamp};
  return engine.committer->Commit(std::move(request));
}

absl::Status CommitEntries(Engine& engine, WriteContext context, std::span<const WriteEntry> entries, const SealPlan& plan,
                           const WriteOptions& options, std::vector<RowCondition> conditions) {
  Seals seals;
  if (!plan.rows.empty()) {
    STELE_ASSIGN_OR_RETURN(seals, MakeSeals(engine, plan));
  }
  BatchWriter writer;
  AppendSeals(plan, seals, &writer);
  for (size_t i = 0; i < entries.size(); ++i) {
    STELE_ASSIGN_OR_RETURN(const MutationSchema schema, SchemaOf(*context.view, entries[i].table_id));
    const absl::Status status = AppendMutation(entries[i].row_key(), *entries[i].mutation, schema, context.now, &writer, {});
    if (!status.ok()) return entries.size() == 1 ? status : WithContext(status, fmt::format("mutation {} of the batch", i));
  }
  if (writer.row_count() == 0 && !context.token.has_value()) return absl::OkStatus();
  context.view.reset();
  for (RowCondition& condition : seals.conditions) conditions.push_back(std::move(condition));
  return CommitBatch(engine, &writer, context, options, std::move(conditions));
}

}  // namespace stele::internal
