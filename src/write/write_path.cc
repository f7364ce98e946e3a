#include "write/write_path.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

// Mutations of a BulkApply that share a batch: enough to share the cost of the commit.
constexpr size_t kSharedBatchBytes = size_t{512} << 10;
constexpr size_t kSharedBatchRows = 4096;

// The token of one call, which may commit several batches. Reads the token's row once. The uses of
// other calls are then taken from the watch of the row, so each is seen once.
class CallToken {
 public:
  // Both must outlive it.
  CallToken(const WriteSteps* steps, const WriteOptions* options)
      : steps_(*steps), options_(*options) {}

  // Call before each attempt to commit.
  absl::Status Find() {
    if (is_found_) return FindUsesOfOthers();
    STELE_ASSIGN_OR_RETURN(TokenState found, steps_.FindToken(options_, TokenWatch::kFindsNew));
    AddApplied(found.entries);
    unchanged_ = std::move(found.unchanged);
    is_found_ = true;
    return absl::OkStatus();
  }
  // True if the entry was applied before this call, or by another call.
  bool Covers(uint64_t entry) const { return ContainsEntry(applied_, entry); }
  bool CoversAny() const { return covers_any_; }
  // The condition of the next batch; nullopt: the call has no token.
  std::optional<RowCondition> Condition() const {
    if (!unchanged_.has_value()) return std::nullopt;
    const RowWatches::Watch& row = unchanged_->watch;
    return RowCondition{.watch = steps_.WatchRow(row.table_id(), row.row_key()),
                        .sequence = unchanged_->sequence};
  }
  // `sequence` is that of the call's own commit, which applied `entries` and wrote the token's row.
  void NoteCommit(uint64_t sequence, const std::vector<EntryRange>& entries) {
    if (!unchanged_.has_value()) return;
    unchanged_->sequence = sequence;
    for (const EntryRange& range : entries) AddEntries(range, &applied_);
  }

 private:
  absl::Status FindUsesOfOthers() {
    if (!unchanged_.has_value()) return absl::OkStatus();
    STELE_ASSIGN_OR_RETURN(const std::vector<EntryRange> entries, FindNewEntries(&*unchanged_));
    AddApplied(entries);
    return absl::OkStatus();
  }
  void AddApplied(const std::vector<EntryRange>& entries) {
    for (const EntryRange& range : entries) AddEntries(range, &applied_);
    covers_any_ |= !entries.empty();
  }

  const WriteSteps& steps_;
  const WriteOptions& options_;
  bool is_found_ = false;
  bool covers_any_ = false;                // a call before or beside this one applied an entry
  std::vector<EntryRange> applied_;        // by any call, ascending, with gaps between them
  std::optional<RowCondition> unchanged_;  // TokenState::unchanged
};

// Makes one attempt to commit the entries. Aborted: the caller repeats it. The token records the
// entries under the number `entry`: the index of the only entry in a BulkApply, or 0.
absl::Status AttemptAtomically(const WriteSteps& steps, AttemptMode mode,
                               std::span<const WriteEntry> entries, int64_t now,
                               const WriteOptions& options, uint64_t entry, CallToken* token) {
  if (entries.empty()) return absl::OkStatus();
  bool is_repeat = false;
  STELE_RETURN_IF_ERROR(steps.RunInMode(mode, options, [&]() -> absl::Status {
    STELE_RETURN_IF_ERROR(token->Find());
    is_repeat = token->Covers(entry);
    if (is_repeat) return absl::OkStatus();
    uint64_t sequence = 0;
    WriteContext context = steps.TakeContext(now);
    context.token = token->Condition();
    context.use = {.entries = {{entry, entry + 1}}};
    context.committed = &sequence;
    STELE_ASSIGN_OR_RETURN(const GcFencePlan plan, PlanGcFences(*context.view, entries));
    STELE_ASSIGN_OR_RETURN(const RowLatches::Guard hold,
                           steps.LatchRows(mode, plan.row_keys(), options));
    STELE_RETURN_IF_ERROR(steps.CommitEntries(std::move(context), entries, plan, options, {}));
    token->NoteCommit(sequence, {{entry, entry + 1}});
    return absl::OkStatus();
  }));
  return is_repeat ? steps.SyncIfRequested(options) : absl::OkStatus();
}

absl::Status AdmitAndApply(const WritePath::Parts& parts, std::span<const WriteEntry> entries,
                           int64_t now, const WriteOptions& options, uint64_t entry,
                           CallToken* token) {
  uint64_t bytes = 0;
  for (const WriteEntry& written : entries) bytes += BytesOf(*written.mutation);
  const auto frees_space = [entries] {
    return std::all_of(entries.begin(), entries.end(),
                       [](const WriteEntry& written) { return OnlyDeletes(*written.mutation); });
  };
  const auto attempt = [&](AttemptMode mode) {
    return AttemptAtomically(*parts.steps, mode, entries, now, options, entry, token);
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
        now_(parts.clock->Now()),
        token_(parts.steps, &options) {}

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
    const absl::Status status =
        AdmitAndApply(parts_, std::span(&entry, 1), now_, options_, index, &token_);
    if (!status.ok()) failed_.push_back({.index = index, .status = status});
  }

  // Builds the batch, also again after a refusal. Releases the view, since a writer that waits must
  // not hold one. Returns an error if the token could not be looked up. `members` then has the
  // entries that would have been written.
  absl::Status Make(SharedBatch* batch) {
    *batch = {.begin = batch->begin};
    const absl::Status found = token_.Find();
    batch->context = steps_.TakeContext(now_);
    Encode(batch);
    batch->context.view.reset();
    batch->context.token = token_.Condition();
    batch->context.use = UseOf(batch->members);
    return found;
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
      if (token_.Covers(i)) continue;  // it was applied before
      if (schema.ok() && NeedsGcFence(*view.Find(table_id_), *schema, mutations_[i])) break;
      // A large mutation gets a separate batch: with others it could exceed the limit of a batch.
      if (BytesOf(mutations_[i]) > kSharedBatchBytes) break;
      const absl::Status status =
          schema.ok() ? AppendMutation(mutations_[i], *schema, batch->context.now, &batch->writer)
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
  absl::Status Apply(SharedBatch* batch) {
    const auto frees_space = [&] {
      return std::all_of(batch->members.begin(), batch->members.end(),
                         [&](size_t member) { return OnlyDeletes(mutations_[member]); });
    };
    bool is_made = true;  // for the first attempt
    const auto attempt = [&](AttemptMode mode) -> absl::Status {
      STELE_RETURN_IF_ERROR(AttemptShared(mode, std::exchange(is_made, false), batch));
      const bool is_repeat = batch->members.empty() && token_.CoversAny();
      return is_repeat ? steps_.SyncIfRequested(options_) : absl::OkStatus();
    };
    return parts_.admission->Attempt(batch->writer.bytes(), options_, attempt, frees_space);
  }

  absl::Status AttemptShared(AttemptMode mode, bool is_made, SharedBatch* batch) {
    return steps_.RunInMode(mode, options_, [&]() -> absl::Status {
      if (!is_made) STELE_RETURN_IF_ERROR(Make(batch));
      if (batch->members.empty()) return absl::OkStatus();
      uint64_t sequence = 0;
      batch->context.committed = &sequence;
      const std::vector<EntryRange> entries = batch->context.use.entries;
      STELE_RETURN_IF_ERROR(
          steps_.CommitBatch(&batch->writer, std::move(batch->context), options_, {}));
      token_.NoteCommit(sequence, entries);
      return absl::OkStatus();
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
        if (token_.Covers(i)) failed.push_back({.index = i, .status = status});
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
  CallToken token_;
  std::vector<FailedMutation> failed_;
};

}  // namespace

absl::Status WritePath::ApplyAtomically(std::span<const WriteEntry> entries,
                                        const WriteOptions& options) const {
  CallToken token(parts_.steps, &options);
  return AdmitAndApply(parts_, entries, parts_.clock->Now(), options, 0, &token);
}

std::vector<FailedMutation> WritePath::ApplyBulk(uint32_t table_id,
                                                 std::span<const RowMutation> mutations,
                                                 const WriteOptions& options) const {
  return BulkWriter(parts_, table_id, mutations, options).Run();
}

}  // namespace stele::internal
