// Every write of the data service looks at its call: one that was given up changes nothing.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "data_service.h"
#include "open_tables.h"
#include "read_rows.h"
#include "routes.h"
#include "steled/fake_call.h"

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
  // What the method answers, once its call was given up and before.
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

  OpenTables tables_{Database::Open("mem:").value()};
  DataService service_{&tables_, kDefaultMessageBytesMax};
  Table row_;
};

TEST_F(AwaitedCallsTest, MutateRowInPlaceAndParsed) {
  data_wire::MutateRowRequest request;
  request.set_table_name(kTable);
  request.set_row_key("r");
  SetCell(request.add_mutations());
  const auto method = [this](Call* call) { return service_.MutateRow(call); };
  ExpectGivenUp(request, method);
  request.add_mutations()->mutable_delete_from_family()->set_family_name("f");  // which is not read in place
  SetCell(request.add_mutations());
  ExpectGivenUp(request, method);
}

TEST_F(AwaitedCallsTest, ConditionalWrites) {
  data_wire::CheckAndMutateRowRequest check;
  check.set_table_name(kTable);
  check.set_row_key("r");
  SetCell(check.add_false_mutations());
  ExpectGivenUp(check, [&](Call* call) {
    data_wire::CheckAndMutateRowResponse response;
    return service_.CheckAndMutateRow(check, call, &response);
  });
  data_wire::ReadModifyWriteRowRequest append;
  append.set_table_name(kTable);
  append.set_row_key("r");
  append.add_rules()->set_family_name("f");
  append.mutable_rules(0)->set_append_value("v");
  ExpectGivenUp(append, [&](Call* call) {
    data_wire::ReadModifyWriteRowResponse response;
    return service_.ReadModifyWriteRow(append, call, &response);
  });
}

}  // namespace
}  // namespace stele::server
