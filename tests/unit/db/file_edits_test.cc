// Tests Versions that are made from the edits of SSTables: the order of files, what a compaction
// replaced, and edits that are not believed.
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

// The references of the table's tablet, newest first: "NUMBER[START END)".
std::string StackOf(const absl::StatusOr<std::shared_ptr<const Version>>& version,
                    const std::string& table) {
  if (!version.ok()) return version.status().ToString();
  const TableState* const found = (*version)->FindTable(table);
  if (found == nullptr) return "no table";
  std::string text;
  for (const SstableReference& reference : found->tablets[0].stack) {
    text += fmt::format("{}{}[{} {})", text.empty() ? "" : " ", reference.file->number,
                        reference.range->start, reference.range->end.substr(0, 1));
  }
  return text;
}

TEST(FileEditsTest, NewerCommitsAreAboveOlderOnes) {
  const auto table = DefinitionNamed(1, "t");
  const auto version = VersionFromFiles({MakeFile(9, *table, {{KeyRange::All(), 6, 8}}, 8),
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
      VersionFromFiles({MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
                        MakeFile(4, *table, {{KeyRange::All(), 3, 4}}, 4),
                        MakeFile(5, *table, {{KeyRange::All(), 5, 5}}, 5),
                        MakeFile(6, *table, {{KeyRange{"", "m", false}, 1, 4}}, 4)});
  EXPECT_EQ(StackOf(version, "t"), "5[a z) 6[a m) 4[m z) 3[m z)");
}

// A load has the newest commit before it. The compaction had that commit as an input, not the load.
TEST(FileEditsTest, ABulkLoadIsNotReplaced) {
  const auto table = DefinitionNamed(1, "t");
  const auto version = VersionFromFiles({MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
                                         MakeFile(4, *table, {{KeyRange::All(), 2, 2}}),
                                         MakeFile(5, *table, {{KeyRange::All(), 1, 2}}, 2)});
  EXPECT_EQ(StackOf(version, "t"), "4[a z) 5[a z)");
}

TEST(FileEditsTest, ABulkLoadReplacesNothing) {
  const auto table = DefinitionNamed(1, "t");
  const auto version = VersionFromFiles({MakeFile(3, *table, {{KeyRange::All(), 2, 2}}, 2),
                                         MakeFile(4, *table, {{KeyRange::All(), 2, 2}})});
  EXPECT_EQ(StackOf(version, "t"), "4[a z) 3[a z)");
}

TEST(FileEditsTest, InputsThatAreLeftAreNotRead) {
  const auto table = DefinitionNamed(1, "t");
  const auto version = VersionFromFiles({MakeFile(3, *table, {{KeyRange::All(), 1, 2}}, 2),
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
      VersionFromFiles({MakeFile(3, *DefinitionNamed(1, "t", 7), {{KeyRange::All(), 1, 2}}, 2),
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
  for (const FileWithEdit& file : {of_another, dropping, two_tables, nameless})
    EXPECT_FALSE(NamesItsTable(file)) << file.file.number;
  EXPECT_FALSE(NamesItsTable({.file = {.number = 9}, .edit = {}}));
  EXPECT_TRUE(NamesItsTable(MakeFile(4, *table, {{KeyRange::All(), 1, 2}})));
}

}  // namespace
}  // namespace stele::internal
