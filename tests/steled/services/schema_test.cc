// Tests the effects of schema changes on calls for rows: families of other types, and changes and
// deletions concurrent with readers and writers. Also tests that types are reported as they were
// set.
#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stele/timestamp.h"
#include "steled/base/errors.h"
#include "steled/fake_call.h"
#include "steled/server_fixture.h"
#include "steled/services/data_service.h"
#include "steled/services/read_rows.h"
#include "steled/state/open_tables.h"

namespace stele::server {
namespace {

namespace data = ::google::bigtable::v2;
namespace admin = ::google::bigtable::admin::v2;

constexpr char kStrings[] = "value_type { string_type { encoding { utf8_bytes {} } } }";
constexpr char kOfType[] = "update_mask { paths: 'value_type' }";
constexpr char kSet[] =
    "set_cell { family_name: 'sum' column_qualifier: 'q' timestamp_micros: 1000 value: 'v' }";
constexpr char kSetF[] =
    "set_cell { family_name: 'f' column_qualifier: 'q' timestamp_micros: 1000 value: 'v' }";
constexpr char kAdd[] =
    "add_to_cell { family_name: 'f' column_qualifier { raw_value: 'q' } timestamp { "
    "raw_timestamp_micros: 1000 } input { int_value: 1 } }";
constexpr char kMerge[] =
    "merge_to_cell { family_name: 'f' column_qualifier { raw_value: 'q' } timestamp { "
    "raw_timestamp_micros: 1000 } "
    "input { bytes_value: '12345678' } }";

class SchemaTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    table_ = NewTable();
  }

  grpc::Status Modify(const std::string& text) {
    grpc::ClientContext context;
    admin::ModifyColumnFamiliesRequest request;
    Parse(text, &request);
    request.set_name(Client::TableName(table_));
    admin::Table changed;
    return client().admin().ModifyColumnFamilies(&context, request, &changed);
  }

  grpc::Status Delete() {
    grpc::ClientContext context;
    admin::DeleteTableRequest request;
    request.set_name(Client::TableName(table_));
    google::protobuf::Empty response;
    return client().admin().DeleteTable(&context, request, &response);
  }

  grpc::Status MutateRows(const std::vector<std::string>& entries,
                          std::vector<std::string>* verdicts) {
    grpc::ClientContext context;
    data::MutateRowsRequest request;
    request.set_table_name(Client::TableName(table_));
    for (const std::string& entry : entries) Parse(entry, request.add_entries());
    verdicts->resize(entries.size());
    const auto reader = client().data().MutateRows(&context, request);
    for (data::MutateRowsResponse response; reader->Read(&response);) {
      for (const auto& entry : response.entries()) {
        verdicts->at(static_cast<size_t>(entry.index())) =
            std::to_string(entry.status().code()) + " " + entry.status().message();
      }
    }
    return reader->Finish();
  }

  // Writes rows that fill a stream which is not read.
  static constexpr int kRowCount = 60;
  void FillForSlowReader() {
    const std::string value(900'000, 'v');
    for (int i = 0; i < kRowCount; ++i)
      ASSERT_TRUE(client().Set(table_, "r" + std::to_string(100 + i), "f:v", 1000, value).ok());
  }
  // A reader reads one message, `beside` runs, and the reader continues.
  void ExpectReadToItsEnd(const std::function<void()>& beside) {
    grpc::ClientContext context;
    data::ReadRowsRequest request;
    request.set_table_name(Client::TableName(table_));
    const auto reader = client().data().ReadRows(&context, request);
    data::ReadRowsResponse message;
    ASSERT_TRUE(reader->Read(&message));
    beside();
    int row_count = 0;
    size_t value_bytes = 0;
    do {
      for (const auto& chunk : message.chunks()) {
        value_bytes += chunk.value().size();
        if (chunk.commit_row()) ++row_count;
      }
    } while (reader->Read(&message));
    const grpc::Status status = reader->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(row_count, kRowCount);
    EXPECT_EQ(value_bytes, size_t{900'000} * kRowCount);
  }

  std::string MismatchText(const std::string& row_key) const {
    return "Error while mutating the row '" + row_key + "' (" + Client::TableName(table_) +
           ") : Column family type mismatch";
  }
  void ExpectMismatch(const grpc::Status& status, const std::string& what) const {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << what;
    EXPECT_EQ(status.error_message(), MismatchText("r")) << what;
  }

  void AddSum() {
    ASSERT_TRUE(Modify("modifications { id: 'sum' create { value_type { aggregate_type { "
                       "input_type { int64_type { encoding { "
                       "big_endian_bytes {} } } } sum {} } } } }")
                    .ok());
  }

  std::string table_;
};

// A minimum shows that 0 is added: it becomes 0. A sum and a maximum stay.
TEST_F(SchemaTest, Row119AddToCellWithoutAnInputAddsZero) {
  const std::vector<std::pair<std::string, int64_t>> results = {
      {"sum", 456}, {"min", 0}, {"max", 456}};
  for (const auto& [kind, result] : results) {
    SCOPED_TRACE(kind);
    ASSERT_TRUE(Modify("modifications { id: '" + kind +
                       "' create { value_type { aggregate_type { input_type { int64_type { "
                       "encoding { big_endian_bytes {} } } } " +
                       kind + " {} } } } }")
                    .ok());
    for (const char* const input : {"input { int_value: 456 }", ""}) {
      const grpc::Status status =
          client().Mutate(table_, "r",
                          {"add_to_cell { family_name: '" + kind +
                           "' column_qualifier { raw_value: 'q' } timestamp { "
                           "raw_timestamp_micros: 1000 } " +
                           input + " }"});
      EXPECT_TRUE(status.ok()) << status.error_message();
    }
    EXPECT_EQ(client().Read(table_, "filter { family_name_regex_filter: '" + kind + "' }"),
              std::vector<std::string>({"r " + kind + ":q@1000=" + EncodeInt64(result)}));
  }
}

TEST_F(SchemaTest, Row121AFamilyOfAnotherTypeIsRefusedInAMutation) {
  AddSum();
  ASSERT_TRUE(client().Mutate(table_, "there", {kSetF}).ok());
  ExpectMismatch(client().Mutate(table_, "r", {kSet}), "as it is read in place");
  for (const std::string& wrong : {std::string(kSet), std::string(kAdd), std::string(kMerge)}) {
    ExpectMismatch(
        client().Mutate(table_, "r", {kSetF, "delete_from_family { family_name: 'g' }", wrong}),
        wrong);
    grpc::ClientContext context;
    data::CheckAndMutateRowRequest request;
    request.set_table_name(Client::TableName(table_));
    request.set_row_key("r");
    Parse(kSetF, request.add_false_mutations());
    Parse(wrong, request.add_false_mutations());
    data::CheckAndMutateRowResponse response;
    ExpectMismatch(client().data().CheckAndMutateRow(&context, request, &response), wrong);
  }
  EXPECT_EQ(client().Read(table_), std::vector<std::string>({"there f:q@1000=v"}));
}

TEST_F(SchemaTest, Row121AFamilyOfAnotherTypeIsRefusedInAnEntryAndInARule) {
  AddSum();
  const auto entry = [](const std::string& row_key, const std::string& mutation) {
    return "row_key: '" + row_key + "' mutations { " + mutation + " }";
  };
  std::vector<std::string> verdicts;
  EXPECT_TRUE(MutateRows({entry("a", kSetF), entry("b", kSet), entry("c", kSetF)}, &verdicts).ok());
  EXPECT_EQ(verdicts, std::vector<std::string>({"0 ", "3 " + MismatchText("b"), "0 "}));
  EXPECT_TRUE(
      MutateRows({entry("a", kAdd), entry("b", kMerge), entry("d", kSetF)}, &verdicts).ok());
  EXPECT_EQ(verdicts,
            std::vector<std::string>({"3 " + MismatchText("a"), "3 " + MismatchText("b"), "0 "}));
  for (const char* const rule : {"append_value: 'x'", "increment_amount: 1"}) {
    grpc::ClientContext context;
    data::ReadModifyWriteRowRequest request;
    request.set_table_name(Client::TableName(table_));
    request.set_row_key("r");
    Parse(std::string("family_name: 'sum' column_qualifier: 'q' ") + rule, request.add_rules());
    data::ReadModifyWriteRowResponse response;
    ExpectMismatch(client().data().ReadModifyWriteRow(&context, request, &response), rule);
  }
  EXPECT_EQ(client().Read(table_),
            std::vector<std::string>({"a f:q@1000=v", "c f:q@1000=v", "d f:q@1000=v"}));
}

std::string Create(const std::string& family, const std::string& type) {
  return "modifications { id: '" + family + "' create { " + type + " } } ";
}
std::string Update(const std::string& family, const std::string& type,
                   const std::string& mask = kOfType) {
  return "modifications { id: '" + family + "' update { " + type + " } " + mask + " } ";
}

// Returns each family with its rule and its type, as the server reports them.
std::string TypesOf(Client& client, const std::string& table_id) {
  grpc::ClientContext context;
  admin::GetTableRequest request;
  request.set_name(Client::TableName(table_id));
  admin::Table table;
  EXPECT_TRUE(client.admin().GetTable(&context, request, &table).ok());
  std::map<std::string, std::string> families;
  for (const auto& [name, family] : table.column_families())
    families[name] = family.ShortDebugString();
  std::string text;
  for (const auto& [name, family] : families) text += name + "[" + family + "] ";
  return text;
}

constexpr char kStringsTold[] =
    "[gc_rule { } value_type { string_type { encoding { utf8_bytes { } } } }] ";

TEST_F(SchemaTest, AFamilyDescribedAsStringsTakesWhatOneOfBytesTakes) {
  ASSERT_TRUE(Modify(Create("s", kStrings) + Update("f", kStrings)).ok());
  EXPECT_EQ(TypesOf(client(), table_),
            std::string("f") + kStringsTold + "g[gc_rule { }] s" + kStringsTold);
  const std::string no_utf8 = "\xff\x01";
  EXPECT_TRUE(client().Set(table_, "r", "s:q", 1000, no_utf8).ok());
  grpc::ClientContext context;
  data::ReadModifyWriteRowRequest append;
  append.set_table_name(Client::TableName(table_));
  append.set_row_key("r");
  Parse("family_name: 's' column_qualifier: 'q' append_value: 'x'", append.add_rules());
  data::ReadModifyWriteRowResponse appended;
  EXPECT_TRUE(client().data().ReadModifyWriteRow(&context, append, &appended).ok());
  EXPECT_EQ(appended.row().families(0).columns(0).cells(0).value(), no_utf8 + "x");
  EXPECT_EQ(client().Mutate(table_, "r", {kAdd}).error_code(), grpc::StatusCode::INVALID_ARGUMENT)
      << "it is no aggregate";
}

TEST_F(SchemaTest, ADescriptionComesAndGoesAndTheRuleIsLeftAlone) {
  ASSERT_TRUE(
      Modify(Update("f", "gc_rule { max_num_versions: 3 }", "") + Update("f", kStrings)).ok());
  const std::string rule = "gc_rule { max_num_versions: 3 }";
  const std::string described =
      "f[" + rule + " value_type { string_type { encoding { utf8_bytes { } } } }] g[gc_rule { }] ";
  EXPECT_EQ(TypesOf(client(), table_), described);
  EXPECT_TRUE(Modify(Update("f", rule, "")).ok());
  EXPECT_EQ(TypesOf(client(), table_), described) << "an update without a mask is about the rule";
  for (const char* const bytes : {"value_type { bytes_type { encoding { raw {} } } }", ""}) {
    EXPECT_TRUE(Modify(Update("f", bytes)).ok());
    EXPECT_EQ(TypesOf(client(), table_), "f[" + rule + "] g[gc_rule { }] ");
    EXPECT_TRUE(Modify(Update("f", kStrings)).ok());
  }
  EXPECT_TRUE(Modify("modifications { id: 'f' drop: true }" + Create("f", "")).ok());
  EXPECT_EQ(TypesOf(client(), table_), "f[gc_rule { }] g[gc_rule { }] ")
      << "it went with its family";
}

TEST_F(SchemaTest, ADescriptionOfWhatIsNotChangedIsNotWritten) {
  ASSERT_TRUE(Modify(Update("f", kStrings)).ok());
  EXPECT_EQ(Modify(Update("g", kStrings) + Update("none", kStrings)).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Modify(Create("g", kStrings)).error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(Modify(Create("f", "")).error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(Modify(Update("g", kStrings) + "modifications { id: 'a b' create {} }").error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(TypesOf(client(), table_), std::string("f") + kStringsTold + "g[gc_rule { }] ");
}

TEST_F(SchemaTest, AnAggregateBecomesNoStringAndAStringNoAggregate) {
  AddSum();
  const std::string distinct = "value_type { aggregate_type { hllpp_unique_count {} } }";
  const std::string sum =
      "value_type { aggregate_type { input_type { int64_type { encoding { big_endian_bytes {} } } "
      "} sum {} } }";
  ASSERT_TRUE(Modify(Create("d", distinct) + Create("s", kStrings)).ok());
  const std::string before = TypesOf(client(), table_);
  for (const std::string& change :
       {Update("sum", kStrings), Update("d", kStrings), Update("s", sum), Update("s", distinct),
        Create("new", sum) + Update("new", kStrings)}) {
    const grpc::Status refused = Modify(change);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << change;
    EXPECT_EQ(refused.error_message(),
              "Immutable fields 'value_type.aggregate_type' cannot be updated")
        << change;
  }
  EXPECT_EQ(Modify(Update("s", "value_type { string_type {} }")).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Modify(Update("s", "value_type { int64_type { encoding { big_endian_bytes {} } } }"))
                .error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(TypesOf(client(), table_), before);
}

TEST(Descriptions, OutliveAKill) {
  const ScratchDirectory directory;
  for (const bool is_first : {true, false}) {
    ServerProcess server(directory.path() + "/db");
    Client client(server.address());
    if (is_first) {
      grpc::ClientContext creating;
      admin::CreateTableRequest request;
      Parse(std::string("table_id: 't' table { column_families { key: 'c' value { ") + kStrings +
                " } } column_families { key: 'f' value {} } }",
            &request);
      request.set_parent(kInstance);
      admin::Table created;
      ASSERT_TRUE(client.admin().CreateTable(&creating, request, &created).ok());
      EXPECT_TRUE(created.column_families().at("c").value_type().has_string_type());
      grpc::ClientContext changing;
      admin::ModifyColumnFamiliesRequest change;
      Parse(Update("f", kStrings), &change);
      change.set_name(Client::TableName("t"));
      ASSERT_TRUE(client.admin().ModifyColumnFamilies(&changing, change, &created).ok());
      EXPECT_TRUE(created.column_families().at("f").value_type().has_string_type());
    }
    EXPECT_EQ(TypesOf(client, "t"), std::string("c") + kStringsTold + "f" + kStringsTold);
    server.Kill();
  }
}

// The changes return while the reader is paused.
TEST_F(SchemaTest, AChangeOfFamiliesDoesNotWaitForASlowReaderWhoGoesOnToItsEnd) {
  FillForSlowReader();
  ExpectReadToItsEnd([&] {
    EXPECT_TRUE(
        Modify("modifications { id: 'h' create {} } modifications { id: 'g' drop: true }").ok());
    EXPECT_TRUE(client().Set(table_, "after", "h:v", 1000, "x").ok());
    EXPECT_TRUE(Modify("modifications { id: 'f' drop: true }").ok());
  });
  EXPECT_EQ(client().Read(table_), std::vector<std::string>({"after h:v@1000=x"}));
}

TEST_F(SchemaTest, ATableThatIsDeletedIsReadToTheEndByWhoHadBegun) {
  FillForSlowReader();
  ExpectReadToItsEnd([&] {
    EXPECT_TRUE(Delete().ok());
    EXPECT_EQ(client().Read(table_), std::vector<std::string>({"[5]"}));
  });
  const grpc::Status written = client().Mutate(table_, "r", {kSetF});
  EXPECT_EQ(written.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(written.error_message(), "Table not found: " + Client::TableName(table_));
}

// A call has found the table when another one deletes it. Here the server does not know, so every
// call comes too late.
class DeletedTableTest : public testing::Test {
 protected:
  DeletedTableTest() {
    EXPECT_TRUE(database_.CreateTable("p/i/t", Schema().AddFamily("f")).ok());
    EXPECT_TRUE(tables_.Find(name_).ok());
    EXPECT_TRUE(database_.DeleteTable("p/i/t").ok());
  }

  template <typename Request>
  Request Ask(const std::string& text) const {
    Request request;
    Parse(text, &request);
    request.set_table_name(name_);
    return request;
  }
  void ExpectNotFound(const absl::Status& status) const {
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_EQ(TextOf(status), "Table not found: " + name_);
  }

  const std::string name_ = Client::TableName("t");
  Database database_ = Database::Open("mem:").value();
  OpenTables tables_{database_};
  Records records_{database_};
  Instances instances_{&tables_, &records_, [](std::string_view) { return false; },
                       /*is_strict=*/false};
  AppProfiles profiles_{&records_};
  DataService service_{&tables_, &instances_, &profiles_,
                       nullptr,  nullptr,     kDefaultMessageBytesMax};
};

TEST_F(DeletedTableTest, IsNotFoundByWhoWrites) {
  const std::string set = std::string("mutations { ") + kSetF + " }";
  for (const std::string& mutations : {set, set + " mutations { delete_from_row {} }"}) {
    FakeCall call(Ask<data::MutateRowRequest>("row_key: 'r' " + mutations));
    ExpectNotFound(service_.MutateRow(&call));
    FakeCall bulk(Ask<data::MutateRowsRequest>("entries { row_key: 'r' " + mutations + " }"));
    EXPECT_TRUE(service_.MutateRows(&bulk).ok());
    const auto answer = bulk.Answer<data::MutateRowsResponse>(0);
    EXPECT_EQ(answer.entries(0).status().code(), 5);
    EXPECT_EQ(answer.entries(0).status().message(), "Table not found: " + name_);
  }
  FakeCall check(Ask<data::CheckAndMutateRowRequest>(
      std::string("row_key: 'r' false_mutations { ") + kSetF + " }"));
  ExpectNotFound(service_.CheckAndMutateRow(&check));
  FakeCall increment(Ask<data::ReadModifyWriteRowRequest>(
      "row_key: 'r' rules { family_name: 'f' column_qualifier: 'q' increment_amount: 1 }"));
  ExpectNotFound(service_.ReadModifyWriteRow(&increment));
}

TEST_F(DeletedTableTest, IsNotFoundByWhoReads) {
  FakeCall call;
  ExpectNotFound(service_.ReadRows(Ask<data::ReadRowsRequest>(""), &call));
  ExpectNotFound(service_.ReadRows(Ask<data::ReadRowsRequest>("rows { row_keys: 'r' }"), &call));
  EXPECT_EQ(call.answer_count(), 0u);
}

}  // namespace
}  // namespace stele::server
