// Tests stele copy between directories: the copied data, rejected calls, and interrupted copies.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/command_fixture.h"
#include "stele/stele.h"

namespace stele {
namespace {

constexpr auto kSecond = Timestamp::FromMicros(1'000'000);

std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

class CopyTest : public CommandTest {
 protected:
  // Opens a database. The test closes it before a command opens it.
  static Database Open(const std::string& path) {
    auto database = Database::Open(path);
    EXPECT_TRUE(database.ok()) << database.status();
    return *database;
  }

  // Returns every cell that a reader sees, one text per cell.
  static std::vector<std::string> Cells(const std::string& path, const std::string& table_name) {
    auto database = Database::Open(path, {.create_if_missing = false, .read_only = true});
    EXPECT_TRUE(database.ok()) << database.status();
    auto table = database->OpenTable(table_name);
    EXPECT_TRUE(table.ok()) << table.status();
    RowReader reader = table->ReadRows();
    std::vector<std::string> cells;
    while (reader.Next()) {
      for (const CellView& cell : reader.row().cells()) {
        std::string& text = cells.emplace_back();
        for (const std::string_view part :
             {reader.row().row_key(), cell.family(), cell.qualifier(), cell.value()}) {
          text.append(std::to_string(part.size())).append(":").append(part);
        }
        text += "@" + std::to_string(cell.timestamp().micros());
      }
    }
    EXPECT_TRUE(reader.status().ok()) << reader.status();
    return cells;
  }

  static Schema SchemaOf(const std::string& path, const std::string& table_name) {
    auto database = Database::Open(path, {.create_if_missing = false, .read_only = true});
    EXPECT_TRUE(database.ok()) << database.status();
    return *database->OpenTable(table_name)->schema();
  }

  std::string source() const { return Path("source"); }
  std::string destination() const { return Path("destination"); }

  CommandResult Copy(const std::vector<std::string>& args) const {
    std::vector<std::string> words = {"copy", source(), destination()};
    words.insert(words.end(), args.begin(), args.end());
    return RunPlain(words);
  }
  // Expects success and returns standard error.
  std::string Copied(const std::vector<std::string>& args) const {
    const CommandResult result = Copy(args);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    return result.err;
  }
  void ExpectRefused(const std::vector<std::string>& args, int exit_status,
                     std::string_view text) const {
    const CommandResult result = Copy(args);
    EXPECT_EQ(result.exit_status, exit_status) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
  }
  void ExpectSame(const std::string& table_name, const std::string& copy_name) const {
    const std::vector<std::string> cells = Cells(source(), table_name);
    EXPECT_FALSE(cells.empty());
    EXPECT_TRUE(cells == Cells(destination(), copy_name)) << table_name;
  }

  // Returns the files of marks next to the destination.
  std::vector<std::string> MarkFiles() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(Path("."))) {
      const std::string name = entry.path().filename().string();
      const bool is_beside = name.ends_with(".new") || name.ends_with(".lock");
      if (name.starts_with("destination.copy-") && !is_beside)
        found.push_back(entry.path().string());
    }
    return found;
  }

  // Creates a table "t" of plain cells and counters.
  void MakeRows(int row_count) const {
    Database database = Open(source());
    Table table = *database.CreateTable(
        "t", Schema()
                 .AddFamily("plain", GcRule::MaxNumVersions(2))
                 .AddFamily({.name = "sum", .gc = {}, .value_type = ValueType::kInt64Sum})
                 .AddSplit("row1")
                 .AddSplit("row2"));
    for (int i = 0; i < row_count; ++i) {
      RowMutation mutation("row" + std::to_string(i));
      mutation.SetCell("plain", "q", kSecond, "value " + std::to_string(i))
          .AddToCell("sum", "q", kSecond, i);
      ASSERT_TRUE(table.Apply(mutation).ok());
    }
    ASSERT_TRUE(database.Close().ok());
  }

  // Starts a copy and kills it after its marks were written `writes` times.
  void CopyAndKill(int writes) const {
    const auto copy =
        StartAndStop(writes, {"copy", source(), destination(), "batch-size=1", "workers=2"});
    ASSERT_TRUE(copy->AwaitStop()) << "it was to be killed: give it more rows";
    copy->Kill();
    ASSERT_EQ(MarkFiles().size(), 1u);
  }
};

Schema FullSchema() {
  return Schema()
      .AddFamily("plain", GcRule::Union(GcRule::MaxNumVersions(2),
                                        GcRule::MaxAge(std::chrono::hours(24 * 365 * 200))))
      .AddFamily("all")
      .AddFamily({.name = "sum", .gc = {}, .value_type = ValueType::kInt64Sum})
      .AddFamily({.name = "min", .gc = {}, .value_type = ValueType::kInt64Min})
      .AddFamily({.name = "max", .gc = {}, .value_type = ValueType::kInt64Max})
      .AddFamily({.name = "hll", .gc = {}, .value_type = ValueType::kHll})
      .SetGranularity(TimestampGranularity::kMicros)
      .SetCompression(Compression::kFast)
      .AddSplit("m")
      .AddSplit(std::string("\0\xff", 2))
      .SetProperty("owner", "shop")
      .SetLimits({.row_key_bytes = 5000, .mutations = 3000});
}

TEST_F(CopyTest, EverythingArrives) {
  Database database = Open(source());
  Table table = *database.CreateTable("p/i/full", FullSchema());
  const auto apply = [&](const RowMutation& mutation) { ASSERT_TRUE(table.Apply(mutation).ok()); };
  for (const int64_t micros : {1, 2, 3}) {  // the rule makes the oldest version garbage
    apply(RowMutation("versions")
              .SetCell("plain", "q", Timestamp::FromMicros(micros), std::to_string(micros)));
    apply(RowMutation("versions")
              .SetCell("all", "q", Timestamp::FromMicros(micros), std::to_string(micros)));
  }
  apply(RowMutation(std::string("\0\xff\n", 3))
            .SetCell("all", "", kSecond, "")
            .SetCell("all", "\xff", kSecond, std::string(1, '\0')));
  apply(RowMutation(std::string(5000, '\xff'))
            .SetCell("all", "last", Timestamp::FromMicros(INT64_MAX), "latest"));
  apply(RowMutation("deleted").SetCell("all", "q", kSecond, "gone"));
  apply(RowMutation("deleted").DeleteFromRow());
  for (int i = 0; i < 3; ++i) {
    for (const Timestamp timestamp : {Timestamp(), kSecond, Timestamp::FromMicros(INT64_MAX)}) {
      apply(RowMutation("counts")
                .AddToCell("sum", "q", timestamp, INT64_MAX - i)
                .AddToCell("min", "q", timestamp, -i)
                .AddToCell("max", "q", timestamp, i)
                .AddToCell("hll", "q", timestamp, "item" + std::to_string(i)));
    }
    ASSERT_TRUE(table.Flush().ok());
  }
  // A row that is copied in several parts, with counters in each, and a value larger than a batch.
  const std::string value(16 << 10, 'v');
  for (int i = 0; i < 2000; ++i) {
    const std::string qualifier = "q" + std::to_string(i);
    apply(RowMutation("wide")
              .SetCell("all", qualifier, kSecond, value + qualifier)
              .AddToCell("sum", qualifier, kSecond, i));
  }
  apply(RowMutation("value").SetCell("all", "q", kSecond, std::string(20 << 20, 'x')));
  ASSERT_TRUE(database.CreateTable("empty", Schema().AddFamily("f")).ok());
  ASSERT_TRUE(database.Close().ok());

  const std::string said = Copied({"--verify"});
  EXPECT_NE(said.find("Copied p/i/full to p/i/full: 6 rows, "), std::string::npos) << said;
  EXPECT_NE(said.find("Copied empty to empty: 0 rows, 0 cells, 0 bytes in "), std::string::npos)
      << said;
  EXPECT_NE(said.find("Verified p/i/full: 6 rows are the same.\n"), std::string::npos) << said;
  EXPECT_EQ(SchemaOf(destination(), "p/i/full"), FullSchema());
  EXPECT_EQ(SchemaOf(destination(), "empty"), Schema().AddFamily("f"));
  ExpectSame("p/i/full", "p/i/full");
  EXPECT_TRUE(MarkFiles().empty());
  // A second copy changes nothing: no counter is added twice.
  Copied({"--verify"});
  ExpectSame("p/i/full", "p/i/full");
}

TEST_F(CopyTest, GoesOnAfterKills) {
  MakeRows(3000);
  for (const int writes : {2, 40, 5}) {
    ASSERT_NO_FATAL_FAILURE(CopyAndKill(writes));
  }
  // Rows before the mark are not copied again, so their changes at the source do not appear.
  EXPECT_EQ(RunPlain({"--db", source(), "set", "t", "row0", "plain:q=changed@1000000"}).exit_status,
            0);
  const std::string said = Copied({});
  EXPECT_NE(said.find("t: resuming after "), std::string::npos) << said;
  EXPECT_NE(said.find("Copied t to t: 3000 rows, 6000 cells, "), std::string::npos) << said;
  EXPECT_TRUE(MarkFiles().empty());
  EXPECT_EQ(RunPlain({"--db", source(), "set", "t", "row0", "plain:q=value 0@1000000"}).exit_status,
            0);
  ExpectSame("t", "t");
}

TEST_F(CopyTest, AMarkOfWhatIsGoneIsWorthNothing) {
  MakeRows(2000);
  ASSERT_NO_FATAL_FAILURE(CopyAndKill(10));
  std::filesystem::remove_all(destination());
  EXPECT_NE(Copied({}).find("starting again"), std::string::npos);
  ExpectSame("t", "t");

  std::filesystem::remove_all(destination());
  ASSERT_NO_FATAL_FAILURE(CopyAndKill(10));
  EXPECT_EQ(RunPlain({"--db", destination(), "deleteallrows", "t"}).exit_status, 0);
  EXPECT_NE(Copied({}).find("starting again"), std::string::npos);
  ExpectSame("t", "t");
}

TEST_F(CopyTest, MarksOfAnotherCopyAndOtherFilesAreLeftAlone) {
  MakeRows(2000);
  ASSERT_NO_FATAL_FAILURE(CopyAndKill(3));
  const std::string marks = MarkFiles()[0];
  const std::string bytes = FileBytes(marks);
  ExpectRefused({"--prefix", "row1", "--resume", marks}, 1, "holds the marks of another copy");
  ExpectRefused({"--resume", WriteFile("notes", "{}")}, 1, "is not a file of copy marks");
  ExpectRefused({"--resume", WriteFile("short", bytes.substr(0, bytes.size() / 2))}, 1,
                "is not a file of copy marks");
  std::string newer = bytes;
  newer.replace(newer.find("copy, 1"), 7, "copy, 2");
  ExpectRefused({"--resume", WriteFile("newer", newer)}, 1, "is not a file of copy marks");
  EXPECT_EQ(FileBytes(Path("notes")), "{}");
  // Another range has separate marks, and keeps these.
  Copied({"--prefix", "row1"});
  EXPECT_EQ(FileBytes(marks), bytes);
  // The same copy, with its marks in another place.
  std::filesystem::rename(marks, Path("elsewhere"));
  EXPECT_NE(Copied({"--resume=" + Path("elsewhere")}).find("resuming after"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(Path("elsewhere")));
  ExpectSame("t", "t");
}

TEST_F(CopyTest, FilesNextToTheMarksAreKept) {
  MakeRows(10);
  const std::vector<std::string> names = {"marks.lock", "marks.new"};
  for (const std::string& name : names) WriteFile(name, "notes");
  const std::string lock = WriteFile("marks.stele.lock", "notes");
  ExpectRefused({"--resume", Path("marks")}, 1, "marks.stele.lock exists and is not a lock file");
  EXPECT_EQ(FileBytes(lock), "notes");
  // A killed run leaves such files.
  WriteFile("marks.stele.lock", "");
  WriteFile("marks.stele.new", "{");
  Copied({"--resume", Path("marks")});
  ExpectSame("t", "t");
  for (const std::string& name : names) EXPECT_EQ(FileBytes(Path(name)), "notes") << name;
  for (const char* const name : {"marks", "marks.stele.lock", "marks.stele.new"})
    EXPECT_FALSE(std::filesystem::exists(Path(name))) << name;
}

TEST_F(CopyTest, RangesThatDifferLateInALongKeyHaveTheirOwnMarks) {
  MakeRows(2000);
  const std::string start = "start=" + std::string(300, 'a');
  {
    const auto copy = StartAndStop(
        3, {"copy", source(), destination(), "batch-size=1", "workers=2", start + "1"});
    ASSERT_TRUE(copy->AwaitStop()) << "it was to be killed: give it more rows";
    copy->Kill();
  }
  ASSERT_EQ(MarkFiles().size(), 1u);
  const std::string marks = MarkFiles()[0];
  const std::string bytes = FileBytes(marks);
  EXPECT_EQ(Copied({start + "2"}).find("resuming after"), std::string::npos);
  ASSERT_TRUE(std::filesystem::exists(marks));
  EXPECT_EQ(FileBytes(marks), bytes);
  EXPECT_NE(Copied({start + "1"}).find("resuming after"), std::string::npos);
  EXPECT_TRUE(MarkFiles().empty());
  ExpectSame("t", "t");
}

TEST_F(CopyTest, WhatDoesNotFitIsRefusedBeforeAnythingIsWritten) {
  MakeRows(10);
  {
    Database database = Open(source());
    ASSERT_TRUE(database
                    .CreateTable("micros", Schema().AddFamily("f").SetGranularity(
                                               TimestampGranularity::kMicros))
                    .ok());
    ASSERT_TRUE(database.Close().ok());
  }
  ExpectRefused({"none"}, 1, "\"none\"");
  EXPECT_FALSE(std::filesystem::exists(destination()));
  {
    Database database = Open(destination());
    ASSERT_TRUE(database.CreateTable("t", Schema().AddFamily("plain").AddFamily("sum")).ok());
    ASSERT_TRUE(database.CreateTable("millis", Schema().AddFamily("f")).ok());
    ASSERT_TRUE(database.CreateTable("fewer", Schema().AddFamily("plain")).ok());
    ASSERT_TRUE(database.Close().ok());
  }
  ExpectRefused(
      {}, 1,
      "plain (bytes), sum (intsum) here, plain (bytes), sum (bytes) there; no row was written");
  ExpectRefused({"t", "--to", "fewer"}, 1, "no row was written");
  ExpectRefused({"micros", "--to=millis"}, 1, "only whole milliseconds; no row was written");
  EXPECT_EQ(RunPlain({"--db", destination(), "ls"}).out, "fewer\nmillis\nt\n");
  EXPECT_EQ(RunPlain({"--db", destination(), "count", "t"}).out, "0\n");
  EXPECT_TRUE(MarkFiles().empty());
}

TEST_F(CopyTest, WrongCalls) {
  MakeRows(1);
  EXPECT_EQ(RunPlain({"copy"}).exit_status, 2);
  EXPECT_EQ(RunPlain({"copy", source()}).exit_status, 2);
  ExpectRefused({"--to"}, 2, "--to needs a value");
  ExpectRefused({"--nonsense", "1"}, 2, "nonsense");
  ExpectRefused({"workers=0"}, 2, "workers must be 1 to 64");
  ExpectRefused({"batch-size=100001"}, 2, "batch-size must be 1 to 100000");
  ExpectRefused({"--prefix", "a", "start=a"}, 2, "may not be mixed");
  ExpectRefused({"start=b", "end=a"}, 2, "contains no row");
  ExpectRefused({"t", "t"}, 2, "two tables would become \"t\"");
  ExpectRefused({"t", "u", "--to", "v"}, 2, "--to names the copy of one table");
  EXPECT_EQ(RunPlain({"copy", Path("missing"), destination()}).exit_status, 1);
  EXPECT_FALSE(std::filesystem::exists(Path("missing")));
  const CommandResult itself = RunPlain({"copy", source(), source() + "/"});
  EXPECT_EQ(itself.exit_status, 2);
  EXPECT_NE(itself.err.find("onto itself"), std::string::npos) << itself.err;
  EXPECT_FALSE(std::filesystem::exists(destination()));
}

TEST_F(CopyTest, ARangeUnderAnotherName) {
  MakeRows(30);
  EXPECT_NE(Copied({"t", "--to", "ones", "--prefix", "row1"}).find("Copied t to ones: 11 rows, "),
            std::string::npos);
  EXPECT_NE(Copied({"t", "--to", "some", "start=row13", "end=row2", "--verify"})
                .find("Verified t: 7 rows"),
            std::string::npos);
  EXPECT_EQ(RunPlain({"--db", destination(), "read", "some", "keys-only=true", "columns=plain:q",
                      "count=1", "--format", "csv"})
                .out,
            "row,family,qualifier,timestamp,value\nrow13,plain,q,1000000,\n");
  // Within one database.
  const CommandResult within =
      RunPlain({"copy", source(), source(), "t", "--to", "again", "--format", "jsonl"});
  EXPECT_EQ(within.exit_status, 0) << within.err;
  EXPECT_EQ(within.out.rfind(R"({"table":"t","copy":"again","rows":30,"cells":60,"bytes":)", 0), 0u)
      << within.out;
  EXPECT_EQ(Cells(source(), "again"), Cells(source(), "t"));
}

TEST_F(CopyTest, VerifyFindsWhatDiffers) {
  MakeRows(20);
  Copied({});
  EXPECT_EQ(RunPlain({"--db", destination(), "set", "t", "row5", "plain:more=x@1000"}).exit_status,
            0);
  for (const char* row_key : {"row10a", "row10b", "zebra"}) {
    EXPECT_EQ(RunPlain({"--db", destination(), "set", "t", row_key, "plain:q=x@1000"}).exit_status,
              0);
  }
  // Rows that exist only at the destination stay, and missing rows are copied.
  EXPECT_EQ(RunPlain({"--db", destination(), "deleterow", "t", "row7"}).exit_status, 0);
  ExpectRefused({"--verify"}, 1,
                "table \"t\": 4 of 23 compared rows differ at the destination: \"row10a\", "
                "\"row10b\", \"row5\", \"zebra\"");
  ExpectRefused({"--verify", "--prefix", "row5"}, 1, "1 of 1 compared rows differ");
  Copied({"--verify", "start=row11", "end=row5"});
  EXPECT_TRUE(MarkFiles().empty());
}

TEST_F(CopyTest, IntoMemoryIsATrial) {
  MakeRows(50);
  const CommandResult result = RunPlain({"copy", source(), "mem:", "--verify", "batch-size=1"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_NE(result.err.find("Verified t: 50 rows are the same."), std::string::npos) << result.err;
  EXPECT_EQ(RunPlain({"copy", "mem:", destination()}).exit_status, 1);
}

TEST_F(CopyTest, TheDestinationsRuleStays) {
  EXPECT_EQ(RunPlain({"--db", source(), "createtable", "t", "families=f,g"}).exit_status, 0);
  EXPECT_EQ(RunPlain({"--db", source(), "set", "t", "old", "f:q=x@1000"}).exit_status, 0);
  EXPECT_EQ(RunPlain({"--db", source(), "set", "t", "stays", "g:q=x@1000"}).exit_status, 0);
  EXPECT_EQ(
      RunPlain({"--db", destination(), "createtable", "t", "families=f:maxage=1h,g"}).exit_status,
      0);
  EXPECT_EQ(RunPlain({"--db", destination(), "set", "t", "more", "g:q=x@1000"}).exit_status, 0);
  EXPECT_NE(Copied({}).find(
                "t: the destination keeps its GC rule of family f, maxage=1h instead of never\n"),
            std::string::npos);
  EXPECT_EQ(SchemaOf(destination(), "t").family("f")->gc, GcRule::MaxAge(std::chrono::hours(1)));
  ExpectRefused({"--verify"}, 1,
                "2 of 3 compared rows differ at the destination: \"more\", \"old\"");
}

}  // namespace
}  // namespace stele
