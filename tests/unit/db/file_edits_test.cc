// Tests Versions to which SSTables are added by their own edits: the order of files, what a
// compaction replaced, and edits that are not believed.
#include "db/file_edits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "manifest/edit.h"

namespace stele::internal {
namespace {

std::shared_ptr<const TableDefinition> DefinitionNamed(uint32_t id, const std::string& name,
                                                       uint64_t epoch = 1) {
  return MakeDefinition(id, name, epoch, Schema().AddFamily("f"), {{.id = id, .name = "f"}});
}

FileWithEdit MakeFile(uint64_t number, const TableDefinition& definition,
                      const std::vector<FilePart>& parts, uint64_t flushed_through = 0,
                      const std::string& first_row = "a", const std::string& last_row = "z") {
  FileWithEdit file{.file = {.number = number}, .edit = {}};
  file.file.summary.rows = 2;
  file.file.summary.first_row = first_row;
  file.file.summary.last_row = last_row;
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

const KeyRange kFirstHalf = {"", "m", false};
const KeyRange kSecondHalf = {"m", "", true};

// What the compaction of these references writes into a tablet.
FilePart OutputOf(const KeyRange& tablet, const std::vector<ReferenceEdit>& inputs) {
  FilePart part{.range = tablet, .sequence_first = UINT64_MAX, .inputs = inputs};
  for (const ReferenceEdit& input : inputs) {
    part.sequence_first = std::min(part.sequence_first, input.sequence_first);
    part.sequence_last = std::max(part.sequence_last, input.sequence_last);
  }
  return part;
}

using VersionOrError = absl::StatusOr<std::shared_ptr<const Version>>;

VersionOrError FromFiles(const std::vector<FileWithEdit>& files) {
  return AddFiles(Version(), files, {});
}

// The Version that a manifest lists up to its damage, and the numbers of its files.
struct Listed {
  explicit Listed(const std::vector<FileWithEdit>& files) : version(*FromFiles(files)) {
    for (const FileWithEdit& file : files) described.insert(file.file.number);
  }
  VersionOrError Add(const std::vector<FileWithEdit>& files) const {
    return AddFiles(*version, files, described);
  }
  std::shared_ptr<const Version> version;
  std::set<uint64_t> described;
};

TEST(FileEditsTest, NewerCommitsAreAboveOlderOnes) {
  const auto table = DefinitionNamed(1, "t");
  const auto version = FromFiles({MakeFile(9, *table, {{KeyRange::All(), 6, 8}}, 8),
                                  MakeFile(4, *table, {{KeyRange::All(), 1, 5}}, 5)});
  EXPECT_EQ(StackOf(version, "t"), "9[a z) 4[a z)");
  EXPECT_EQ((*version)->FindTable("t")->flushed_through, 8u);
  EXPECT_EQ((*version)->last_sequence, 8u);
  EXPECT_EQ((*version)->next_file_number, 10u);
}

// The compaction wrote file 6 after the flush of file 5, with older commits.
TEST(FileEditsTest, ACompactionReplacesItsInputsInItsTablet) {
  const auto table = DefinitionNamed(1, "t");
  const FilePart output = OutputOf(kFirstHalf, {{4, kFirstHalf, 3, 4}, {3, kFirstHalf, 1, 2}});
  const auto version = FromFiles({MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
                                  MakeFile(4, *table, {{KeyRange::All(), 3, 4}}, 4),
                                  MakeFile(5, *table, {{KeyRange::All(), 5, 5}}, 5),
                                  MakeFile(6, *table, {output}, 4)});
  EXPECT_EQ(StackOf(version, "t"), "5[a z) 6[a m) 4[m z) 3[m z)");
}

// A merge of metadata gave both files the commits 1 to 9. A compaction of one is not of the other.
TEST(FileEditsTest, ACompactionLeavesOtherRowsOfItsCommits) {
  const auto table = DefinitionNamed(1, "t");
  Edit edit{.last_sequence = 9, .next_file_number = 20, .next_table_id = 2, .next_family_id = 2};
  edit.tables.push_back({.table_id = 1, .definition = table, .flushed_through = 9});
  edit.tables.back().tablets = {
      {.range = KeyRange::All(),
       .stack = {{11, KeyRange{"a", "g", false}, 1, 9}, {12, KeyRange{"g", "z", false}, 1, 9}}}};
  for (const uint64_t number : {11, 12}) {
    edit.new_files.push_back({.number = number});
    edit.new_files.back().summary.rows = 1;
    edit.new_files.back().summary.first_row = number == 11 ? "a" : "g";
    edit.new_files.back().summary.last_row = number == 11 ? "f" : "y";
  }
  const FilePart output = OutputOf(KeyRange::All(), {{12, KeyRange{"g", "z", false}, 1, 9}});
  const auto version =
      AddFiles(**Apply(Version(), edit), {MakeFile(20, *table, {output}, 9, "g", "y")}, {11, 12});
  EXPECT_EQ(StackOf(version, "t"), "11[a g) 20[g y)");
}

// File 7, which had file 3 as an input, is gone.
TEST(FileEditsTest, AnInputOfAnInputIsReplaced) {
  const auto table = DefinitionNamed(1, "t");
  const FilePart output =
      OutputOf(KeyRange::All(), {{5, KeyRange::All(), 5, 6}, {7, KeyRange::All(), 1, 4}});
  const auto version = FromFiles(
      {MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2), MakeFile(8, *table, {output}, 6)});
  EXPECT_EQ(StackOf(version, "t"), "8[a z)");
}

// A load has the newest commit before it.
TEST(FileEditsTest, ABulkLoadReplacesNothing) {
  const auto table = DefinitionNamed(1, "t");
  const auto version = FromFiles({MakeFile(3, *table, {{KeyRange::All(), 2, 2}}, 2),
                                  MakeFile(4, *table, {{KeyRange::All(), 2, 2}})});
  EXPECT_EQ(StackOf(version, "t"), "4[a z) 3[a z)");
}

// The compaction of the first half tells the commit of the load, which is older than file 5.
TEST(FileEditsTest, ACompactionTellsTheCommitOfABulkLoad) {
  const auto table = DefinitionNamed(1, "t");
  const FilePart output =
      OutputOf(kFirstHalf, {{5, kFirstHalf, 4, 5}, {4, kFirstHalf, 3, 3}, {3, kFirstHalf, 1, 2}});
  const auto version = FromFiles({MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
                                  MakeFile(4, *table, {{KeyRange::All(), 1, 1}}),
                                  MakeFile(5, *table, {{KeyRange::All(), 4, 5}}, 5),
                                  MakeFile(7, *table, {output}, 5)});
  EXPECT_EQ(StackOf(version, "t"), "7[a m) 5[m z) 4[m z) 3[m z)");
}

// The commits of the files of its rows are nested: they are those of two tablets.
TEST(FileEditsTest, ABulkLoadIsPlacedAfterAllFilesThatHaveItsCommit) {
  const auto table = DefinitionNamed(1, "t");
  const FilePart output =
      OutputOf(kFirstHalf, {{6, kFirstHalf, 7, 8}, {5, kFirstHalf, 4, 5}, {3, kFirstHalf, 1, 2}});
  const auto version = FromFiles({MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
                                  MakeFile(4, *table, {{KeyRange::All(), 2, 2}}),
                                  MakeFile(5, *table, {{KeyRange::All(), 4, 5}}, 5),
                                  MakeFile(6, *table, {{KeyRange::All(), 7, 8}}, 8),
                                  MakeFile(7, *table, {output}, 8)});
  EXPECT_EQ(StackOf(version, "t"), "4[a z) 7[a m) 6[m z) 5[m z) 3[m z)");
}

TEST(FileEditsTest, TheNewestDefinitionIsUsed) {
  const auto old_table = DefinitionNamed(1, "t", 1);
  const auto dropped = DefinitionNamed(2, "u", 1);
  const auto again = DefinitionNamed(3, "u", 1);
  const auto version =
      FromFiles({MakeFile(3, *DefinitionNamed(1, "t", 7), {{KeyRange::All(), 1, 2}}, 2),
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
  const std::vector<FileWithEdit> refused = {
      of_another,
      dropping,
      two_tables,
      nameless,
      of_another_table,
      MakeFile(10, *table, {{KeyRange::All(), 2, 1}}),
      MakeFile(11, *table, {{KeyRange::All(), 2, UINT64_MAX}}),
      MakeFile(12, *table, {{KeyRange::All(), 1, 2}}, 3),                          // flushed
      MakeFile(13, *table, {{KeyRange::All(), 1, 2}, {kSecondHalf, 1, 2}}, 2),     // tablets
      MakeFile(14, *table, {OutputOf(kFirstHalf, {{14, kFirstHalf, 1, 2}})}, 2)};  // its input
  for (const FileWithEdit& file : refused) EXPECT_FALSE(NamesItsTable(file)) << file.file.number;
  EXPECT_FALSE(NamesItsTable({.file = {.number = 9}, .edit = {}}));
  EXPECT_TRUE(NamesItsTable(MakeFile(4, *table, {{KeyRange::All(), 1, 2}})));
  EXPECT_TRUE(
      NamesItsTable(MakeFile(14, *table, {OutputOf(kFirstHalf, {{13, kFirstHalf, 1, 2}})}, 2)));
}

TEST(FileEditsTest, AFlushThatIsNotListedIsAdded) {
  const auto table = DefinitionNamed(1, "t");
  const Listed listed({MakeFile(4, *table, {{KeyRange::All(), 1, 5}}, 5)});
  const auto version = listed.Add({MakeFile(9, *table, {{KeyRange::All(), 6, 8}}, 8)});
  EXPECT_EQ(StackOf(version, "t"), "9[a z) 4[a z)");
  EXPECT_EQ((*version)->FindTable("t")->flushed_through, 8u) << "the log does not repeat it";
}

// An edit has removed it, for example because its rows were dropped.
TEST(FileEditsTest, AFileThatAnEditDescribedIsNotAdded) {
  const auto table = DefinitionNamed(1, "t");
  Listed listed({MakeFile(4, *table, {{KeyRange::All(), 1, 5}}, 5)});
  listed.described.insert(9);
  const auto version = listed.Add({MakeFile(9, *table, {{KeyRange::All(), 6, 8}}, 8)});
  EXPECT_EQ(StackOf(version, "t"), "4[a z)");
  EXPECT_EQ((*version)->FindTable("t")->flushed_through, 5u);
}

TEST(FileEditsTest, AListedCompactionReplacesAFileThatIsNotListed) {
  const auto table = DefinitionNamed(1, "t");
  const Listed listed({MakeFile(6, *table, {{KeyRange::All(), 1, 4}}, 4)});
  const auto version = listed.Add({MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2)});
  EXPECT_EQ(StackOf(version, "t"), "6[a z)");
}

TEST(FileEditsTest, ACompactionThatIsNotListedReplacesItsInputs) {
  const auto table = DefinitionNamed(1, "t");
  const Listed listed({MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
                       MakeFile(4, *table, {{KeyRange::All(), 3, 4}}, 4),
                       MakeFile(5, *table, {{KeyRange::All(), 7, 8}}, 8)});
  const FilePart output =
      OutputOf(KeyRange::All(), {{4, KeyRange::All(), 3, 4}, {3, KeyRange::All(), 1, 2}});
  const auto version = listed.Add({MakeFile(6, *table, {output}, 4)});
  EXPECT_EQ(StackOf(version, "t"), "5[a z) 6[a z)");
}

TEST(FileEditsTest, AListedFileWinsAgainstOneThatContradictsIt) {
  const auto table = DefinitionNamed(1, "t");
  const Listed listed({MakeFile(6, *table, {{KeyRange::All(), 1, 4}}, 4)});
  const auto version = listed.Add({MakeFile(7, *table, {{KeyRange::All(), 3, 6}}, 6)});
  EXPECT_EQ(StackOf(version, "t"), "6[a z)");
  EXPECT_EQ((*version)->FindTable("t")->flushed_through, 4u) << "the log has the others";
}

// The load has the commit after 2 that no other file of its rows has.
TEST(FileEditsTest, ABulkLoadIsBetweenTheFilesOfItsTime) {
  const auto table = DefinitionNamed(1, "t");
  const Listed listed({MakeFile(4, *table, {{KeyRange::All(), 1, 2}}, 2),
                       MakeFile(5, *table, {{KeyRange::All(), 3, 4}}, 4),
                       MakeFile(7, *table, {{KeyRange::All(), 6, 6}}, 6)});
  const auto version = listed.Add({MakeFile(6, *table, {{KeyRange::All(), 2, 2}})});
  EXPECT_EQ(StackOf(version, "t"), "7[a z) 6[a z) 5[a z) 4[a z)");
}

// A later edit lists it in one of them only.
TEST(FileEditsTest, AFileIsAddedToEachTabletOfItsRows) {
  const auto table = DefinitionNamed(1, "t");
  const FileWithEdit file = MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2);
  for (const bool is_listed : {false, true}) {
    Edit edit{.last_sequence = 2, .next_file_number = 4, .next_table_id = 2, .next_family_id = 2};
    edit.tables.push_back({.table_id = 1, .definition = table});
    edit.tables.back().tablets = {{.range = kFirstHalf, .stack = {}},
                                  {.range = kSecondHalf, .stack = {}}};
    if (is_listed) {
      edit.new_files.push_back(file.file);
      edit.tables.back().tablets[0].stack = {{3, KeyRange{"a", "m", false}, 1, 2}};
    }
    const auto version = AddFiles(**Apply(Version(), edit), {file}, {});
    EXPECT_EQ(StackOf(version, "t", 0), "3[a m)");
    EXPECT_EQ(StackOf(version, "t", 1), "3[m z)");
  }
}

TEST(FileEditsTest, AFileOfAnotherDatabaseIsNotAdded) {
  const auto table = DefinitionNamed(1, "t");
  const Listed listed({MakeFile(4, *table, {{KeyRange::All(), 1, 5}}, 5)});
  const auto version =
      listed.Add({MakeFile(9, *DefinitionNamed(1, "other", 5), {{KeyRange::All(), 6, 8}}, 8)});
  EXPECT_EQ(StackOf(version, "t"), "4[a z)");
}

}  // namespace
}  // namespace stele::internal
