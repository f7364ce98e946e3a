// Tests that every verb that opens a database waits for its lock (--wait).
#ifdef STELE_HAS_LAB
#include <cerrno>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "cli/command_fixture.h"
#include "stele/stele.h"

namespace stele {
namespace {

class WaitTest : public CommandTest {
 protected:
  // The words of each verb that opens a database. All use database().
  std::vector<std::vector<std::string>> CommandsThatOpen() const {
    const std::string csv = WriteFile("in.csv", "k,v\na,1\n");
    const std::string trace =
        WriteFile("trace.jsonl", R"({"t":1,"op":"get","table":"t","row":"a"})");
    const std::string items = WriteFile("items.json", "{\"Item\":{\"k\":{\"S\":\"a\"}}}\n");
    const std::string design = WriteFile("d.yaml",
                                         "stele: design/1\n"
                                         "inputs: {in: {file: in.csv}}\n"
                                         "tables:\n"
                                         "  u:\n"
                                         "    families: {f: {}}\n"
                                         "    key: \"{k}\"\n"
                                         "    rows: [{input: in, cells: {\"f:v\": \"{v}\"}}]\n");
    return {{"addtocell", "t", "r", "f:q=1"},
            {"archive", "t", "--before", "2015-01-01", "--to", Path("archive")},
            {"bench", "get", "--rows", "1", "--operations", "1"},
            {"checkpoint", Path("checkpoint")},
            {"clock"},
            {"compact"},
            {"copy", database(), Path("copy")},
            {"count", "t"},
            {"createfamily", "t", "g"},
            {"createtable", "u"},
            {"deleteallrows", "t"},
            {"deletecolumn", "t", "r", "f", "q"},
            {"deletefamily", "t", "f"},
            {"deleterow", "t", "r"},
            {"deletetable", "t"},
            {"design", "apply", design},
            {"doctor", database()},
            {"droprowrange", "t", "prefix=a"},
            {"export", "t"},
            {"export dynamodb", "t"},
            {"flush"},
            {"heatmap", trace},
            {"import", "t", csv, "--header"},
            {"import dynamodb", items, "--table", "u", "--partition-key", "k"},
            {"lint"},
            {"load", design},
            {"lookup", "t", "r"},
            {"ls"},
            {"read", "t"},
            {"replay", trace},
            {"salvage", database(), Path("salvaged")},
            {"set", "t", "r", "f:q=1"},
            {"setgcpolicy", "t", "f", "maxversions=1"},
            {"stats"},
            {"verify"}};
  }

  // The verbs that `stele help` lists.
  std::set<std::string> VerbsOfHelp() const {
    std::set<std::string> verbs;
    const std::vector<std::string> lines = absl::StrSplit(Output({"help"}), '\n');
    for (const std::string& line : lines) {
      if (!line.starts_with("stele ")) continue;
      // The verb is padded with spaces.
      std::string verb = line.substr(6, 16);
      verb.erase(verb.find_last_not_of(' ') + 1);
      verbs.insert(verb);
    }
    return verbs;
  }
};

TEST_F(WaitTest, EveryVerbThatOpensADatabaseWaits) {
  Output({"createtable", "t", "families=f"});
  auto held = Database::Open(database());
  ASSERT_TRUE(held.ok()) << held.status();
  std::set<std::string> verbs = {"compare-designs", "dump",         "help",   "key",
                                 "trace",           "setvaluetype", "version"};
  for (const std::vector<std::string>& command : CommandsThatOpen()) {
    verbs.insert(command[0]);
    const std::vector<std::string> verb = absl::StrSplit(command[0], ' ');
    std::vector<std::string> words = {"--wait", "0"};
    words.insert(words.end(), verb.begin(), verb.end());
    words.insert(words.end(), command.begin() + 1, command.end());
    const CommandResult result = Run(words);
    EXPECT_EQ(result.exit_status, 1) << command[0];
    // Only the function that waits adds this text.
    EXPECT_NE((result.out + result.err).find("is open elsewhere"), std::string::npos)
        << command[0] << ": " << result.err;
    EXPECT_NE((result.out + result.err).find("--wait SECONDS waits longer"), std::string::npos)
        << command[0] << ": " << result.err;
  }
  EXPECT_EQ(verbs, VerbsOfHelp());
}

TEST_F(WaitTest, AServerIsNamedAndNotWaitedFor) {
  Output({"createtable", "t", "families=f"});
  char server[] = "steled";
  char* const name = std::exchange(program_invocation_short_name, server);
  auto held = Database::Open(database());
  program_invocation_short_name = name;
  ASSERT_TRUE(held.ok()) << held.status();
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"checkpoint", Path("copy")}, {"doctor", database()}}) {
    std::vector<std::string> command = {"--wait", "0"};
    command.insert(command.end(), words.begin(), words.end());
    const CommandResult result = Run(command);
    const std::string text = result.out + result.err;
    EXPECT_EQ(result.exit_status, 1) << text;
    EXPECT_NE(text.find(" (steled) on host "), std::string::npos) << text;
    EXPECT_NE(text.find("a server keeps it open until it is stopped"), std::string::npos) << text;
    EXPECT_EQ(text.find("--wait"), std::string::npos) << text;
    EXPECT_EQ(text.find("CreateBackup") != std::string::npos, words[0] == "checkpoint") << text;
  }
}

}  // namespace
}  // namespace stele

#endif  // STELE_HAS_LAB
