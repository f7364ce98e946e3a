// Campaign of deletes on a full disk. A database is filled until it refuses writes. Then rows,
// families, columns and versions are deleted in random order until deletes are refused, too, or
// little is left. Meanwhile the process is killed, also while it opens, and the database is closed.
// Sometimes another process takes the last bytes and those of the reserve before it opens again.
// It always opens for writing and has what was acknowledged. Then DropRowRange, DeleteTable or the
// drop of a family works, and when the disk has room again, all writes work.
//
// Environment:
//   STELE_FULL_DISK_SEEDS  number of runs for each budget (default 4; 1 with sanitizers)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "db/engine.h"
#include "model/access.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

uint64_t FullDiskSeedCount() {
  const char* text = std::getenv("STELE_FULL_DISK_SEEDS");
  if (text != nullptr) return std::strtoull(text, nullptr, 10);
  return kReduced ? 1 : 4;
}

// The cells of all tables, as a read returns them. The key "table/row/family/qualifier/micros" is
// in the order of neither; the value is a hash.
class ExpectedCells {
 public:
  void Set(const std::string& key, std::string_view value) {
    cells_[key] = std::hash<std::string_view>()(value);
  }
  void Erase(const std::string& key) { cells_.erase(key); }
  void EraseAllWith(const std::string& prefix) {
    auto begin = cells_.lower_bound(prefix);
    auto end = begin;
    while (end != cells_.end() && end->first.starts_with(prefix)) ++end;
    cells_.erase(begin, end);
  }
  void EraseFamily(const std::string& table, char family) {
    const std::string part = fmt::format("/{}/", family);
    std::erase_if(cells_, [&](const auto& cell) {
      return cell.first.starts_with(table + "/") && cell.first.find(part) != std::string::npos;
    });
  }
  size_t size() const { return cells_.size(); }

  // Returns "" or the first difference.
  std::string DifferenceFrom(const ExpectedCells& expected) const {
    for (const auto& [key, hash] : expected.cells_) {
      const auto found = cells_.find(key);
      if (found == cells_.end()) return key + " is lost";
      if (found->second != hash) return key + " has a wrong value";
    }
    for (const auto& [key, hash] : cells_) {
      if (!expected.cells_.contains(key)) return key + " was deleted and is there";
    }
    return "";
  }

 private:
  std::map<std::string, uint64_t> cells_;
};

absl::StatusOr<ExpectedCells> Read(const Database& database) {
  ExpectedCells contents;
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, database.ListTables());
  for (const std::string& name : names) {
    STELE_ASSIGN_OR_RETURN(const Table table, database.OpenTable(name));
    RowReader reader = table.ReadRows(RowSet::All());
    for (const RowView& row : reader) {
      for (const CellView& cell : row.cells()) {
        contents.Set(fmt::format("{}/{}/{}/{}/{}", name, row.row_key(), cell.family(),
                                 cell.qualifier(), cell.timestamp().micros()),
                     cell.value());
      }
    }
    STELE_RETURN_IF_ERROR(reader.status());
  }
  return contents;
}

// A run with one seed. Its functions return "" or the first violation.
class FullDiskRun {
 public:
  FullDiskRun(uint64_t budget_bytes, uint64_t seed)
      : random_(seed),
        budget_bytes_(budget_bytes),
        disk_bytes_(budget_bytes + 6 * kMiB),
        // Without threads a run is the same each time.
        background_threads_(seed % 3 == 1 ? 2 : 0),
        key_bytes_(seed % 3 == 0 ? 1500 : 8),
        value_bytes_(random_.OneIn(2) ? 300 : 4000) {
    files_->SetCapacity(disk_bytes_);
  }
  ~FullDiskRun() { Drop(); }

  std::string Run() {
    std::string wrong = Create();
    if (wrong.empty()) wrong = Fill();
    while (wrong.empty() && !IsDone()) wrong = Step();
    if (wrong.empty()) wrong = Check("after the deletes");
    if (wrong.empty()) wrong = FreeSpace();
    if (wrong.empty()) wrong = Heal();
    return wrong;
  }
  int deletes() const { return deletes_; }
  int kills() const { return kills_; }
  int openings_without_space() const { return openings_without_space_; }
  bool was_refused() const { return refusals_ > 0; }

 private:
  static constexpr int kRefusalsMax = 30;
  static constexpr int kDeletesMax = kNightly ? 20'000 : kReduced ? 1'000 : 3'000;
  bool IsDone() const {
    return refusals_ >= kRefusalsMax || deletes_ >= std::min(2 * rows_, kDeletesMax);
  }

  absl::Status Open() {
    EngineOptions options = SmallEngineOptions(files_.get());
    options.sizes = SizesFor(budget_bytes_);
    options.background_threads = background_threads_;
    STELE_ASSIGN_OR_RETURN(local_, OpenDatabase("/db", std::move(options)));
    database_ = Access::Make<Database>(local_);
    return absl::OkStatus();
  }
  void Drop() {
    database_ = Database();
    local_.reset();
  }
  Table Find(const std::string& name) const { return database_.OpenTable(name).value_or(Table()); }
  std::string SomeTable() { return random_.OneIn(4) ? "u" : "t"; }
  std::string RowKey(uint64_t row) const {
    return fmt::format("{:07}{}", row, std::string(key_bytes_ - 7, 'k'));
  }
  std::string SomeRow() { return RowKey(random_.Below(static_cast<uint64_t>(rows_) + 10)); }

  std::string Create() {
    if (const absl::Status opened = Open(); !opened.ok()) return opened.ToString();
    for (const char* name : {"t", "u"}) {
      const absl::StatusOr<Table> table =
          database_.CreateTable(name, Schema().AddFamily("f").AddFamily("g"));
      if (!table.ok()) return table.status().ToString();
    }
    return Settle().ToString() == "OK" ? "" : "a new database does not come to rest";
  }

  std::string Fill() {
    absl::Status filled;
    while (filled.ok()) filled = Set(SomeTable(), RowKey(static_cast<uint64_t>(rows_++)));
    return IsFull(filled) ? "" : "filling: " + filled.ToString();
  }
  absl::Status Set(const std::string& table, const std::string& row) {
    RowMutation mutation(row);
    std::vector<std::pair<std::string, std::string>> cells;
    for (const char family : {'f', 'g'}) {
      for (int64_t millis = 1; millis <= 2; ++millis) {
        std::string value(1 + random_.Below(value_bytes_), '\0');
        for (char& c : value) c = static_cast<char>(random_.Next());
        mutation.SetCell(std::string(1, family), "q", Timestamp::FromMillis(millis), value);
        cells.emplace_back(fmt::format("{}/{}/{}/q/{}", table, row, family, millis * 1000), value);
      }
    }
    const absl::Status set = Find(table).Apply(mutation);
    if (!set.ok()) return set;
    for (const auto& [key, value] : cells) expected_.Set(key, value);
    return set;
  }

  // A mutation that only deletes, and its effect on the expected contents.
  struct Delete {
    RowMutation mutation;
    std::function<void()> apply;
  };
  Delete MakeDelete(const std::string& table, const std::string& row) {
    const std::string prefix = fmt::format("{}/{}/", table, row);
    const std::string family(1, random_.OneIn(2) ? 'f' : 'g');
    const std::string column = fmt::format("{}{}/q/", prefix, family);
    switch (random_.Below(6)) {
      case 0:
        return {RowMutation(row).DeleteFromFamily(family),
                [=, this] { expected_.EraseAllWith(prefix + family + "/"); }};
      case 1:
        return {RowMutation(row).DeleteFromColumn(family, "q"),
                [=, this] { expected_.EraseAllWith(column); }};
      case 2:
        return {RowMutation(row).DeleteFromColumn(
                    family, "q", {Timestamp::FromMillis(1), Timestamp::FromMillis(2)}),
                [=, this] { expected_.Erase(column + "1000"); }};
      default:
        return {RowMutation(row).DeleteFromRow(), [=, this] { expected_.EraseAllWith(prefix); }};
    }
  }

  std::string Step() {
    switch (random_.Below(60)) {
      case 0:
        return Reopen();
      case 1:
      case 2:
        return Batch();
      case 3:
      case 4:
        return Bulk();
      case 5:
      case 6:
        return Conditional();
      case 7:
        return Ordinary();
      case 8:
        return random_.OneIn(3) ? ChangeRule() : Work();
      default:
        return Single();
    }
  }

  // Counts the outcome of a write. A write is refused only because the disk is full.
  std::string Note(const absl::Status& status, std::string_view what) {
    ++deletes_;
    if (status.ok()) return "";
    ++refusals_;
    return IsFull(status) ? "" : fmt::format("{}: {}", what, status.ToString());
  }
  static bool IsFull(const absl::Status& status) { return absl::IsResourceExhausted(status); }
  WriteOptions SomeOptions() {
    WriteOptions options;
    if (random_.OneIn(3)) options.durability = Durability::kDisk;
    if (random_.OneIn(4)) options.idempotency_token = fmt::format("full-disk token {}", ++tokens_);
    return options;
  }

  std::string Single() {
    const std::string table = SomeTable();
    const Delete one = MakeDelete(table, SomeRow());
    const absl::Status status = Find(table).Apply(one.mutation);
    if (status.ok()) one.apply();
    return Note(status, "a delete");
  }
  std::string Batch() {
    WriteBatch batch;
    std::vector<Delete> deletes;
    for (const char* table : {"t", "u", "t"}) {
      deletes.push_back(MakeDelete(table, SomeRow()));
      batch.Add(Find(table), deletes.back().mutation);
    }
    const absl::Status status = database_.Apply(batch, SomeOptions());
    for (const Delete& one : deletes) {
      if (status.ok()) one.apply();
    }
    return Note(status, "a batch");
  }
  std::string Bulk() {
    const std::string table = SomeTable();
    std::vector<Delete> deletes;
    std::vector<RowMutation> mutations;
    for (int i = 0; i < 8; ++i) {
      deletes.push_back(MakeDelete(table, SomeRow()));
      mutations.push_back(deletes.back().mutation);
    }
    std::vector<FailedMutation> failed = Find(table).BulkApply(mutations, SomeOptions());
    auto next = failed.begin();
    for (size_t i = 0; i < deletes.size(); ++i) {
      if (next != failed.end() && next->index == i) {
        ++next;
      } else {
        deletes[i].apply();
      }
    }
    return Note(failed.empty() ? absl::OkStatus() : failed.front().status, "BulkApply");
  }
  std::string Conditional() {
    const std::string table = SomeTable();
    const std::string row = SomeRow();
    const Delete one = MakeDelete(table, row);
    const absl::StatusOr<MutationBranch> branch = Find(table).CheckAndMutateRow(
        row, Filter::PassAll(), one.mutation, RowMutation(), SomeOptions());
    if (branch.ok()) one.apply();  // the other branch is for rows without cells
    return Note(branch.status(), "a conditional delete");
  }
  // A write that frees nothing is allowed while the disk has room, and refused otherwise.
  std::string Ordinary() {
    const absl::Status status = Set("u", SomeRow());
    return status.ok() || IsFull(status) ? "" : "an ordinary write: " + status.ToString();
  }
  std::string ChangeRule() {
    const absl::Status status = Find("t").ModifyColumnFamilies({FamilyChange::Update(
        "g", GcRule::MaxNumVersions(static_cast<int>(9 + random_.Below(9))))});
    return Note(status, "a new rule");
  }
  std::string Work() {
    // With threads, a wait ends only when the retry of a failed job is due.
    const bool flushes = background_threads_ > 0 || random_.OneIn(2);
    const absl::Status status = flushes ? Find("t").Flush() : Settle();
    return status.ok() || IsFull(status) ? "" : "background work: " + status.ToString();
  }
  absl::Status Settle() {
    absl::Status idle = database_.WaitForIdle();
    for (int attempt = 0; attempt < 8 && !idle.ok(); ++attempt) idle = database_.WaitForIdle();
    return idle;
  }

  // Ends the process or closes the database, and opens it again.
  std::string Reopen() {
    if (random_.OneIn(4)) {
      const absl::Status closed = database_.Close();
      if (!closed.ok()) return "closing: " + closed.ToString();
      Drop();
    } else {
      Kill();
    }
    // Killed in the middle of opening, perhaps more than once.
    while (random_.OneIn(3)) {
      files_->SetCrashAtCall(files_->calls() + 1 + random_.Below(12));
      if (const absl::Status opened = Open(); !opened.ok() && !files_->crashed())
        return "opening, before the kill: " + opened.ToString();
      Kill();
    }
    if (const absl::Status opened = Open(); !opened.ok())
      return fmt::format("opening after {} deletes and {} kills: {}", deletes_, kills_,
                         opened.ToString());
    if (has_no_space_) {
      if (std::string wrong = WithoutSpace(); !wrong.empty()) return wrong;
    }
    return random_.OneIn(4) ? Check("after opening") : "";
  }
  // Perhaps there is a log segment, and the manifest has room for an edit. Then the other process
  // frees the space.
  std::string WithoutSpace() {
    ++openings_without_space_;
    const std::string table = SomeTable();
    const Delete one = MakeDelete(table, SomeRow());
    const absl::Status deleted = Find(table).Apply(one.mutation);
    if (deleted.ok()) one.apply();
    const std::string prefix = RowKey(random_.Below(static_cast<uint64_t>(rows_))).substr(0, 5);
    const absl::Status dropped = Find("u").DropRowRange(RowRange::Prefix(prefix));
    if (dropped.ok()) expected_.EraseAllWith("u/" + prefix);
    SetSpace(/*is_taken=*/false);
    for (const absl::Status& status : {deleted, dropped}) {
      if (!status.ok() && !IsFull(status)) return "without space: " + status.ToString();
    }
    return "";
  }
  void Kill() {
    ++kills_;
    std::unique_ptr<CrashFileSystem> image = files_->Crash(CrashPolicy::KilledProcess(), kills_);
    Drop();
    files_ = std::move(image);
    SetSpace(/*is_taken=*/random_.OneIn(6));
  }
  void SetSpace(bool is_taken) {
    has_no_space_ = is_taken;
    if (is_taken) files_->Remove("/db/RESERVE").IgnoreError();
    // Room for a few edits of the manifest, but not for a log segment.
    files_->SetCapacity(is_taken ? files_->used_bytes() + 1000 * random_.Below(4) : disk_bytes_);
  }

  std::string Check(std::string_view when) {
    const absl::StatusOr<ExpectedCells> read = Read(database_);
    if (!read.ok()) return fmt::format("reading {}: {}", when, read.status().ToString());
    const std::string difference = read->DifferenceFrom(expected_);
    return difference.empty() ? "" : fmt::format("{}: {}", when, difference.substr(0, 60));
  }

  // One of the calls that work on a full disk. While the reserve exists, another process may take
  // the last byte.
  std::string FreeSpace() {
    const bool has_reserve = files_->Stat("/db/RESERVE").value_or(FileInfo{}).bytes > 0;
    if (has_reserve) files_->SetCapacity(files_->used_bytes());
    const uint64_t free_bytes = files_->FreeBytes("/db").value_or(0);
    absl::Status freed;
    switch (random_.Below(4)) {
      case 0:
        freed = database_.DeleteTable("t");
        expected_.EraseAllWith("t/");
        break;
      case 1:
        freed = Find("t").ModifyColumnFamilies({FamilyChange::Drop("g")});
        expected_.EraseFamily("t", 'g');
        break;
      case 2:
        freed = Find("t").DropRowRange(RowRange::All());
        expected_.EraseAllWith("t/");
        break;
      default:
        freed = Find("t").DropRowRange(RowRange::Prefix("00000"));
        expected_.EraseAllWith("t/00000");
        break;
    }
    if (!freed.ok())
      return fmt::format("freeing space with {} free bytes{}: {}", free_bytes,
                         has_reserve ? " and the reserve" : "", freed.ToString());
    return Check("after space was freed");
  }
  std::string Heal() {
    disk_bytes_ *= 4;
    files_->SetCapacity(disk_bytes_);
    if (const absl::Status idle = Settle(); !idle.ok()) return "at rest: " + idle.ToString();
    for (uint64_t row = 0; row < 20; ++row) {
      if (const absl::Status set = Set("u", RowKey(row)); !set.ok())
        return "a write after space came back: " + set.ToString();
    }
    Kill();
    if (const absl::Status opened = Open(); !opened.ok()) return "healed: " + opened.ToString();
    const absl::StatusOr<VerifyReport> report = database_.Verify();
    if (!report.ok() || !report->ok()) return "verify finds damage";
    return Check("after space came back");
  }

  Random random_;
  const uint64_t budget_bytes_;
  uint64_t disk_bytes_;
  const int background_threads_;
  const size_t key_bytes_;
  const size_t value_bytes_;
  std::unique_ptr<CrashFileSystem> files_ = std::make_unique<CrashFileSystem>();
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
  ExpectedCells expected_;
  int rows_ = 0;
  int deletes_ = 0;   // writes that only delete, refused ones included
  int refusals_ = 0;  // of those
  uint64_t kills_ = 0;
  bool has_no_space_ = false;
  int openings_without_space_ = 0;
  int tokens_ = 0;
};

class FullDiskCampaignTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(FullDiskCampaignTest, DeletesNeverUseUpTheSpaceThatOpeningNeeds) {
  int deletes = 0;
  uint64_t kills = 0;
  int openings_without_space = 0;
  int refused_runs = 0;
  for (uint64_t seed = 0; seed < FullDiskSeedCount() && !HasFailure(); ++seed) {
    FullDiskRun run(GetParam() * kMiB, seed);
    EXPECT_EQ(run.Run(), "") << "seed " << seed;
    deletes += run.deletes();
    kills += run.kills();
    openings_without_space += run.openings_without_space();
    refused_runs += run.was_refused() ? 1 : 0;
  }
  EXPECT_GT(kills, 0u);
  std::cout << fmt::format(
      "{} deletes, {} kills, {} openings without space, deletes refused in {} runs\n", deletes,
      kills, openings_without_space, refused_runs);
}

std::vector<uint64_t> Budgets() {
  if (kNightly) return {1, 8, 64, 256, 1024};
  return {1, 8};
}
INSTANTIATE_TEST_SUITE_P(MebibytesOfBudget, FullDiskCampaignTest, ::testing::ValuesIn(Budgets()),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace stele::internal
