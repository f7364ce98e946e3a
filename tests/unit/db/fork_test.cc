// Tests handles of a database in a forked child: each call is refused before it takes a lock, and
// destructors take no lock and change nothing.
//
// How:       The thread that forks holds a lock, and nothing releases the child's copy of it. A
//            child that waits for the lock is ended by an alarm.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "db/local_database.h"
#include "io/mem_file_system.h"
#include "model/access.h"
#include "stele/stele.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kChildSecondsMax = 180;
constexpr int kThreads = 2;

// Runs `body` in a forked child, and returns its result with the reason of an early end.
std::string RunInChild(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kChildSecondsMax);
    const std::string text = body();
    const ssize_t written = ::write(ends[1], text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = ::read(ends[0], buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<size_t>(got));
  ::close(ends[0]);
  int status = -1;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return text + "no child";
  return status == 0 ? text : fmt::format("{}the child ended with status {}", text, status);
}

// One handle of each kind, and readers in each state.
struct ForkHandles {
  Database database;
  Table table;
  Snapshot snapshot;
  WriteBatch batch;
  BulkLoad load;
  RowReader unread;
  RowReader begun;     // on its first row
  RowReader complete;  // at its end, and its status was not read
};

struct ForkedCall {
  std::string name;
  std::function<absl::Status()> run;
};

RowMutation ForkedWrite(const std::string& row_key) {
  return RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(1), "v");
}

std::vector<ForkedCall> TableReadsOf(ForkHandles* handles) {
  Table& table = handles->table;
  const ReadOptions at_snapshot{.snapshot = handles->snapshot};
  return {
      {"schema", [&] { return table.schema().status(); }},
      {"ReadRow", [&] { return table.ReadRow("row000").status(); }},
      {"ReadRow at a snapshot",
       [&table, at_snapshot] { return table.ReadRow("row000", {}, at_snapshot).status(); }},
      {"VisitRow", [&] { return table.VisitRow("row000", [](const RowView&) {}).status(); }},
      {"ReadCell", [&] { return table.ReadCell("row000", "f", "q").status(); }},
      {"ReadMany", [&] { return table.ReadMany(std::vector<std::string>{"row000"}).status(); }},
      {"ReadRows",
       [&] {
         RowReader reader = table.ReadRows();
         return reader.Next() ? absl::OkStatus() : reader.status();
       }},
      {"Exists", [&] { return table.Exists("row000").status(); }},
      {"SampleRowKeys", [&] { return table.SampleRowKeys().status(); }},
      {"Table::Stats", [&] { return table.Stats().status(); }},
      {"an unread reader",
       [handles] { return handles->unread.Next() ? absl::OkStatus() : handles->unread.status(); }},
      {"the status of a begun reader", [handles] { return handles->begun.status(); }},
      {"a begun reader",
       [handles] { return handles->begun.Next() ? absl::OkStatus() : handles->begun.status(); }},
      {"a complete reader", [handles] { return handles->complete.status(); }},
  };
}

std::vector<ForkedCall> TableWritesOf(ForkHandles* handles) {
  Table& table = handles->table;
  const RowMutation kept = ForkedWrite("kept");
  return {
      {"Apply", [&table, kept] { return table.Apply(kept); }},
      {"Apply of an rvalue", [&] { return table.Apply(ForkedWrite("a")); }},
      {"BulkApply",
       [&] {
         const auto failed = table.BulkApply(std::vector<RowMutation>{ForkedWrite("a")});
         return failed.empty() ? absl::OkStatus() : failed[0].status;
       }},
      {"CheckAndMutateRow",
       [&table, kept] { return table.CheckAndMutateRow("kept", {}, kept, kept).status(); }},
      {"CheckAndMutateRow of rvalues",
       [&] {
         return table.CheckAndMutateRow("a", {}, ForkedWrite("a"), ForkedWrite("a")).status();
       }},
      {"ReadModifyWriteRow",
       [&] {
         return table.ReadModifyWriteRow("a", {ReadModifyWriteRule::AppendValue("f", "q", "v")})
             .status();
       }},
      {"ModifyColumnFamilies",
       [&] { return table.ModifyColumnFamilies({FamilyChange::Drop("f")}); }},
      {"SetProperty", [&] { return table.SetProperty("k", "v"); }},
      {"DropRowRange", [&] { return table.DropRowRange(RowRange::All()); }},
      {"DropRowRange of nothing", [&] { return table.DropRowRange(RowRange::Empty()); }},
      {"NewBulkLoad", [&] { return table.NewBulkLoad().Finish(); }},
      {"Flush", [&] { return table.Flush(); }},
      {"Compact", [&] { return table.Compact(); }},
  };
}

std::vector<ForkedCall> DatabaseCallsOf(ForkHandles* handles) {
  Database& database = handles->database;
  return {
      {"CreateTable", [&] { return database.CreateTable("u", Schema()).status(); }},
      {"OpenTable", [&] { return database.OpenTable("t").status(); }},
      {"DeleteTable", [&] { return database.DeleteTable("t"); }},
      {"ListTables", [&] { return database.ListTables().status(); }},
      {"a batch", [&database, handles] { return database.Apply(handles->batch); }},
      {"an empty batch", [&] { return database.Apply(WriteBatch()); }},
      {"GetSnapshot", [&] { return database.GetSnapshot().status(); }},
      {"Sync", [&] { return database.Sync(); }},
      {"WaitForIdle", [&] { return database.WaitForIdle(); }},
      {"Checkpoint", [&] { return database.Checkpoint("/elsewhere"); }},
      {"Verify", [&] { return database.Verify().status(); }},
      {"WriteRefusal", [&] { return database.WriteRefusal(); }},
      {"ConfirmClock", [&] { return database.ConfirmClock(); }},
      {"StartTrace", [&] { return database.StartTrace("/none/t.trace"); }},
      {"StopTrace", [&] { return database.StopTrace().status(); }},
      {"Close", [&] { return database.Close(); }},
  };
}

std::vector<ForkedCall> LoadCallsOf(ForkHandles* handles) {
  BulkLoad& load = handles->load;
  return {
      {"BulkLoad::Add", [&] { return load.Add(ForkedWrite("z")); }},
      {"BulkLoad::Finish", [&] { return load.Finish(); }},
      {"BulkLoad::Add after Abort",
       [&] {
         load.Abort();
         return load.Add(ForkedWrite("z"));
       }},
  };
}

// Makes the calls, and returns those that were not refused.
std::string NotRefused(const std::vector<ForkedCall>& calls) {
  std::string text;
  for (const ForkedCall& call : calls) {
    const absl::Status status = call.run();
    const bool names_fork = ToStd(status.message()).find("before a fork") != std::string_view::npos;
    if (!absl::IsFailedPrecondition(status) || !names_fork)
      text += fmt::format("{}: {}; ", call.name, status.ToString());
  }
  return text;
}

// The calls that every database refuses, and those that return no status.
std::string NotRefusedOf(ForkHandles* handles) {
  std::string text = NotRefused(TableReadsOf(handles)) + NotRefused(TableWritesOf(handles)) +
                     NotRefused(DatabaseCallsOf(handles));
  const DatabaseStats stats = handles->database.Stats();
  if (stats.tables != 0 || stats.memory.budget_bytes != 0) text += "Database::Stats; ";
  if (handles->table.name() != "t") text += "Table::name; ";
  if (handles->begun.stats().rows_returned != 1) text += "RowReader::stats; ";
  return text;
}

class ForkTest : public testing::Test {
 protected:
  static constexpr int kRows = 100;

  ForkTest()
      : observed_(&memory_,
                  [this](CallKind kind, const std::string& path) { Observe(kind, path); }) {}

  // In memory, without threads: only the thread of the test takes locks.
  void OpenInMemory() { Open("/db", SmallEngineOptions(&observed_)); }
  void Open(const std::string& directory, EngineOptions options) {
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened =
        OpenDatabase(directory, std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    engine_ = (*opened)->engine().get();
    handles_ = std::make_unique<ForkHandles>();
    handles_->database = Access::Make<Database>(*std::move(opened));
  }

  void FillTable() {
    Table table = handles_->database.CreateTable("t", Schema().AddFamily("f")).value_or(Table());
    for (int row = 0; row < kRows; ++row) {
      ASSERT_EQ(table.Apply(RowMutation(RowKey(row)).SetCell("f", "q", std::string(100, 'v'))),
                absl::OkStatus());
    }
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    ASSERT_EQ(table.Apply(ForkedWrite("unflushed")), absl::OkStatus());
    ASSERT_EQ(handles_->database.WaitForIdle(), absl::OkStatus());
  }
  // Makes the other handles. The readers leave nothing in the cache.
  void MakeHandles() {
    const ReadOptions uncached{.fill_cache = false};
    absl::StatusOr<Table> table = handles_->database.OpenTable("t");
    ASSERT_TRUE(table.ok()) << table.status();
    handles_->table = *table;
    handles_->snapshot = handles_->database.GetSnapshot().value_or(Snapshot());
    ASSERT_FALSE(handles_->snapshot.is_empty());
    handles_->batch.Add(*table, ForkedWrite("z-batch"));
    handles_->load = table->NewBulkLoad();
    handles_->unread = table->ReadRows(RowSet::All(), {}, uncached);
    handles_->begun = table->ReadRows(RowSet::All(), {}, uncached);
    ASSERT_TRUE(handles_->begun.Next());
    handles_->complete = table->ReadRows(RowSet::All(), {}, uncached);
    while (handles_->complete.Next()) {
    }
  }

  // Forks at the next call of the observed file system that `is_at` selects, on the thread that
  // makes it. The result of the child is in child_result_.
  void ForkAt(std::function<bool(CallKind, const std::string&)> is_at,
              std::function<std::string()> body) {
    is_at_ = std::move(is_at);
    body_ = std::move(body);
  }

  // The parent's handles work as if there had been no child.
  void ExpectAllHandlesWork(bool is_read_only = false) {
    ASSERT_TRUE(handles_->begun.Next());
    EXPECT_EQ(handles_->begun.row().row_key(), RowKey(1));
    EXPECT_TRUE(handles_->unread.Next());
    EXPECT_TRUE(handles_->complete.status().ok());
    EXPECT_TRUE(
        handles_->table.Exists(RowKey(0), {}, {.snapshot = handles_->snapshot}).value_or(false));
    EXPECT_EQ(handles_->database.Stats().tables, 1u);
    if (!is_read_only) {
      EXPECT_EQ(handles_->load.Add(ForkedWrite("z")), absl::OkStatus());
      EXPECT_EQ(handles_->load.Finish(), absl::OkStatus());
      EXPECT_EQ(handles_->database.Apply(handles_->batch), absl::OkStatus());
    }
    EXPECT_EQ(handles_->database.Close(), absl::OkStatus());
  }

  static std::string RowKey(int row) { return fmt::format("row{:03}", row); }
  EngineState& state() { return engine_->storage().state; }

  MemFileSystem memory_;
  ObservedFileSystem observed_;
  std::function<bool(CallKind, const std::string&)> is_at_;
  std::function<std::string()> body_;
  std::optional<std::string> child_result_;
  Engine* engine_ = nullptr;
  std::unique_ptr<ForkHandles> handles_;

 private:
  void Observe(CallKind kind, const std::string& path) {
    if (is_at_ == nullptr || !is_at_(kind, path)) return;
    is_at_ = nullptr;
    child_result_ = RunInChild(body_);
  }
};

TEST_F(ForkTest, CallsAreRefusedWhileTheLockOfTheStateIsHeld) {
  ASSERT_NO_FATAL_FAILURE(OpenInMemory());
  ASSERT_NO_FATAL_FAILURE(FillTable());
  ASSERT_NO_FATAL_FAILURE(MakeHandles());
  std::string result;
  {
    MutexLock lock(state().mutex());
    result = RunInChild(
        [this] { return NotRefusedOf(handles_.get()) + NotRefused(LoadCallsOf(handles_.get())); });
  }
  EXPECT_EQ(result, "");
  ExpectAllHandlesWork();
}

// The destructors run without a call before, and after refused calls whose status was not read.
TEST_F(ForkTest, DestructorsReleaseNothing) {
  ASSERT_NO_FATAL_FAILURE(OpenInMemory());
  ASSERT_NO_FATAL_FAILURE(FillTable());
  ASSERT_NO_FATAL_FAILURE(MakeHandles());
  for (const bool calls_before : {false, true}) {
    std::string result;
    {
      MutexLock lock(state().mutex());
      result = RunInChild([this, calls_before] {
        std::string text;
        if (calls_before && handles_->begun.Next()) text += "a row; ";
        handles_->unread = RowReader();
        handles_->load = BulkLoad();
        handles_.reset();
        if (engine_->storage().open.is_closed()) text += "closed; ";
        if (!engine_->storage().pins.Oldest(PinnedViews::Kind::kSnapshot)) text += "unpinned; ";
        return text;
      });
    }
    EXPECT_EQ(result, "") << calls_before;
  }
  ExpectAllHandlesWork();
}

// The reader belongs to the thread that reads, and the child must not wait for its end.
TEST_F(ForkTest, AReaderIsRefusedAndDestroyedInTheMiddleOfACall) {
  ASSERT_NO_FATAL_FAILURE(OpenInMemory());
  ASSERT_NO_FATAL_FAILURE(FillTable());
  ASSERT_NO_FATAL_FAILURE(MakeHandles());
  RowReader reader = handles_->table.ReadRows(RowSet::All(), {}, {.fill_cache = false});
  ForkAt([](CallKind kind,
            const std::string& path) { return kind == CallKind::kRead && path.ends_with(".sst"); },
         [&] {
           std::string text = reader.Next() ? "a row; " : "";
           if (!absl::IsFailedPrecondition(reader.status())) text += reader.status().ToString();
           reader = RowReader();
           handles_.reset();
           return text;
         });
  EXPECT_TRUE(reader.Next());
  EXPECT_EQ(child_result_.value_or("no fork"), "");
  EXPECT_EQ(reader.row().row_key(), RowKey(0));
  ExpectAllHandlesWork();
}

TEST_F(ForkTest, ALoadIsRefusedAndDestroyedInTheMiddleOfACall) {
  ASSERT_NO_FATAL_FAILURE(OpenInMemory());
  ASSERT_NO_FATAL_FAILURE(FillTable());
  ASSERT_NO_FATAL_FAILURE(MakeHandles());
  ForkAt(
      [](CallKind kind, const std::string& path) {
        return kind == CallKind::kCreate && path.ends_with(".sst");
      },
      [this] {
        const std::string text = NotRefused(LoadCallsOf(handles_.get()));
        handles_.reset();
        return text;
      });
  EXPECT_EQ(handles_->load.Add(ForkedWrite("loaded")), absl::OkStatus());
  EXPECT_EQ(child_result_.value_or("no fork"), "");
  ExpectAllHandlesWork();
}

TEST_F(ForkTest, CloseIsRefusedAndTheLastHandleDestroyedInTheMiddleOfClose) {
  ASSERT_NO_FATAL_FAILURE(OpenInMemory());
  ASSERT_NO_FATAL_FAILURE(FillTable());
  ASSERT_NO_FATAL_FAILURE(MakeHandles());
  ForkAt([](CallKind kind, const std::string&) { return kind == CallKind::kSync; },
         [this] {
           const std::string text = NotRefusedOf(handles_.get());
           handles_.reset();
           return text;
         });
  EXPECT_EQ(handles_->database.Close(), absl::OkStatus());
  EXPECT_EQ(child_result_.value_or("no fork"), "");
}

TEST_F(ForkTest, ATraceIsRefusedAndAbandonedInTheMiddleOfItsStart) {
  ASSERT_NO_FATAL_FAILURE(OpenInMemory());
  ASSERT_NO_FATAL_FAILURE(FillTable());
  ASSERT_NO_FATAL_FAILURE(MakeHandles());
  Recorder& recorder = *Access::Backend(handles_->database)->recorder();
  const Recorder::Options options{.appends = true, .file_system = &observed_};
  ASSERT_EQ(recorder.Start("/t.trace", options), absl::OkStatus());
  ASSERT_TRUE(recorder.Stop().ok());
  // The second start reads the file to find its end.
  ForkAt([](CallKind kind,
            const std::string& path) { return kind == CallKind::kRead && path == "/t.trace"; },
         [this] {
           const std::string text = NotRefused(DatabaseCallsOf(handles_.get()));
           handles_.reset();
           return text;
         });
  ASSERT_EQ(recorder.Start("/t.trace", options), absl::OkStatus());
  EXPECT_EQ(child_result_.value_or("no fork"), "");
  EXPECT_TRUE(handles_->table.Exists(RowKey(0)).value_or(false));
  const absl::StatusOr<TraceSummary> summary = handles_->database.StopTrace();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->recorded, 1u);
  ExpectAllHandlesWork();
}

// Databases in a directory, with threads: open for writing, then read-only.
TEST_F(ForkTest, AChildHarmsNoDirectory) {
  std::string directory = (fs::temp_directory_path() / "stele-fork-XXXXXX").string();
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  for (const bool is_read_only : {false, true}) {
    SCOPED_TRACE(is_read_only);
    ASSERT_NO_FATAL_FAILURE(Open(directory, {.database = {.read_only = is_read_only},
                                             .sizes = SizesFor(uint64_t{64} << 20),
                                             .file_system = PosixFileSystem(),
                                             .background_threads = kThreads}));
    if (!is_read_only) {
      ASSERT_NO_FATAL_FAILURE(FillTable());
    }
    ASSERT_NO_FATAL_FAILURE(MakeHandles());
    std::string result;
    {
      MutexLock lock(state().mutex());
      result = RunInChild([this] {
        std::string text = NotRefusedOf(handles_.get());
        handles_.reset();
        return text;
      });
    }
    EXPECT_EQ(result, "");
    EXPECT_TRUE(fs::exists(directory + "/LOCK"));
    ExpectAllHandlesWork(is_read_only);
    handles_.reset();
  }
  fs::remove_all(directory);
}

}  // namespace
}  // namespace stele::internal
