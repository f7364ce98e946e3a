// Tests stele archive: which cells move, that nothing is deleted before the archive has it,
// rejected calls, and interrupted runs.
#ifdef STELE_HAS_LAB
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/command_fixture.h"
#include "stele/stele.h"

namespace stele {
namespace {

constexpr int64_t kDay = 86'400'000'000;
constexpr char kBefore[] = "1970-01-11";  // day 10

class ArchiveTest : public CommandTest {
 protected:
  std::string archive() const { return Path("archive"); }
  std::vector<std::string> Words() const {
    return {"archive", "t", "--before", kBefore, "--to", archive()};
  }
  CommandResult Archive() const { return Run(Words()); }
  std::vector<std::string> WithState() const {
    std::vector<std::string> words = Words();
    words.insert(words.end(), {"--resume", Path("state")});
    return words;
  }
  static std::string FileText(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Returns the default state files, and the files next to them.
  std::vector<std::string> StateFiles() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(Path("."))) {
      if (entry.path().filename().string().starts_with("archive.archive-"))
        found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // 40 rows with cells of the days 1 to 19, in two families, and counters of two days.
  void Fill() const {
    Database database = Database::Open(this->database()).value();
    Schema schema;
    schema.AddFamily("f", GcRule::MaxNumVersions(30)).AddFamily("g");
    schema.AddFamily({.name = "n", .value_type = ValueType::kInt64Sum});
    Table table = database.CreateTable("t", schema.SetProperty("owner", "shop")).value();
    for (int row = 0; row < 40; ++row) {
      RowMutation mutation("row" + std::to_string(row));
      for (int day = 1; day < 20; day += 1 + row % 3) {
        const auto time = Timestamp::FromMicros(day * kDay);
        mutation.SetCell("f", "q" + std::to_string(day % 4), time, "f" + std::to_string(day));
        if (row % 2 == 0) mutation.SetCell("g", "", time, std::string(row, 'g'));
      }
      mutation.AddToCell("n", "visits", Timestamp::FromMicros(5 * kDay), int64_t{row});
      mutation.AddToCell("n", "visits", Timestamp::FromMicros(15 * kDay), int64_t{1});
      ASSERT_TRUE(table.Apply(mutation).ok());
    }
    ASSERT_TRUE(database.Close().ok());
  }
  // Fills the database, and runs the archive until its state has the verified cells. The command is
  // stopped then. Returns null after a failure.
  std::unique_ptr<RunningCommand> StopAfterVerification() const {
    std::vector<std::string> words = {"--db", database()};
    for (const std::string& word : WithState()) words.push_back(word);
    for (int renames = 1;; ++renames) {
      std::filesystem::remove_all(database());
      std::filesystem::remove_all(archive());
      std::filesystem::remove(Path("state"));
      Fill();
      auto run = StartAndStop(renames, words);
      const bool is_stopped = run->AwaitStop();
      EXPECT_TRUE(is_stopped) << "no state had verified cells";
      if (!is_stopped) return nullptr;
      if (FileText(Path("state")).find("\"verified_cells\":") != std::string::npos) return run;
    }
  }

  // All cells, one text each, sorted: those before the day 10, and the others.
  struct Cells {
    std::vector<std::string> older;
    std::vector<std::string> newer;
    std::vector<std::string> All() const {
      std::vector<std::string> all = older;
      all.insert(all.end(), newer.begin(), newer.end());
      std::sort(all.begin(), all.end());
      return all;
    }
  };
  static Cells CellsOf(const std::string& path) {
    Cells cells;
    auto database = Database::Open(path, {.create_if_missing = false, .read_only = true});
    if (!database.ok()) return cells;
    const auto table = database->OpenTable("t");
    if (!table.ok()) return cells;
    RowReader reader = table->ReadRows();
    while (reader.Next()) {
      for (const CellView& cell : reader.row().cells()) {
        std::string text;
        for (const std::string_view part :
             {reader.row().row_key(), cell.family(), cell.qualifier(), cell.value()})
          text.append(std::to_string(part.size())).append(":").append(part);
        const bool is_old = cell.timestamp().micros() < 10 * kDay;
        (is_old ? cells.older : cells.newer)
            .push_back(text + "@" + std::to_string(cell.timestamp().micros()));
      }
    }
    EXPECT_TRUE(reader.status().ok()) << reader.status();
    std::sort(cells.older.begin(), cells.older.end());
    std::sort(cells.newer.begin(), cells.newer.end());
    return cells;
  }

  // Each old cell is in one of the databases, or in both.
  void ExpectNothingIsLost(const Cells& before) const {
    const Cells left = CellsOf(database());
    EXPECT_EQ(left.newer, before.newer);
    std::vector<std::string> kept = left.older;
    const Cells archived = CellsOf(archive());
    kept.insert(kept.end(), archived.older.begin(), archived.older.end());
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    EXPECT_EQ(kept, before.older);
  }

  // Kills the command at each open of a file with this ending, and then runs it to its end.
  void ExpectEachInterruptedRunContinues(const std::string& suffix,
                                         const std::vector<std::string>& words) const {
    std::vector<std::string> begun = {"--db", database()};
    begun.insert(begun.end(), words.begin(), words.end());
    bool has_ended = false;
    int count = 1;
    for (; !has_ended; ++count) {
      std::filesystem::remove_all(database());
      std::filesystem::remove_all(archive());
      std::filesystem::remove(Path("state"));
      Fill();
      const Cells before = CellsOf(database());
      {
        const auto run = StartAndStopAtOpen(suffix, count, begun);
        has_ended = !run->AwaitStop();
        run->Kill();
      }
      ExpectNothingIsLost(before);
      EXPECT_EQ(Run(words).exit_status, 0) << suffix << " " << count;
      EXPECT_EQ(CellsOf(database()).All(), before.newer) << suffix << " " << count;
      EXPECT_EQ(CellsOf(archive()).All(), before.older) << suffix << " " << count;
      EXPECT_TRUE(StateFiles().empty()) << suffix << " " << count;
    }
    EXPECT_GT(count, 2) << "no run was interrupted";
  }
};

TEST_F(ArchiveTest, MovesOldCells) {
  Fill();
  const Cells before = CellsOf(database());
  ASSERT_FALSE(before.older.empty());
  std::vector<std::string> dry = Words();
  dry.push_back("--dry-run");
  const std::string planned = Output(dry);
  EXPECT_FALSE(std::filesystem::exists(archive()));
  EXPECT_EQ(CellsOf(database()).All(), before.All());
  const std::string moved = Output(Words());
  EXPECT_TRUE(moved.starts_with("t: 40 rows, ")) << moved;
  EXPECT_EQ(moved.substr(0, moved.find(" moved")), planned.substr(0, planned.find(" would")));
  EXPECT_EQ(CellsOf(database()).All(), before.newer);
  EXPECT_EQ(CellsOf(archive()).All(), before.older);
  EXPECT_EQ(Output(Words()), "t: 0 rows, 0 cells, 0 bytes moved to " + archive() + "\n");
  EXPECT_EQ(CellsOf(archive()).All(), before.older);
  // Back again.
  EXPECT_EQ(RunPlain({"copy", archive(), database(), "t"}).exit_status, 0);
  EXPECT_EQ(CellsOf(database()).All(), before.All());
}

TEST_F(ArchiveTest, TheArchiveKeepsEverything) {
  Fill();
  Output(Words());
  {
    const Database opened = Database::Open(archive(), {.read_only = true}).value();
    const Schema schema = opened.OpenTable("t")->schema().value();
    for (const FamilySchema& family : schema.families()) EXPECT_EQ(family.gc, GcRule::None());
    EXPECT_EQ(schema.properties().at("owner"), "shop");
  }
  // A later period, with a family that is new.
  {
    Database opened = Database::Open(database(), {.create_if_missing = false}).value();
    Table table = opened.OpenTable("t").value();
    const std::vector<FamilyChange> changes = {FamilyChange::Create({.name = "late"})};
    ASSERT_TRUE(table.ModifyColumnFamilies(changes).ok());
    RowMutation mutation("row1");
    mutation.SetCell("late", "q", Timestamp::FromMicros(2 * kDay), "v");
    ASSERT_TRUE(
        table.Apply(mutation.SetCell("f", "q1", Timestamp::FromMicros(kDay / 2), "v")).ok());
  }
  const size_t count = CellsOf(archive()).older.size();
  EXPECT_TRUE(Output(Words()).starts_with("t: 1 row, 2 cells, "));
  EXPECT_EQ(CellsOf(archive()).older.size(), count + 2);
}

TEST_F(ArchiveTest, ACounterWithoutAPeriodStays) {
  Output({"createtable", "t", "families=n:never:intsum,f"});
  Output({"addtocell", "t", "a", "n:visits=5"});
  Output({"addtocell", "t", "b", "n:visits=3@1000"});
  Output({"set", "t", "c", "f:q=v@0"});
  EXPECT_EQ(
      Output({"archive", "t", "--before", kBefore, "--to", archive(), "--dry-run"}).substr(0, 18),
      "t: 2 rows, 2 cells");
  EXPECT_EQ(Archive().out.substr(0, 18), "t: 2 rows, 2 cells");
  EXPECT_EQ(Output({"count", "t"}), "1\n");
  EXPECT_EQ(RunPlain({"--db", archive(), "count", "t"}).out, "2\n");
  Output({"addtocell", "t", "a", "n:visits=1"});
  EXPECT_EQ(Archive().out.substr(0, 18), "t: 0 rows, 0 cells");
  EXPECT_NE(Output({"lookup", "t", "a"}).find("\\x00\\x06\"\n"), std::string::npos)
      << Output({"lookup", "t", "a"});
}

TEST_F(ArchiveTest, OnlyRowsOfTheRange) {
  Fill();
  std::vector<std::string> words = Words();
  words.insert(words.end(), {"prefix=row7", "--format", "json"});
  const std::string moved = Output(words);
  EXPECT_NE(moved.find("\"rows\": 1,"), std::string::npos) << moved;
  for (const std::string& cell : CellsOf(archive()).older)
    EXPECT_TRUE(cell.starts_with("4:row7")) << cell;
}

TEST_F(ArchiveTest, AnotherValueInTheArchiveDeletesNothing) {
  Fill();
  Output({"--db", archive(), "createtable", "t", "families=f:maxversions=1,g"});
  const Cells before = CellsOf(database());
  ExpectError(Words(), 1, "set it to never");
  std::filesystem::remove_all(archive());
  {
    Database opened = Database::Open(archive()).value();
    Table table = opened.CreateTable("t", Schema().AddFamily("f")).value();
    RowMutation mutation("row20");
    ASSERT_TRUE(
        table.Apply(mutation.SetCell("f", "q1", Timestamp::FromMicros(kDay), "other")).ok());
  }
  ExpectError(Words(), 1, "row \"row20\", column f:\"q1\", timestamp 86400000000: the archive has");
  EXPECT_EQ(CellsOf(database()).All(), before.All());
}

TEST_F(ArchiveTest, AStateFileNamesItsJob) {
  Fill();
  const Cells before = CellsOf(database());
  std::vector<std::string> words = {"--db", database()};
  for (const std::string& word : WithState()) words.push_back(word);
  // The state file is written before the archive is made.
  for (int renames = 1; !std::filesystem::exists(Path("state")); ++renames) {
    const auto run = StartAndStop(renames, words);
    ASSERT_TRUE(run->AwaitStop()) << "no state was written";
    run->Kill();
  }
  const auto refused = [&](const std::vector<std::string>& other, const std::string& message) {
    std::vector<std::string> changed = other;
    changed.insert(changed.end(), {"--resume", Path("state")});
    ExpectError(changed, 1, message);
    changed.push_back("--dry-run");
    ExpectError(changed, 1, message);
  };
  refused({"archive", "t", "--before", "1970-01-12", "--to", archive()},
          "its time of --before, in microseconds, is \"864000000000\", not \"950400000000\"");
  refused({"archive", "t", "--before", kBefore, "--to", Path("other")}, "its archive is \"");
  refused({"archive", "other", "--before", kBefore, "--to", archive()},
          "its table is \"t\", not \"other\"");
  refused({"archive", "t", "--before", kBefore, "--to", archive(), "prefix=row7"},
          "its first row is \"\", not \"[row7\"; its last row is \"\", not \"row8)\"");
  EXPECT_FALSE(std::filesystem::exists(archive()));
  EXPECT_FALSE(std::filesystem::exists(Path("other")));
  EXPECT_EQ(CellsOf(database()).All(), before.All());
  EXPECT_EQ(Run(WithState()).exit_status, 0);
  EXPECT_EQ(CellsOf(archive()).All(), before.older);
  EXPECT_FALSE(std::filesystem::exists(Path("state")));
  EXPECT_FALSE(std::filesystem::exists(Path("state.stele.lock")));
}

TEST_F(ArchiveTest, TheStateFileIsNextToTheArchive) {
  Fill();
  const Cells before = CellsOf(database());
  {
    const auto run = StartAndStop(
        1, {"--db", database(), "archive", "t", "--before", kBefore, "--to", archive()});
    ASSERT_TRUE(run->AwaitStop()) << "no state was written";
    run->Kill();
  }
  ASSERT_EQ(StateFiles().size(), 2u) << "a state file and its lock file";
  const std::string state = StateFiles()[0];
  EXPECT_EQ(StateFiles()[1], state + ".stele.lock");
  const std::string text = FileText(state);
  const std::string name = std::filesystem::path(state).filename().string();
  WriteFile(name, "notes");
  ExpectError(Words(), 1, name + " exists and is not a state file of archive");
  std::string later = text;
  ASSERT_NE(later.find("864000000000"), std::string::npos) << later;
  WriteFile(name, later.replace(later.find("864000000000"), 12, "950400000000"));
  ExpectError(Words(), 1, name + " is the state of another archive run: its time of --before");
  EXPECT_FALSE(std::filesystem::exists(archive()));
  WriteFile(name, text);
  // Another job has its own file.
  std::vector<std::string> other = Words();
  other.push_back("prefix=row7");
  EXPECT_EQ(Run(other).exit_status, 0);
  EXPECT_EQ(FileText(state), text);
  EXPECT_EQ(StateFiles().size(), 2u);
  // The same job, with another form of the path.
  std::vector<std::string> same = Words();
  same.back() = Path("./archive//");
  EXPECT_EQ(Run(same).exit_status, 0);
  EXPECT_TRUE(StateFiles().empty());
  EXPECT_EQ(CellsOf(database()).All(), before.newer);
  EXPECT_EQ(CellsOf(archive()).All(), before.older);
}

TEST_F(ArchiveTest, ADirectoryThatCannotBeWrittenNeedsAnotherStateFile) {
  Fill();
  const Cells before = CellsOf(database());
  const std::string directory = Path("kept");
  std::filesystem::create_directory(directory);
  std::filesystem::permissions(
      directory, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  if (std::ofstream(directory + "/file").is_open()) GTEST_SKIP() << "this user may write anywhere";
  ExpectError({"archive", "t", "--before", kBefore, "--to", directory + "/archive"}, 1,
              "Permission denied; name a file elsewhere with --resume");
  EXPECT_EQ(CellsOf(database()).All(), before.All());
}

TEST_F(ArchiveTest, OtherFilesAreNotReplacedByAState) {
  Fill();
  const Cells before = CellsOf(database());
  for (const char* const text : {"", "{}", "[]", "notes", "{\"what\":\"marks of stele copy, 1\"}",
                                 "{\"what\":\"state of stele archive, 1\"}"}) {
    std::vector<std::string> words = Words();
    words.insert(words.end(), {"--resume", WriteFile("notes", text)});
    ExpectError(words, 1, "is not a state file of archive");
  }
  std::vector<std::string> words = Words();
  words.insert(words.end(), {"--resume", ""});
  ExpectError(words, 2, "--resume must name the state file");
  words.back() = database() + "/state";
  ExpectError(words, 1, "inside");
  EXPECT_EQ(CellsOf(database()).All(), before.All());
  EXPECT_FALSE(std::filesystem::exists(archive()));
}

TEST_F(ArchiveTest, ARecordingIsNotReplacedByAState) {
  Fill();
  const Cells before = CellsOf(database());
  for (const char* const name : {"state", "state.stele.lock", "state.stele.new"}) {
    std::vector<std::string> words = {"--trace", Path(name)};
    for (const std::string& word : WithState()) words.push_back(word);
    ExpectError(words, 2, "is the file of two outputs");
    EXPECT_FALSE(std::filesystem::exists(Path(name))) << name;
    WriteFile(name, "notes");
    ExpectError(words, 2, "is the file of two outputs");
    EXPECT_EQ(FileText(Path(name)), "notes") << name;
    std::filesystem::remove(Path(name));
  }
  EXPECT_EQ(CellsOf(database()).All(), before.All());
  EXPECT_FALSE(std::filesystem::exists(archive()));
}

TEST_F(ArchiveTest, NoTraceIsInTheArchive) {
  Fill();
  std::vector<std::string> words = {"--trace", archive() + "/x.trace", "--db", database()};
  for (const std::string& word : Words()) words.push_back(word);
  const CommandResult result = RunPlain(words);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find("choose a place elsewhere"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(archive()));
}

TEST_F(ArchiveTest, FilesNextToTheStateFileAreKept) {
  Fill();
  const Cells before = CellsOf(database());
  const std::vector<std::string> names = {"state.lock", "state.new"};
  for (const std::string& name : names) WriteFile(name, "notes");
  const std::string lock = WriteFile("state.stele.lock", "notes");
  const std::string refusal = "state.stele.lock exists and is not a lock file";
  ExpectError(WithState(), 1, refusal);
  EXPECT_EQ(FileText(lock), "notes");
  std::filesystem::remove(lock);
  std::filesystem::create_symlink("linked", lock);
  ExpectError(WithState(), 1, refusal);
  EXPECT_FALSE(std::filesystem::exists(Path("linked")));
  std::filesystem::remove(lock);
  std::filesystem::create_directory(lock);
  ExpectError(WithState(), 1, refusal);
  EXPECT_TRUE(std::filesystem::is_directory(lock));
  std::filesystem::remove(lock);
  EXPECT_FALSE(std::filesystem::exists(archive()));
  EXPECT_FALSE(std::filesystem::exists(Path("state")));
  EXPECT_EQ(CellsOf(database()).All(), before.All());
  // A killed run leaves such files.
  WriteFile("state.stele.lock", "");
  WriteFile("state.stele.new", "{\"what\":");
  Output(WithState());
  EXPECT_EQ(CellsOf(archive()).All(), before.older);
  for (const std::string& name : names) EXPECT_EQ(FileText(Path(name)), "notes") << name;
  for (const char* const name : {"state", "state.stele.lock", "state.stele.new"})
    EXPECT_FALSE(std::filesystem::exists(Path(name))) << name;
}

// Regression: the archive was closed before the cells were deleted.
TEST_F(ArchiveTest, NoOtherProcessOpensTheArchiveBeforeTheDelete) {
  const auto run = StopAfterVerification();
  ASSERT_NE(run, nullptr);
  const CommandResult other = RunPlain({"--wait", "0", "--db", archive(), "deletetable", "t"});
  EXPECT_EQ(other.exit_status, 1) << other.out;
  EXPECT_NE(other.err.find("is open elsewhere"), std::string::npos) << other.err;
}

TEST_F(ArchiveTest, AnArchiveThatLostVerifiedCellsDeletesNothing) {
  const auto run = StopAfterVerification();
  ASSERT_NE(run, nullptr);
  run->Kill();
  const Cells left = CellsOf(database());
  const Cells archived = CellsOf(archive());
  EXPECT_EQ(left.older, archived.older) << "nothing is deleted yet";
  std::vector<std::string> dry = WithState();
  dry.push_back("--dry-run");
  const auto refused = [&](const std::string& left_there) {
    const std::string message = "which has " + left_there + " now; nothing was deleted";
    ExpectError(dry, 1, message);
    ExpectError(WithState(), 1, message);
    EXPECT_EQ(CellsOf(database()).All(), left.All());
  };
  std::filesystem::rename(archive(), Path("moved"));
  refused("no database");
  EXPECT_FALSE(std::filesystem::exists(archive()));
  // A mount point without its disk.
  std::filesystem::create_directory(archive());
  refused("no database");
  EXPECT_TRUE(std::filesystem::is_empty(archive()));
  // Another database.
  Output({"--db", archive(), "createtable", "other", "families=f"});
  refused("no table of this name");
  EXPECT_EQ(Output({"--db", archive(), "ls"}), "other\n");
  Output({"--db", archive(), "createtable", "t", "families=f"});
  refused("0 cells");
  std::filesystem::remove_all(archive());
  std::filesystem::rename(Path("moved"), archive());
  EXPECT_TRUE(Output(dry).starts_with("t: 40 rows, "));
  const CommandResult resumed = Run(WithState());
  EXPECT_EQ(resumed.exit_status, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("t: continuing; an earlier run verified "), std::string::npos);
  EXPECT_EQ(CellsOf(database()).All(), left.newer);
  EXPECT_EQ(CellsOf(archive()).All(), left.older);
}

TEST_F(ArchiveTest, RejectsWhatCannotWork) {
  Fill();
  const Cells before = CellsOf(database());
  ExpectError({"archive", "t", "--to", archive()}, 2, "usage: stele archive");
  ExpectError({"archive", "t", "--before", kBefore}, 2, "usage: stele archive");
  ExpectError({"archive", "t", "--before", kBefore, "--to", ""}, 2, "usage: stele archive");
  for (const char* const time : {"yesterday", "2015-13-01", "1970-01-01", "-5", "0"})
    ExpectError({"archive", "t", "--before", time, "--to", archive()}, 2,
                "--before must be a time");
  ExpectError({"archive", "t", "--before", "2015-01-01T00:00:00.0005Z", "--to", archive()}, 2,
              "--before must be a whole millisecond");
  EXPECT_FALSE(std::filesystem::exists(archive()));
  ExpectError({"archive", "t", "--before", kBefore, "--to", "mem:"}, 2, "works on directories");
  ExpectError({"archive", "t", "--before", kBefore, "--to", "bigtable://p/i"}, 2, "setgcpolicy");
  ExpectError({"archive", "t", "--before", kBefore, "--to", database()}, 1, database());
  ExpectError({"archive", "t", "--before", kBefore, "--to", database() + "/x"}, 1, "inside");
  ExpectError({"archive", "none", "--before", kBefore, "--to", archive()}, 1, "none");
  EXPECT_EQ(CellsOf(database()).All(), before.All());
}

// At every moment, each cell is in one of the databases, and the command continues.
TEST_F(ArchiveTest, AnInterruptedRunContinues) {
  ExpectEachInterruptedRunContinues(".log", Words());
  ExpectEachInterruptedRunContinues(".sst", Words());
  ExpectEachInterruptedRunContinues(".new", Words());  // of the state file
}

TEST_F(ArchiveTest, AnInterruptedRunWithAStateFileContinues) {
  ExpectEachInterruptedRunContinues(".log", WithState());
  ExpectEachInterruptedRunContinues("state.stele.new", WithState());
  EXPECT_FALSE(std::filesystem::exists(Path("state")));
}

}  // namespace
}  // namespace stele
#endif  // STELE_HAS_LAB
