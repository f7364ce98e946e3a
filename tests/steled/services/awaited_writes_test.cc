// Tests that every write of the data service checks its call: a cancelled call, and one without
// memory for the large values that it reads, change nothing. And that sampled row keys are charged.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "steled/fake_call.h"
#include "steled/routes.h"
#include "steled/services/data_service.h"
#include "steled/services/read_rows.h"
#include "steled/state/open_tables.h"

namespace stele::server {
namespace {

namespace data_wire = ::google::bigtable::v2;

constexpr char kTable[] = "projects/p/instances/i/tables/t";

void SetCell(data_wire::Mutation* mutation) {
  mutation->mutable_set_cell()->set_family_name("f");
  mutation->mutable_set_cell()->set_value("v");
}

class AwaitedCallsTest : public testing::Test {
 protected:
  AwaitedCallsTest() {
    Table table = tables_.Create("p/i/t", Schema().AddFamily("f")).value();
    row_ = std::move(table);
  }
  // Checks the results of the method for a cancelled call and for a live one.
  template <typename Request, typename Method>
  void ExpectGivenUp(const Request& request, const Method& method) {
    FakeCall given_up(request);
    given_up.Cancel();
    EXPECT_EQ(method(&given_up).code(), absl::StatusCode::kCancelled) << request.GetTypeName();
    EXPECT_FALSE(row_.Exists("r").value()) << request.GetTypeName();
    FakeCall awaited(request);
    EXPECT_EQ(method(&awaited), absl::OkStatus()) << request.GetTypeName();
    EXPECT_TRUE(row_.Exists("r").value()) << request.GetTypeName();
    EXPECT_EQ(row_.DropRowRange(RowRange::All()), absl::OkStatus());
  }

  Database database_ = Database::Open("mem:").value();
  OpenTables tables_{database_};
  Records records_{database_};
  Instances instances_{&tables_, &records_, [](std::string_view) { return false; },
                       /*is_strict=*/false};
  AppProfiles profiles_{&records_};
  DataService service_{&tables_, &instances_, &profiles_,
                       nullptr,  nullptr,     kDefaultMessageBytesMax};
  Table row_;
};

TEST_F(AwaitedCallsTest, MutateRowInPlaceAndParsed) {
  data_wire::MutateRowRequest request;
  request.set_table_name(kTable);
  request.set_row_key("r");
  SetCell(request.add_mutations());
  const auto method = [this](Call* call) { return service_.MutateRow(call); };
  ExpectGivenUp(request, method);
  // A request that is not parsed in place.
  request.add_mutations()->mutable_delete_from_family()->set_family_name("f");
  SetCell(request.add_mutations());
  ExpectGivenUp(request, method);
}

TEST_F(AwaitedCallsTest, ConditionalWrites) {
  data_wire::CheckAndMutateRowRequest check;
  check.set_table_name(kTable);
  check.set_row_key("r");
  SetCell(check.add_false_mutations());
  ExpectGivenUp(check, [this](Call* call) { return service_.CheckAndMutateRow(call); });
  data_wire::ReadModifyWriteRowRequest append;
  append.set_table_name(kTable);
  append.set_row_key("r");
  append.add_rules()->set_family_name("f");
  append.mutable_rules(0)->set_append_value("v");
  ExpectGivenUp(append, [this](Call* call) { return service_.ReadModifyWriteRow(call); });
}

TEST_F(AwaitedCallsTest, SampledRowKeysAreCharged) {
  constexpr size_t kKeyBytes = 4'000;
  const RowMutation mutation =
      RowMutation(std::string(kKeyBytes, 'r')).SetCell("f", "", Timestamp(), "v");
  ASSERT_EQ(row_.Apply(mutation), absl::OkStatus());
  data_wire::SampleRowKeysRequest request;
  request.set_table_name(kTable);
  FakeCall poor;
  poor.SetBytesMax(kKeyBytes - 1);
  const absl::Status refused = service_.SampleRowKeys(request, &poor);
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_EQ(poor.answer_count(), 0u);
  FakeCall rich;
  EXPECT_EQ(service_.SampleRowKeys(request, &rich), absl::OkStatus());
  EXPECT_GE(rich.most_reserved_bytes(), kKeyBytes);
}

TEST_F(AwaitedCallsTest, LargeValuesOfConditionalWritesAreCharged) {
  constexpr size_t kValueBytes = 1'000'000;
  ASSERT_EQ(row_.Apply(RowMutation("r").SetCell("f", "", std::string(kValueBytes, 'v'))),
            absl::OkStatus());
  ASSERT_EQ(row_.Flush(), absl::OkStatus());
  data_wire::CheckAndMutateRowRequest check;
  check.set_table_name(kTable);
  check.set_row_key("r");
  check.mutable_predicate_filter()->set_value_regex_filter("v*");
  SetCell(check.add_true_mutations());
  data_wire::ReadModifyWriteRowRequest append;
  append.set_table_name(kTable);
  append.set_row_key("r");
  append.add_rules()->set_family_name("f");
  append.mutable_rules(0)->set_append_value("+");
  const auto expect_charged = [&](const google::protobuf::MessageLite& request, size_t bytes,
                                  const auto& method) {
    FakeCall poor(request);
    poor.SetBytesMax(bytes - 1);
    const absl::Status refused = method(&poor);
    EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
    // The engine asks from within its own functions, which no exception may reach.
    FakeCall throwing(request);
    throwing.ThrowOnce();
    const absl::Status failed = method(&throwing);
    EXPECT_TRUE(absl::IsResourceExhausted(failed)) << failed;
    EXPECT_EQ(row_.ReadRow("r").value()->cells().front().value().size(), kValueBytes);
    FakeCall rich(request);
    EXPECT_EQ(method(&rich), absl::OkStatus());
    EXPECT_GE(rich.most_reserved_bytes(), bytes) << request.GetTypeName();
    EXPECT_LT(rich.most_reserved_bytes(), bytes + kValueBytes) << request.GetTypeName();
  };
  // The value, and its copies in the row and in the mutation.
  expect_charged(append, 3 * kValueBytes,
                 [this](Call* call) { return service_.ReadModifyWriteRow(call); });
  ASSERT_EQ(
      row_.Apply(RowMutation("r").DeleteFromRow().SetCell("f", "", std::string(kValueBytes, 'v'))),
      absl::OkStatus());
  ASSERT_EQ(row_.Flush(), absl::OkStatus());
  expect_charged(check, kValueBytes,
                 [this](Call* call) { return service_.CheckAndMutateRow(call); });
}

}  // namespace
}  // namespace stele::server
