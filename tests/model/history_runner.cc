#include "model/history_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/status.h"
#include "db/engine.h"
#include "db/local_database.h"
#include "io/mem_file_system.h"
#include "model/access.h"
#include "model/history_dump.h"
#include "model/translation.h"

namespace stele::internal {
namespace {

constexpr int64_t kStartMicros = 1'000'000'000;
constexpr size_t kJournalMax = 64;  // acknowledged writes to replay before the reference is copied

std::string CodesDiffer(const absl::Status& status, const std::vector<absl::StatusCode>& codes) {
  if (std::find(codes.begin(), codes.end(), status.code()) != codes.end()) return "";
  return fmt::format("should answer {}, answered {}", absl::StatusCodeToString(codes.front()),
                     status.ToString());
}

std::string Wrong(const absl::Status& status) { return status.ok() ? "" : status.ToString(); }

bool IsWrite(const Term& operation) {
  constexpr std::array<std::string_view, 6> kWrites = {"apply",       "batch",    "create",
                                                       "deletetable", "families", "droprange"};
  return std::find(kWrites.begin(), kWrites.end(), operation.name) != kWrites.end();
}

}  // namespace

RunnerOptions RunnerOptions::FromTerm(const Term& term) {
  RunnerOptions options{.crash_file_system = term.Text(0) == "crash",
                        .memtable_bytes = static_cast<uint64_t>(term.Number(1)),
                        .row_group_bytes = static_cast<uint32_t>(term.Number(2)),
                        .cache_bytes = static_cast<uint64_t>(term.Number(3)),
                        .segment_bytes = static_cast<uint64_t>(term.Number(4)),
                        .threads = static_cast<int>(term.Number(5))};
  if (term.size() > 6) options.tablet_bytes = static_cast<uint64_t>(term.Number(6));
  if (term.size() > 7) options.open_files = static_cast<size_t>(term.Number(7));
  return options;
}

Term RunnerOptions::ToTerm() const {
  return {"engine",
          {crash_file_system ? "crash" : "mem", static_cast<int64_t>(memtable_bytes),
           static_cast<int64_t>(row_group_bytes), static_cast<int64_t>(cache_bytes),
           static_cast<int64_t>(segment_bytes), static_cast<int64_t>(threads),
           static_cast<int64_t>(tablet_bytes), static_cast<int64_t>(open_files)}};
}

HistoryRunner::HistoryRunner(const RunnerOptions& options)
    : options_(options),
      clock_(std::make_shared<ManualClock>(Timestamp::FromMicros(kStartMicros))) {
  if (options.crash_file_system) {
    auto crash = std::make_shared<CrashFileSystem>();
    crash_ = crash.get();
    file_system_ = crash;
  } else {
    file_system_ = std::make_shared<MemFileSystem>();
  }
  reference_.now = kStartMicros;
  base_ = reference_;
}

HistoryRunner::~HistoryRunner() { Forget(); }

// Destroys everything that keeps the database open.
void HistoryRunner::Forget() {
  snapshots_.clear();
  handles_.clear();
  local_.reset();
  database_ = Database();
}

absl::StatusOr<Database> HistoryRunner::Open(const std::string& directory, bool read_only) {
  EngineOptions options;
  options.database.read_only = read_only;
  options.database.clock = clock_;
  options.sizes = {.memtable_bytes = options_.memtable_bytes,
                   .write_memory_bytes = 4 * options_.memtable_bytes,
                   // So that a full memtable pinned by a snapshot is spilled.
                   .pinned_memory_bytes = options_.memtable_bytes / 4,
                   .cache_bytes = options_.cache_bytes,
                   .log_bytes_max = 4 * options_.segment_bytes,
                   .segment_bytes = options_.segment_bytes,
                   .first_segment_bytes = options_.segment_bytes / 2,
                   .row_group_bytes = options_.row_group_bytes,
                   .tablet_bytes_max = options_.tablet_bytes,
                   .load_file_bytes = 8 << 10,
                   .compaction = {.subcompaction_bytes = 4 << 10,
                                  .neighbours_bytes = 64 << 10,
                                  .recompress_bytes = 4 << 10,
                                  .cold_bytes = 1 << 10,
                                  .cold_micros = 60'000'000}};
  observed_.push_back(std::make_unique<ObservedFileSystem>(
      file_system_.get(), [this](CallKind kind, const std::string& path) { Observe(kind, path); },
      options_.open_files));
  options.file_system = observed_.back().get();
  options.background_threads = options_.threads;
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<LocalDatabase> local,
                         OpenDatabase(directory, std::move(options)));
  if (!read_only) local_ = local;
  return Access::Make<Database>(std::move(local));
}

void HistoryRunner::Observe(CallKind kind, const std::string& path) {
  if (kind == CallKind::kRename && path.ends_with(".log"))
    segments_reused_.fetch_add(1, std::memory_order_relaxed);
  if (between_ == nullptr || kind != between_kind_ || !path.ends_with(".sst")) return;
  std::exchange(between_, nullptr)();
}

std::optional<RunFailure> HistoryRunner::Run(const History& history) {
  absl::StatusOr<Database> opened = Open(directory_);
  if (!opened.ok()) return RunFailure{0, opened.status().ToString()};
  database_ = *std::move(opened);
  for (size_t i = 0; i < history.size(); ++i) {
    std::string wrong = Step(history[i]);
    ++coverage_[history[i].name];
    if (Crashed()) {
      ++coverage_["crashes inside a call"];
      wrong = Crash(planned_policy_, planned_seed_);
    }
    if (!wrong.empty()) return RunFailure{i, std::move(wrong)};
  }
  std::string wrong = Crashed() ? "" : CheckAll(database_, reference_);
  CountStats();
  if (!wrong.empty() && !Crashed()) return RunFailure{history.size(), "at the end: " + wrong};
  return std::nullopt;
}

void HistoryRunner::CountStats() {
  if (local_ == nullptr) return;  // a crash happened while the database was closed
  const DatabaseStats stats = database_.Stats();
  const EventCounts& counts = local_->engine()->storage().state.event_counts();
  coverage_["(flushes)"] += stats.since_open.flushes;
  coverage_["(merging compactions)"] += stats.compaction.merging;
  coverage_["(major compactions)"] += stats.compaction.major;
  coverage_["(small_file_compactions)"] += stats.compaction.small_file;
  coverage_["(recompressions)"] += stats.compaction.recompressions;
  coverage_["(moves)"] += stats.compaction.metadata_merges;
  coverage_["(files dropped)"] += stats.compaction.dropped_sstables;
  coverage_["(memtable spills)"] += stats.since_open.memtable_spills;
  coverage_["(tablet splits)"] += stats.tablets.splits;
  coverage_["(tablet merges)"] += stats.tablets.merges;
  coverage_["(freezes)"] += counts.freezes;
  coverage_["(fenced deletes)"] += counts.fenced_deletes;
  coverage_["(conditional retries)"] += counts.condition_refusals;
  coverage_["(latest reads that fell to history)"] += counts.history_reads;
  coverage_["(jobs over a schema change)"] += counts.jobs_over_changes;
  coverage_["(jobs over drops)"] += counts.jobs_over_drops;
  coverage_["(segment reuses)"] += segments_reused_.exchange(0);
}

std::string HistoryRunner::Step(const Term& operation) {
  if (IsWrite(operation)) return RunWrite(operation);
  if (operation.Is("bulk")) return RunBulk(operation);
  if (operation.Is("tok")) return RunUnder(operation);
  if (operation.Is("load")) return RunLoad(operation);
  if (operation.Is("cam") || operation.Is("rmw")) return RunConditional(operation);
  if (operation.Is("between")) return RunBetween(operation);
  if (operation.Is("readrow") || operation.Is("readmany") || operation.Is("exists") ||
      operation.Is("scan"))
    return RunRead(operation);
  return RunMaintenance(operation);
}

// The reference applies the first operation before the second: it takes effect between the read and
// the commit of the second. If the second is a background job, the order makes no visible
// difference.
std::string HistoryRunner::RunBetween(const Term& operation) {
  bool happened = false;
  std::string wrong_between;
  if (options_.threads == 0) {
    // Finish due work first. Otherwise the write could start with that work, whose install reads a
    // new file under the install lock.
    if (std::string wrong = Wrong(database_.WaitForIdle()); !wrong.empty()) return wrong;
    // A drop during a flush waits for that flush, which this same thread would have to finish.
    if (operation[1].Is("droprange")) {
      if (std::string wrong = Step(Term("flush", {operation[1].Text(0)})); !wrong.empty())
        return wrong;
    }
    between_kind_ = operation.Text(0) == "read" ? CallKind::kRead : CallKind::kCreate;
    between_ = [&] {
      happened = true;
      wrong_between = Step(operation[1]);
    };
  }
  std::string wrong = Step(operation[2]);
  between_ = nullptr;
  if (!wrong.empty()) return wrong;
  if (happened) ++coverage_["between others"];
  return happened || Crashed() ? wrong_between : Step(operation[1]);
}

absl::StatusOr<Table> HistoryRunner::Handle(const std::string& name) {
  if (const auto it = handles_.find(name); it != handles_.end()) return it->second;
  STELE_ASSIGN_OR_RETURN(Table table, database_.OpenTable(name));
  handles_[name] = table;
  return table;
}

void HistoryRunner::MarkDurable() {
  durable_count_ = journal_.size();
  if (journal_.size() < kJournalMax) return;
  base_ = reference_;
  journal_.clear();
  durable_count_ = 0;
}

absl::Status HistoryRunner::WriteToEngine(const Term& operation) {
  if (operation.Is("create"))
    return database_.CreateTable(operation.Text(0), ToSchema(operation)).status();
  if (operation.Is("batch")) {
    WriteBatch batch;
    for (size_t i = 1; i < operation.size(); ++i) {
      STELE_ASSIGN_OR_RETURN(const Table table, Handle(operation[i].Text(0)));
      batch.Add(table, ToMutation(operation[i]));
    }
    return database_.Apply(batch, OptionsOf(operation[0]));
  }
  if (operation.Is("deletetable")) return DeleteTable(operation.Text(0));
  STELE_ASSIGN_OR_RETURN(Table table,
                         Handle(operation.Is("apply") ? operation[1].Text(0) : operation.Text(0)));
  if (operation.Is("apply")) return table.Apply(ToMutation(operation[1]), OptionsOf(operation[0]));
  if (operation.Is("families")) return table.ModifyColumnFamilies(ToFamilyChanges(operation));
  return table.DropRowRange(ToRowRange(operation[1]));
}

absl::Status HistoryRunner::DeleteTable(const std::string& name) {
  const absl::StatusOr<Table> handle = Handle(name);
  STELE_RETURN_IF_ERROR(database_.DeleteTable(name));
  handles_.erase(name);
  if (!handle.ok()) return handle.status();
  const absl::Status stale =
      Table(*handle).Apply(RowMutation("r").SetCell("f", "q", Timestamp(), "v"));
  if (!absl::IsNotFound(stale))
    return InvalidArgument("a handle of a deleted table answered {}", stale.ToString());
  return absl::OkStatus();
}

std::string HistoryRunner::RunWrite(const Term& operation) {
  const absl::Status status = WriteToEngine(operation);
  const Term journaled = Journaled(operation);
  if (!status.ok() && Crashed()) {
    unsure_.push_back(journaled);
    return "";
  }
  if (!status.ok()) ++coverage_["refused writes"];
  const bool is_repeat = TokenState(token_, 0) != nullptr;
  std::string wrong = CodesDiffer(status, reference_.Apply(journaled));
  if (!wrong.empty() || !status.ok()) return wrong;
  CountWrite(operation, is_repeat);
  journal_.push_back(journaled);
  const bool durable =
      !(operation.Is("apply") || operation.Is("batch")) || operation.Text(0) == "d";
  // An operation that changes nothing writes nothing, so it does not sync.
  const bool nothing = (operation.Is("batch") && operation.size() == 1) ||
                       (operation.Is("droprange") && ToRowRange(operation[1]).IsEmpty());
  if (durable && !nothing) MarkDurable();
  if (operation.Is("droprange") && !nothing) ++coverage_["(excisions)"];
  return "";
}

Term HistoryRunner::Journaled(const Term& operation, size_t entry) const {
  return token_.empty() ? operation : Term("tok", {token_, static_cast<int64_t>(entry), operation});
}

WriteOptions HistoryRunner::OptionsOf(const Term& durability) const {
  WriteOptions options = ToWriteOptions(durability);
  options.idempotency_token = token_;
  return options;
}

// The table of this handle is deleted, so no client can repeat a write to it.
std::string HistoryRunner::RunUnder(const Term& operation) {
  const Term& write = operation[1];
  if (write.Is("cam") || write.Is("rmw")) {
    if (!reference_.tables.contains(write.Text(1))) return "";
  } else {
    for (size_t i = 1; i < write.size(); ++i) {
      if (!reference_.tables.contains(write[i].Text(0))) return "";
    }
  }
  token_ = operation.Text(0);
  const auto used = reference_.tokens.find(token_);
  const bool is_used = used != reference_.tokens.end() && !used->second.empty();
  if (is_used) ++coverage_["(tokens used again)"];
  if (spoilt_tokens_.contains(token_)) {
    token_ += " anew " + std::to_string(++fresh_tokens_);
  } else if (!is_used) {
    tokens_born_[token_] = {reopenings_, crashes_};
  }
  std::string wrong = Step(write);
  token_.clear();
  return wrong;
}

// Each entry is a separate write; entries are applied in order.
std::string HistoryRunner::RunBulk(const Term& operation) {
  if (operation.size() < 2) return "";
  const absl::StatusOr<Table> table = Handle(operation[1].Text(0));
  if (!table.ok())
    return reference_.tables.contains(operation[1].Text(0)) ? table.status().ToString() : "";
  std::vector<RowMutation> mutations;
  for (size_t i = 1; i < operation.size(); ++i) mutations.push_back(ToMutation(operation[i]));
  const std::vector<FailedMutation> failed =
      Table(*table).BulkApply(mutations, OptionsOf(operation[0]));
  size_t next_failed = 0;
  bool all_applied = true;
  for (size_t i = 1; i < operation.size(); ++i) {
    const bool refused = next_failed < failed.size() && failed[next_failed].index == i - 1;
    const absl::Status status = refused ? failed[next_failed++].status : absl::OkStatus();
    const Term entry = Journaled({"apply", {operation[0], operation[i]}}, i - 1);
    const bool judged = status.ok() || absl::IsInvalidArgument(status) || absl::IsNotFound(status);
    if (Crashed() && !judged) {
      unsure_.push_back(entry);
      continue;
    }
    if (status.ok() && !unsure_.empty()) acked_after_crash_ = true;
    const bool is_repeat = TokenState(token_, static_cast<int64_t>(i - 1)) != nullptr;
    if (std::string wrong = CodesDiffer(status, reference_.Apply(entry)); !wrong.empty())
      return fmt::format("entry {}: {}", i - 1, wrong);
    if (status.ok()) CountWrite(entry, is_repeat);
    if (status.ok()) journal_.push_back(entry);
    all_applied = all_applied && status.ok();
  }
  if (failed.empty()) ++coverage_["write bulk"];
  if (next_failed != failed.size()) return "verdicts out of order, or about no entry";
  if (operation.Text(0) == "d" && all_applied && unsure_.empty()) MarkDurable();
  return "";
}

std::string HistoryRunner::RunLoad(const Term& operation) {
  const absl::StatusOr<Table> table = Handle(operation.Text(0));
  if (!table.ok())
    return reference_.tables.contains(operation.Text(0)) ? table.status().ToString() : "";
  BulkLoad load = Table(*table).NewBulkLoad();
  const std::string* last = nullptr;
  for (size_t i = 1; i < operation.size(); ++i) {
    const absl::Status added = load.Add(ToMutation(operation[i]));
    if (!added.ok() && Crashed()) return "";  // never finished: none of its rows may be visible
    if (std::string wrong = CodesDiffer(added, reference_.JudgeLoaded(operation[i], last));
        !wrong.empty()) {
      return fmt::format("row {}: {}", i - 1, wrong);
    }
    if (added.ok()) last = &operation[i].Text(1);
  }
  const absl::Status finished = load.Finish();
  if (!finished.ok() && Crashed()) {
    unsure_.push_back(operation);
    return "";
  }
  if (!finished.ok()) return "Finish: " + finished.ToString();
  if (last == nullptr) return "";  // changes nothing, so it does not sync
  CountWrite(operation, false);
  reference_.Apply(operation);
  journal_.push_back(operation);
  MarkDurable();
  return "";
}

std::string HistoryRunner::TakeSnapshot(const std::string& name) {
  HeldSnapshot held{.reference = reference_};
  absl::StatusOr<Snapshot> snapshot = database_.GetSnapshot();
  if (!snapshot.ok()) return snapshot.status().ToString();
  held.snapshot = *std::move(snapshot);
  for (const auto& [table, data] : reference_.tables) {
    absl::StatusOr<Table> handle = Handle(table);
    if (!handle.ok()) return handle.status().ToString();
    held.handles[table] = *handle;
  }
  snapshots_.insert_or_assign(name, std::move(held));
  return "";
}

std::string HistoryRunner::Reopen() {
  CountStats();
  ++reopenings_;
  const auto stale = handles_.empty() ? Table() : handles_.begin()->second;
  const absl::Status closed = database_.Close();
  if (!closed.ok()) return "Close: " + closed.ToString();
  if (!absl::IsFailedPrecondition(stale.ReadRow("r").status())) return "a handle reads after Close";
  Forget();
  return "";
}

namespace {

std::string SamplesDiffer(const absl::StatusOr<std::vector<RowKeySample>>& samples) {
  if (!samples.ok()) return samples.status().ToString();
  if (samples->empty() || !samples->back().row_key.empty())
    return "the last sample is not the end of the table";
  for (size_t i = 1; i < samples->size(); ++i) {
    const bool last = i + 1 == samples->size();
    if (!last && (*samples)[i - 1].row_key >= (*samples)[i].row_key) return "samples out of order";
    if ((*samples)[i - 1].offset_bytes > (*samples)[i].offset_bytes) return "offsets out of order";
  }
  return "";
}

}  // namespace

// Before it goes back, the present time becomes a durable mark, so that the reference knows it.
std::string HistoryRunner::MoveClock(const Term& operation) {
  const bool is_back = operation.Number(0) < 0;
  if (is_back) {
    if (const absl::Status status = database_.ConfirmClock(); !status.ok()) return Wrong(status);
    ++coverage_["(steps of the clock back)"];
  }
  clock_->Advance(std::chrono::microseconds(operation.Number(0)));
  reference_.Apply(operation);
  journal_.push_back(operation);
  if (is_back) MarkDurable();
  return "";
}

std::string HistoryRunner::RunMaintenance(const Term& operation) {
  if (operation.Is("clock")) return MoveClock(operation);
  if (operation.Is("sync")) {
    const absl::Status status = database_.Sync();
    if (status.ok()) MarkDurable();
    return Wrong(status);
  }
  if (operation.Is("waitidle")) return Wrong(database_.WaitForIdle());
  if (operation.Is("check")) {
    const absl::StatusOr<VerifyReport> report = database_.Verify();
    if (!report.ok()) return report.status().ToString();
    if (!report->ok())
      return fmt::format("damage in {} at {}: {}", report->damages[0].file,
                         report->damages[0].offset, report->damages[0].what);
    return CheckAll(database_, reference_);
  }
  if (operation.Is("snapshot")) return TakeSnapshot(operation.Text(0));
  if (operation.Is("release")) {
    snapshots_.erase(operation.Text(0));
    return "";
  }
  if (operation.Is("crash"))
    return crash_ == nullptr ? ""
                             : Crash(operation.Text(0), static_cast<uint64_t>(operation.Number(1)));
  if (operation.Is("crashat")) {
    if (crash_ == nullptr) return "";
    planned_policy_ = operation.Text(1);
    planned_seed_ = static_cast<uint64_t>(operation.Number(2));
    crash_->SetCrashAtCall(crash_->calls() + static_cast<uint64_t>(operation.Number(0)));
    return "";
  }
  if (operation.Is("checkpoint"))
    return Checkpoint(operation.Text(0), operation.Text(1) == "adopt");
  if (operation.Is("reopen")) {
    if (std::string wrong = Reopen(); !wrong.empty()) return wrong;
    absl::StatusOr<Database> opened = Open(directory_);
    if (!opened.ok()) return "reopening: " + opened.status().ToString();
    database_ = *std::move(opened);
    return CheckAll(database_, reference_);
  }
  const absl::StatusOr<Table> handle = Handle(operation.Text(0));
  if (!handle.ok())
    return reference_.tables.contains(operation.Text(0)) ? handle.status().ToString() : "";
  Table table = *handle;
  if (operation.Is("flush")) return Wrong(table.Flush());
  if (operation.Is("compact")) return Wrong(table.Compact(ToRowRange(operation[1])));
  if (operation.Is("sample")) return SamplesDiffer(table.SampleRowKeys());
  return "no such operation: " + operation.name;
}

}  // namespace stele::internal
