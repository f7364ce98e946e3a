// Tests the requests of a design's queries, and the rows that they read.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "stele/lab/design.h"
#include "stele/stele.h"
#include "support/base_text_cases.h"

namespace stele::internal::lab {
namespace {

using stele::lab::Design;
using stele::lab::ReadAll;
using stele::lab::ReadRequest;

constexpr char kDesign[] =
    "stele: design/1\n"
    "inputs: {in: {file: in.csv}}\n"
    "tables:\n"
    "  t:\n"
    "    families: {f: {}, g: {}}\n"
    "    key: \"{k}#{a|or:x}\"\n"
    "    rows: [{input: in, when: {w: yes}, timestamp: \"{t}\",\n"
    "            cells: {\"f:{q}\": \"{v}\"}}]\n"
    "    queries: {";

// Reads \xNN.
std::string BytesOf(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\\x") {
      bytes += static_cast<char>(std::stoi(std::string(text.substr(i + 2, 2)), nullptr, 16));
      i += 3;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

std::string TextOf(const ReadRequest& request) {
  std::string text;
  for (const std::string& key : request.rows.row_keys())
    text += fmt::format("row \"{}\" ", Printable(key));
  for (const RowRange& range : request.rows.ranges()) text += range.ToString() + " ";
  if (!(request.filter == Filter::PassAll()))
    text += fmt::format("filter {} ", request.filter.ToString());
  if (request.limit > 0) text += fmt::format("limit {} ", request.limit);
  if (request.reverse) text += "reverse ";
  if (!request.bucket.empty())
    text += fmt::format("bucket {}@{} ", request.bucket, request.bucket_offset);
  text.back() = '\n';
  return text;
}

std::string ErrorText(const absl::Status& status) {
  return fmt::format("error: {}\n", ToStd(status.message()));
}

// The first line of the input is the query, and the others are the fields of the record.
absl::StatusOr<std::vector<ReadRequest>> Requests(const TextCase& test) {
  STELE_ASSIGN_OR_RETURN(const Design design,
                         Design::Parse(kDesign + test.input[0] + "}\n", "d.yaml"));
  Design::Record record;
  for (size_t i = 1; i < test.input.size(); ++i) {
    const size_t equals = test.input[i].find('=');
    record.emplace(test.input[i].substr(0, equals), BytesOf(test.input[i].substr(equals + 1)));
  }
  return design.Read("t", design.queries("t")[0], record);
}

// A table with these rows, each with the cells f:a = 1, f:b = 2 and g:a = 3.
Table TableWith(const std::string& keys) {
  Database database = Database::Open("mem:").value();
  Schema schema;
  schema.AddFamily("f").AddFamily("g");
  Table table = database.CreateTable("t", schema).value();
  for (size_t begin = 0; begin < keys.size();) {
    const size_t end = std::min(keys.find(',', begin), keys.size());
    const RowMutation row = RowMutation(BytesOf(keys.substr(begin, end - begin)))
                                .SetCell("f", "a", Timestamp::FromMicros(1000), "1")
                                .SetCell("f", "b", Timestamp::FromMicros(1000), "2")
                                .SetCell("g", "a", Timestamp::FromMicros(1000), "3");
    EXPECT_TRUE(table.Apply(row).ok());
    begin = end + 1;
  }
  return table;
}

std::string RowsOf(const TextCase& test) {
  const auto requests = Requests(test);
  if (!requests.ok()) return ErrorText(requests.status());
  std::string text;
  const auto stats =
      ReadAll(TableWith(test.value("table")), *requests, {}, [&](const RowView& row) {
        text += fmt::format("\"{}\"", Printable(row.row_key()));
        for (const CellView& cell : row.cells())
          text += fmt::format(" {}:{}", cell.family(), cell.qualifier());
        text += "\n";
      });
  return stats.ok() ? text + "end\n" : text + ErrorText(stats.status());
}

std::string RunQueryCase(const TextCase& test) {
  if (test.command == "rows") return RowsOf(test);
  const auto requests = Requests(test);
  if (!requests.ok()) return ErrorText(requests.status());
  std::string text;
  for (const ReadRequest& request : *requests) text += TextOf(request);
  return text;
}

TEST(QueryTest, TextCases) { RunTextCases("lab/queries.txt", RunQueryCase); }

TEST(QueryTest, NamesTheInputThatItWrites) {
  const auto design = Design::Parse(
      std::string(kDesign) + "q: {read: {row: \"{a}\"}}, w: {write: in}}\n", "d.yaml");
  ASSERT_TRUE(design.ok()) << design.status();
  EXPECT_EQ(*design->WrittenInput("t", "q"), "");
  EXPECT_EQ(*design->WrittenInput("t", "w"), "in");
  for (const auto& [table, query] : {std::pair("t", "x"), std::pair("u", "q")}) {
    EXPECT_EQ(design->WrittenInput(table, query).status().code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(design->Read(table, query, {}).status().code(), absl::StatusCode::kNotFound);
  }
}

// A row in pieces counts as one row of the limit, and its pieces stay together.
TEST(QueryTest, MergesRowsInPieces) {
  const Table table = TableWith("0#a,1#a,0#b,1#b");
  const auto design = Design::Parse(
      std::string(kDesign) + "q: {read: {prefix: \"{@bucket}#\", fan_out: 2, limit: 3}}}\n", "d");
  ASSERT_TRUE(design.ok()) << design.status();
  std::string text;
  const auto stats =
      ReadAll(table, *design->Read("t", "q", {}), {.row_piece_bytes = 1}, [&](const RowView& row) {
        text.append(row.row_key()).append(row.is_last_piece() ? ". " : " ");
      });
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(text, "0#a 0#a 0#a. 1#a 1#a 1#a. 0#b 0#b 0#b. ");
  EXPECT_GE(stats->cells_seen, 9U);
}

TEST(QueryTest, ReportsErrorsOfTheTable) {
  const Table table = TableWith("a");
  const std::vector<ReadRequest> wrong = {
      {.rows = RowSet::All(), .filter = Filter::Column("h", "a")},
      {.rows = RowSet::All(), .filter = Filter::RowKeyRegex("(")}};
  EXPECT_FALSE(ReadAll(table, wrong, {}, [](const RowView&) {}).ok());
  EXPECT_FALSE(ReadAll(table, {wrong[1]}, {}, [](const RowView&) {}).ok());
  EXPECT_TRUE(ReadAll(table, {}, {}, [](const RowView&) { ADD_FAILURE(); }).ok());
}

}  // namespace
}  // namespace stele::internal::lab
