// Tests every sequence of a few operations on a small database, with a crash after each sync and at
// each operation's end. The reopened database has the state after some prefix of its writes with
// all durable writes, as in crash_points_test.cc. Operations that change no data leave the data
// unchanged. A snapshot always shows the same state.
//
// Environment:
//   STELE_SEQUENCE_LENGTH  maximum length of a sequence (default 2; 3 takes minutes)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/status.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_crash_check.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

struct Operation {
  std::string_view name;
  bool changes = false;  // the data or the schema
  bool durable = false;  // once acknowledged, with all earlier operations
};
constexpr std::array<Operation, 11> kOperations = {{{"put", true},
                                                    {"put-durable", true, true},
                                                    {"delete-row", true},
                                                    {"drop-range", true, true},
                                                    {"add-family", true, true},
                                                    {"drop-family", true, true},
                                                    {"flush"},
                                                    {"compact"},
                                                    {"snapshot"},
                                                    {"checkpoint"},
                                                    {"reopen"}}};
constexpr char kSequenceCopy[] = "/copy";
constexpr Timestamp kStamp = Timestamp::FromMicros(1000);
const WriteOptions kOnDisk{.durability = Durability::kDisk};
const WriteOptions kInMemory{.durability = Durability::kProcess};

// Runs one sequence. Takes a crash image after each sync, and checks it after the operation, when
// the state after the operation is known.
class ShortRun {
 public:
  // Returns "" or the first violation.
  std::string Run(const std::vector<size_t>& sequence);
  uint64_t images() const { return images_; }
  uint64_t copies_opened() const { return copies_opened_; }

 private:
  struct Image {
    std::unique_ptr<CrashFileSystem> files;
    bool killed = false;
  };

  absl::Status Prepare();
  absl::Status Perform(size_t index, std::string_view name);
  std::string CheckStep(const Operation& operation, const absl::Status& status);
  std::string JudgeImages(size_t most);
  void TakeImages();

  CrashFileSystem files_;
  ObservedFileSystem observed_{&files_, [this](CallKind kind, const std::string&) {
                                 if (kind == CallKind::kSync || kind == CallKind::kSyncDirectory)
                                   TakeImages();
                               }};
  std::vector<std::string> states_;
  size_t durable_ = 0;
  CheckpointProgress checkpoints_;
  bool watching_ = false;
  std::vector<Image> pending_;
  uint64_t images_ = 0;
  uint64_t copies_opened_ = 0;
  WorkloadDatabase database_{&observed_};  // declared after the objects that its last sync uses
  Snapshot snapshot_;
  std::string snapshot_rows_;
};

void ShortRun::TakeImages() {
  if (!watching_) return;
  const uint64_t seed = files_.calls();
  pending_.push_back({files_.Crash(CrashPolicy::KilledProcess(), seed), true});
  pending_.push_back({files_.Crash(CrashPolicy::DropUnsynced(), seed)});
  pending_.push_back({files_.Crash(CrashPolicy::PowerLoss(), seed)});
}

// Makes a file, commits that are durable only in the log, and commits that are not durable.
absl::Status ShortRun::Prepare() {
  STELE_RETURN_IF_ERROR(database_.Open());
  STELE_ASSIGN_OR_RETURN(
      Table table,
      database_.database().CreateTable(
          "t", Schema().AddFamily("f", GcRule::MaxNumVersions(1)).AddFamily("g").AddFamily("h")));
  for (const char* row : {"a", "b", "c"}) {
    STELE_RETURN_IF_ERROR(table.Apply(
        RowMutation(row).SetCell("f", "q", kStamp, "file").SetCell("h", "q", kStamp, "file"),
        kInMemory));
  }
  STELE_RETURN_IF_ERROR(table.Flush());
  STELE_RETURN_IF_ERROR(
      table.Apply(RowMutation("b").SetCell("f", "q", Timestamp::FromMicros(2000), "log"), kOnDisk));
  STELE_ASSIGN_OR_RETURN(states_.emplace_back(), DumpDatabase(database_.database()));
  STELE_RETURN_IF_ERROR(
      table.Apply(RowMutation("d").SetCell("g", "q", kStamp, "memory"), kInMemory));
  STELE_ASSIGN_OR_RETURN(states_.emplace_back(), DumpDatabase(database_.database()));
  return absl::OkStatus();
}

absl::Status ShortRun::Perform(size_t index, std::string_view name) {
  STELE_ASSIGN_OR_RETURN(Table table, database_.database().OpenTable("t"));
  if (name == "put" || name == "put-durable") {
    const auto mutation = RowMutation("b").SetCell(
        "f", "q", Timestamp::FromMicros(3000 + 1000 * static_cast<int64_t>(index)), name);
    return table.Apply(mutation, name == "put" ? kInMemory : kOnDisk);
  }
  if (name == "delete-row")
    return table.Apply(
        RowMutation("a").DeleteFromRow().SetCell("f", "deleted", fmt::format("{}", index)),
        kInMemory);
  if (name == "drop-range") return table.DropRowRange(RowRange::Closed("b", "c"));
  if (name == "add-family")
    return table.ModifyColumnFamilies({FamilyChange::Create({.name = fmt::format("x{}", index)})});
  if (name == "drop-family") return table.ModifyColumnFamilies({FamilyChange::Drop("h")});
  if (name == "flush") return table.Flush();
  if (name == "compact") return table.Compact();
  if (name == "checkpoint") return database_.database().Checkpoint(kSequenceCopy);
  if (name == "snapshot") {
    STELE_ASSIGN_OR_RETURN(snapshot_, database_.database().GetSnapshot());
    STELE_ASSIGN_OR_RETURN(snapshot_rows_, DumpTable(table, {.snapshot = snapshot_}));
    return absl::OkStatus();
  }
  snapshot_ = Snapshot();
  snapshot_rows_.clear();
  table = Table();
  return database_.Run({.kind = WorkloadStep::Kind::kReopen});
}

// Checks the state after the step, and the data that must not change.
std::string ShortRun::CheckStep(const Operation& operation, const absl::Status& status) {
  const absl::StatusOr<std::string> state = DumpDatabase(database_.database());
  if (!state.ok()) return "reading: " + state.status().ToString();
  if (!status.ok() && !(absl::IsNotFound(status) && operation.name == "drop-family"))
    return status.ToString();
  if (status.ok() && operation.changes) {
    states_.push_back(*state);
  } else if (*state != states_.back()) {
    return fmt::format("the data changed from\n{}to\n{}", states_.back(), *state);
  }
  if (status.ok() && operation.durable) durable_ = states_.size() - 1;
  if (snapshot_.time().micros() == 0) return "";
  absl::StatusOr<Table> table = database_.database().OpenTable("t");
  if (!table.ok()) return table.status().ToString();
  const std::string rows = DumpTable(*table, {.snapshot = snapshot_}).value_or("unreadable");
  return rows == snapshot_rows_
             ? ""
             : fmt::format("a snapshot shows\n{}instead of\n{}", rows, snapshot_rows_);
}

std::string ShortRun::JudgeImages(size_t most) {
  const size_t acked_before = most;
  for (Image& image : pending_) {
    const bool go_on = ++images_ % 5 == 0;
    std::string wrong = CheckCheckpoints(image.files.get(), states_, checkpoints_, &copies_opened_);
    const AllowedStates allowed{.states = states_,
                                .least = image.killed ? acked_before : durable_,
                                .most = states_.size() - 1};
    if (wrong.empty()) wrong = CheckReopened(image.files.get(), allowed, go_on);
    if (!wrong.empty()) return wrong;
  }
  pending_.clear();
  return "";
}

std::string ShortRun::Run(const std::vector<size_t>& sequence) {
  if (const absl::Status prepared = Prepare(); !prepared.ok())
    return "preparing: " + prepared.ToString();
  watching_ = true;
  for (size_t index = 0; index < sequence.size(); ++index) {
    const Operation& operation = kOperations[sequence[index]];
    const size_t acked = states_.size() - 1;
    const size_t durable = durable_;
    const bool copies = operation.name == "checkpoint";
    if (copies) {
      checkpoints_.copies[kSequenceCopy].push_back(acked);
      checkpoints_.under_way = kSequenceCopy;
    }
    const absl::Status status = Perform(index, operation.name);
    watching_ = false;
    std::string wrong = CheckStep(operation, status);
    // A sync during the operation was not acknowledged yet.
    const size_t durable_after = std::exchange(durable_, durable);
    if (wrong.empty()) wrong = JudgeImages(acked);
    durable_ = durable_after;
    if (copies) checkpoints_ = {.copies = {{kSequenceCopy, {acked}}}};
    watching_ = true;
    TakeImages();
    if (wrong.empty()) wrong = JudgeImages(states_.size() - 1);
    if (!wrong.empty()) return fmt::format("operation {}, {}: {}", index, operation.name, wrong);
  }
  return "";
}

std::string ToText(const std::vector<size_t>& sequence) {
  std::string text;
  for (const size_t operation : sequence) text += fmt::format("{} ", kOperations[operation].name);
  return text;
}

// Moves to the next sequence of the same length. Returns false after the last one.
bool Advance(std::vector<size_t>* sequence) {
  for (size_t& operation : *sequence) {
    if (++operation < kOperations.size()) return true;
    operation = 0;
  }
  return false;
}

constexpr uint64_t kSequenceStride = kReduced ? 3 : 1;  // of the longest sequences

TEST(ShortSequencesTest, ACrashAfterEachSyncOfEverySequence) {
  const char* const text = std::getenv("STELE_SEQUENCE_LENGTH");
  const size_t length_max = text == nullptr ? 2 : std::strtoull(text, nullptr, 10);
  const auto start = std::chrono::steady_clock::now();
  uint64_t sequences = 0;
  uint64_t images = 0;
  uint64_t copies = 0;
  for (size_t length = 1; length <= length_max && !HasFailure(); ++length) {
    std::vector<size_t> sequence(length);
    uint64_t index = 0;
    do {
      if (length == length_max && index++ % kSequenceStride != 0) continue;
      ShortRun run;
      const std::string wrong = run.Run(sequence);
      if (!wrong.empty()) ADD_FAILURE() << ToText(sequence) << "\n" << wrong;
      ++sequences;
      images += run.images();
      copies += run.copies_opened();
    } while (Advance(&sequence) && !HasFailure());
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << fmt::format(
      "{} sequences of up to {} operations, {} crash images, {} checkpoints opened; {:.1f} s\n",
      sequences, length_max, images, copies, seconds);
  EXPECT_GT(images, sequences * 6);
  EXPECT_GT(copies, 0u);
}

}  // namespace
}  // namespace stele::internal
