// Tests kill -9 under load: every acknowledged write, of every kind, exists afterwards, and nothing
// else.
//
// Each writer has separate rows, so its acknowledgements determine the expected data: everything
// acknowledged, and all or nothing of the one call in progress.
#include <grpcpp/grpcpp.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "steled/server_fixture.h"

namespace stele::server {
namespace {

namespace wire = ::google::bigtable::v2;
using Rows = std::vector<std::string>;

constexpr int kEntriesInBulk = 20;
constexpr int kAcksBeforeKill = 60;  // of each writer

std::string Numbered(const std::string& prefix, int number) {
  return prefix + std::to_string(number);
}

// Returns the rows with this prefix.
Rows RowsOf(Client* client, const std::string& prefix) {
  std::string end = prefix;
  ++end.back();
  return client->Read("t", "rows { row_ranges { start_key_closed: '" + prefix +
                               "' end_key_open: '" + end + "' } }");
}

// A kind of write: it makes its `number`th call, and checks the data after the restart.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual bool Write(Client* client, int number) = 0;
  // Checks the data after `acked` calls were acknowledged.
  virtual void Check(Client* client, int acked) = 0;
};

// Returns the newest value of the row that counts the calls.
int64_t Number(Client* client, const std::string& row_key) {
  const auto reader_request =
      "rows { row_keys: '" + row_key + "' } filter { cells_per_column_limit_filter: 1 }";
  wire::ReadRowsResponse last;
  client->Read("t", reader_request, &last);
  if (last.chunks().empty() || last.chunks(0).value().size() != 8) return 0;
  int64_t number = 0;
  for (const char byte : last.chunks(0).value())
    number = (number << 8) | static_cast<unsigned char>(byte);
  return number;
}

class SingleWriter final : public Writer {
 public:
  bool Write(Client* client, int number) override {
    return client->Set("t", Numbered("single-", number), "f:a", 1000, "v").ok();
  }
  void Check(Client* client, int acked) override {
    const auto rows = static_cast<int>(RowsOf(client, "single-").size());
    EXPECT_TRUE(rows == acked || rows == acked + 1) << rows << " of " << acked;
  }
};

// MutateRows acknowledges each entry; of the call in progress any entry may exist.
class BulkWriter final : public Writer {
 public:
  bool Write(Client* client, int number) override {
    grpc::ClientContext context;
    wire::MutateRowsRequest request;
    request.set_table_name(Client::TableName("t"));
    for (int i = 0; i < kEntriesInBulk; ++i) {
      auto* const entry = request.add_entries();
      entry->set_row_key(Numbered("bulk-" + std::to_string(number) + "-", i));
      Parse("set_cell { family_name: 'f' column_qualifier: 'a' timestamp_micros: 1000 value: 'v' }",
            entry->add_mutations());
    }
    const auto reader = client->data().MutateRows(&context, request);
    int acked = 0;
    for (wire::MutateRowsResponse message; reader->Read(&message);) {
      for (const auto& entry : message.entries()) acked += entry.status().code() == 0 ? 1 : 0;
    }
    return reader->Finish().ok() && acked == kEntriesInBulk;
  }
  void Check(Client* client, int acked) override {
    for (int number = 0; number < acked; ++number) {
      EXPECT_EQ(RowsOf(client, "bulk-" + std::to_string(number) + "-").size(),
                static_cast<size_t>(kEntriesInBulk))
          << number;
    }
    EXPECT_LE(static_cast<int>(RowsOf(client, "bulk-").size()), kEntriesInBulk * (acked + 1));
  }
};

// Sets a cell if the row has none.
class CheckingWriter final : public Writer {
 public:
  bool Write(Client* client, int number) override {
    grpc::ClientContext context;
    wire::CheckAndMutateRowRequest request;
    Parse(
        "false_mutations { set_cell { family_name: 'f' column_qualifier: 'a' timestamp_micros: "
        "1000 value: 'v' } }",
        &request);
    request.set_table_name(Client::TableName("t"));
    request.set_row_key(Numbered("checked-", number));
    wire::CheckAndMutateRowResponse response;
    const bool done = client->data().CheckAndMutateRow(&context, request, &response).ok();
    EXPECT_FALSE(response.predicate_matched());
    return done;
  }
  void Check(Client* client, int acked) override {
    const auto rows = static_cast<int>(RowsOf(client, "checked-").size());
    EXPECT_TRUE(rows == acked || rows == acked + 1) << rows << " of " << acked;
  }
};

// Increments one row: each result is one more than the previous.
class CountingWriter final : public Writer {
 public:
  bool Write(Client* client, int number) override {
    grpc::ClientContext context;
    wire::ReadModifyWriteRowRequest request;
    Parse("rules { family_name: 'one' column_qualifier: 'n' increment_amount: 1 }", &request);
    request.set_table_name(Client::TableName("t"));
    request.set_row_key("count");
    wire::ReadModifyWriteRowResponse response;
    if (!client->data().ReadModifyWriteRow(&context, request, &response).ok()) return false;
    EXPECT_EQ(
        static_cast<unsigned char>(response.row().families(0).columns(0).cells(0).value().back()),
        (number + 1) & 255);
    return true;
  }
  void Check(Client* client, int acked) override {
    const int64_t counted = Number(client, "count");
    EXPECT_TRUE(counted == acked || counted == acked + 1) << counted << " of " << acked;
  }
};

// A sum that needs no read.
class AddingWriter final : public Writer {
 public:
  bool Write(Client* client, int /*number*/) override {
    return client
        ->Mutate("t", "sum",
                 {"add_to_cell { family_name: 'sum' column_qualifier { raw_value: 'n' } timestamp "
                  "{ raw_timestamp_micros: 1000 } "
                  "input { int_value: 1 } }"})
        .ok();
  }
  void Check(Client* client, int acked) override {
    const int64_t sum = Number(client, "sum");
    EXPECT_TRUE(sum == acked || sum == acked + 1) << sum << " of " << acked;
  }
};

// Every second call deletes what the previous one wrote.
class DeletingWriter final : public Writer {
 public:
  bool Write(Client* client, int number) override {
    const std::string row_key = Numbered("gone-", number / 2);
    if (number % 2 == 0) return client->Set("t", row_key, "f:a", 1000, "v").ok();
    return client->Mutate("t", row_key, {"delete_from_row {}"}).ok();
  }
  void Check(Client* client, int acked) override {
    const Rows rows = RowsOf(client, "gone-");
    const std::string last = Numbered("gone-", acked / 2);
    EXPECT_LE(rows.size(), 1u);
    for (const std::string& row : rows)
      EXPECT_TRUE(row.starts_with(last + " ")) << row << ", though deleted: " << acked;
  }
};

// Families, and rows by their prefix.
class AdminWriter final : public Writer {
 public:
  bool Write(Client* client, int number) override {
    grpc::ClientContext context;
    if (number % 2 == 1) {
      const std::string prefix = Numbered("dropped-", number);
      if (!client->Set("t", prefix + "-row", "f:a", 1000, "v").ok()) return false;
      google::bigtable::admin::v2::DropRowRangeRequest request;
      request.set_name(Client::TableName("t"));
      request.set_row_key_prefix(prefix + "-");
      google::protobuf::Empty nothing;
      return client->admin().DropRowRange(&context, request, &nothing).ok();
    }
    google::bigtable::admin::v2::ModifyColumnFamiliesRequest request;
    request.set_name(Client::TableName("t"));
    auto* const change = request.add_modifications();
    change->set_id(Numbered("family", number));
    change->mutable_create();
    google::bigtable::admin::v2::Table table;
    return client->admin().ModifyColumnFamilies(&context, request, &table).ok();
  }
  void Check(Client* client, int acked) override {
    for (int number = 1; number < acked; number += 2)
      EXPECT_EQ(RowsOf(client, Numbered("dropped-", number) + "-"), Rows()) << number;
    grpc::ClientContext context;
    google::bigtable::admin::v2::GetTableRequest request;
    request.set_name(Client::TableName("t"));
    google::bigtable::admin::v2::Table table;
    ASSERT_TRUE(client->admin().GetTable(&context, request, &table).ok());
    for (int number = 0; number < acked; number += 2) {
      EXPECT_TRUE(table.column_families().contains(Numbered("family", number)))
          << number << " of " << acked;
    }
  }
};

void CreateTable(Client* client) {
  grpc::ClientContext context;
  google::bigtable::admin::v2::CreateTableRequest request;
  Parse(
      "table { column_families { key: 'f' } column_families { key: 'one' value { gc_rule { "
      "max_num_versions: 1 } } } "
      "column_families { key: 'sum' value { value_type { aggregate_type { input_type { int64_type "
      "{ encoding { big_endian_bytes {} } } } "
      "sum {} } } } } }",
      &request);
  request.set_parent(kInstance);
  request.set_table_id("t");
  google::bigtable::admin::v2::Table table;
  const grpc::Status status = client->admin().CreateTable(&context, request, &table);
  ASSERT_TRUE(status.ok()) << status.error_message();
}

class KillTest : public testing::TestWithParam<const char*> {};

TEST_P(KillTest, NothingThatWasAcknowledgedIsLost) {
  const std::array<std::unique_ptr<Writer>, 7> writers = {
      std::make_unique<SingleWriter>(),   std::make_unique<BulkWriter>(),
      std::make_unique<CheckingWriter>(), std::make_unique<CountingWriter>(),
      std::make_unique<AddingWriter>(),   std::make_unique<DeletingWriter>(),
      std::make_unique<AdminWriter>()};
  const ScratchDirectory directory;
  // Little memory, so that flushes are in progress, too.
  const std::vector<std::string> flags = {GetParam(), "--memory-budget=1MiB"};
  ServerProcess server(directory.path() + "/db", flags);
  {
    Client client(server.address());
    CreateTable(&client);
  }
  std::array<std::atomic<int>, writers.size()> acked{};
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < writers.size(); ++i) {
    threads.emplace_back([&, i] {
      Client client(server.address());
      while (writers[i]->Write(&client, acked[i].load())) {
        acked[i].fetch_add(1);
        acked[i].notify_all();
      }
    });
  }
  for (std::atomic<int>& count : acked) {
    for (int seen = count.load(); seen < kAcksBeforeKill; seen = count.load()) count.wait(seen);
  }
  server.Kill();
  threads.clear();
  const ServerProcess again(directory.path() + "/db", flags);
  Client client(again.address());
  for (size_t i = 0; i < writers.size(); ++i) {
    SCOPED_TRACE("writer " + std::to_string(i));
    writers[i]->Check(&client, acked[i].load());
  }
}

INSTANTIATE_TEST_SUITE_P(Durabilities, KillTest,
                         testing::Values("--durability=process", "--durability=disk"),
                         [](const auto& info) {
                           return std::string(info.param).substr(sizeof "--durability");
                         });

}  // namespace
}  // namespace stele::server
