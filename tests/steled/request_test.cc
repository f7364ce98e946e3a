// What the command line asks for, and the entries of a MutateRows.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "errors.h"
#include "flags.h"
#include "mutate_rows.h"

namespace stele::server {
namespace {

namespace data_wire = ::google::bigtable::v2;

TEST(MutateRows, OneWrongEntryRefusesAll) {
  data_wire::MutateRowsRequest request;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "entries { row_key: 'a' mutations { delete_from_row {} } } entries { row_key: '' mutations { delete_from_row {} } }", &request));
  EXPECT_EQ(TextOf(ToEntries(request, {}).status()), "Error in field 'Entry list' : Error in element #1 : Row keys must be non-empty");
  EXPECT_TRUE(absl::IsInvalidArgument(ToEntries({}, {}).status()));
  data_wire::MutateRowsRequest many;
  for (int i = 0; i < 2; ++i) {
    auto* const entry = many.add_entries();
    entry->set_row_key("r");
    for (int j = 0; j < 50'000 + i; ++j) entry->add_mutations()->mutable_delete_from_row();
  }
  EXPECT_TRUE(absl::IsInvalidArgument(ToEntries(many, {}).status()));
}

TEST(CommandLine, BackupsAreBesideTheDatabaseHoweverItsPathIsWritten) {
  const auto root = [](const std::string& database, const std::string& backups = "") {
    return BackupRootOf({.database = database, .backup_directory = backups});
  };
  const std::string here = std::filesystem::current_path().string();
  for (const char* const path : {"/d/db", "/d/db/", "/d/db//", "/d/db/.", "/d/./db/./", "/d/other/../db"}) {
    EXPECT_EQ(root(path), "/d/db-backups") << path;
  }
  EXPECT_EQ(root("."), here + "-backups");
  EXPECT_EQ(root("./"), here + "-backups");
  EXPECT_EQ(root("db"), here + "/db-backups");
  EXPECT_EQ(root("mem:"), "");
  EXPECT_EQ(root("/d/db/.", "elsewhere"), "elsewhere");
}

TEST(CommandLine, OtherMachinesNeedLeaveAndKeys) {
  const auto parse = [](std::vector<std::string> args) {
    args.insert(args.begin(), {"--db", "d"});
    return ParseFlags(args);
  };
  EXPECT_TRUE(parse({}).ok());
  EXPECT_EQ(parse({}).value().durability, Durability::kDisk);
  EXPECT_EQ(parse({"--memory-budget=64MiB"}).value().memory_budget_bytes, uint64_t{64} << 20);
  EXPECT_EQ(parse({"--durability", "process"}).value().durability, Durability::kProcess);
  EXPECT_FALSE(parse({"--listen", "0.0.0.0:1"}).ok());
  EXPECT_FALSE(parse({"--listen", "127.0.0.1.example.com:1"}).ok());
  EXPECT_FALSE(parse({"--listen", "0.0.0.0:1", "--allow-remote"}).ok());
  EXPECT_TRUE(parse({"--listen", "0.0.0.0:1", "--allow-remote", "--tls-cert", "c", "--tls-key", "k"}).ok());
  EXPECT_FALSE(parse({"--tls-cert", "c"}).ok());
  EXPECT_FALSE(parse({"--memory-budget", "much"}).ok());
  EXPECT_FALSE(parse({"--no-such-flag", "x"}).ok());
  EXPECT_FALSE(ParseFlags(std::vector<std::string>{}).ok());
}

}  // namespace
}  // namespace stele::server
