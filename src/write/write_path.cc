#include "write/write_path.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

// Mutations of a BulkApply that share a batch: enough to share the cost of the commit.
constexpr size_t kSharedBatchBytes = size_t{512} << 10;
constexpr size_t kSharedBatchRows = 4096;

// One attempt. Aborted: repeat it. `entry` is the index in the call, if it is one of several.
absl::Status TryTogether(const WriteSteps& steps, AttemptMode mode,
                         std::span<const WriteEntry> entries, int64_t now,
                         const WriteOptions& options, uint64_t entry) {
  if (entries.empty()) return absl::OkStatus();
  bool is_repeat = false;
  STELE_RETURN_IF_ERROR(steps.RunPart(mode, [&]() -> absl::Status {
    STELE_ASSIGN_OR_RETURN(TokenState used, steps.FindToken(options));
    is_repeat = used.Covering(entry) != nullptr;
    if (is_repeat) return absl::OkStatus();
    WriteContext context = steps.TakeContext(now);
    context.token = std::move(used.unchanged);
    context.use = {.entries = {{entry, entry + 1}}};
    STELE_ASSIGN_OR_RETURN(const GcFencePlan plan, PlanGcFences(*context.view, entries));
    STELE_ASSIGN_OR_RETURN(const RowLatches::Guard hold,
                           steps.LatchRows(mode, plan.row_keys(), options));
    return steps.CommitEntries(std::move(context), entries, plan, options, {});
  }));
  return is_repeat ? steps.SyncIfRequested(options) : absl::OkStatus();
}

absl::Status ApplyAt(const WritePath::Parts& parts, std::span<const WriteEntry> entries,
                     int64_t now, const WriteOptions& options, uint64_t entry) {
  uint64_t bytes = 0;
  for (const WriteEntry& written : entries) bytes += BytesOf(*written.mutation);
  const auto frees_space = [entries] {
    return std::all_of(entries.begin(), entries.end(),
                       [](const WriteEntry& written) { return OnlyDeletes(*written.mutation); });
  };
  const auto attempt = [&](AttemptMode mode) {
    return TryTogether(*parts.steps, mode, entries, now, options, entry);
  };
  return parts.admission->Attempt(bytes, options, attempt, frees_space);
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

// Some entries of a BulkApply, from `begin` to `end`, which share one batch.
struct SharedBatch {
  size_t begin = 0;
  size_t end = 0;
  TokenState done = {};  // the entries that were applied before; they are left out
  BatchWriter writer = {};
  WriteContext context = {};
  std::vector<size_t> members = {};          // the entries in the batch
  std::vector<FailedMutation> refused = {};  // the invalid entries, which are left out
};

// Applies the mutations of a BulkApply in order, as many as possible in one batch.
class BulkWriter {
 public:
  BulkWriter(const WritePath::Parts& parts, uint32_t table_id,
             std::span<const RowMutation> mutations, const WriteOptions& options)
      : parts_(parts),
        steps_(*parts.steps),
        table_id_(table_id),
        mutations_(mutations),
        options_(options),
        now_(parts.clock->Now()) {}

  std::vector<FailedMutation> Run() {
    for (size_t next = 0; next < mutations_.size();) {
      SharedBatch batch{.begin = next};
      const absl::Status made = Make(&batch);
      if (batch.end == batch.begin) {
        ApplyAlone(next++);
        continue;
      }
      Report(batch, made.ok() ? Apply(&batch) : made);
      next = batch.end;
    }
    return std::move(failed_);
  }

 private:
  // Applies a mutation that needs a fence, or that is large.
  void ApplyAlone(size_t index) {
    const WriteEntry entry{.table_id = table_id_, .mutation = &mutations_[index]};
    const absl::Status status = ApplyAt(parts_, std::span(&entry, 1), now_, options_, index);
    if (!status.ok()) failed_.push_back({.index = index, .status = status});
  }

  // Builds the batch, also again after a refusal. Releases the view, since a writer that waits must
  // not hold one. Returns an error if the token could not be looked up; the members are then the
  // entries that would have been written.
  absl::Status Make(SharedBatch* batch) const {
    *batch = {.begin = batch->begin};
    absl::StatusOr<TokenState> found = steps_.FindToken(options_);
    if (found.ok()) batch->done = *std::move(found);
    batch->context = steps_.TakeContext(now_);
    Encode(batch);
    batch->context.view.reset();
    batch->context.token = std::move(batch->done.unchanged);
    batch->context.use = UseOf(batch->members);
    return found.status();
  }

  // Encodes consecutive mutations. Stops before one that needs a separate batch.
  void Encode(SharedBatch* batch) const {
    const ReadView& view = *batch->context.view;
    const absl::StatusOr<MutationSchema> schema = SchemaOf(view, table_id_);
    batch->writer.Reserve(BatchBytesOf(mutations_.subspan(batch->begin)));
    size_t& i = batch->end;
    for (i = batch->begin; i < mutations_.size(); ++i) {
      if (batch->members.size() >= kSharedBatchRows || batch->writer.bytes() >= kSharedBatchBytes)
        break;
      if (batch->done.Covering(i) != nullptr) continue;
      if (schema.ok() && NeedsGcFence(*view.Find(table_id_), *schema, mutations_[i])) break;
      // A large mutation gets a separate batch: with others it could exceed the limit of a batch.
      if (BytesOf(mutations_[i]) > kSharedBatchBytes) break;
      const absl::Status status =
          schema.ok()
              ? AppendMutation(mutations_[i], *schema, batch->context.now, &batch->writer, {})
              : schema.status();
      if (status.ok()) {
        batch->members.push_back(i);
      } else {
        batch->refused.push_back({.index = i, .status = status});
      }
    }
  }

  // An estimate of the batch's size, so that its memory is allocated at once.
  static size_t BatchBytesOf(std::span<const RowMutation> mutations) {
    constexpr size_t kRowBytes = 32;  // in addition to the mutation
    size_t bytes = 0;
    for (size_t i = 0; i < mutations.size() && i < kSharedBatchRows && bytes < kSharedBatchBytes;
         ++i)
      bytes += BytesOf(mutations[i]) + kRowBytes;
    return std::min(bytes, 2 * kSharedBatchBytes);
  }

  // Commits the batch. After a refusal it is built again, and may then end earlier.
  absl::Status Apply(SharedBatch* batch) const {
    const auto frees_space = [&] {
      return std::all_of(batch->members.begin(), batch->members.end(),
                         [&](size_t member) { return OnlyDeletes(mutations_[member]); });
    };
    bool is_made = true;  // for the first attempt
    const auto attempt = [&](AttemptMode mode) -> absl::Status {
      STELE_RETURN_IF_ERROR(TryShared(mode, std::exchange(is_made, false), batch));
      const bool is_repeat = batch->members.empty() && !batch->done.uses.empty();
      return is_repeat ? steps_.SyncIfRequested(options_) : absl::OkStatus();
    };
    return parts_.admission->Attempt(batch->writer.bytes(), options_, attempt, frees_space);
  }

  absl::Status TryShared(AttemptMode mode, bool is_made, SharedBatch* batch) const {
    return steps_.RunPart(mode, [&]() -> absl::Status {
      if (!is_made) STELE_RETURN_IF_ERROR(Make(batch));
      if (batch->members.empty()) return absl::OkStatus();
      return steps_.CommitBatch(&batch->writer, std::move(batch->context), options_, {});
    });
  }

  // `status` is the result of the batch. A repeated entry is not acknowledged if it could not be
  // made as durable as requested.
  void Report(const SharedBatch& batch, const absl::Status& status) {
    std::vector<FailedMutation> failed = batch.refused;
    if (!status.ok()) {
      for (const size_t member : batch.members)
        failed.push_back({.index = member, .status = status});
      for (size_t i = batch.begin; i < batch.end && steps_.IsSynced(options_); ++i) {
        if (batch.done.Covering(i) != nullptr) failed.push_back({.index = i, .status = status});
      }
    }
    std::sort(failed.begin(), failed.end(),
              [](const FailedMutation& a, const FailedMutation& b) { return a.index < b.index; });
    failed_.insert(failed_.end(), failed.begin(), failed.end());
  }

  const WritePath::Parts& parts_;
  const WriteSteps& steps_;
  const uint32_t table_id_;
  const std::span<const RowMutation> mutations_;
  const WriteOptions& options_;
  const int64_t now_;
  std::vector<FailedMutation> failed_;
};

}  // namespace

absl::Status WritePath::ApplyTogether(std::span<const WriteEntry> entries,
                                      const WriteOptions& options) const {
  return ApplyAt(parts_, entries, parts_.clock->Now(), options, 0);
}

std::vector<FailedMutation> WritePath::ApplyEach(uint32_t table_id,
                                                 std::span<const RowMutation> mutations,
                                                 const WriteOptions& options) const {
  return BulkWriter(parts_, table_id, mutations, options).Run();
}

}  // namespace stele::internal
