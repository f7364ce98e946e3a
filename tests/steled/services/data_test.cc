// Tests the cases for rows with a generated client and a running server. Numbers are those of
// docs/reference/semantics.md.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <limits>

#include "stele/row.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

using Rows = std::vector<std::string>;
using grpc::StatusCode;

class DataTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    table_ = NewTable();
  }

  grpc::Status Set(const std::string& row_key, const std::string& column, int64_t micros,
                   const std::string& value) {
    return client().Set(table_, row_key, column, micros, value);
  }
  StatusCode Mutate(const std::string& row_key, const Rows& mutations) {
    return client().Mutate(table_, row_key, mutations).error_code();
  }
  Rows Read(const std::string& request = "") { return client().Read(table_, request); }

  std::string CheckAndMutate(const std::string& row_key, const std::string& text) {
    grpc::ClientContext context;
    google::bigtable::v2::CheckAndMutateRowRequest request;
    Parse(text, &request);
    request.set_table_name(Client::TableName(table_));
    request.set_row_key(row_key);
    google::bigtable::v2::CheckAndMutateRowResponse response;
    const grpc::Status status = client().data().CheckAndMutateRow(&context, request, &response);
    if (!status.ok()) return "[" + std::to_string(status.error_code()) + "]";
    return response.predicate_matched() ? "matched" : "not matched";
  }

  // Returns "f:q=value" for each cell of the response; values of eight bytes as numbers.
  std::string ReadModifyWrite(const std::string& row_key, const std::string& text) {
    grpc::ClientContext context;
    google::bigtable::v2::ReadModifyWriteRowRequest request;
    Parse(text, &request);
    request.set_table_name(Client::TableName(table_));
    request.set_row_key(row_key);
    google::bigtable::v2::ReadModifyWriteRowResponse response;
    const grpc::Status status = client().data().ReadModifyWriteRow(&context, request, &response);
    if (!status.ok()) return "[" + std::to_string(status.error_code()) + "]";
    std::string result;
    for (const auto& family : response.row().families()) {
      for (const auto& column : family.columns()) {
        for (const auto& cell : column.cells())
          result += family.name() + ":" + column.qualifier() + "=" + ValueText(cell.value()) + " ";
      }
    }
    return result;
  }

  std::string table_;

 private:
  static std::string ValueText(const std::string& value) {
    if (value.size() != 8) return value;
    uint64_t number = 0;
    for (const char c : value) number = (number << 8) | static_cast<unsigned char>(c);
    return std::to_string(static_cast<int64_t>(number));
  }
};

TEST_F(DataTest, Row001And009And010UnsetTimestampIsZeroAndEmptyBytesAreCells) {
  EXPECT_EQ(Mutate("r", {"set_cell { family_name: 'f' value: 'x' }"}), StatusCode::OK);
  EXPECT_EQ(Read(), Rows({"r f:@0=x"}));
  EXPECT_TRUE(Set("r", "f:", 0, "").ok());
  EXPECT_EQ(Read(), Rows({"r f:@0="}));
}

TEST_F(DataTest, Row002ServerTimeIsOfWholeMilliseconds) {
  ASSERT_TRUE(Set("r", "f:a", -1, "x").ok());
  const Rows rows = Read();
  ASSERT_EQ(rows.size(), 1u);
  const int64_t micros = std::stoll(rows[0].substr(rows[0].find('@') + 1));
  EXPECT_EQ(micros % 1000, 0);
  EXPECT_GT(micros, int64_t{1'600'000'000'000'000});
}

TEST_F(DataTest, Row003To007Timestamps) {
  for (const int64_t wrong :
       {int64_t{-2}, int64_t{-1000}, int64_t{1001}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(Set("r", "f:a", wrong, "x").error_code(), StatusCode::INVALID_ARGUMENT) << wrong;
  }
  EXPECT_EQ(Read(), Rows({}));
  EXPECT_EQ(Mutate("r", {"set_cell { family_name: 'f' timestamp_micros: 1234567 } "
                         "timestamp_origin: CLIENT_AUTO_GENERATED"}),
            StatusCode::OK);
  EXPECT_TRUE(Set("r", "f:", 9'223'372'036'854'775'000, "last").ok());
  EXPECT_EQ(Read(), Rows({"r f:@9223372036854775000=last f:@1234000="}));
}

TEST_F(DataTest, Row011To017KeysAndMutationsAreChecked) {
  EXPECT_TRUE(Set(std::string(4096, 'k'), "f:a", 0, "x").ok());
  EXPECT_EQ(Set(std::string(4097, 'k'), "f:a", 0, "x").error_code(), StatusCode::INVALID_ARGUMENT);
  const grpc::Status empty_key = Set("", "f:a", 0, "x");
  EXPECT_EQ(empty_key.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(empty_key.error_message(), "Row keys must be non-empty");
  const grpc::Status no_mutation = client().Mutate(table_, "r", {});
  EXPECT_EQ(no_mutation.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(no_mutation.error_message(), "No mutations provided");
  EXPECT_EQ(Mutate("r", {""}), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(CheckAndMutate("", "true_mutations { delete_from_row {} }"), "[3]");
  EXPECT_EQ(ReadModifyWrite("", "rules { family_name: 'f' append_value: 'x' }"), "[3]");
}

TEST_F(DataTest, Row018And019AnUnknownFamilyLeavesTheRowUnchanged) {
  const grpc::Status status = client().Mutate(
      table_, "r",
      {"set_cell { family_name: 'f' value: 'x' }", "set_cell { family_name: 'none' }"});
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "Error while mutating the row 'r' (" +
                                        Client::TableName(table_) +
                                        ") : Requested column family not found.");
  EXPECT_EQ(Read(), Rows({}));
  EXPECT_EQ(client().Mutate("none", "r", {"delete_from_row {}"}).error_code(),
            StatusCode::NOT_FOUND);
}

TEST_F(DataTest, Row021And022ALaterChangeMasksAnEarlierWhateverItsTimestamp) {
  EXPECT_EQ(Mutate("r", {"set_cell { family_name: 'f' column_qualifier: 'a' value: '1' }",
                         "delete_from_row {}",
                         "set_cell { family_name: 'f' column_qualifier: 'b' timestamp_micros: 1000 "
                         "value: '2' }"}),
            StatusCode::OK);
  EXPECT_EQ(Read(), Rows({"r f:b@1000=2"}));
  EXPECT_EQ(Mutate("r", {"delete_from_column { family_name: 'f' column_qualifier: 'b' }"}),
            StatusCode::OK);
  EXPECT_TRUE(Set("r", "f:b", 0, "older").ok());
  EXPECT_EQ(Read(), Rows({"r f:b@0=older"}));
}

TEST_F(DataTest, Row023To029Deletions) {
  for (const int64_t micros : {1000, 2000, 3000, 4000})
    ASSERT_TRUE(Set("r", "f:a", micros, "v").ok());
  const auto erase = [this](const std::string& range) {
    return Mutate(
        "r", {"delete_from_column { family_name: 'f' column_qualifier: 'a' time_range { " + range +
              " } }"});
  };
  EXPECT_EQ(erase("start_timestamp_micros: 3000 end_timestamp_micros: 3000"),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(erase("start_timestamp_micros: 3000 end_timestamp_micros: 2000"),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(erase("start_timestamp_micros: 2500"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(erase("start_timestamp_micros: 2000 end_timestamp_micros: 3000"), StatusCode::OK);
  EXPECT_EQ(Read(), Rows({"r f:a@4000=v f:a@3000=v f:a@1000=v"}));
  EXPECT_EQ(erase(""), StatusCode::OK);
  EXPECT_EQ(Read(), Rows({}));
  EXPECT_EQ(Mutate("absent", {"delete_from_row {}"}), StatusCode::OK);
  EXPECT_EQ(Mutate("absent", {"delete_from_family { family_name: 'g' }"}), StatusCode::OK);
  EXPECT_EQ(Mutate("absent", {"delete_from_family { family_name: 'none' }"}),
            StatusCode::NOT_FOUND);
}

TEST_F(DataTest, Row030ARowWithoutCellsIsNoRow) {
  ASSERT_TRUE(Set("a", "f:a", 0, "x").ok());
  ASSERT_TRUE(Set("b", "f:a", 0, "x").ok());
  EXPECT_EQ(Mutate("a", {"delete_from_column { family_name: 'f' column_qualifier: 'a' }"}),
            StatusCode::OK);
  EXPECT_EQ(Read("rows_limit: 1"), Rows({"b f:a@0=x"}));
  EXPECT_EQ(CheckAndMutate("a", "true_mutations { delete_from_row {} }"), "not matched");
}

// Returns the codes of the entries, in order; "[N]" for the code of the call.
std::string MutateRows(Client* client, const std::string& table, const std::string& text) {
  grpc::ClientContext context;
  google::bigtable::v2::MutateRowsRequest request;
  Parse(text, &request);
  request.set_table_name(Client::TableName(table));
  const auto reader = client->data().MutateRows(&context, request);
  google::bigtable::v2::MutateRowsResponse message;
  std::string codes(static_cast<size_t>(request.entries_size()), '?');
  while (reader->Read(&message)) {
    for (const auto& entry : message.entries()) {
      char& code = codes.at(static_cast<size_t>(entry.index()));
      EXPECT_EQ(code, '?') << "an index comes once";
      code = static_cast<char>('0' + entry.status().code());
    }
  }
  const grpc::Status status = reader->Finish();
  return status.ok() ? codes : "[" + std::to_string(status.error_code()) + "]";
}

TEST_F(DataTest, Row031To035EntriesHaveAVerdictEach) {
  const std::string good = "mutations { set_cell { family_name: 'f' value: 'v' } }";
  EXPECT_EQ(MutateRows(&client(), table_, ""), "[3]");
  EXPECT_EQ(MutateRows(&client(), table_,
                       "entries { row_key: 'a' " + good + " } entries { row_key: 'b' }"),
            "[3]");
  EXPECT_EQ(Read(), Rows({})) << "an entry wrong in its form refuses all";
  EXPECT_EQ(MutateRows(&client(), "none", "entries { row_key: 'a' " + good + " }"), "[5]");
  EXPECT_EQ(MutateRows(&client(), table_,
                       "entries { row_key: 'a' " + good +
                           " } entries { row_key: 'b' mutations { set_cell { family_name: 'none' } "
                           "} } entries { row_key: 'c' " +
                           good + " }"),
            "050");
  EXPECT_EQ(Read(), Rows({"a f:@0=v", "c f:@0=v"}));
  EXPECT_EQ(
      MutateRows(
          &client(), table_,
          "entries { row_key: 'a' " + good +
              " } entries { row_key: 'a' mutations { delete_from_row {} } } entries { row_key: 'a' "
              "mutations { set_cell { family_name: 'g' value: '3' } } }"),
      "000");
  EXPECT_EQ(Read("rows { row_keys: 'a' }"), Rows({"a g:@0=3"}));
}

TEST_F(DataTest, Row037To043CheckAndMutate) {
  ASSERT_TRUE(Set("r", "f:a", 1000, "x").ok());
  const std::string set = "set_cell { family_name: 'g' column_qualifier: 'hit' value: '1' }";
  EXPECT_EQ(CheckAndMutate("r", "false_mutations { " + set + " }"), "matched");
  EXPECT_EQ(Read(), Rows({"r f:a@1000=x"})) << "row 38: nothing to do is done";
  EXPECT_EQ(CheckAndMutate("r", ""), "[3]") << "row 39";
  EXPECT_EQ(CheckAndMutate(
                "r", "predicate_filter { pass_all_filter: false } true_mutations { " + set + " }"),
            "[3]");
  EXPECT_EQ(CheckAndMutate(
                "r", "predicate_filter { value_regex_filter: '(' } true_mutations { " + set + " }"),
            "[3]")
      << "row 42";
  EXPECT_EQ(CheckAndMutate("r",
                           "true_mutations { delete_from_family { family_name: 'g' } } "
                           "false_mutations { set_cell { family_name: 'none' } }"),
            "matched")
      << "row 43: the families of the branch that is not taken do not matter";
  EXPECT_EQ(CheckAndMutate(
                "r", "false_mutations { set_cell { timestamp_micros: -5 } } true_mutations { " +
                         set + " }"),
            "[3]");
  EXPECT_EQ(CheckAndMutate("r", "true_mutations { " + set + " }"), "matched");
  EXPECT_EQ(CheckAndMutate("absent", "false_mutations { " + set + " }"), "not matched");
  EXPECT_EQ(Read(), Rows({"absent g:hit@0=1", "r f:a@1000=x g:hit@0=1"}));
}

TEST_F(DataTest, Row045To054ReadModifyWrite) {
  const std::string number = "rules { family_name: 'f' column_qualifier: 'n' increment_amount: ";
  EXPECT_EQ(ReadModifyWrite("r", number + "0 }"), "f:n=0 ");
  EXPECT_EQ(ReadModifyWrite("r", number + "9223372036854775807 }"), "f:n=9223372036854775807 ");
  EXPECT_EQ(ReadModifyWrite("r", number + "1 }"), "f:n=-9223372036854775808 ") << "row 46";
  ASSERT_TRUE(Set("short", "f:n", 0, "abc").ok());
  EXPECT_EQ(ReadModifyWrite("short", number + "1 }"), "[9]") << "row 47";
  EXPECT_EQ(ReadModifyWrite("r",
                            "rules { family_name: 'g' column_qualifier: 'q' append_value: 'y' } "
                            "rules { family_name: 'g' column_qualifier: 'q' append_value: 'z' } "
                            "rules { family_name: 'f' column_qualifier: "
                            "'a' append_value: 'w' }"),
            "f:a=w g:q=yz ")
      << "rows 49 and 54";
  ASSERT_TRUE(Set("future", "f:n", 9'000'000'000'000'000'000, "1").ok());
  EXPECT_EQ(ReadModifyWrite("future",
                            "rules { family_name: 'f' column_qualifier: 'n' append_value: '2' }"),
            "f:n=12 ");
  EXPECT_EQ(Read("rows { row_keys: 'future' }"), Rows({"future f:n@9000000000000000000=12"}))
      << "row 50";
  ASSERT_TRUE(Set("past", "f:n", 1000, "1").ok());
  EXPECT_EQ(
      ReadModifyWrite("past", "rules { family_name: 'f' column_qualifier: 'n' append_value: '2' }"),
      "f:n=12 ");
  EXPECT_NE(Read("rows { row_keys: 'past' }").at(0).find("f:n@1000=1"), std::string::npos)
      << "row 51";
  EXPECT_EQ(ReadModifyWrite("r", ""), "[3]") << "row 53";
  EXPECT_EQ(ReadModifyWrite("r", "rules { family_name: 'none' increment_amount: 1 }"), "[5]");
  EXPECT_EQ(ReadModifyWrite("r", "rules { family_name: 'f' }"), "[3]");
}

TEST_F(DataTest, Row055To062RowSets) {
  for (const char* const row_key : {"a", "b", "c", "d", "e"})
    ASSERT_TRUE(Set(row_key, "f:", 0, "").ok());
  const auto keys = [this](const std::string& rows) {
    std::string found;
    for (const std::string& row : Read("rows { " + rows + " }"))
      found += row.substr(0, row.find(' '));
    return found;
  };
  EXPECT_EQ(Read().size(), 5u);
  EXPECT_EQ(keys(""), "abcde");
  EXPECT_EQ(keys("row_ranges {}"), "abcde");
  EXPECT_EQ(
      keys("row_keys: 'e' row_keys: 'b' row_ranges { start_key_closed: 'a' end_key_closed: 'c' } "
           "row_ranges { start_key_closed: 'b' end_key_open: 'd' }"),
      "abce");
  EXPECT_EQ(keys("row_ranges { start_key_open: 'b' end_key_open: 'd' }"), "c");
  EXPECT_EQ(keys("row_ranges { start_key_closed: 'b' end_key_closed: 'd' }"), "bcd");
  EXPECT_EQ(keys("row_ranges { start_key_closed: 'b' end_key_closed: 'b' }"), "b");
  EXPECT_EQ(keys("row_ranges { start_key_closed: 'd' end_key_open: 'b' }"), "[3]");
  EXPECT_EQ(keys("row_ranges { start_key_open: '' }"), "abcde");
  EXPECT_EQ(keys("row_ranges { start_key_closed: 'c' end_key_open: '' }"), "cde");
  EXPECT_EQ(keys("row_keys: ''"), "[3]");
  EXPECT_EQ(keys("row_keys: 'x'"), "");
}

TEST_F(DataTest, Row065And066LimitReverseAndStats) {
  for (const char* const row_key : {"a", "b", "c"}) {
    ASSERT_TRUE(Set(row_key, "f:a", 1000, "1").ok());
    ASSERT_TRUE(Set(row_key, "f:a", 2000, "2").ok());
  }
  EXPECT_EQ(Read("reversed: true rows_limit: 2"),
            Rows({"c f:a@2000=2 f:a@1000=1", "b f:a@2000=2 f:a@1000=1"}));
  EXPECT_EQ(Read("rows_limit: -1"), Rows({"[3]"}));
  google::bigtable::v2::ReadRowsResponse last;
  client().Read(
      table_, "request_stats_view: REQUEST_STATS_FULL filter { cells_per_column_limit_filter: 1 }",
      &last);
  const auto& stats = last.request_stats().full_read_stats_view().read_iteration_stats();
  EXPECT_EQ(stats.rows_returned_count(), 3);
  EXPECT_EQ(stats.cells_returned_count(), 3);
  EXPECT_GE(stats.rows_seen_count(), 3);
  EXPECT_TRUE(last.chunks().empty());
}

TEST_F(DataTest, AWrongFilterIsRefusedEvenWhereThereIsNoRow) {
  EXPECT_EQ(Read("filter { cells_per_row_offset_filter: -1 }"), Rows({"[3]"})) << "row 102";
  EXPECT_EQ(Read("filter { pass_all_filter: false }"), Rows({"[3]"})) << "row 77";
  EXPECT_EQ(Read("filter { row_key_regex_filter: '' }"), Rows({"[3]"})) << "row 86";
  EXPECT_EQ(Read("filter { family_name_regex_filter: '(?:f)' }"), Rows({"[3]"})) << "row 87";
  EXPECT_EQ(Read("filter { row_sample_filter: 1 }"), Rows({"[3]"})) << "row 103";
  EXPECT_EQ(Read("filter { timestamp_range_filter { start_timestamp_micros: 1001 } }"),
            Rows({"[3]"}))
      << "row 99";
  EXPECT_EQ(Read("filter { chain { filters { pass_all_filter: true } } }"), Rows({"[3]"}));
  EXPECT_EQ(client().Read("none"), Rows({"[5]"}));
}

// At any depth; the last one is about as deep as possible without being too large.
TEST_F(DataTest, AFilterThatIsNestedTooDeepIsRefusedAsThat) {
  for (const int depth : {21, 48, 49, 60, 3'200}) {
    google::bigtable::v2::ReadRowsRequest request;
    request.set_table_name(Client::TableName(table_));
    google::bigtable::v2::RowFilter* filter = request.mutable_filter();
    for (int i = 0; i < depth; ++i) filter = filter->mutable_interleave()->add_filters();
    grpc::ClientContext context;
    const grpc::Status status = client().data().ReadRows(&context, request)->Finish();
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << depth;
    EXPECT_EQ(status.error_message(), "Filters may be nested at most 20 deep") << depth;
  }
  std::string predicate = "pass_all_filter: true";
  for (int i = 0; i < 60; ++i) predicate = "interleave { filters { " + predicate + " } }";
  EXPECT_EQ(CheckAndMutate("r", "predicate_filter { " + predicate +
                                    " } true_mutations { delete_from_row {} }"),
            "[3]");
}

TEST_F(DataTest, Row075To111FiltersOfOneRow) {
  ASSERT_TRUE(Set("F", "f:a", 2000, "y\nz").ok());
  ASSERT_TRUE(Set("F", "f:a", 1000, "x").ok());
  ASSERT_TRUE(Set("F", "f:b", 1000, "x").ok());
  ASSERT_TRUE(Set("F", "f:b\n", 3000, "").ok());
  ASSERT_TRUE(Set("F", "g:a", 1000, std::string("\0\xff", 2)).ok());
  ASSERT_TRUE(Set("F", "g:c", 5000, "xx").ok());
  const auto cells = [this](const std::string& filter) -> int {
    int count = 0;
    for (const std::string& row : Read("filter { " + filter + " }")) {
      if (row == "[3]") return -3;
      for (const char c : row) count += c == '@' ? 1 : 0;
    }
    return count;
  };
  const std::string both = "interleave { filters {} filters {} }";
  EXPECT_EQ(cells(""), 6) << "row 75";
  EXPECT_EQ(cells(both), 12) << "row 78";
  EXPECT_EQ(
      cells("chain { filters { " + both + " } filters { cells_per_column_limit_filter: 1 } }"), 5)
      << "row 79";
  EXPECT_EQ(cells("chain { filters { apply_label_transformer: 'a' } filters { "
                  "apply_label_transformer: 'b' } }"),
            -3)
      << "row 83";
  EXPECT_EQ(cells("apply_label_transformer: 'ABC'"), -3) << "row 82";
  EXPECT_EQ(cells("row_key_regex_filter: 'G|F'"), 6) << "row 85";
  EXPECT_EQ(cells("value_regex_filter: '.*'"), 5) << "row 89";
  EXPECT_EQ(cells("value_regex_filter: '[^a]*'"), 6) << "row 90";
  EXPECT_EQ(cells("value_regex_filter: ''"), 1) << "row 91";
  EXPECT_EQ(cells("value_range_filter { end_value_open: '' }"), 0) << "row 95";
  EXPECT_EQ(cells("value_range_filter { end_value_closed: '' }"), 1) << "row 95";
  EXPECT_EQ(cells("column_range_filter { family_name: 'f' end_qualifier_open: '' }"), 0)
      << "row 97";
  EXPECT_EQ(
      cells("timestamp_range_filter { start_timestamp_micros: 1000 end_timestamp_micros: 2000 }"),
      3)
      << "row 98";
  EXPECT_EQ(cells("timestamp_range_filter { start_timestamp_micros: 2000 }"), 3) << "row 98";
  EXPECT_EQ(cells("cells_per_row_offset_filter: 0"), 6) << "row 101";
  EXPECT_EQ(cells("cells_per_row_offset_filter: 100"), 0) << "row 101";
  EXPECT_EQ(cells("condition { predicate_filter { sink: true } true_filter {} }"), -3) << "row 106";
  EXPECT_EQ(cells("chain { filters { sink: true } filters { block_all_filter: true } }"), 6)
      << "row 107";
  EXPECT_EQ(Read("filter { chain { filters { cells_per_row_offset_filter: 1 } filters { "
                 "cells_per_row_limit_filter: 2 } } }"),
            Rows({"F f:a@1000=x f:b@1000=x"}))
      << "row 111";
  EXPECT_EQ(
      Read("filter { condition { predicate_filter { value_regex_filter: 'xx' } true_filter { chain "
           "{ filters { "
           "strip_value_transformer: true } filters { family_name_regex_filter: 'g' } } } } }"),
      Rows({"F g:a@1000= g:c@5000="}))
      << "row 105";
  EXPECT_EQ(Read("filter { chain { filters { column_qualifier_regex_filter: 'c' } filters { "
                 "apply_label_transformer: 'l-1' } } }"),
            Rows({"F g:c@5000=xx#l-1"}));
}

TEST_F(DataTest, LargeRowsComeWholeOrInParts) {
  const std::string large(20'000'000, 'L');
  ASSERT_TRUE(Set("big", "f:v", 1000, large).ok());
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(Set("wide", "f:" + std::to_string(i), 1000, std::string(600'000, 'w')).ok());
  ASSERT_TRUE(Set("z", "f:v", 1000, "small").ok());
  const Rows rows = Read();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], "big f:v@1000=<20000000 bytes of 'L'>");
  EXPECT_EQ(rows[1].substr(0, 40), "wide f:0@1000=<600000 bytes of 'w'> f:1@");
  EXPECT_EQ(rows[2], "z f:v@1000=small");
}

TEST_F(DataTest, Row073And074Samples) {
  grpc::ClientContext context;
  google::bigtable::v2::SampleRowKeysRequest request;
  request.set_table_name(Client::TableName(table_));
  const auto reader = client().data().SampleRowKeys(&context, request);
  google::bigtable::v2::SampleRowKeysResponse sample;
  ASSERT_TRUE(reader->Read(&sample));
  EXPECT_EQ(sample.row_key(), "");
  EXPECT_EQ(sample.offset_bytes(), 0);
  EXPECT_FALSE(reader->Read(&sample));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(DataTest, SamplesOfASmallTableHaveItsLastKey) {
  for (const char* const key : {"a", "last", "b"}) ASSERT_TRUE(Set(key, "f:v", 1000, "x").ok());
  const auto samples = [&](const std::string& text) {
    grpc::ClientContext context;
    google::bigtable::v2::SampleRowKeysRequest request;
    Parse(text, &request);
    request.set_table_name(Client::TableName(table_));
    const auto reader = client().data().SampleRowKeys(&context, request);
    Rows keys;
    google::bigtable::v2::SampleRowKeysResponse sample;
    while (reader->Read(&sample)) keys.push_back(sample.row_key());
    EXPECT_TRUE(reader->Finish().ok());
    return keys;
  };
  EXPECT_EQ(samples(""), Rows({"last", ""}));
  EXPECT_EQ(samples("row_range { end_key_open: 'c' }"), Rows({"b", "c"}));
  EXPECT_EQ(samples("row_range { end_key_closed: 'b' }"), Rows({"b", std::string("b\0", 2)}))
      << "the key behind the range";
  EXPECT_EQ(samples("row_range { start_key_open: 'last' }"), Rows({""}));
}

TEST_F(DataTest, ASlowReaderKeepsNobodyAndACancelledOneEnds) {
  const std::string value(900'000, 'v');
  for (int i = 0; i < 60; ++i)
    ASSERT_TRUE(Set("r" + std::to_string(100 + i), "f:v", 1000, value).ok());
  grpc::ClientContext slow;
  google::bigtable::v2::ReadRowsRequest request;
  request.set_table_name(Client::TableName(table_));
  const auto reader = client().data().ReadRows(&slow, request);
  google::bigtable::v2::ReadRowsResponse message;
  ASSERT_TRUE(reader->Read(&message));
  // The stream is full and not read. Other calls continue; schema_test.cc has those that change the
  // table.
  EXPECT_TRUE(Set("after", "f:v", 1000, "x").ok());
  EXPECT_EQ(Read("rows { row_keys: 'after' }"), Rows({"after f:v@1000=x"}));
  slow.TryCancel();
  while (reader->Read(&message)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::CANCELLED);
}

// A client that supports it gets the progress of a read whose filter drops the rows.
TEST_F(DataTest, Row067HowFarABarrenReadCame) {
  const std::string table = NewTable();
  for (int part = 0; part < 30; ++part) {
    google::bigtable::v2::MutateRowsRequest request;
    request.set_table_name(Client::TableName(table));
    for (int i = 0; i < 1000; ++i) {
      auto* const entry = request.add_entries();
      entry->set_row_key("row" + std::to_string(100'000 + part * 1000 + i));
      auto* const set = entry->add_mutations()->mutable_set_cell();
      set->set_family_name("f");
      set->set_column_qualifier("q");
      set->set_value(std::string(200, 'v'));
    }
    grpc::ClientContext context;
    google::bigtable::v2::MutateRowsResponse response;
    const auto reader = client().data().MutateRows(&context, request);
    while (reader->Read(&response)) continue;
    ASSERT_TRUE(reader->Finish().ok());
  }
  google::bigtable::v2::ReadRowsRequest request;
  request.set_table_name(Client::TableName(table));
  // Passes nothing, and takes some microseconds for each cell. A read that ends soon reports no
  // progress.
  for (int i = 0; i < 40; ++i) {
    request.mutable_filter()->mutable_interleave()->add_filters()->set_value_regex_filter(
        ".*(nowhere|neverwhere)[0-9]+" + std::to_string(i));
  }
  std::vector<std::string> told;
  const auto read = [&](const char* features) {
    grpc::ClientContext context;
    context.AddMetadata("bigtable-features", features);
    const auto reader = client().data().ReadRows(&context, request);
    for (google::bigtable::v2::ReadRowsResponse response; reader->Read(&response);) {
      EXPECT_TRUE(response.chunks().empty());
      told.push_back(response.last_scanned_row_key());
    }
    EXPECT_TRUE(reader->Finish().ok());
  };
  for (int i = 0; i < 5; ++i) read("CAE=");  // only reverse reads
  EXPECT_TRUE(told.empty());
  while (told.empty()) read("CAEgAQ==");
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  for (const std::string& key : told) EXPECT_TRUE(key.starts_with("row1")) << key;
}

TEST_F(DataTest, AFamilyIsNotMadeForOtherItemsInTheRequestThatDropsIt) {
  const std::string table = NewTable();
  const auto modify = [&](const std::string& text) {
    grpc::ClientContext context;
    google::bigtable::admin::v2::ModifyColumnFamiliesRequest request;
    Parse(text, &request);
    request.set_name(Client::TableName(table));
    google::bigtable::admin::v2::Table changed;
    return client().admin().ModifyColumnFamilies(&context, request, &changed);
  };
  const std::string drop = "modifications { id: 'words' drop: true } ";
  const auto create = [](const std::string& input) {
    return "modifications { id: 'words' create { value_type { aggregate_type { hllpp_unique_count "
           "{} " +
           input + " } } } }";
  };
  const std::string strings = create("input_type { string_type {} }");
  ASSERT_TRUE(modify(strings).ok());
  const grpc::Status again = modify(create(""));
  EXPECT_EQ(again.error_code(), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(again.error_message(), "Column family already exists: words")
      << "refused before anything is written";
  EXPECT_EQ(modify(drop + create("")).error_code(), StatusCode::UNIMPLEMENTED)
      << "a crash would leave strings counted as bytes";
  EXPECT_TRUE(modify(drop + strings).ok());
  EXPECT_TRUE(modify(drop).ok());
  EXPECT_TRUE(modify(create("")).ok());
}

TEST_F(DataTest, ViewsAreNotOffered) {
  EXPECT_EQ(Read("authorized_view_name: 'v'"), Rows({"[12]"}));
  EXPECT_EQ(Read("materialized_view_name: 'v'"), Rows({"[12]"}));
}

}  // namespace
}  // namespace stele::server
