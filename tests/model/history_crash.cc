// HistoryRunner: crashes and checkpoints.
#include <fmt/format.h>

#include <utility>

#include "base/status.h"
#include "model/history_dump.h"
#include "model/history_runner.h"
#include "model/translation.h"

namespace stele::internal {
namespace {

CrashPolicy PolicyOf(const std::string& word, uint64_t seed) {
  if (word == "kill") return CrashPolicy::KilledProcess();
  if (word == "drop") return CrashPolicy::DropUnsynced();
  if (word == "keep") return CrashPolicy::KeepAll();
  if (word == "loss") return CrashPolicy::PowerLoss();
  return CrashPolicy::Random(seed);
}

using RowSetOfTables = std::set<std::pair<std::string, std::string>>;

// Adds the rows that differ between the two, including cells that reads do not show.
void AddDifferences(const ReferenceStore& a, const ReferenceStore& b, RowSetOfTables* rows) {
  for (const auto& [name, table] : a.tables) {
    const auto other = b.tables.find(name);
    if (other == b.tables.end()) continue;
    for (const auto& [row_key, row] : table.rows) {
      const auto it = other->second.rows.find(row_key);
      if (it == other->second.rows.end() || it->second != row) rows->insert({name, row_key});
    }
  }
}

// Adds the tokens that only one of the two has, or that have different entries.
void AddTokenDifferences(const ReferenceStore& a, const ReferenceStore& b,
                         std::set<std::string>* tokens) {
  for (const ReferenceStore* store : {&a, &b}) {
    const ReferenceStore& other = store == &a ? b : a;
    for (const auto& [name, token] : store->tokens) {
      const auto it = other.tokens.find(name);
      if (it == other.tokens.end() ? !token.empty() : it->second != token) tokens->insert(name);
    }
  }
}

}  // namespace

// Copies the file system before it destroys any object of the old database, because a destructor
// may write.
std::string HistoryRunner::Crash(const std::string& policy_word, uint64_t seed) {
  if (acked_after_crash_) return "an entry of a bulk was acked after one that met the crash";
  const CrashPolicy policy = PolicyOf(policy_word, seed);
  const bool killed = policy.keep == CrashPolicy::Keep::kPageCache;
  CountStats();
  ++crashes_;
  std::shared_ptr<CrashFileSystem> image = crash_->Crash(policy, seed);
  Forget();
  if (seed % 3 == 0) {
    // Recovery crashes too.
    ++coverage_["(crashes inside recovery)"];
    crash_ = image.get();
    file_system_ = image;
    image->SetCrashAtCall(1 + seed / 3 % 40);
    Open(directory_).status().IgnoreError();
    local_.reset();
    image = image->Crash(policy, seed + 1);
  }
  crash_ = image.get();
  file_system_ = std::move(image);
  absl::StatusOr<Database> opened = Open(directory_);
  if (!opened.ok()) return "opening after a crash: " + opened.status().ToString();
  database_ = *std::move(opened);
  const absl::StatusOr<Dump> dump = ReadAll(database_);
  if (!dump.ok()) return "reading everything after a crash: " + dump.status().ToString();
  const size_t least = killed ? journal_.size() : durable_count_;
  return FindPrefix(*dump, least);
}

std::string HistoryRunner::FindPrefix(const Dump& dump, size_t least) {
  journal_.insert(journal_.end(), unsure_.begin(), unsure_.end());
  unsure_.clear();
  ReferenceStore state = base_;
  for (size_t i = 0; i < least; ++i) state.Apply(journal_[i]);
  std::optional<ReferenceStore> match;
  RowSetOfTables unseen;
  std::string wrong;
  for (size_t i = least;; ++i) {
    const std::string difference = Differs(state, dump);
    if (difference.empty()) {
      if (match) AddTokenDifferences(*match, state, &spoilt_tokens_);
      if (match) AddDifferences(*match, state, &unseen);
      if (match) AddDifferences(state, *match, &unseen);
      match = state;
    } else if (i == least || i == journal_.size()) {
      wrong +=
          fmt::format("against the first {} of {} writes: {}\n", i, journal_.size(), difference);
    }
    if (i == journal_.size()) break;
    state.Apply(journal_[i]);
  }
  if (!match)
    return fmt::format(
        "after a crash: no prefix of the writes since the last synced one gives this state\n{}",
        wrong);
  reference_ = *std::move(match);
  reference_.now = clock_->Now().micros();
  base_ = reference_;
  journal_.clear();
  durable_count_ = 0;
  return DeleteUnsure(unseen);
}

std::string HistoryRunner::DeleteUnsure(const RowSetOfTables& rows) {
  for (const auto& [table, row_key] : rows) {
    if (std::string wrong = RunWrite(Term("apply", {"p", Term("row", {table, row_key, "delrow"})}));
        !wrong.empty())
      return wrong;
  }
  return "";
}

std::string HistoryRunner::Checkpoint(const std::string& name, bool adopt) {
  const std::string directory = "/" + name;
  if (directory == directory_ || spoilt_copies_.contains(name)) return "";
  absl::Status status = database_.Checkpoint(directory);
  // The owner must remove an incomplete copy; opening it fails.
  if (Crashed()) spoilt_copies_.insert(name);
  if (!status.ok()) return "Checkpoint: " + status.ToString();
  {
    absl::StatusOr<Database> copy = Open(directory, /*read_only=*/true);
    if (!copy.ok()) return "opening a checkpoint: " + copy.status().ToString();
    if (std::string wrong = CheckAll(*copy, reference_); !wrong.empty())
      return "in a checkpoint: " + wrong;
    if (status = copy->Close(); !status.ok()) return "closing a checkpoint: " + status.ToString();
  }
  if (!adopt) return "";
  if (std::string wrong = Reopen(); !wrong.empty()) return wrong;
  directory_ = directory;
  MarkDurable();
  absl::StatusOr<Database> opened = Open(directory_);
  if (!opened.ok()) return "opening a checkpoint to go on: " + opened.status().ToString();
  database_ = *std::move(opened);
  return "";
}

}  // namespace stele::internal
