// Tests reads from a server that fails in the middle: which rows are requested again, and when a
// read gives up.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <latch>
#include <thread>

#include "support/trace_testing.h"
#include "unit/remote/client/fake_server.h"

namespace stele::internal {
namespace {

using grpc::StatusCode;
using Keys = std::vector<std::string>;

const grpc::Status kBroken(StatusCode::UNAVAILABLE, "the connection broke");

// Returns the keys of a read, and the code of its error if there is one.
Keys Read(Table& table, const RowSet& rows = RowSet::All(), const ReadOptions& options = {}) {
  Keys keys;
  RowReader reader = table.ReadRows(rows, {}, options);
  for (const RowView& row : reader) keys.emplace_back(row.row_key());
  if (!reader.status().ok())
    keys.push_back("[" + absl::StatusCodeToString(reader.status().code()) + "]");
  return keys;
}

std::string RowsOf(const google::bigtable::v2::ReadRowsRequest& request) {
  return request.rows().ShortDebugString();
}

// Returns a message with the first part of a row.
google::bigtable::v2::ReadRowsResponse Half(const std::string& row_key) {
  google::bigtable::v2::ReadRowsResponse message = RowsMessage({row_key});
  message.mutable_chunks(0)->clear_row_status();
  return message;
}

TEST(RemoteRead, TakesUpAfterTheLastRow) {
  FakeServer server;
  server.on_read = [&](size_t call, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    if (call == 0) {
      writer->Write(RowsMessage({"a", "b"}));
      writer->Write(Half("c"));
      return kBroken;
    }
    writer->Write(RowsMessage({"c", "d"}));
    return grpc::Status::OK;
  };
  Table table = server.OpenTable();
  EXPECT_EQ(Read(table, RowRange::StartingAt("a"), {.limit = 5}), Keys({"a", "b", "c", "d"}));
  ASSERT_EQ(server.reads.size(), 2u);
  EXPECT_EQ(server.reads[0].rows_limit(), 5);
  EXPECT_EQ(RowsOf(server.reads[0]), "row_ranges { start_key_closed: \"a\" }");
  EXPECT_EQ(server.reads[1].rows_limit(), 3);
  EXPECT_EQ(RowsOf(server.reads[1]), "row_ranges { start_key_closed: \"b\\000\" }");
  EXPECT_EQ(server.waiter->pauses().size(), 1u);
}

TEST(RemoteRead, TakesUpBeforeTheLastRowWhenReversed) {
  FakeServer server;
  server.on_read = [&](size_t call, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    writer->Write(call == 0 ? RowsMessage({"y", "m"}) : RowsMessage({"b"}));
    return call == 0 ? kBroken : grpc::Status::OK;
  };
  Table table = server.OpenTable();
  const RowSet rows = RowSet().Append(RowRange::RightOpen("a", "d")).Append("m").Append("y");
  EXPECT_EQ(Read(table, rows, {.reverse = true}), Keys({"y", "m", "b"}));
  ASSERT_EQ(server.reads.size(), 2u);
  EXPECT_TRUE(server.reads[1].reversed());
  EXPECT_EQ(
      RowsOf(server.reads[0]),
      "row_keys: \"m\" row_keys: \"y\" row_ranges { start_key_closed: \"a\" end_key_open: \"d\" }");
  EXPECT_EQ(RowsOf(server.reads[1]), "row_ranges { start_key_closed: \"a\" end_key_open: \"d\" }");
}

TEST(RemoteRead, AsksForNothingWhenAllHasCome) {
  FakeServer server;
  server.on_read = [&](size_t, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    writer->Write(RowsMessage({"a", "b"}));
    return kBroken;
  };
  Table table = server.OpenTable();
  EXPECT_EQ(Read(table, RowSet().Append("a").Append("b")), Keys({"a", "b"}));
  EXPECT_EQ(Read(table, RowSet::All(), {.limit = 2}), Keys({"a", "b"}));
  EXPECT_EQ(server.reads.size(), 2u);
  EXPECT_EQ(Read(table, RowSet()), Keys()) << "the empty set of rows would be all rows on the wire";
  EXPECT_EQ(Read(table, RowRange::Empty()), Keys());
  EXPECT_EQ(server.reads.size(), 2u);
}

TEST(RemoteRead, TakesUpWhereTheServerSaysItCame) {
  FakeServer server;
  server.on_read = [&](size_t call, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    if (call > 0) return grpc::Status::OK;
    google::bigtable::v2::ReadRowsResponse message;
    message.set_last_scanned_row_key("p");
    writer->Write(message);
    return kBroken;
  };
  Table table = server.OpenTable();
  EXPECT_EQ(Read(table), Keys());
  ASSERT_EQ(server.reads.size(), 2u);
  EXPECT_EQ(RowsOf(server.reads[1]), "row_ranges { start_key_closed: \"p\\000\" }");
}

TEST(RemoteRead, AFailureThatStaysEndsIt) {
  FakeServer server;
  server.on_read = [&](size_t, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    writer->Write(RowsMessage({"a"}));
    return grpc::Status(StatusCode::PERMISSION_DENIED, "no");
  };
  Table table = server.OpenTable();
  EXPECT_EQ(Read(table), Keys({"a", "[PERMISSION_DENIED]"}));
  EXPECT_EQ(server.reads.size(), 1u);
}

TEST(RemoteRead, GivesUpWithoutProgressAndNotWhileThereIsSome) {
  FakeServer server;
  server.on_read = [&](size_t, grpc::ServerContext*, FakeServer::ReadWriter*) { return kBroken; };
  Table table = server.OpenTable("&retry_seconds=2");
  EXPECT_EQ(Read(table), Keys({"[UNAVAILABLE]"}));
  SteadyClock::duration waited{};
  for (const SteadyClock::duration pause : server.waiter->pauses()) waited += pause;
  EXPECT_LE(waited, std::chrono::seconds(2));
  EXPECT_GE(waited, std::chrono::milliseconds(500));
  EXPECT_EQ(server.reads.size(), server.waiter->pauses().size() + 1);

  server.reads.clear();
  server.on_read = [&](size_t call, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    if (call % 2 == 0) return kBroken;
    writer->Write(RowsMessage({std::to_string(1000 + call)}));
    return call < 400 ? kBroken : grpc::Status::OK;
  };
  EXPECT_EQ(Read(table).size(), 201u);
}

TEST(RemoteRead, TheTimeThatItsConsumerTakesIsNotTheServers) {
  FakeServer server;
  server.on_read = [&](size_t call, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    writer->Write(RowsMessage({call == 0 ? "a" : "b"}));
    return call == 0 ? kBroken : grpc::Status::OK;
  };
  Table table = server.OpenTable("&retry_seconds=1");
  RowReader reader = table.ReadRows();
  ASSERT_TRUE(reader.Next());
  server.waiter->Advance(std::chrono::seconds(2));
  EXPECT_TRUE(reader.Next()) << reader.status();
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.status().ok()) << reader.status();
}

TEST(RemoteRead, ExistsAsksForOneCellIfItsFilterLeavesRoom) {
  FakeServer server;
  server.on_read = [&](size_t, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    writer->Write(RowsMessage({"a"}));
    return grpc::Status::OK;
  };
  Table table = server.OpenTable();
  Filter filter = Filter::Latest(1);
  EXPECT_TRUE(table.Exists("a", filter).value());
  EXPECT_EQ(server.reads[0].filter().chain().filters_size(), 3);
  for (int i = 0; i < 20; ++i) filter = Filter::Chain(filter, Filter::PassAll());
  const absl::StatusOr<bool> deep = table.Exists("a", filter);
  EXPECT_TRUE(deep.ok() && *deep) << deep.status();
  EXPECT_TRUE(table.Exists("a", Filter::ValueRegex(std::string(20'470, 'a'))).ok());
  EXPECT_TRUE(server.reads.back().filter().has_value_regex_filter());
}

TEST(RemoteRead, ADeadlineEndsItAlsoBetweenAttempts) {
  FakeServer server;
  server.on_read = [&](size_t, grpc::ServerContext*, FakeServer::ReadWriter*) { return kBroken; };
  Table table = server.OpenTable();
  EXPECT_EQ(
      Read(table, RowSet::All(), {.deadline = server.waiter->Now() + std::chrono::seconds(3)}),
      Keys({"[DEADLINE_EXCEEDED]"}));
  EXPECT_LT(server.reads.size(), 20u);
  EXPECT_GT(server.reads.size(), 3u);
  server.on_read = [&](size_t, grpc::ServerContext* context, FakeServer::ReadWriter*) {
    while (!context->IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  };
  // The client's clock does not advance, so the server's deadline ends the read.
  EXPECT_EQ(Read(table, RowSet::All(),
                 {.deadline = server.waiter->Now() + std::chrono::milliseconds(30)}),
            Keys({"[DEADLINE_EXCEEDED]"}));
}

TEST(RemoteRead, AStopEndsItWhileItWaitsForTheServer) {
  for (const bool closes : {false, true}) {
    std::latch reached(1);
    FakeServer server;
    server.on_read = [&](size_t, grpc::ServerContext* context, FakeServer::ReadWriter* writer) {
      writer->Write(RowsMessage({"a"}));
      reached.count_down();
      while (!context->IsCancelled()) std::this_thread::yield();
      return grpc::Status::CANCELLED;
    };
    Database database = server.Open();
    Table table = database.OpenTable("t").value();
    std::stop_source stop;
    std::jthread stopper([&] {
      reached.wait();
      if (closes) {
        EXPECT_TRUE(database.Close().ok());
      } else {
        stop.request_stop();
      }
    });
    const Keys keys = Read(table, RowSet::All(), {.stop = stop.get_token()});
    EXPECT_EQ(keys.back(), closes ? "[FAILED_PRECONDITION]" : "[CANCELLED]");
    EXPECT_EQ(absl::IsFailedPrecondition(table.schema().status()), closes);
  }
}

// The client waits for a second of real time. A machine that stalls for as long makes it ask once
// more, so later calls get the rows that their request asks for.
TEST(RemoteRead, AServerThatFallsSilentIsAskedAgain) {
  FakeServer server;
  const std::string after_a = "row_ranges { start_key_closed: \"a\\000\" }";
  server.on_read = [&](size_t call, grpc::ServerContext* context, FakeServer::ReadWriter* writer) {
    if (call == 0) {
      writer->Write(RowsMessage({"a"}));
      while (!context->IsCancelled()) std::this_thread::yield();
    } else if (RowsOf(server.reads[call]) == after_a) {
      writer->Write(RowsMessage({"b"}));
    }
    return grpc::Status::OK;
  };
  Table table = server.OpenTable("&retry_seconds=3");
  EXPECT_EQ(Read(table), Keys({"a", "b"}));
  ASSERT_GE(server.reads.size(), 2u);
  EXPECT_EQ(RowsOf(server.reads[1]), after_a);
}

TEST(RemoteRead, WhatTheServerExaminedIsUnknown) {
  FakeServer server;
  server.on_read = [&](size_t, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    writer->Write(RowsMessage({"a", "b"}));
    return grpc::Status::OK;
  };
  Table table = server.OpenTable();
  RowReader reader = table.ReadRows();
  EXPECT_FALSE(reader.stats().is_work_known);
  ASSERT_TRUE(reader.Next());
  ASSERT_TRUE(reader.Next());
  ASSERT_FALSE(reader.Next());
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  const ReadStats stats = reader.stats();
  EXPECT_EQ(stats.rows_returned, 2u);
  EXPECT_EQ(stats.cells_returned, 2u);
  EXPECT_FALSE(stats.is_work_known);
  EXPECT_EQ(stats.rows_seen, 0u);
  EXPECT_EQ(stats.cells_seen, 0u);
}

TEST(RemoteRead, ATraceLeavesOutWhatTheServerExamined) {
  std::string directory =
      (std::filesystem::temp_directory_path() / "stele_remote_trace_XXXXXX").string();
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/trace";
  FakeServer server;
  server.on_read = [&](size_t, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    writer->Write(RowsMessage({"a", "b"}));
    return grpc::Status::OK;
  };
  Database database = server.Open();
  Table table = database.OpenTable("t").value();
  ASSERT_TRUE(database.StartTrace(path).ok());
  EXPECT_EQ(Read(table), Keys({"a", "b"}));
  EXPECT_EQ(Read(table, RowSet::All(), {.limit = 1}), Keys({"a"}));
  const absl::StatusOr<TraceSummary> summary = database.StopTrace();
  ASSERT_TRUE(summary.ok()) << summary.status();
  std::ifstream file(path, std::ios::binary);
  const auto trace = ReadTraceBytes(std::string(std::istreambuf_iterator<char>(file), {}));
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(trace.ok()) << trace.status();
  ASSERT_EQ(trace->records.size(), 2u);
  EXPECT_EQ(trace->records[0].rows_returned, 2u);
  EXPECT_EQ(trace->records[1].rows_returned, 1u);
  for (const TraceRecord& record : trace->records) {
    EXPECT_EQ(record.op, TraceOp::kScan);
    EXPECT_EQ(record.cells_returned, record.rows_returned);
    EXPECT_EQ(record.rows_seen, std::nullopt);
    EXPECT_EQ(record.cells_seen, std::nullopt);
    EXPECT_EQ(record.bytes_read, std::nullopt);
  }
}

TEST(RemoteRead, AReaderThatIsLetGoEndsItsStream) {
  std::latch cancelled(1);
  FakeServer server;
  server.on_read = [&](size_t, grpc::ServerContext* context, FakeServer::ReadWriter* writer) {
    writer->Write(RowsMessage({"a"}));
    while (!context->IsCancelled()) std::this_thread::yield();
    cancelled.count_down();
    return grpc::Status::CANCELLED;
  };
  Table table = server.OpenTable();
  {
    RowReader reader = table.ReadRows();
    ASSERT_TRUE(reader.Next());
  }
  cancelled.wait();
}

TEST(RemoteRead, ARowOfWhichPiecesWereShownIsNotReadAgain) {
  FakeServer server;
  server.on_read = [&](size_t, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    writer->Write(Half("a"));
    return kBroken;
  };
  Table table = server.OpenTable();
  EXPECT_EQ(Read(table, RowSet::All(), {.row_piece_bytes = 1}), Keys({"a", "[ABORTED]"}));
  EXPECT_EQ(server.reads.size(), 1u);
}

TEST(RemoteRead, ManyKeysAreAskedForInParts) {
  FakeServer server;
  server.on_read = [&](size_t call, grpc::ServerContext*, FakeServer::ReadWriter* writer) {
    const auto& rows = server.reads[call].rows();
    Keys keys(rows.row_keys().begin(), rows.row_keys().end());
    if (server.reads[call].reversed()) std::reverse(keys.begin(), keys.end());
    writer->Write(RowsMessage(keys));
    return grpc::Status::OK;
  };
  Table table = server.OpenTable();
  RowSet rows;
  Keys expected;
  for (int i = 0; i < 300; ++i) {
    expected.push_back(std::to_string(1000 + i) + std::string(2000, 'k'));
    rows.Append(expected.back());
  }
  EXPECT_EQ(Read(table, rows), expected);
  EXPECT_GT(server.reads.size(), 2u);
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(Read(table, rows, {.reverse = true}), expected);
  const std::vector<std::string> asked = {"z", "a", "z", "b"};
  const auto many = table.ReadMany(std::span<const std::string>(asked));
  ASSERT_TRUE(many.ok());
  for (size_t i = 0; i < asked.size(); ++i) EXPECT_EQ((*many)[i]->row_key(), asked[i]);
}

TEST(RemoteRead, HeadersSayWhereItGoes) {
  FakeServer server;
  server.on_read = [&](size_t, grpc::ServerContext*, FakeServer::ReadWriter*) {
    return grpc::Status::OK;
  };
  Table table = server.OpenTable("&app_profile=batch");
  EXPECT_EQ(Read(table), Keys());
  const auto has = [&](const std::string& header) {
    return std::find(server.headers.begin(), server.headers.end(), header) != server.headers.end();
  };
  EXPECT_TRUE(
      has("x-goog-request-params: "
          "table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft&app_profile_id=batch"));
  EXPECT_TRUE(has("bigtable-features: CAEgAQ=="));
  EXPECT_EQ(server.reads[0].app_profile_id(), "batch");
}

TEST(RemoteRead, WhatIsWrongInItselfIsNotSent) {
  FakeServer server;
  Table table = server.OpenTable();
  EXPECT_EQ(Read(table, RowRange::Closed("b", "a")), Keys({"[INVALID_ARGUMENT]"}));
  EXPECT_TRUE(absl::IsInvalidArgument(table.ReadRow("a", Filter::Latest(0)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(table.Exists("a", Filter::RowKeyRegex("")).status()));
  EXPECT_TRUE(server.reads.empty());
}

}  // namespace
}  // namespace stele::internal
