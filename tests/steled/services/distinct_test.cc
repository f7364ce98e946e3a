// Tests families that count distinct items, by a generated client against a running server.
#include <grpcpp/grpcpp.h>

#include "stele/row.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

using grpc::StatusCode;

class DistinctTest : public ServerTest {
 protected:
  // The server outlives a test, so each test has a table named after it.
  const std::string table_ = testing::UnitTest::GetInstance()->current_test_info()->name();

  StatusCode Modify(const std::string& text) {
    grpc::ClientContext context;
    google::bigtable::admin::v2::ModifyColumnFamiliesRequest request;
    Parse(text, &request);
    request.set_name(Client::TableName(table_));
    google::bigtable::admin::v2::Table changed;
    return client().admin().ModifyColumnFamilies(&context, request, &changed).error_code();
  }
  StatusCode Add(const std::string& family, const std::string& input) {
    return client()
        .Mutate(table_, "r",
                {"add_to_cell { family_name: '" + family +
                 "' column_qualifier { raw_value: 'q' } " + input + " }"})
        .error_code();
  }
  double Estimate(const std::string& family) {
    const std::string row =
        client().Read(table_, "filter { family_name_regex_filter: '" + family + "' }").at(0);
    const std::string sketch = row.substr(row.find('=') + 1);
    return CellView(family, "q", Timestamp(), sketch).EstimateCardinality().value_or(-1);
  }
  void Create(google::bigtable::admin::v2::Table* created) {
    const std::string hll = "value { value_type { aggregate_type { hllpp_unique_count {} ";
    grpc::ClientContext creating;
    google::bigtable::admin::v2::CreateTableRequest create;
    Parse("table_id: '" + table_ + "' table { column_families { key: 'count' " + hll +
              "input_type { int64_type {} } } } } } column_families { key: 'raw' " + hll +
              "} } } } }",
          &create);
    create.set_parent(kInstance);
    ASSERT_TRUE(client().admin().CreateTable(&creating, create, created).ok());
  }
};

TEST_F(DistinctTest, DistinctItemsAreCountedByTheirFamilysKind) {
  google::bigtable::admin::v2::Table created;
  ASSERT_NO_FATAL_FAILURE(Create(&created));
  EXPECT_TRUE(created.column_families()
                  .at("count")
                  .value_type()
                  .aggregate_type()
                  .input_type()
                  .has_int64_type());
  EXPECT_TRUE(created.column_families()
                  .at("raw")
                  .value_type()
                  .aggregate_type()
                  .input_type()
                  .has_bytes_type());
  const std::string type =
      "value_type { aggregate_type { hllpp_unique_count {} input_type { string_type {} } } }";
  EXPECT_EQ(client().Mutate(table_, "r", {"delete_from_row {}"}).error_code(), StatusCode::OK)
      << "the server knows the table by now";
  ASSERT_EQ(Modify("modifications { id: 'words' create { " + type + " } }"), StatusCode::OK);
  EXPECT_EQ(Modify("modifications { id: 'count' update { " + type +
                   " } update_mask { paths: 'value_type' } }"),
            StatusCode::INVALID_ARGUMENT)
      << "what items are is fixed";
  EXPECT_EQ(Modify("modifications { id: 'words' create { value_type { aggregate_type { "
                   "hllpp_unique_count {} } } } }"),
            StatusCode::ALREADY_EXISTS);
  for (const std::string number : {"7", "7", "8"})
    EXPECT_EQ(Add("count", "input { int_value: " + number + " }"), StatusCode::OK);
  EXPECT_EQ(Add("count", "input { bytes_value: '7' }"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Add("words", "input { string_value: 'a' }"), StatusCode::OK);
  EXPECT_EQ(Add("words", "input { int_value: 7 }"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Add("raw", "input { bytes_value: 'a' }"), StatusCode::OK);
  EXPECT_EQ(Add("raw", "input { raw_value: 'a' }"), StatusCode::OK) << "the same item";
  EXPECT_EQ(Add("raw", "input { string_value: 'a' }"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(client().Set(table_, "r", "count:q", 0, "x").error_code(),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_NEAR(Estimate("count"), 2, 0.01);
  EXPECT_NEAR(Estimate("words"), 1, 0.01);
  EXPECT_NEAR(Estimate("raw"), 1, 0.01);
  EXPECT_EQ(client()
                .Mutate(table_, "s",
                        {"add_to_cell { family_name: 'raw' column_qualifier { raw_value: 'q' } }"})
                .error_code(),
            StatusCode::OK);
  EXPECT_EQ(client().Read(table_, "rows { row_keys: 's' }").size(), 1u)
      << "nothing was counted, in a cell";
}

TEST_F(DistinctTest, AStateThatWasReadIsMergedIntoAnotherRow) {
  google::bigtable::admin::v2::Table created;
  ASSERT_NO_FATAL_FAILURE(Create(&created));
  EXPECT_EQ(Add("count", "input { int_value: 7 }"), StatusCode::OK);
  const std::string row =
      client()
          .Read(table_, "rows { row_keys: 'r' } filter { family_name_regex_filter: 'count' }")
          .at(0);
  grpc::ClientContext merging;
  google::bigtable::v2::MutateRowRequest merge;
  merge.set_table_name(Client::TableName(table_));
  merge.set_row_key("t");
  Parse("merge_to_cell { family_name: 'count' column_qualifier { raw_value: 'q' } }",
        merge.add_mutations());
  merge.mutable_mutations(0)->mutable_merge_to_cell()->mutable_input()->set_bytes_value(
      row.substr(row.find('=') + 1));
  google::bigtable::v2::MutateRowResponse merged;
  EXPECT_TRUE(client().data().MutateRow(&merging, merge, &merged).ok());
  EXPECT_EQ(client().Read(table_, "rows { row_keys: 't' }").at(0), "t" + row.substr(1));
}

}  // namespace
}  // namespace stele::server
