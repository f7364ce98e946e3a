// Tests stele design: check, show and apply.
#ifdef STELE_HAS_LAB
#include "cli/command_fixture.h"
#include "nlohmann/json.hpp"

namespace stele {
namespace {

constexpr char kDesign[] =
    "stele: design/1\n"
    "tables:\n"
    "  t:\n"
    "    families: {f: {gc: maxversions=1}}\n"
    "    key: \"{a}#{b}\"\n"
    "    queries: {q: {read: {prefix: \"{a}#\"}}}\n";

using DesignCommandTest = CommandTest;

TEST_F(DesignCommandTest, ChecksFiles) {
  const std::string good = WriteFile("good.yaml", kDesign);
  const std::string wrong = WriteFile("wrong.yaml", "stele: design/1\ntables: {t: {keys: a}}\n");
  EXPECT_EQ(Output({"design", "check", good}), good + ": ok: 1 table, 1 query\n");
  const CommandResult result = Run({"design", "check", wrong, good});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find(wrong + ":2:14: \"keys\" is no member of a table"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find(good + ": ok"), std::string::npos) << result.out;
  EXPECT_EQ(result.err, "stele: 1 of 2 designs is wrong\n");
  const auto report = nlohmann::json::parse(
      Run({"design", "check", "--format=json", wrong, good}).out, nullptr, false);
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["files"][0]["ok"], false);
  EXPECT_EQ(report["files"][0]["errors"].size(), 3U) << report.dump();
  EXPECT_EQ(report["files"][1]["queries"], 1);
  const std::string unknown =
      WriteFile("u.yaml", std::string(kDesign) + "lint: {set: {KEY-NONE.share: 1}}\n");
  EXPECT_NE(Run({"design", "check", unknown}).out.find(unknown + ":7:14: \"KEY-NONE.share\""),
            std::string::npos);
  ExpectError({"design", "show", unknown}, 1, ":7:14: \"KEY-NONE.share\"");
}

// A line that such a name begins could be a command of a CI system.
TEST_F(DesignCommandTest, NamesOfFilesStayInTheirLine) {
  const std::string wrong =
      WriteFile("a\x1b[31m\n::error::b.yaml", "stele: design/1\ntables: {t: {keys: a}}\n");
  const std::string shown = Path("a\\x1b[31m\\x0a::error::b.yaml");
  CommandResult result = Run({"design", "check", wrong});
  EXPECT_TRUE(result.out.starts_with(shown + ":2:14: ")) << result.out;
  EXPECT_EQ(result.out.find("\n::"), std::string::npos);
  const auto report =
      nlohmann::json::parse(Run({"design", "check", "--format=json", wrong}).out, nullptr, false);
  EXPECT_EQ(report["files"][0]["errors"].size(), 3U) << report.dump();
  result = Run({"load", wrong});
  EXPECT_TRUE(result.err.starts_with("stele: " + shown + ":2:14: ")) << result.err;
  EXPECT_EQ(result.err.find("\n::"), std::string::npos);
  result = Run({"design", "check", wrong + ".none"});
  EXPECT_NE(result.out.find(shown + ".none: No such file"), std::string::npos) << result.out;
  const std::string good = WriteFile("c\x1b\nd.yaml", kDesign);
  EXPECT_EQ(Output({"design", "check", good}), Path("c\\x1b\\x0ad.yaml: ok: 1 table, 1 query\n"));
}

TEST_F(DesignCommandTest, TooManyTablesHaveAPosition) {
  const std::string two =
      WriteFile("two.yaml",
                std::string(kDesign) +
                    "  u: {families: {f: {}}, key: a}\nlint: {set: {SIZE-TABLES-MAX.count: 1}}\n");
  const std::string out = Run({"design", "check", two}).out;
  EXPECT_TRUE(out.starts_with(two + ":2:1: 2 tables in one database")) << out;
}

TEST_F(DesignCommandTest, ShowsTheNormalForm) {
  const std::string path = WriteFile("d.yaml", kDesign);
  const std::string json = Output({"design", "show", path});
  EXPECT_NE(json.find("\"delimiter\":\"#\""), std::string::npos) << json;
  EXPECT_EQ(Output({"design", "show", WriteFile("again.json", json)}), json);
}

TEST_F(DesignCommandTest, AppliesADesign) {
  const std::string path = WriteFile("d.yaml", kDesign);
  ExpectError({"design", "apply", path, "--table", "u"}, 1, "has no table \"u\"");
  ExpectError({"ls"}, 1, "contains no database");
  EXPECT_EQ(Output({"design", "apply", path}), "t: created\n");
  EXPECT_EQ(Output({"design", "apply", path, "--table", "t"}), "t: exists\n");
  EXPECT_NE(Output({"ls", "t"}).find("f"), std::string::npos);
  const std::string other =
      WriteFile("other.yaml", "stele: design/1\ntables: {t: {families: {f: {}}, key: x}}\n");
  ExpectError({"design", "apply", other}, 1, "exists with another schema or another key");
  ExpectError({"design", "apply", path, "--table", "u"}, 1, "has no table \"u\"");
}

TEST_F(DesignCommandTest, RejectsWrongCommandLines) {
  ExpectError({"design"}, 2, "usage: stele design check");
  ExpectError({"design", "check"}, 2, "usage: stele design check");
  ExpectError({"design", "draw", "x"}, 2,
              "\"draw\" is not a function of stele design; \"stele help design\" lists them");
  ExpectError({"design", "show", "x", "y"}, 2, "usage: stele design check");
  ExpectError({"design", "check", "x", "--table", "t"}, 2, "--table needs design apply");
  ExpectError({"design", "show", "missing.yaml"}, 1, "missing.yaml");
}

}  // namespace
}  // namespace stele
#endif
