// Tests tables, families and instances with a generated client and a running server.
#include <grpcpp/grpcpp.h>

#include "remote/wire/instance_admin.grpc.pb.h"
#include "remote/wire/operations.grpc.pb.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

namespace admin_wire = ::google::bigtable::admin::v2;
using grpc::StatusCode;

class AdminTest : public ServerTest {
 protected:
  StatusCode Create(const std::string& text, admin_wire::Table* table = nullptr) {
    grpc::ClientContext context;
    admin_wire::CreateTableRequest request;
    Parse(text, &request);
    request.set_parent(kInstance);
    admin_wire::Table response;
    const grpc::Status status =
        client().admin().CreateTable(&context, request, table == nullptr ? &response : table);
    return status.error_code();
  }

  grpc::Status Modify(const std::string& table_id, const std::string& text,
                      admin_wire::Table* table = nullptr) {
    grpc::ClientContext context;
    admin_wire::ModifyColumnFamiliesRequest request;
    Parse(text, &request);
    request.set_name(Client::TableName(table_id));
    admin_wire::Table response;
    return client().admin().ModifyColumnFamilies(&context, request,
                                                 table == nullptr ? &response : table);
  }

  // Returns the families, "name:rule " each, and "protected" if the table is.
  std::string Describe(const std::string& table_id) {
    grpc::ClientContext context;
    admin_wire::GetTableRequest request;
    request.set_name(Client::TableName(table_id));
    admin_wire::Table table;
    const grpc::Status status = client().admin().GetTable(&context, request, &table);
    if (!status.ok()) return "[" + std::to_string(status.error_code()) + "]";
    std::map<std::string, std::string> families;
    for (const auto& [name, family] : table.column_families())
      families[name] = family.gc_rule().ShortDebugString();
    std::string text;
    for (const auto& [name, rule] : families) text += name + ":" + rule + " ";
    return text + (table.deletion_protection() ? "protected" : "");
  }

  StatusCode Delete(const std::string& table_id) {
    grpc::ClientContext context;
    admin_wire::DeleteTableRequest request;
    request.set_name(Client::TableName(table_id));
    google::protobuf::Empty response;
    return client().admin().DeleteTable(&context, request, &response).error_code();
  }

  StatusCode DropRows(const std::string& table_id, const std::string& text) {
    grpc::ClientContext context;
    admin_wire::DropRowRangeRequest request;
    Parse(text, &request);
    request.set_name(Client::TableName(table_id));
    google::protobuf::Empty response;
    return client().admin().DropRowRange(&context, request, &response).error_code();
  }

  StatusCode Update(const std::string& table_id, const std::string& text,
                    google::longrunning::Operation* operation) {
    grpc::ClientContext context;
    admin_wire::UpdateTableRequest request;
    Parse(text, &request);
    request.mutable_table()->set_name(Client::TableName(table_id));
    return client().admin().UpdateTable(&context, request, operation).error_code();
  }
};

TEST_F(AdminTest, Row129And130CreatingTwiceAndWrongNames) {
  EXPECT_EQ(Create("table_id: 'twice'"), StatusCode::OK);
  EXPECT_EQ(Create("table_id: 'twice'"), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(Create("table_id: ''"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Create("table_id: 'bad/id!'"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Create("table_id: '" + std::string(51, 'a') + "'"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Create("table_id: 'colon' table { column_families { key: 'a:b' value {} } }"),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(AdminTest, ARuleThatIsNestedTooDeepIsRefusedAsThat) {
  for (const int depth : {21, 60}) {
    std::string rule = "max_num_versions: 1";
    for (int i = 0; i < depth; ++i)
      rule = "union { rules { " + rule + " } rules { max_num_versions: 2 } }";
    EXPECT_EQ(Create("table_id: 'deep' table { column_families { key: 'f' value { gc_rule { " +
                     rule + " } } } }"),
              StatusCode::INVALID_ARGUMENT)
        << depth;
  }
}

TEST_F(AdminTest, SplitsAreSampled) {
  ASSERT_EQ(Create("table_id: 'split' table { column_families { key: 'f' value {} } } "
                   "initial_splits { key: 'm' } initial_splits { key: 'c' }"),
            StatusCode::OK);
  grpc::ClientContext context;
  google::bigtable::v2::SampleRowKeysRequest request;
  request.set_table_name(Client::TableName("split"));
  const auto reader = client().data().SampleRowKeys(&context, request);
  std::string row_keys;
  google::bigtable::v2::SampleRowKeysResponse sample;
  while (reader->Read(&sample)) row_keys += "[" + sample.row_key() + "]";
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(row_keys, "[c][m][]");
  EXPECT_EQ(Create("table_id: 'emptysplit' initial_splits { key: '' }"),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(AdminTest, Row131To133FamiliesChangeTogetherOrNotAtAll) {
  const std::string table = NewTable();
  EXPECT_EQ(
      Modify(table, "modifications { id: 'n1' create {} } modifications { id: 'f' create {} }")
          .error_code(),
      StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(Describe(table), "f: g: ");
  EXPECT_EQ(Modify(table, "modifications { id: 'none' update { gc_rule { max_num_versions: 1 } } }")
                .error_code(),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(Modify(table, "modifications { id: 'none' drop: true }").error_code(),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(Modify(table, "").error_code(), StatusCode::INVALID_ARGUMENT);
  admin_wire::Table changed;
  ASSERT_TRUE(Modify(table,
                     "modifications { id: 'f' update { gc_rule { max_num_versions: 2 } } } "
                     "modifications { id: 'h' create { gc_rule { union { "
                     "rules { max_num_versions: 1 } rules { max_age { seconds: 864000 } } } } } } "
                     "modifications { id: 'g' drop: true }",
                     &changed)
                  .ok());
  EXPECT_EQ(changed.column_families_size(), 2);
  EXPECT_EQ(Describe(table),
            "f:max_num_versions: 2 h:union { rules { max_num_versions: 1 } rules { max_age { "
            "seconds: 864000 } } } ");
  EXPECT_EQ(Modify(table, "modifications { id: 'f' update { gc_rule { max_num_versions: 0 } } }")
                .error_code(),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Modify(table,
                   "modifications { id: 'f' update { value_type { aggregate_type { input_type { "
                   "int64_type {} } sum {} } } } "
                   "update_mask { paths: 'value_type' } }")
                .error_message(),
            "Immutable fields 'value_type.aggregate_type' cannot be updated")
      << "row 122";
}

TEST_F(AdminTest, AFamilyThatComesAgainIsEmpty) {
  const std::string table = NewTable();
  ASSERT_TRUE(client().Set(table, "r", "f:a", 0, "old").ok());
  ASSERT_TRUE(
      Modify(table, "modifications { id: 'f' drop: true } modifications { id: 'f' create {} }")
          .ok());
  EXPECT_EQ(client().Read(table), std::vector<std::string>());
}

TEST_F(AdminTest, Row134To137DropRowRange) {
  const std::string table = NewTable();
  for (const char* const row_key : {"a", "ab", "abc", "b"})
    ASSERT_TRUE(client().Set(table, row_key, "f:", 0, "").ok());
  EXPECT_EQ(DropRows(table, "row_key_prefix: ''"), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DropRows(table, ""), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DropRows(table, "delete_all_data_from_table: false"), StatusCode::OK);
  EXPECT_EQ(DropRows("none", "row_key_prefix: 'a'"), StatusCode::NOT_FOUND);
  EXPECT_EQ(client().Read(table).size(), 4u);
  EXPECT_EQ(DropRows(table, "row_key_prefix: 'ab'"), StatusCode::OK);
  EXPECT_EQ(client().Read(table), std::vector<std::string>({"a f:@0=", "b f:@0="}));
  EXPECT_EQ(DropRows(table, "delete_all_data_from_table: true"), StatusCode::OK);
  EXPECT_EQ(client().Read(table).size(), 0u);
}

TEST_F(AdminTest, Row138To141ProtectionIsOfTheTableAndNotOfItsRows) {
  const std::string table = NewTable();
  google::longrunning::Operation operation;
  EXPECT_EQ(Update(table, "table { deletion_protection: true }", &operation),
            StatusCode::INVALID_ARGUMENT)
      << "no mask";
  EXPECT_EQ(Update(table, "update_mask { paths: '*' }", &operation), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Update(table, "update_mask { paths: 'column_families' }", &operation),
            StatusCode::UNIMPLEMENTED);
  ASSERT_EQ(
      Update(table,
             "table { deletion_protection: true } update_mask { paths: 'deletion_protection' }",
             &operation),
      StatusCode::OK);
  EXPECT_TRUE(operation.done());
  admin_wire::Table updated;
  ASSERT_TRUE(operation.response().UnpackTo(&updated));
  EXPECT_TRUE(updated.deletion_protection() && updated.column_families_size() == 2);
  const auto operations = google::longrunning::Operations::NewStub(client().channel());
  google::longrunning::GetOperationRequest asked;
  asked.set_name(operation.name());
  google::longrunning::Operation again;
  grpc::ClientContext context;
  ASSERT_TRUE(operations->GetOperation(&context, asked, &again).ok());
  EXPECT_EQ(again.SerializeAsString(), operation.SerializeAsString());
  EXPECT_EQ(Describe(table), "f: g: protected");
  EXPECT_EQ(Delete(table), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(
      Modify(table, "modifications { id: 'n' create {} } modifications { id: 'f' drop: true }")
          .error_code(),
      StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DropRows(table, "delete_all_data_from_table: true"), StatusCode::OK);
  ASSERT_EQ(Update(table, "update_mask { paths: 'deletion_protection' }", &operation),
            StatusCode::OK);
  EXPECT_EQ(Delete(table), StatusCode::OK);
  EXPECT_EQ(Delete(table), StatusCode::NOT_FOUND);
  EXPECT_EQ(Describe(table), "[5]");
}

TEST_F(AdminTest, ATableThatComesAgainIsAnother) {
  ASSERT_EQ(Create("table_id: 'again' table { column_families { key: 'f' value {} } }"),
            StatusCode::OK);
  ASSERT_TRUE(client().Set("again", "r", "f:", 0, "old").ok());
  ASSERT_EQ(Delete("again"), StatusCode::OK);
  EXPECT_EQ(client().Read("again"), std::vector<std::string>({"[5]"}));
  ASSERT_EQ(
      Create(
          "table_id: 'again' table { granularity: MICROS column_families { key: 'f' value {} } }"),
      StatusCode::OK);
  EXPECT_EQ(client().Read("again"), std::vector<std::string>());
  EXPECT_TRUE(client().Set("again", "r", "f:", 1001, "fine").ok())
      << "the granularity is the new table's";
}

TEST_F(AdminTest, Row142ConsistencyTokens) {
  const std::string table = NewTable();
  admin_wire::GenerateConsistencyTokenRequest generate;
  generate.set_name(Client::TableName(table));
  admin_wire::GenerateConsistencyTokenResponse token;
  grpc::ClientContext generating;
  ASSERT_TRUE(client().admin().GenerateConsistencyToken(&generating, generate, &token).ok());
  admin_wire::CheckConsistencyRequest check;
  check.set_name(Client::TableName(table));
  admin_wire::CheckConsistencyResponse consistent;
  grpc::ClientContext wrong;
  EXPECT_EQ(client().admin().CheckConsistency(&wrong, check, &consistent).error_code(),
            StatusCode::INVALID_ARGUMENT);
  check.set_consistency_token(token.consistency_token());
  grpc::ClientContext right;
  ASSERT_TRUE(client().admin().CheckConsistency(&right, check, &consistent).ok());
  EXPECT_TRUE(consistent.consistent());
}

TEST_F(AdminTest, Row143ListsAreOfOneInstanceInPages) {
  const std::string instance = "projects/p/instances/listed";
  for (const char* const table_id : {"c", "a", "b"}) {
    grpc::ClientContext context;
    admin_wire::CreateTableRequest request;
    request.set_parent(instance);
    request.set_table_id(table_id);
    admin_wire::Table table;
    ASSERT_TRUE(client().admin().CreateTable(&context, request, &table).ok());
  }
  std::string found;
  admin_wire::ListTablesRequest request;
  request.set_parent(instance);
  request.set_page_size(2);
  do {
    grpc::ClientContext context;
    admin_wire::ListTablesResponse response;
    ASSERT_TRUE(client().admin().ListTables(&context, request, &response).ok());
    for (const auto& table : response.tables())
      found += table.name().substr(table.name().rfind('/'));
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(found, "/a/b/c");
  request.set_parent("projects/p/instances/nobody");
  grpc::ClientContext context;
  admin_wire::ListTablesResponse none;
  ASSERT_TRUE(client().admin().ListTables(&context, request, &none).ok());
  EXPECT_EQ(none.tables_size(), 0);
  const auto instances = admin_wire::BigtableInstanceAdmin::NewStub(client().channel());
  grpc::ClientContext listing;
  admin_wire::ListInstancesRequest of_project;
  of_project.set_parent("projects/p");
  admin_wire::ListInstancesResponse listed;
  ASSERT_TRUE(instances->ListInstances(&listing, of_project, &listed).ok());
  EXPECT_EQ(listed.instances(listed.instances_size() - 1).name(), instance);
}

}  // namespace
}  // namespace stele::server
