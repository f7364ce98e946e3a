// Tests the command on a damaged database: verify lists the damage instead of failing, and
// --on-damage reads what is intact.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "cli/command_fixture.h"
#include "stele/stele.h"

namespace stele {
namespace {

// Table "safe" is in an SSTable. Rows r1 to r5 of "busy" are in the log, each in a segment of its
// own.
class CommandDamageTest : public CommandTest {
 protected:
  void SetUp() override {
    Output({"createtable", "safe", "families=f"});
    Output({"set", "safe", "r1", "f:q=value0@1000"});
    Output({"flush", "safe"});
    Output({"createtable", "busy", "families=f"});
    for (int i = 1; i <= 5; ++i) {
      const std::string n = std::to_string(i);
      Output({"set", "busy", "r" + n, "f:q=value" + n + "@1000"});
    }
  }
  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  // Changes the text in the file that contains it, and returns the name of the file.
  std::string Damage(std::string_view extension, const std::string& text) const {
    for (const auto& entry : std::filesystem::directory_iterator(database())) {
      if (entry.path().extension() != extension) continue;
      std::string bytes = Bytes(entry.path());
      const size_t at = bytes.find(text);
      if (at == std::string::npos) continue;
      bytes[at] = 'V';
      std::ofstream(entry.path(), std::ios::binary) << bytes;
      return entry.path().filename();
    }
    ADD_FAILURE() << text << " is in no file";
    return "";
  }
  // Changes a byte of each edit that has one of the texts.
  void DamageManifest(const std::vector<std::string>& texts) const {
    for (const auto& entry : std::filesystem::directory_iterator(database())) {
      if (!entry.path().filename().string().starts_with("MANIFEST")) continue;
      std::string bytes = Bytes(entry.path());
      for (const std::string& text : texts) {
        const size_t at = bytes.find(text);
        ASSERT_NE(at, std::string::npos) << text;
        bytes[at] = 'V';
      }
      std::ofstream(entry.path(), std::ios::binary) << bytes;
    }
  }
  std::string RemoveSstable() const {
    for (const auto& entry : std::filesystem::directory_iterator(database())) {
      if (entry.path().extension() != ".sst") continue;
      std::filesystem::remove(entry.path());
      return entry.path().filename();
    }
    return "";
  }
  // The files of a directory with their contents.
  static std::set<std::pair<std::string, std::string>> Files(const std::string& directory) {
    std::set<std::pair<std::string, std::string>> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      files.emplace(entry.path().filename(), Bytes(entry.path()));
    return files;
  }
};

TEST_F(CommandDamageTest, VerifyListsADamagedLogInsteadOfFailing) {
  const std::string segment = Damage(".log", "value2");
  const CommandResult result = Run({"verify"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find(segment), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("busy"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("damaged places found"), std::string::npos) << result.err;
}

TEST_F(CommandDamageTest, VerifyListsAMissingSstable) {
  const std::string sstable = RemoveSstable();
  const CommandResult result = Run({"verify"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find(sstable), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("the file is missing"), std::string::npos) << result.out;
  EXPECT_NE(Run({"read", "safe"}).err.find("the file is missing"), std::string::npos);
  EXPECT_EQ(Output({"count", "busy"}), "5\n");
}

TEST_F(CommandDamageTest, OnDamageReadsBeforeOrAroundIt) {
  Damage(".log", "value2");
  const auto files = Files(database());
  ExpectError({"count", "busy"}, 1, "no valid record of the log");
  EXPECT_EQ(Output({"--on-damage", "before", "count", "busy"}), "1\n");
  EXPECT_EQ(Output({"--on-damage", "before", "count", "safe"}), "1\n");
  EXPECT_EQ(Output({"--on-damage=around", "count", "busy"}), "4\n");
  EXPECT_EQ(Files(database()), files);
}

TEST_F(CommandDamageTest, OnDamageIsForReading) {
  ExpectError({"--on-damage", "before", "set", "busy", "r", "f:q=v"}, 2, "only for commands that");
  ExpectError({"--on-damage", "after", "count", "busy"}, 2, "must be before or around");
}

TEST_F(CommandDamageTest, CopyTakesOnDamage) {
  Damage(".log", "value2");
  EXPECT_EQ(RunPlain({"copy", database(), Path("copy")}).exit_status, 1);
  EXPECT_EQ(RunPlain({"--on-damage", "around", "copy", database(), Path("copy")}).exit_status, 0);
  EXPECT_EQ(RunPlain({"--db", Path("copy"), "count", "busy"}).out, "4\n");
}

TEST_F(CommandDamageTest, SalvageCopiesAnIntactDatabaseWhole) {
  const CommandResult result = RunPlain({"salvage", database(), Path("new")});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, "");
  for (const char* table : {"safe", "busy"}) {
    EXPECT_EQ(RunPlain({"--db", Path("new"), "export", table}).out, Output({"export", table}));
  }
}

TEST_F(CommandDamageTest, SalvageCopiesAroundADamagedLogAndSaysSo) {
  const std::string segment = Damage(".log", "value2");
  const auto files = Files(database());
  const CommandResult result = RunPlain({"salvage", database(), Path("new")});
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_NE(result.out.find(segment), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("may be lost"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("Salvaged busy: 4 rows"), std::string::npos) << result.err;
  EXPECT_EQ(RunPlain({"--db", Path("new"), "count", "safe"}).out, "1\n");
  EXPECT_EQ(RunPlain({"--db", Path("new"), "count", "busy"}).out, "4\n");
  EXPECT_EQ(RunPlain({"--db", Path("new"), "verify"}).exit_status, 0);
  EXPECT_EQ(Files(database()), files);
}

TEST_F(CommandDamageTest, SalvageListsTheRowsOfAMissingSstable) {
  Output({"set", "safe", "z", "f:q=later@1000"});  // in the log
  Damage(".log", "value2");
  const std::string sstable = RemoveSstable();
  const CommandResult result = RunPlain({"salvage", database(), Path("new")});
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_NE(result.out.find("these rows are not copied: " + sstable), std::string::npos)
      << result.out;
  EXPECT_EQ(RunPlain({"--db", Path("new"), "count", "safe"}).out, "1\n");
  EXPECT_NE(RunPlain({"--db", Path("new"), "read", "safe"}).out.find("later"), std::string::npos);
  EXPECT_EQ(RunPlain({"--db", Path("new"), "count", "busy"}).out, "4\n");
}

TEST_F(CommandDamageTest, SalvageWorksWithoutCurrent) {
  std::filesystem::remove(database() + "/CURRENT");
  EXPECT_EQ(Run({"count", "busy"}).exit_status, 1);
  EXPECT_NE(RunPlain({"doctor", database()}).out.find("stele salvage " + database()),
            std::string::npos);
  const CommandResult result = RunPlain({"salvage", database(), Path("new")});
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_NE(result.out.find("CURRENT"), std::string::npos) << result.out;
  EXPECT_EQ(RunPlain({"--db", Path("new"), "count", "busy"}).out, "5\n");
  EXPECT_EQ(RunPlain({"--db", Path("new"), "count", "safe"}).out, "1\n");
}

// The edits after the damaged one are applied, and the SSTable has the table's definition.
TEST_F(CommandDamageTest, TheSstableOfATableRepeatsADamagedEdit) {
  DamageManifest({"safe"});
  const CommandResult result = RunPlain({"salvage", database(), Path("new")});
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_NE(result.out.find("edits after it are applied"), std::string::npos) << result.out;
  EXPECT_EQ(RunPlain({"--db", Path("new"), "ls"}).out, "busy\nsafe\n");
  for (const char* table : {"safe", "busy"}) {
    EXPECT_EQ(RunPlain({"--db", Path("new"), "count", table}).out,
              std::string_view(table) == "safe" ? "1\n" : "5\n");
  }
}

// The edits that created the tables are damaged, and there are no SSTables.
TEST_F(CommandDamageTest, SalvageWithoutAReadableTableListsTheDamage) {
  DamageManifest({"safe", "busy"});
  RemoveSstable();
  const CommandResult result = RunPlain({"salvage", database(), Path("new")});
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_NE(result.out.find("MANIFEST"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("No table is readable"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(Path("new")));
}

// Table "busy" is in the log only.
TEST_F(CommandDamageTest, SalvageWithoutAManifestCopiesTheSstables) {
  for (const auto& entry : std::filesystem::directory_iterator(database())) {
    const std::string name = entry.path().filename();
    if (name.starts_with("MANIFEST") || name == "CURRENT") std::filesystem::remove(entry.path());
  }
  EXPECT_NE(RunPlain({"doctor", database()}).out.find("stele salvage " + database()),
            std::string::npos);
  const CommandResult result = RunPlain({"salvage", database(), Path("new")});
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_NE(result.out.find("no manifest is readable"), std::string::npos) << result.out;
  EXPECT_EQ(RunPlain({"--db", Path("new"), "ls"}).out, "safe\n");
  EXPECT_EQ(RunPlain({"--db", Path("new"), "count", "safe"}).out, "1\n");
}

TEST_F(CommandDamageTest, SalvageDoesNotWriteIntoADatabase) {
  const CommandResult result = RunPlain({"salvage", database(), database()});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_EQ(RunPlain({"salvage", database()}).exit_status, 2);
  EXPECT_EQ(RunPlain({"salvage", Path("missing"), Path("new")}).exit_status, 1);
  EXPECT_FALSE(std::filesystem::exists(Path("new")));
}

TEST_F(CommandDamageTest, SalvageAndCopyDoNotWriteIntoTheSource) {
  const auto files = Files(database());
  ExpectError({"salvage", database(), database() + "/new"}, 1, "choose a place elsewhere");
  ExpectError({"copy", database(), database() + "/new"}, 1, "choose a place elsewhere");
  EXPECT_EQ(Files(database()), files);
}

// Regression: a clock that leapt ahead hid cells by their age, and the copies lacked them.
TEST_F(CommandDamageTest, AWrongClockLosesNoCellOfACopy) {
  const auto past = std::make_shared<ManualClock>(Timestamp::FromMillis(1'600'000'000'000));
  const std::string old = Path("old");
  {
    Database written = *Database::Open(old, {.clock = past});
    Table table = *written.CreateTable(
        "t", Schema().AddFamily("f", GcRule::MaxAge(std::chrono::hours(24 * 30))));
    ASSERT_TRUE(table.Apply(RowMutation("r").SetCell("f", "q", "v")).ok());
    ASSERT_TRUE(written.Close().ok());
  }
  EXPECT_EQ(RunPlain({"--db", old, "count", "t"}).out, "0\n") << "the clock is years ahead";
  const CommandResult salvaged = RunPlain({"salvage", old, Path("salvaged")});
  EXPECT_EQ(salvaged.exit_status, 0) << salvaged.err;
  EXPECT_NE(salvaged.err.find("Salvaged t: 1 rows, 1 cells"), std::string::npos) << salvaged.err;
  EXPECT_NE(salvaged.err.find("the clock is not trusted"), std::string::npos) << salvaged.err;
  const CommandResult copied = RunPlain({"copy", old, Path("copied"), "--verify"});
  EXPECT_EQ(copied.exit_status, 0) << copied.err;
  EXPECT_NE(copied.err.find("Copied t to t: 1 rows"), std::string::npos) << copied.err;
  for (const char* name : {"salvaged", "copied"}) {
    EXPECT_EQ(RunPlain({"--db", Path(name), "compact", "t"}).exit_status, 0);
    Database copy = *Database::Open(Path(name), {.clock = past});
    EXPECT_TRUE(copy.OpenTable("t")->Exists("r").value_or(false)) << name;
  }
}

TEST_F(CommandDamageTest, DoctorSaysThatADatabaseInUseCannotBeExamined) {
  auto held = Database::Open(database());
  ASSERT_TRUE(held.ok()) << held.status();
  const CommandResult result = RunPlain({"doctor", database()});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("Another process uses"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("could not be examined"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("waiting up to"), std::string::npos) << result.err;
}

TEST_F(CommandDamageTest, DoctorSaysWhatIsWrongAndWhatHelps) {
  const auto doctor = [this](const std::string& directory) {
    return RunPlain({"doctor", directory});
  };
  const CommandResult intact = doctor(database());
  EXPECT_EQ(intact.exit_status, 0) << intact.err;
  EXPECT_NE(intact.out.find("State: The database is intact"), std::string::npos) << intact.out;
  EXPECT_NE(doctor(Path("missing")).out.find("There is no database here"), std::string::npos);

  Damage(".log", "value2");
  const auto files = Files(database());
  const CommandResult log = doctor(database());
  EXPECT_EQ(log.exit_status, 1);
  EXPECT_NE(log.out.find("Commits may be lost"), std::string::npos) << log.out;
  EXPECT_NE(log.out.find("--on-damage before copy"), std::string::npos) << log.out;
  EXPECT_NE(log.out.find("stele salvage " + database()), std::string::npos) << log.out;
  EXPECT_EQ(Files(database()), files);
}

TEST_F(CommandDamageTest, DoctorKnowsLostFiles) {
  const std::string sstable = RemoveSstable();
  const CommandResult missing = RunPlain({"doctor", database()});
  EXPECT_EQ(missing.exit_status, 1);
  EXPECT_NE(missing.out.find(sstable + " @0: the file is missing"), std::string::npos)
      << missing.out;

  for (const auto& entry : std::filesystem::directory_iterator(database())) {
    const std::string name = entry.path().filename();
    if (name.starts_with("MANIFEST")) std::filesystem::remove(entry.path());
  }
  EXPECT_NE(RunPlain({"doctor", database()}).out.find("No manifest is readable"),
            std::string::npos);
  std::filesystem::remove(database() + "/CURRENT");
  EXPECT_NE(RunPlain({"doctor", database()}).out.find("not a complete database"),
            std::string::npos);
}

}  // namespace
}  // namespace stele
