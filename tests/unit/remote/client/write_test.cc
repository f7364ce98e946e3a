// Tests writes to a server that fails: which are retried, and which must not be.
#include <gtest/gtest.h>

#include <ctime>

#include "unit/remote/client/fake_server.h"

namespace stele::internal {
namespace {

const grpc::Status kBrokenWrite(grpc::StatusCode::UNAVAILABLE, "the connection broke");
const grpc::Status kRefused(grpc::StatusCode::INVALID_ARGUMENT, "an entry is wrong");

// Returns a function that fails `failures` times.
std::function<grpc::Status(size_t)> After(size_t failures,
                                          const grpc::Status& failure = kBrokenWrite) {
  return [=](size_t call) { return call < failures ? failure : grpc::Status::OK; };
}

void Answer(FakeServer::BulkWriter* writer, const std::vector<grpc::StatusCode>& codes) {
  google::bigtable::v2::MutateRowsResponse message;
  for (size_t i = codes.size(); i-- > 0;) {  // in any order
    auto* const entry = message.add_entries();
    entry->set_index(static_cast<int64_t>(i));
    entry->mutable_status()->set_code(static_cast<int>(codes[i]));
  }
  writer->Write(message);
}

std::vector<std::string> KeysOf(const google::bigtable::v2::MutateRowsRequest& request) {
  std::vector<std::string> keys;
  for (const auto& entry : request.entries()) keys.push_back(entry.row_key());
  return keys;
}

// Returns "INDEX CODE" for each.
std::vector<std::string> Verdicts(const std::vector<FailedMutation>& failed) {
  std::vector<std::string> texts;
  for (const FailedMutation& one : failed)
    texts.push_back(std::to_string(one.index) + " " + absl::StatusCodeToString(one.status.code()));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(RemoteApply, ACellWithoutATimestampGetsOneAndIsSentAgainWithIt) {
  FakeServer server;
  server.on_mutate = After(2);
  const auto clock = std::make_shared<ManualClock>(Timestamp::FromMicros(1'234'567));
  Table table = server.OpenTable("", {.clock = clock});
  EXPECT_TRUE(table.Apply(RowMutation("r").SetCell("f", "q", "v")).ok());
  ASSERT_EQ(server.mutates.size(), 3u);
  for (const auto& request : server.mutates) {
    EXPECT_EQ(request.mutations(0).set_cell().timestamp_micros(), 1'234'000);
    EXPECT_EQ(request.mutations(0).timestamp_origin(),
              google::bigtable::v2::Mutation::CLIENT_AUTO_GENERATED);
  }
}

TEST(RemoteApply, WhatAddsIsSentOnceUnlessUnderAToken) {
  FakeServer server;
  server.on_mutate = After(1);
  Table table = server.OpenTable();
  const RowMutation add = RowMutation("r").AddToCell("f", "q", Timestamp(), 1);
  EXPECT_EQ(table.Apply(add).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(server.mutates.size(), 1u);
  server.mutates.clear();
  EXPECT_TRUE(table.Apply(add, {.idempotency_token = "token-17"}).ok());
  ASSERT_EQ(server.mutates.size(), 2u);
  EXPECT_EQ(server.mutates[1].idempotency().token(), "token-17");
}

// A server forgets tokens after 15 minutes, even if a call may be retried for longer.
TEST(RemoteApply, WhatATokenAloneMakesHarmlessIsNotSentWhenItMayBeForgotten) {
  FakeServer server;
  server.on_mutate = After(1'000'000);
  server.on_bulk = [&](size_t, FakeServer::BulkWriter*) { return kBrokenWrite; };
  Table table = server.OpenTable("&retry_seconds=3600");
  const RowMutation add = RowMutation("r").AddToCell("f", "q", Timestamp(), 1);
  const WriteOptions with_token{.idempotency_token = "token-17"};
  const auto elapsed = [&server](const auto& write) {
    const SteadyClock::time_point begin = server.waiter->Now();
    write();
    return server.waiter->Now() - begin;
  };
  const auto apply = [&] {
    EXPECT_EQ(table.Apply(add, with_token).code(), absl::StatusCode::kUnavailable);
  };
  const auto bulk_apply = [&] {
    EXPECT_EQ(Verdicts(table.BulkApply(std::vector<RowMutation>{add}, with_token)),
              Texts({"0 UNAVAILABLE"}));
  };
  for (const SteadyClock::duration time : {elapsed(apply), elapsed(bulk_apply)}) {
    EXPECT_GT(time, std::chrono::minutes(11));
    EXPECT_LT(time, std::chrono::minutes(13));
  }
  for (const auto& idempotency :
       {server.mutates[0].idempotency(), server.bulks[0].entries(0).idempotency()}) {
    EXPECT_NEAR(static_cast<double>(idempotency.start_time().seconds()),
                static_cast<double>(std::time(nullptr)), 3600);
  }
  EXPECT_EQ(server.mutates.front().idempotency().start_time().nanos(),
            server.mutates.back().idempotency().start_time().nanos());
  const RowMutation set = RowMutation("r").SetCell("f", "q", Timestamp(), "v");
  EXPECT_GT(elapsed([&] { EXPECT_FALSE(table.Apply(set, with_token).ok()); }),
            std::chrono::minutes(55));
}

TEST(RemoteApply, AFailureThatStaysIsAnswered) {
  FakeServer server;
  server.on_mutate = After(1, grpc::Status(grpc::StatusCode::NOT_FOUND, "no such family"));
  Table table = server.OpenTable();
  const absl::Status status = table.Apply(RowMutation("r").DeleteFromRow());
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.ToString().find("no such family"), std::string::npos);
  EXPECT_EQ(server.mutates.size(), 1u);
}

TEST(RemoteApply, WhatIsWrongInItselfIsNotSent) {
  FakeServer server;
  Table table = server.OpenTable();
  for (const RowMutation& wrong :
       {RowMutation(""), RowMutation("r"),
        RowMutation("r").SetCell("f", "q", Timestamp::FromMicros(-1), ""),
        RowMutation("r").SetCell("f", "q", Timestamp::FromMicros(1), ""),
        RowMutation("r").DeleteFromColumn("f", "q", {.end = Timestamp()})}) {
    EXPECT_EQ(table.Apply(wrong).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(
      server.OpenTable("", {.read_only = true}).Apply(RowMutation("r").DeleteFromRow()).code(),
      absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(server.mutates.empty());
}

TEST(RemoteBulkApply, OnlyWhatFailedForTheMomentIsSentAgain) {
  FakeServer server;
  server.on_bulk = [&](size_t call, FakeServer::BulkWriter* writer) {
    using grpc::StatusCode;
    if (call == 0)
      Answer(writer,
             {StatusCode::OK, StatusCode::UNAVAILABLE, StatusCode::NOT_FOUND, StatusCode::ABORTED});
    if (call == 1) Answer(writer, {StatusCode::OK, StatusCode::UNAVAILABLE});
    if (call == 2) Answer(writer, {StatusCode::OK});
    return grpc::Status::OK;
  };
  Table table = server.OpenTable();
  std::vector<RowMutation> mutations;
  for (const char* const row_key : {"a", "b", "c", "d"})
    mutations.push_back(RowMutation(row_key).SetCell("f", "q", "v"));
  EXPECT_EQ(Verdicts(table.BulkApply(mutations)), Texts({"2 NOT_FOUND"}));
  ASSERT_EQ(server.bulks.size(), 3u);
  EXPECT_EQ(KeysOf(server.bulks[1]), Texts({"b", "d"}));
  EXPECT_EQ(KeysOf(server.bulks[2]), Texts({"d"}));
  EXPECT_EQ(server.bulks[2].entries(0).mutations(0).set_cell().timestamp_micros(),
            server.bulks[0].entries(3).mutations(0).set_cell().timestamp_micros());
}

TEST(RemoteBulkApply, WhatAddsIsSentOnceUnlessUnderAToken) {
  FakeServer server;
  server.on_bulk = [&](size_t call, FakeServer::BulkWriter* writer) {
    if (call % 2 == 0) return kBrokenWrite;
    const auto count = static_cast<size_t>(server.bulks[call].entries_size());
    Answer(writer, std::vector<grpc::StatusCode>(count, grpc::StatusCode::OK));
    return grpc::Status::OK;
  };
  Table table = server.OpenTable();
  const std::vector<RowMutation> mutations = {RowMutation("a").AddToCell("f", "q", Timestamp(), 1),
                                              RowMutation("b").DeleteFromRow()};
  EXPECT_EQ(Verdicts(table.BulkApply(mutations)), Texts({"0 UNAVAILABLE"}));
  EXPECT_EQ(KeysOf(server.bulks.back()), Texts({"b"}));
  EXPECT_EQ(Verdicts(table.BulkApply(mutations, {.idempotency_token = "token-17"})), Texts());
  EXPECT_EQ(server.bulks.back().entries(1).idempotency().token(), "token-17#1");
}

TEST(RemoteBulkApply, OneWrongEntryDoesNotKeepTheOthersOut) {
  FakeServer server;
  server.on_bulk = [&](size_t call, FakeServer::BulkWriter* writer) {
    const Texts keys = KeysOf(server.bulks[call]);
    if (std::find(keys.begin(), keys.end(), "wrong") != keys.end()) return kRefused;
    Answer(writer, std::vector<grpc::StatusCode>(keys.size(), grpc::StatusCode::OK));
    return grpc::Status::OK;
  };
  Table table = server.OpenTable();
  std::vector<RowMutation> mutations;
  for (const char* const row_key : {"a", "b", "wrong", "d", "e"})
    mutations.push_back(RowMutation(row_key).AddToCell("f", "q", Timestamp(), 1));
  EXPECT_EQ(Verdicts(table.BulkApply(mutations)), Texts({"2 INVALID_ARGUMENT"}));
  EXPECT_LE(server.bulks.size(), 7u);
  server.bulks.clear();
  server.table_is_gone = true;
  EXPECT_EQ(table.BulkApply(mutations).size(), 5u);
  EXPECT_EQ(server.bulks.size(), 1u) << "no table is looked for once an entry";
}

TEST(RemoteBulkApply, TheTableIsLookedForOnceHoweverOftenItIsHalved) {
  FakeServer server;
  server.on_bulk = [&](size_t, FakeServer::BulkWriter*) { return kRefused; };
  Table table = server.OpenTable();
  std::vector<RowMutation> mutations;
  for (int i = 0; i < 8; ++i) mutations.push_back(RowMutation(std::to_string(i)).DeleteFromRow());
  server.table_looks = 0;
  EXPECT_EQ(table.BulkApply(mutations).size(), 8u);
  EXPECT_EQ(server.bulks.size(), 15u);
  EXPECT_EQ(server.table_looks, 1u);
}

TEST(RemoteBulkApply, ARefusalAfterVerdictsIsNoneOfWhatMayHaveBeenDone) {
  FakeServer server;
  server.on_bulk = [&](size_t call, FakeServer::BulkWriter* writer) {
    if (call == 0) {
      Answer(writer, {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::OK});
      return grpc::Status(grpc::StatusCode::NOT_FOUND, "the table was deleted");
    }
    Answer(writer,
           std::vector<grpc::StatusCode>(static_cast<size_t>(server.bulks[call].entries_size()),
                                         grpc::StatusCode::OK));
    return grpc::Status::OK;
  };
  Table table = server.OpenTable();
  std::vector<RowMutation> mutations = {RowMutation("a").DeleteFromRow()};
  for (const char* const row_key : {"b", "c", "d"})
    mutations.push_back(RowMutation(row_key).AddToCell("f", "q", Timestamp(), 1));
  EXPECT_EQ(Verdicts(table.BulkApply(mutations)), Texts({"2 NOT_FOUND", "3 NOT_FOUND"}));
  ASSERT_EQ(server.bulks.size(), 2u);
  EXPECT_EQ(KeysOf(server.bulks[1]), Texts({"a"}));
}

TEST(RemoteBulkApply, AnAttemptLeavesTimeForTheNext) {
  FakeServer server;
  server.on_bulk = [&](size_t, FakeServer::BulkWriter* writer) {
    Answer(writer, {grpc::StatusCode::OK});
    return grpc::Status::OK;
  };
  Table table = server.OpenTable();
  const std::vector<RowMutation> mutations = {RowMutation("a").DeleteFromRow()};
  EXPECT_TRUE(table.BulkApply(mutations).empty());
  EXPECT_LT(server.bulk_deadline - std::chrono::system_clock::now(), std::chrono::seconds(30))
      << "of the 60 in which it has to get on";
  Table once = server.OpenTable("&retry_seconds=0");
  EXPECT_TRUE(once.BulkApply(mutations).empty());
  EXPECT_GT(server.bulk_deadline, std::chrono::system_clock::now() + std::chrono::seconds(30))
      << "an attempt that is the only one has it all";
}

TEST(RemoteBulkApply, AMissingVerdictIsAskedForAgain) {
  FakeServer server;
  server.on_bulk = [&](size_t call, FakeServer::BulkWriter* writer) {
    Answer(writer, {grpc::StatusCode::OK});
    return call < 1 ? grpc::Status::OK : kBrokenWrite;
  };
  Table table = server.OpenTable();
  const std::vector<RowMutation> mutations = {RowMutation("a").DeleteFromRow(),
                                              RowMutation("b").DeleteFromRow()};
  EXPECT_EQ(Verdicts(table.BulkApply(mutations)), Texts());
  ASSERT_EQ(server.bulks.size(), 2u);
  EXPECT_EQ(KeysOf(server.bulks[1]), Texts({"b"}));
}

TEST(RemoteBulkApply, ARowsChangesGoOneAfterTheOther) {
  FakeServer server;
  server.on_bulk = [&](size_t call, FakeServer::BulkWriter* writer) {
    const auto count = static_cast<size_t>(server.bulks[call].entries_size());
    Answer(writer, std::vector<grpc::StatusCode>(count, grpc::StatusCode::OK));
    return grpc::Status::OK;
  };
  Table table = server.OpenTable();
  std::vector<RowMutation> mutations;
  for (const char* const row_key : {"a", "b", "", "a", "c"})
    mutations.push_back(RowMutation(row_key).DeleteFromRow());
  EXPECT_EQ(Verdicts(table.BulkApply(mutations)), Texts({"2 INVALID_ARGUMENT"}));
  ASSERT_EQ(server.bulks.size(), 2u);
  EXPECT_EQ(KeysOf(server.bulks[0]), Texts({"a", "b"}));
  EXPECT_EQ(KeysOf(server.bulks[1]), Texts({"a", "c"}));
  server.bulks.clear();
  mutations.assign(3, RowMutation());
  for (size_t i = 0; i < mutations.size(); ++i) {
    mutations[i] =
        RowMutation("r" + std::to_string(i)).SetCell("f", "q", std::string(size_t{2} << 20, 'x'));
  }
  EXPECT_TRUE(table.BulkApply(mutations).empty());
  EXPECT_EQ(server.bulks.size(), 3u) << "a request is bounded";
}

TEST(RemoteBulkApply, GivesUpInTheEnd) {
  FakeServer server;
  server.on_bulk = [&](size_t, FakeServer::BulkWriter*) { return kBrokenWrite; };
  Table table = server.OpenTable("&retry_seconds=1");
  const std::vector<RowMutation> mutations = {RowMutation("a").DeleteFromRow(),
                                              RowMutation("b").DeleteFromRow()};
  EXPECT_EQ(Verdicts(table.BulkApply(mutations)), Texts({"0 UNAVAILABLE", "1 UNAVAILABLE"}));
  EXPECT_GT(server.bulks.size(), 2u);
}

TEST(RemoteConditionalWrites, AreSentOnce) {
  FakeServer server;
  server.on_check = After(1);
  server.on_modify = After(1);
  Table table = server.OpenTable();
  const RowMutation change = RowMutation("r").DeleteFromRow();
  EXPECT_EQ(table.CheckAndMutateRow("r", {}, change, change).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(table.ReadModifyWriteRow("r", {ReadModifyWriteRule::AppendValue("f", "q", "v")})
                .status()
                .code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(server.check_count, 1u);
  EXPECT_EQ(server.modify_count, 1u);
  const WriteOptions with_token{.idempotency_token = "token-17"};
  EXPECT_EQ(table.CheckAndMutateRow("r", {}, change, change, with_token).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(RemoteAdmin, PagesAndOperationsAreFollowed) {
  FakeServer server;
  server.table_names = {"c", "a", "e", "b", "d"};
  Database database = server.Open();
  EXPECT_EQ(database.ListTables().value(), Texts({"a", "b", "c", "d", "e"}));
  server.operation_polls = 3;
  Table table = database.OpenTable("t").value();
  EXPECT_EQ(table.SetProperty("deletion_protection", "true").code(),
            absl::StatusCode::kFailedPrecondition)
      << "as the operation ended";
  EXPECT_EQ(server.waiter->pauses().size(), 3u);
  EXPECT_EQ(table.SetProperty("deletion_protection", "yes").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(table.SetProperty("colour", "red").code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(server.update_count, 1);
}

// Its polls take minutes on the clock of the waiter, which is longer than a failing call is
// retried.
TEST(RemoteAdmin, AnOperationIsAwaitedForAsLongAsItRuns) {
  for (const char* const retry : {"", "&retry_seconds=0"}) {
    FakeServer server;
    Table table = server.OpenTable(retry);
    server.operation_polls = 100;
    const absl::Status ended = table.SetProperty("deletion_protection", "true");
    EXPECT_EQ(ended.code(), absl::StatusCode::kFailedPrecondition) << ended;
    EXPECT_EQ(server.waiter->pauses().size(), 100u);
    EXPECT_GT(server.waiter->pauses().back(), std::chrono::seconds(2)) << "polls are not hurried";
  }
}

TEST(RemoteDatabase, WhatAServerCannotDoSaysWhy) {
  FakeServer server;
  Database database = server.Open();
  Table table = database.OpenTable("t").value();
  WriteBatch batch;
  batch.Add(table, RowMutation("a").DeleteFromRow()).Add(table, RowMutation("b").DeleteFromRow());
  const std::vector<absl::Status> answers = {
      database.GetSnapshot().status(),
      database.Apply(batch),
      database.Checkpoint("/tmp/x"),
      database.Verify().status(),
      database.WaitForIdle(),
      table.Flush(),
      table.Compact(),
      table.NewBulkLoad().Finish(),
      table.DropRowRange(RowRange::Closed("a", "b")),
      database.CreateTable("u", Schema().SetProperty("colour", "red")).status(),
      database.CreateTable("u", Schema().SetLimits({.value_bytes = 10})).status()};
  for (const absl::Status& answer : answers) {
    EXPECT_EQ(answer.code(), absl::StatusCode::kUnimplemented) << answer;
    EXPECT_NE(answer.ToString().find("server"), std::string::npos) << answer;
  }
  EXPECT_TRUE(database.Sync().ok());
  EXPECT_TRUE(database.Apply(WriteBatch()).ok());
  EXPECT_EQ(database.OpenTable("p/i/t").status().code(), absl::StatusCode::kInvalidArgument);
  server.on_mutate = After(0);
  WriteBatch one;
  one.Add(table, RowMutation("a").DeleteFromRow());
  EXPECT_TRUE(database.Apply(one).ok());
  Database other = server.Open();
  EXPECT_EQ(other.Apply(one).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace stele::internal
