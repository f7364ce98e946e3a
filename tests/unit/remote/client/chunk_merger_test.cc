// Tests merging chunks, given as protobuf text, into rows. A chunk that violates a rule is an
// error.
#include "remote/client/chunk_merger.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace stele::internal {
namespace {

using Lines = std::vector<std::string>;

std::string Text(const RowView& row) {
  std::string text(row.row_key());
  for (const CellView& cell : row.cells()) {
    text += " " + std::string(cell.family()) + ":" + std::string(cell.qualifier()) + "@" +
            std::to_string(cell.timestamp().micros()) + "=" + std::string(cell.value());
    for (const std::string& label : cell.labels()) text += "#" + label;
  }
  return row.is_last_piece() ? text : text + " ...";
}

// Returns the rows of one stream's chunks. An error comes last, as its code and the text after
// "rule that".
class Merge {
 public:
  explicit Merge(bool reversed = false, uint64_t piece_bytes = uint64_t{1} << 30)
      : merger(reversed, piece_bytes) {}

  Lines operator()(const Lines& chunks) {
    Lines lines;
    for (const std::string& text : chunks) {
      ChunkMerger::Chunk chunk;
      EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &chunk)) << text;
      const absl::StatusOr<bool> shown = merger.Add(&chunk);
      if (!shown.ok()) {
        lines.push_back(ErrorText(shown.status()));
        return lines;
      }
      if (*shown) lines.push_back(Text(merger.row()));
    }
    if (const absl::Status end = merger.EndStream(); !end.ok()) lines.push_back(ErrorText(end));
    return lines;
  }

  static std::string ErrorText(const absl::Status& status) {
    const std::string text(ToStd(status.message()));
    const size_t rule = text.find("rule that ");
    return absl::StatusCodeToString(status.code()) +
           (rule == std::string::npos ? "" : ": " + text.substr(rule + 10));
  }

  ChunkMerger merger;
};

Lines Rows(const Lines& chunks) { return Merge()(chunks); }

constexpr char kFirst[] =
    "row_key: 'a' family_name { value: 'f' } qualifier { value: 'q' } timestamp_micros: 2000 "
    "value: 'v'";

std::string First(const std::string& more = "", const std::string& row_key = "a") {
  return "row_key: '" + row_key +
         "' family_name { value: 'f' } qualifier { value: 'q' } timestamp_micros: 2000 value: "
         "'v' " +
         more;
}

TEST(ChunkMerger, ALeftOutFamilyAndColumnAreThoseBefore) {
  EXPECT_EQ(Rows({First(), "timestamp_micros: 1000 value: 'w' labels: 'l'",
                  "qualifier { value: 'r' } value: 'x'",
                  "family_name { value: 'g' } qualifier { value: '' } commit_row: true",
                  First("commit_row: true", "b")}),
            Lines({"a f:q@2000=v f:q@1000=w#l f:r@0=x g:@0=", "b f:q@2000=v"}));
  EXPECT_EQ(Rows({First(),
                  "row_key: 'a' family_name { value: 'f' } qualifier { value: 'q' } "
                  "timestamp_micros: 1000 commit_row: true"}),
            Lines({"a f:q@2000=v f:q@1000="}))
      << "everything may be said again";
  // Semantics row 69.
  EXPECT_EQ(Rows({First(), "commit_row: true"}), Lines({"a f:q@2000=v f:q@0="}))
      << "a commit alone is another cell";
}

TEST(ChunkMerger, AValueMayComeInParts) {
  EXPECT_EQ(
      Rows({First("value_size: 6"), "value: 'al' value_size: 6", "value: 'ues' commit_row: true"}),
      Lines({"a f:q@2000=values"}));
  EXPECT_EQ(Rows({First("value_size: 3"), "value: 'xy'", "value: 'w' commit_row: true"}),
            Lines({"a f:q@2000=vxy f:q@0=w"}));
}

TEST(ChunkMerger, AResetBeginsTheRowAnew) {
  EXPECT_EQ(Rows({First(), "reset_row: true", First("commit_row: true", "b")}),
            Lines({"b f:q@2000=v"}));
  EXPECT_EQ(Rows({First("value_size: 9"), "reset_row: true", First("commit_row: true")}),
            Lines({"a f:q@2000=v"}));
}

TEST(ChunkMerger, FamiliesStayInTheOrderOfTheServer) {
  EXPECT_EQ(Rows({First(), "family_name { value: 'e' } qualifier { value: 'z' } value: '1'",
                  "timestamp_micros: 5 value: '2' commit_row: true"}),
            Lines({"a f:q@2000=v e:z@5=2 e:z@0=1"}))
      << "within a family cells are in order whatever the server's is";
  EXPECT_EQ(
      Rows({First(), "family_name { value: 'e' } qualifier { value: 'z' } value: '1'",
            "family_name { value: 'f' } qualifier { value: 'p' } value: '2' commit_row: true"}),
      Lines({"a f:p@0=2 f:q@2000=v e:z@0=1"}))
      << "a family's cells stand together";
}

TEST(ChunkMerger, BrokenRulesAreErrors) {  // semantics rows 70 and 71
  const auto error = [](const Lines& chunks) { return Rows(chunks).back(); };
  EXPECT_EQ(error({"family_name { value: 'f' } qualifier { value: 'q' }"}),
            "INTERNAL: a row begins with its key");
  EXPECT_EQ(error({"row_key: 'a' qualifier { value: 'q' }"}),
            "INTERNAL: a row begins with a family and a qualifier");
  EXPECT_EQ(error({"row_key: 'a' family_name { value: 'f' }"}),
            "INTERNAL: a row begins with a family and a qualifier");
  EXPECT_EQ(error({First(), "family_name { value: 'g' } value: 'x'"}),
            "INTERNAL: a family comes with a qualifier");
  EXPECT_EQ(error({First(), First("", "b")}), "INTERNAL: a row ends before the next begins");
  EXPECT_EQ(error({First("commit_row: true"), First("commit_row: true")}),
            "INTERNAL: row keys are in order");
  EXPECT_EQ(error({First("commit_row: true", "b"), First("commit_row: true")}),
            "INTERNAL: row keys are in order");
  EXPECT_EQ(error({First("commit_row: true", "b"), First("commit_row: true", "ba"), First()}),
            "INTERNAL: row keys are in order");
  EXPECT_EQ(error({"reset_row: true"}), "INTERNAL: only a row that has begun is reset");
  EXPECT_EQ(error({First(), "value: 'x' reset_row: true"}), "INTERNAL: a reset comes alone");
  EXPECT_EQ(error({First("value_size: 3 commit_row: true")}),
            "INTERNAL: a row does not end within a value");
  EXPECT_EQ(error({First("value_size: 3"), "value: 'a' value_size: 4"}),
            "INTERNAL: a value's length does not change");
  EXPECT_EQ(error({First("value_size: 3"), "value: 'abc'"}),
            "INTERNAL: a value is not longer than announced");
  EXPECT_EQ(error({First("value_size: 3"), "value: 'a'"}),
            "INTERNAL: a value is as long as announced");
  EXPECT_EQ(error({First("value_size: 3"), "value: 'ab' timestamp_micros: 1"}),
            "INTERNAL: the next chunk of a value has only the value");
  EXPECT_EQ(error({First("value_size: -1")}), "INTERNAL: a value's length is not negative");
  EXPECT_EQ(error({First("value_size: 268435456")}),
            "INTERNAL: a stream does not end within a row");
  EXPECT_EQ(error({First("value_size: 268435457")}),
            "INTERNAL: a value is not longer than the limit of a table");
  EXPECT_EQ(error({First()}), "INTERNAL: a stream does not end within a row");
}

TEST(ChunkMerger, ReversedRowsDescend) {
  EXPECT_EQ(Merge(true)({First("commit_row: true", "b"), First("commit_row: true")}),
            Lines({"b f:q@2000=v", "a f:q@2000=v"}));
  EXPECT_EQ(Merge(true)({First("commit_row: true"), First("commit_row: true", "b")}).back(),
            "INTERNAL: row keys are in order");
}

TEST(ChunkMerger, ALargeRowComesInPieces) {
  Merge merge(false, 4);
  EXPECT_EQ(merge({First(), "timestamp_micros: 1000 value: 'w'",
                   "qualifier { value: 'r' } value: 'long value'", "value: 'x' commit_row: true"}),
            Lines({"a f:q@2000=v f:q@1000=w ...", "a f:r@0=long value ...", "a f:r@0=x"}));
  EXPECT_EQ(merge.merger.last_row_key(), "a");
}

TEST(ChunkMerger, NamesAndLabelsArePartOfAPiece) {
  const std::string name(100, 'n');
  EXPECT_EQ(Merge(false, 100)({First(), "labels: '" + name + "'", "commit_row: true"}).size(), 2u);
  EXPECT_EQ(Merge(false, 100)(
                {First(), "family_name { value: '" + name + "' } qualifier {}", "commit_row: true"})
                .size(),
            2u);
  EXPECT_EQ(Merge(false, 100)({First(), "timestamp_micros: 1", "commit_row: true"}).size(), 1u);
}

TEST(ChunkMerger, ManySmallCellsArePiecesToo) {
  Lines chunks = {First()};
  for (int i = 1; i < 300; ++i) chunks.push_back("timestamp_micros: " + std::to_string(1000 - i));
  chunks.push_back("commit_row: true");
  EXPECT_EQ(Merge(false, 257 * 128)(chunks).size(), 2u);
}

TEST(ChunkMerger, ARowThatWasCutOffComesAgainUnlessPiecesOfItWereShown) {
  Merge merge;
  EXPECT_EQ(merge({First("commit_row: true"), First("value_size: 9", "b")}).size(), 2u);
  EXPECT_TRUE(merge.merger.BeginStream().ok());
  EXPECT_EQ(merge.merger.last_row_key(), "a");
  EXPECT_EQ(merge({First("commit_row: true", "b")}), Lines({"b f:q@2000=v"}));
  Merge pieces(false, 1);
  EXPECT_EQ(pieces({kFirst}).front(), "a f:q@2000=v ...");
  EXPECT_TRUE(absl::IsAborted(pieces.merger.BeginStream()));
  EXPECT_EQ(pieces({"reset_row: true"}).back(), "ABORTED");
}

TEST(ChunkMerger, AServerMayTellHowFarItCame) {
  Merge merge;
  EXPECT_TRUE(merge.merger.SkipTo("m").ok());
  EXPECT_EQ(merge.merger.last_row_key(), "m");
  EXPECT_FALSE(merge.merger.SkipTo("b").ok());
  EXPECT_EQ(merge({First("commit_row: true")}).back(), "INTERNAL: row keys are in order");
  EXPECT_FALSE(merge({First("", "z")}).empty());
  EXPECT_FALSE(merge.merger.SkipTo("zz").ok()) << "a row is in progress";
}

}  // namespace
}  // namespace stele::internal
