// Tests what Database::StartTrace records: every kind of call once, with the right numbers, and no
// value.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "stele/stele.h"
#include "support/trace_testing.h"

namespace stele {
namespace {

using internal::ReadTrace;
using internal::TraceOp;
using internal::TraceRecord;

class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = (std::filesystem::temp_directory_path() / "stele_trace_XXXXXX").string();
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    directory_ = path;
    database_ = Database::Open("mem:").value();
    table_ = database_.CreateTable("t", Schema().AddFamily("f").AddFamily("g")).value();
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name = "t.trace") const { return directory_ / name; }
  void Start(const TraceOptions& options = {}) {
    ASSERT_EQ(database_.StartTrace(Path(), options), absl::OkStatus());
  }
  std::string Bytes() const {
    std::ifstream file(Path(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  std::vector<TraceRecord> Records() const {
    const auto read = internal::ReadTraceBytes(Bytes());
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() ? read->records : std::vector<TraceRecord>();
  }
  // Ends the trace, and returns its records, which have the times of their calls.
  std::vector<TraceRecord> Stop() {
    const auto summary = database_.StopTrace();
    EXPECT_TRUE(summary.ok()) << summary.status();
    std::vector<TraceRecord> records = Records();
    EXPECT_EQ(summary->recorded, records.size());
    EXPECT_EQ(summary->bytes, Bytes().size());
    for (const TraceRecord& record : records) {
      EXPECT_GT(record.micros, 1'700'000'000'000'000);
      EXPECT_TRUE(record.latency_micros.has_value());
    }
    return records;
  }
  static RowMutation Set(std::string row, std::string_view value = "value") {
    return RowMutation(std::move(row)).SetCell("f", "q", Timestamp::FromMillis(1), value);
  }

  std::filesystem::path directory_;
  Database database_;
  Table table_;
};

// What a test compares of a record.
std::string TextOf(const TraceRecord& record) {
  const auto number = [](const std::optional<uint64_t>& value) {
    return value.has_value() ? fmt::format("{}", *value) : "-";
  };
  const auto list = [](const std::vector<std::string>& values) {
    return fmt::format("{}", fmt::join(values, ","));
  };
  constexpr std::string_view kOps[] = {"get", "mget", "scan", "set", "del", "rmw", "cas", "drop"};
  return fmt::format(
      "{} {} row={} keys={} range={}..{} last={} limit={} {}rows={} cells={}/{} bytes={} "
      "columns={} increments={} status={} tag={}",
      kOps[static_cast<int>(record.op)], record.table, record.row, list(record.keys),
      record.start.value_or("-"), record.end.value_or("-"), record.last.value_or("-"),
      number(record.limit), record.is_reverse ? "reverse " : "", number(record.rows_returned),
      number(record.cells_returned), number(record.cells), number(record.bytes),
      list(record.columns), list(record.increments), record.status, record.tag);
}

TEST_F(TraceTest, WritesAreRecordedOnce) {
  Start();
  ASSERT_TRUE(
      table_.Apply(Set("r1").SetCell("g", "qq", Timestamp::FromMillis(1), "12"), {.tag = "web"})
          .ok());
  RowMutation deletes("r2");
  deletes.DeleteFromColumn("f", "q").DeleteFromFamily("g");
  ASSERT_TRUE(table_.Apply(deletes).ok());
  ASSERT_TRUE(table_.Apply(Set("r3")).ok());  // the overload that takes an rvalue
  ASSERT_FALSE(table_.Apply(RowMutation("r4").SetCell("none", "q", "v")).ok());
  ASSERT_TRUE(table_
                  .ReadModifyWriteRow("r5", {ReadModifyWriteRule::IncrementAmount("f", "n", 1),
                                             ReadModifyWriteRule::AppendValue("f", "a", "xyz")})
                  .ok());
  ASSERT_TRUE(table_.CheckAndMutateRow("r1", Filter(), Set("r1"), RowMutation()).ok());
  const RowMutation none;
  const RowMutation set = Set("");
  ASSERT_TRUE(table_.CheckAndMutateRow("r9", Filter(), none, set).ok());
  ASSERT_TRUE(table_.DropRowRange(RowRange::Prefix("r3")).ok());
  ASSERT_TRUE(table_.DropRowRange(RowRange::All()).ok());
  const std::vector<TraceRecord> records = Stop();
  std::vector<std::string> texts;
  for (const TraceRecord& record : records) texts.push_back(TextOf(record));
  const std::vector<std::string> expected = {
      "set t row=r1 keys= range=-..- last=- limit=- rows=- cells=-/2 bytes=12 columns=f:q,g:qq "
      "increments= status= tag=web",
      "del t row=r2 keys= range=-..- last=- limit=- rows=- cells=-/0 bytes=2 columns=f:q "
      "increments= status= tag=",
      "set t row=r3 keys= range=-..- last=- limit=- rows=- cells=-/1 bytes=8 columns=f:q "
      "increments= status= tag=",
      "set t row=r4 keys= range=-..- last=- limit=- rows=- cells=-/1 bytes=4 columns=none:q "
      "increments= status=NOT_FOUND tag=",
      "rmw t row=r5 keys= range=-..- last=- limit=- rows=- cells=-/2 bytes=15 columns=f:a "
      "increments=f:n status= tag=",
      "cas t row=r1 keys= range=-..- last=- limit=- rows=- cells=-/1 bytes=8 columns=f:q "
      "increments= status= tag=",
      "cas t row=r9 keys= range=-..- last=- limit=- rows=- cells=-/1 bytes=8 columns=f:q "
      "increments= status= tag=",
      "drop t row= keys= range=r3..r4 last=- limit=- rows=- cells=-/- bytes=- columns= "
      "increments= status= tag=",
      "drop t row= keys= range=-..- last=- limit=- rows=- cells=-/- bytes=- columns= increments= "
      "status= tag="};
  EXPECT_EQ(texts, expected);
}

TEST_F(TraceTest, EntriesOfBatchesAndBulkCallsAreRecordsOfTheirOwn) {
  Table other = database_.CreateTable("u", Schema().AddFamily("f")).value();
  Start();
  WriteBatch batch;
  batch.Add(table_, Set("a")).Add(other, RowMutation("b").DeleteFromRow());
  ASSERT_TRUE(database_.Apply(batch, {.tag = "job"}).ok());
  const std::vector<RowMutation> bulk = {Set("c"), RowMutation("d").SetCell("none", "q", "v"),
                                         Set("e")};
  ASSERT_EQ(table_.BulkApply(bulk).size(), 1u);
  ASSERT_TRUE(database_.Apply(batch).ok());
  EXPECT_TRUE(table_.BulkApply({}).empty());
  const std::vector<TraceRecord> records = Stop();
  ASSERT_EQ(records.size(), 7u);
  EXPECT_EQ(records[0].table, "t");
  EXPECT_EQ(records[1].table, "u");
  EXPECT_EQ(records[1].op, TraceOp::kDel);
  EXPECT_EQ(records[1].tag, "job");
  EXPECT_TRUE(records[0].batch.has_value() && records[0].batch == records[1].batch);
  EXPECT_NE(records[0].batch, records[5].batch);
  EXPECT_FALSE(records[0].call.has_value());
  EXPECT_TRUE(records[2].call.has_value() && records[2].call == records[4].call);
  EXPECT_FALSE(records[2].batch.has_value());
  EXPECT_EQ(records[2].row + records[3].row + records[4].row, "cde");
  EXPECT_EQ(records[2].status + records[3].status + records[4].status, "NOT_FOUND");
}

TEST_F(TraceTest, ReadsAreRecordedOnce) {
  for (const std::string row : {"a", "b", "c"}) ASSERT_TRUE(table_.Apply(Set(row)).ok());
  Start();
  const ReadOptions tagged = {.tag = "web"};
  ASSERT_TRUE(table_.ReadRow("a", Filter::FamilyRegex("f"), tagged)->has_value());
  ASSERT_FALSE(table_.ReadRow("x")->has_value());
  ASSERT_TRUE(table_.ReadCell("a", "f", "q")->has_value());
  int visits = 0;
  ASSERT_TRUE(*table_.VisitRow("a", [&](const RowView&) { ++visits; }));
  ASSERT_EQ(visits, 1);
  ASSERT_TRUE(*table_.Exists("a"));
  const std::vector<std::string> keys = {"a", "x", "c"};
  ASSERT_EQ(table_.ReadMany(keys)->size(), 3u);
  ASSERT_FALSE(table_.ReadRow("a", Filter::RowKeyRegex("(")).ok());
  const std::vector<TraceRecord> records = Stop();
  std::vector<std::string> texts;
  for (const TraceRecord& record : records) texts.push_back(TextOf(record));
  const std::vector<std::string> expected = {
      "get t row=a keys= range=-..- last=- limit=- rows=1 cells=1/- bytes=7 columns= increments= "
      "status= tag=web",
      "get t row=x keys= range=-..- last=- limit=- rows=0 cells=0/- bytes=0 columns= increments= "
      "status= tag=",
      "get t row=a keys= range=-..- last=- limit=- rows=1 cells=1/- bytes=7 columns= increments= "
      "status= tag=",
      "get t row=a keys= range=-..- last=- limit=- rows=1 cells=1/- bytes=7 columns= increments= "
      "status= tag=",
      "get t row=a keys= range=-..- last=- limit=- rows=- cells=-/- bytes=- columns= increments= "
      "status= tag=",
      "mget t row= keys=a,x,c range=-..- last=- limit=- rows=2 cells=2/- bytes=14 columns= "
      "increments= status= tag=",
      "get t row=a keys= range=-..- last=- limit=- rows=0 cells=0/- bytes=0 columns= increments= "
      "status=INVALID_ARGUMENT tag="};
  EXPECT_EQ(texts, expected);
  EXPECT_EQ(records[0].filter, Filter::FamilyRegex("f").ToString());
  EXPECT_EQ(records[1].filter, "");
  EXPECT_EQ(records[2].families, std::vector<std::string>{"f"});
}

TEST_F(TraceTest, AVisitIsRecordedBeforeTheCallsOfItsFunction) {
  ASSERT_TRUE(table_.Apply(Set("a")).ok());
  Start();
  ASSERT_TRUE(*table_.VisitRow("a", [&](const RowView&) { ASSERT_FALSE(*table_.Exists("b")); }));
  ASSERT_FALSE(*table_.VisitRow("c", [](const RowView&) {}));
  const std::vector<TraceRecord> records = Stop();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].row + records[1].row + records[2].row, "abc");
  EXPECT_EQ(records[0].rows_returned, 1u);
  EXPECT_FALSE(records[1].rows_returned.has_value());
  EXPECT_EQ(records[2].rows_returned, 0u);
}

TEST_F(TraceTest, ScansAreRecordedAtTheirEnd) {
  for (const std::string row : {"a", "b", "c"}) ASSERT_TRUE(table_.Apply(Set(row)).ok());
  Start();
  const auto scan = [&](const RowSet& rows, const ReadOptions& options, int row_count) {
    RowReader reader = table_.ReadRows(rows, {}, options);
    for (int i = 0; i < row_count; ++i) EXPECT_TRUE(reader.Next());
    if (row_count == 3) EXPECT_FALSE(reader.Next());
    EXPECT_TRUE(reader.status().ok());
  };
  scan(RowSet::All(), {}, 3);
  scan(RowRange::Prefix("b"), {.limit = 1}, 1);
  scan(RowRange::Closed("a", "b"), {.reverse = true, .tag = "x"}, 1);
  RowSet both;
  both.Append("c").Append(RowRange::Open("a", "b"));
  scan(both, {}, 1);
  const std::vector<TraceRecord> records = Stop();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(TextOf(records[0]),
            "scan t row= keys= range=-..- last=- limit=- rows=3 cells=3/- bytes=21 columns= "
            "increments= status= tag=");
  EXPECT_EQ(records[0].rows_seen, 3u);
  EXPECT_EQ(records[0].cells_seen, 3u);
  EXPECT_EQ(records[0].bytes_read, 0u);
  EXPECT_EQ(TextOf(records[1]),
            "scan t row= keys= range=b..c last=b limit=1 rows=1 cells=1/- bytes=7 columns= "
            "increments= status= tag=");
  EXPECT_TRUE(records[2].is_reverse);
  EXPECT_EQ(records[2].start, "a");
  EXPECT_EQ(records[2].end, std::string("b\0", 2));
  EXPECT_EQ(records[2].last, "b");
  EXPECT_EQ(records[2].rows_returned, 1u);
  EXPECT_EQ(records[2].tag, "x");
  ASSERT_TRUE(records[3].has_ranges);
  ASSERT_EQ(records[3].ranges.size(), 2u);
  EXPECT_EQ(records[3].ranges[0].start, "c");
  EXPECT_EQ(records[3].ranges[0].end, std::string("c\0", 2));
  EXPECT_EQ(records[3].ranges[1].start, std::string("a\0", 2));
  EXPECT_EQ(records[3].ranges[1].end, "b");
}

TEST_F(TraceTest, AScanThatTheCallerEndsHasItsRowsAsLimit) {
  for (const std::string row : {"a", "b", "c"}) ASSERT_TRUE(table_.Apply(Set(row)).ok());
  RowMutation wide("d");
  for (int i = 0; i < 1000; ++i) wide.SetCell("f", std::to_string(i), "value");
  ASSERT_TRUE(table_.Apply(wide).ok());
  Start();
  const auto scan = [&](const ReadOptions& options, int pieces) {
    RowReader reader = table_.ReadRows(RowSet::All(), {}, options);
    for (int i = 0; i < pieces; ++i) EXPECT_TRUE(reader.Next());
  };
  scan({.limit = 3}, 2);
  scan({}, 0);
  scan({.row_piece_bytes = 1}, 4);  // the fourth row has more pieces
  {
    RowReader reader = table_.ReadRows(RowSet::All());
    while (reader.Next()) continue;
  }
  const std::vector<TraceRecord> records = Stop();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].limit, 2u);
  EXPECT_EQ(records[0].last, "b");
  EXPECT_EQ(records[1].limit, 1u);
  EXPECT_EQ(records[2].limit, 4u);
  EXPECT_EQ(records[2].last, "d");
  EXPECT_EQ(records[3].limit, std::nullopt);
  EXPECT_EQ(records[3].last, std::nullopt);
}

TEST_F(TraceTest, ScansOfSteleItselfAreNotRecorded) {
  ASSERT_TRUE(table_.Apply(Set("a")).ok());
  Start();
  for (const std::string tag : {"stele:heatmap", "stele"}) {
    RowReader reader = table_.ReadRows(RowSet::All(), {}, {.tag = tag});
    while (reader.Next()) continue;
  }
  const std::vector<TraceRecord> records = Stop();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].tag, "stele");
}

TEST_F(TraceTest, AScanOfRowKeysIsAGet) {
  for (const std::string row : {"a", "b", "c"}) ASSERT_TRUE(table_.Apply(Set(row)).ok());
  Start();
  RowSet keys;
  keys.Append("c");
  for (RowReader reader = table_.ReadRows(keys, {}, {.limit = 1}); reader.Next();) {
  }
  for (RowReader reader = table_.ReadRows(keys.Append("a")); reader.Next();) {
  }
  const std::vector<TraceRecord> records = Stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(TextOf(records[0]),
            "get t row=c keys= range=-..- last=- limit=1 rows=1 cells=1/- bytes=7 columns= "
            "increments= status= tag=");
  EXPECT_EQ(TextOf(records[1]),
            "mget t row= keys=c,a range=-..- last=- limit=- rows=2 cells=2/- bytes=14 columns= "
            "increments= status= tag=");
}

TEST_F(TraceTest, NoValueIsInTheFile) {
  const std::string secret = "s3cr3t-s3cr3t";
  Start();
  ASSERT_TRUE(table_.Apply(Set("a", secret)).ok());
  WriteBatch batch;
  batch.Add(table_, Set("b", secret));
  ASSERT_TRUE(database_.Apply(batch).ok());
  const std::vector<RowMutation> bulk = {Set("c", secret)};
  EXPECT_TRUE(table_.BulkApply(bulk).empty());
  ASSERT_TRUE(
      table_.ReadModifyWriteRow("d", {ReadModifyWriteRule::AppendValue("f", "q", secret)}).ok());
  ASSERT_TRUE(table_.CheckAndMutateRow("a", Filter(), Set("a", secret), RowMutation()).ok());
  ASSERT_TRUE(table_.ReadRow("a").ok());
  ASSERT_TRUE(table_.ReadCell("a", "f", "q").ok());
  {
    RowReader reader = table_.ReadRows(RowSet::All());
    while (reader.Next()) {
    }
    EXPECT_TRUE(reader.status().ok());
  }
  for (const TraceRecord& record : Stop()) {
    std::string bytes;
    TraceRecord copy = record;
    for (const std::string& text :
         {copy.table, copy.row, copy.filter, copy.status, copy.tag, copy.last.value_or("")})
      bytes += text;
    for (const auto& list : {copy.keys, copy.columns, copy.increments})
      for (const std::string& text : list) bytes += text;
    EXPECT_EQ(bytes.find("s3cr3t"), std::string::npos);
  }
  EXPECT_EQ(Bytes().find("s3cr3t"), std::string::npos);
}

TEST_F(TraceTest, StartAndStopCheckTheirArguments) {
  EXPECT_EQ(database_.StopTrace().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(database_.StartTrace("").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(database_.StartTrace(Path(), {.sample = 0}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(database_.StartTrace(directory_.string()).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(database_.StartTrace(directory_.string(), {.append = true}).code(),
            absl::StatusCode::kFailedPrecondition);
  Start();
  struct stat info;
  ASSERT_EQ(::stat(Path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(database_.StartTrace(Path("other")).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(Path("other")));
  EXPECT_TRUE(database_.StopTrace().ok());
  EXPECT_EQ(database_.StartTrace(Path()).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(database_.StartTrace(Path(), {.sample = 2, .append = true}).code(),
            absl::StatusCode::kFailedPrecondition);
  const std::string long_tag(33, 't');
  EXPECT_EQ(table_.Apply(Set("a"), {.tag = long_tag}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.ReadRow("a", {}, {.tag = long_tag}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Database().StartTrace(Path("x")).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(TraceTest, CloseAndTheLastHandleEndTheTrace) {
  Start();
  ASSERT_TRUE(table_.Apply(Set("a")).ok());
  ASSERT_TRUE(database_.Close().ok());
  EXPECT_EQ(database_.StopTrace().status().code(), absl::StatusCode::kFailedPrecondition);
  auto read = internal::ReadTraceBytes(Bytes());
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->is_complete);
  EXPECT_EQ(read->records.size(), 1u);

  database_ = Database::Open("mem:").value();
  table_ = database_.CreateTable("t", Schema().AddFamily("f")).value();
  Start({.append = true});
  database_ = Database();
  ASSERT_TRUE(table_.Apply(Set("b")).ok());
  table_ = Table();
  read = internal::ReadTraceBytes(Bytes());
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->is_complete);
  EXPECT_EQ(read->records.size(), 2u);
}

// A database that was opened before a fork is not used in the child. Its destructors may run.
TEST_F(TraceTest, AChildDoesNotEndTheTraceOfItsParent) {
  Start();
  ASSERT_TRUE(table_.Apply(Set("a")).ok());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(database_.StopTrace().ok() ? 1 : 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(Stop().size(), 1u);
}

}  // namespace
}  // namespace stele
