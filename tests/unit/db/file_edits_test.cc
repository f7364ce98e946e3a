// Tests Versions to which SSTables are added by their own edits: the order of files, what a
// compaction replaced, and edits that are not believed.
#include "db/file_edits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "manifest/edit.h"

namespace stele::internal {
namespace {

std::shared_ptr<const TableDefinition> DefinitionNamed(uint32_t id, const std::string& name,
                                                       uint64_t epoch = 1) {
  return MakeDefinition(id, name, epoch, Schema().AddFamily("f"), {{.id = id, .name = "f"}});
}

// A file with rows "a" to "z".
FileWithEdit MakeFile(uint64_t number, const TableDefinition& definition,
                      const std::vector<FilePart>& parts, uint64_t flushed_through = 0) {
  FileWithEdit file{.file = {.number = number}, .edit = {}};
  file.file.summary.rows = 2;
  file.file.summary.first_row = "a";
  file.file.summary.last_row = "z";
  file.edit = *DecodeEdit(EncodeFileEdit(definition, number, parts, flushed_through));
  return file;
}

// The references of a tablet of the table, newest first: "NUMBER[START END)".
std::string StackOf(const absl::StatusOr<std::shared_ptr<const Version>>& version,
                    const std::string& table, size_t tablet = 0) {
  if (!version.ok()) return version.status().ToString();
  const TableState* const found = (*version)->FindTable(table);
  if (found == nullptr) return "no table";
  std::string text;
  for (const SstableReference& reference : found->tablets[tablet].stack) {
    text += fmt::format("{}{}[{} {})", text.empty() ? "" : " ", reference.file->number,
                        reference.range->start, reference.range->end.substr(0, 1));
  }
  return text;
}

TEST(FileEditsTest, NewerCommitsAreAboveOlderOnes) {
  const auto table = DefinitionNamed(1, "t");
  const auto version = AddFiles(Version(), {MakeFile(9, *table, {{KeyRange::All(), 6, 8}}, 8),
                                            MakeFile(4, *table, {{KeyRange::All(), 1, 5}}, 5)});
  EXPECT_EQ(StackOf(version, "t"), "9[a z) 4[a z)");
  EXPECT_EQ((*version)->FindTable("t")->flushed_through, 8u);
  EXPECT_EQ((*version)->last_sequence, 8u);
  EXPECT_EQ((*version)->next_file_number, 10u);
}

// The compaction wrote file 6 after the flush of file 5, with older commits.
TEST(FileEditsTest, ACompactionReplacesItsInputsInItsTablet) {
  const auto table = DefinitionNamed(1, "t");
  const auto version =
      AddFiles(Version(), {MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
                           MakeFile(4, *table, {{KeyRange::All(), 3, 4}}, 4),
                           MakeFile(5, *table, {{KeyRange::All(), 5, 5}}, 5),
                           MakeFile(6, *table, {{KeyRange{"", "m", false}, 1, 4}}, 4)});
  EXPECT_EQ(StackOf(version, "t"), "5[a z) 6[a m) 4[m z) 3[m z)");
}

// A load has the newest commit before it. The compaction had that commit as an input, not the load.
TEST(FileEditsTest, ABulkLoadIsNotReplaced) {
  const auto table = DefinitionNamed(1, "t");
  const auto version = AddFiles(Version(), {MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
                                            MakeFile(4, *table, {{KeyRange::All(), 2, 2}}),
                                            MakeFile(5, *table, {{KeyRange::All(), 1, 2}}, 2)});
  EXPECT_EQ(StackOf(version, "t"), "4[a z) 5[a z)");
}

TEST(FileEditsTest, ABulkLoadReplacesNothing) {
  const auto table = DefinitionNamed(1, "t");
  const auto version = AddFiles(Version(), {MakeFile(3, *table, {{KeyRange::All(), 2, 2}}, 2),
                                            MakeFile(4, *table, {{KeyRange::All(), 2, 2}})});
  EXPECT_EQ(StackOf(version, "t"), "4[a z) 3[a z)");
}

TEST(FileEditsTest, InputsThatAreLeftAreNotRead) {
  const auto table = DefinitionNamed(1, "t");
  const auto version = AddFiles(Version(), {MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
                                            MakeFile(4, *table, {{KeyRange::All(), 1, 2}}, 2),
                                            MakeFile(5, *table, {{KeyRange::All(), 1, 2}}, 2)});
  EXPECT_EQ(StackOf(version, "t"), "5[a z)");
  EXPECT_EQ((*version)->files.size(), 1u);
}

TEST(FileEditsTest, TheNewestDefinitionIsUsed) {
  const auto old_table = DefinitionNamed(1, "t", 1);
  const auto dropped = DefinitionNamed(2, "u", 1);
  const auto again = DefinitionNamed(3, "u", 1);
  const auto version =
      AddFiles(Version(), {MakeFile(3, *DefinitionNamed(1, "t", 7), {{KeyRange::All(), 1, 2}}, 2),
                           MakeFile(4, *old_table, {{KeyRange::All(), 3, 4}}, 4),
                           MakeFile(5, *dropped, {{KeyRange::All(), 5, 5}}),
                           MakeFile(6, *again, {{KeyRange::All(), 6, 6}})});
  EXPECT_EQ((*version)->FindTable("t")->definition->epoch, 7u);
  EXPECT_EQ(StackOf(version, "u"), "6[a z)");
  EXPECT_EQ((*version)->tables.size(), 3u) << "with the table of tokens";
}

TEST(FileEditsTest, OnlyEditsOfOneFileAreBelieved) {
  const auto table = DefinitionNamed(1, "t");
  FileWithEdit of_another = MakeFile(4, *table, {{KeyRange::All(), 1, 2}});
  of_another.file.number = 5;
  FileWithEdit dropping = MakeFile(6, *table, {});
  dropping.edit.tables.front().drop = true;
  FileWithEdit two_tables = MakeFile(7, *table, {{KeyRange::All(), 1, 2}});
  two_tables.edit.tables.push_back(two_tables.edit.tables.front());
  FileWithEdit nameless = MakeFile(8, *table, {{KeyRange::All(), 1, 2}});
  nameless.edit.tables.front().definition = nullptr;
  FileWithEdit of_another_table = MakeFile(9, *table, {{KeyRange::All(), 1, 2}});
  of_another_table.edit.tables.front().table_id = 2;
  const FileWithEdit backwards = MakeFile(10, *table, {{KeyRange::All(), 2, 1}});
  const FileWithEdit endless = MakeFile(11, *table, {{KeyRange::All(), 2, UINT64_MAX}});
  for (const FileWithEdit& file :
       {of_another, dropping, two_tables, nameless, of_another_table, backwards, endless})
    EXPECT_FALSE(NamesItsTable(file)) << file.file.number;
  EXPECT_FALSE(NamesItsTable({.file = {.number = 9}, .edit = {}}));
  EXPECT_TRUE(NamesItsTable(MakeFile(4, *table, {{KeyRange::All(), 1, 2}})));
}

// The Version that a manifest lists up to its damage.
std::shared_ptr<const Version> Listed(std::vector<FileWithEdit> files) {
  return *AddFiles(Version(), std::move(files));
}

TEST(FileEditsTest, AFlushThatIsNotListedIsAdded) {
  const auto table = DefinitionNamed(1, "t");
  const auto listed = Listed({MakeFile(4, *table, {{KeyRange::All(), 1, 5}}, 5)});
  const auto version = AddFiles(*listed, {MakeFile(9, *table, {{KeyRange::All(), 6, 8}}, 8)});
  EXPECT_EQ(StackOf(version, "t"), "9[a z) 4[a z)");
  EXPECT_EQ((*version)->FindTable("t")->flushed_through, 8u) << "the log does not repeat it";
}

TEST(FileEditsTest, AListedCompactionReplacesAFileThatIsNotListed) {
  const auto table = DefinitionNamed(1, "t");
  const auto listed = Listed({MakeFile(6, *table, {{KeyRange::All(), 1, 4}}, 4)});
  const auto version = AddFiles(*listed, {MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2)});
  EXPECT_EQ(StackOf(version, "t"), "6[a z)");
}

TEST(FileEditsTest, ACompactionThatIsNotListedReplacesItsInputs) {
  const auto table = DefinitionNamed(1, "t");
  const auto listed = Listed({MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
                              MakeFile(4, *table, {{KeyRange::All(), 3, 4}}, 4),
                              MakeFile(5, *table, {{KeyRange::All(), 7, 8}}, 8)});
  const auto version = AddFiles(*listed, {MakeFile(6, *table, {{KeyRange::All(), 1, 4}}, 4)});
  EXPECT_EQ(StackOf(version, "t"), "5[a z) 6[a z)");
}

TEST(FileEditsTest, AListedFileWinsAgainstOneThatContradictsIt) {
  const auto table = DefinitionNamed(1, "t");
  const auto listed = Listed({MakeFile(6, *table, {{KeyRange::All(), 1, 4}}, 4)});
  const auto version = AddFiles(*listed, {MakeFile(7, *table, {{KeyRange::All(), 3, 6}}, 6)});
  EXPECT_EQ(StackOf(version, "t"), "6[a z)");
}

// The load has the commit after 2 that no other file of its rows has.
TEST(FileEditsTest, ABulkLoadIsBetweenTheFilesOfItsTime) {
  const auto table = DefinitionNamed(1, "t");
  const auto listed = Listed({MakeFile(4, *table, {{KeyRange::All(), 1, 2}}, 2),
                              MakeFile(5, *table, {{KeyRange::All(), 3, 4}}, 4),
                              MakeFile(7, *table, {{KeyRange::All(), 6, 6}}, 6)});
  const auto version = AddFiles(*listed, {MakeFile(6, *table, {{KeyRange::All(), 2, 2}})});
  EXPECT_EQ(StackOf(version, "t"), "7[a z) 6[a z) 5[a z) 4[a z)");
}

TEST(FileEditsTest, AFileIsAddedToEachTabletOfItsRows) {
  const auto table = DefinitionNamed(1, "t");
  Edit edit{.next_table_id = 2, .next_family_id = 2};
  edit.tables.push_back({.table_id = 1, .definition = table});
  edit.tables.back().tablets = {{.range = {"", "m", false}, .stack = {}},
                                {.range = {"m", "", true}, .stack = {}}};
  const auto version =
      AddFiles(**Apply(Version(), edit), {MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2)});
  EXPECT_EQ(StackOf(version, "t", 0), "3[a m)");
  EXPECT_EQ(StackOf(version, "t", 1), "3[m z)");
}

TEST(FileEditsTest, HostileEditsEnd) {
  const auto table = DefinitionNamed(1, "t");
  std::vector<FileWithEdit> files;
  for (uint64_t number = 1; number <= 20'000; ++number)
    files.push_back(MakeFile(number, *table, {{KeyRange::All(), 1, 2}}));
  EXPECT_TRUE(absl::IsInvalidArgument(AddFiles(Version(), files).status()));
}

}  // namespace
}  // namespace stele::internal
