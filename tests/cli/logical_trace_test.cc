// Tests the commands that make logical traces: trace from-records and trace logical.
#ifdef STELE_HAS_LAB
#include <algorithm>
#include <filesystem>

#include "cli/command_fixture.h"
#include "fmt/format.h"

namespace stele {
namespace {

// Visits of pages, by user.
constexpr char kVisits[] =
    "stele: design/1\n"
    "inputs: {visits: {file: visits.csv}}\n"
    "tables:\n"
    "  visits:\n"
    "    families: {v: {gc: \"maxversions=1\"}}\n"
    "    key: \"{user}#{page}\"\n"
    "    rows: [{input: visits, when: {kind: page}, timestamp: \"1000\", cells: {\"v:n\": "
    "\"{pieces}\"}}]\n"
    "    queries:\n"
    "      of-user: {read: {prefix: \"{user}#\"}, answer: [\"v:n\"]}\n"
    "      add: {write: visits}\n";

class FromRecordsTest : public CommandTest {
 protected:
  FromRecordsTest()
      : design_(WriteFile("visits.yaml", kVisits)),
        csv_(WriteFile("visits.csv",
                       "time,user,page,kind,pieces\n"
                       "2023-11-14T22:13:21Z,u1,/a,page,1\n"
                       "1700000000,u2,,page,\n"
                       "1700000000500,\xff,/b,image,2\n")) {}

  std::vector<std::string> Words(const std::string& input,
                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"trace",   "from-records", input, "--query",
                                      "of-user", "--time",       "time"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string Lines(const std::string& input, const std::vector<std::string>& more = {}) const {
    const CommandResult result = RunPlain(Words(input, more));
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  const std::string design_;
  const std::string csv_;
};

TEST_F(FromRecordsTest, EachRecordIsAnOperationAtItsTime) {
  EXPECT_EQ(Lines(csv_),
            "{\"t\":1700000000000000,\"query\":\"of-user\",\"params\":{\"kind\":\"page\",\"time\":"
            "\"1700000000\",\"user\":\"u2\"}}\n"
            "{\"t\":1700000000500000,\"query\":\"of-user\",\"params\":{\"kind\":\"image\",\"page\":"
            "\"/b\",\"pieces\":\"2\",\"time\":\"1700000000500\"},\"params_base64\":{\"user\":"
            "\"/w==\"}}\n"
            "{\"t\":1700000001000000,\"query\":\"of-user\",\"params\":{\"kind\":\"page\",\"page\":"
            "\"/a\",\"pieces\":\"1\",\"time\":\"2023-11-14T22:13:21Z\",\"user\":\"u1\"}}\n");
  const std::string nested = WriteFile(
      "nested.jsonl",
      "{\"a\":{\"b\":1.50,\"c\":[true,null,{\"d\":\"\\u0000x\"}]},\"time\":1700000000000001,"
      "\"a.b\":\"first\"}\n\n");
  EXPECT_EQ(Lines(nested),
            "{\"t\":1700000000000001,\"query\":\"of-user\",\"params\":{\"a.b\":\"first\","
            "\"a.c.0\":\"true\",\"a.c.2.d\":\"\\u0000x\",\"time\":\"1700000000000001\"}}\n");
}

TEST_F(FromRecordsTest, ADesignSelectsTheFields) {
  EXPECT_EQ(Lines(csv_, {"--design", design_}),
            "{\"t\":1700000000000000,\"query\":\"of-user\",\"params\":{\"user\":\"u2\"}}\n"
            "{\"t\":1700000000500000,\"query\":\"of-user\",\"params\":{},\"params_base64\":{"
            "\"user\":\"/w==\"}}\n"
            "{\"t\":1700000001000000,\"query\":\"of-user\",\"params\":{\"user\":\"u1\"}}\n");
  // A write has the fields of its cells. The second record has no key, and `when` excludes the
  // last.
  const std::vector<std::string> add = {"trace",  "from-records", csv_,       "--query", "add",
                                        "--time", "time",         "--design", design_};
  ExpectError(add, 1, "visits.csv:3: key: field \"page\": absent");
  std::vector<std::string> skipping = add;
  skipping.push_back("--skip-bad");
  const CommandResult result = RunPlain(skipping);
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.err, "stele: left out 1 record\n");
  EXPECT_EQ(result.out,
            "{\"t\":1700000001000000,\"query\":\"add\",\"record\":{\"kind\":\"page\",\"page\":"
            "\"/a\",\"pieces\":\"1\",\"user\":\"u1\"}}\n");
}

TEST_F(FromRecordsTest, CompareDesignsRunsIt) {
  WriteFile("visits.csv",
            "time,user,page,kind,pieces\n1700000000,u1,/a,page,1\n1700000001,u2,/b,"
            "page,2\n");
  std::string other = kVisits;
  other.replace(other.find("{user}#{page}"), 13, "{page}#{user}");
  other.replace(other.find("prefix: \"{user}#\""), 17, "filter: 'row_regex(\".*#{user}\")'");
  const std::string by_page = WriteFile("by-page.yaml", other);
  for (const bool has_design : {false, true}) {
    std::vector<std::string> more = {"-o", Path("workload.jsonl")};
    if (has_design) more.insert(more.end(), {"--design", design_, "--design", by_page});
    EXPECT_EQ(Lines(csv_, more), "");
    const CommandResult result = RunPlain(
        {"compare-designs", design_, by_page, "--trace", Path("workload.jsonl"), "--rounds", "1"});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_NE(result.out.find("\nanswers     equal in 2 of 2 operations\n"), std::string::npos)
        << result.out;
  }
}

TEST_F(FromRecordsTest, WrongRecordsAreErrorsOrAreLeftOut) {
  const std::pair<const char*, const char*> cases[] = {
      {"u1,", "the field \"time\" is absent"},
      {"u1,soon", "the field \"time\" is \"soon\", which is no time from 1970 on"},
      {"u1,99999999999999999999999999", "which is no time from 1970 on"},
      {"u1,1969-12-31T23:59:59Z", "which is no time from 1970 on"},
      {"u1,-1700000000", "which is no time from 1970 on"},
      {"u1,2023-02-30", "which is no time from 1970 on"},
      {"u1", "1 fields, but the header has 2"},
      {"u1,\"1700000000", "the quote is not closed"}};
  for (const auto& [line, error] : cases) {
    const std::string path =
        WriteFile("wrong.csv", std::string("user,time\nu0,1700000000\n") + line + "\n");
    const CommandResult result = RunPlain(Words(path));
    EXPECT_EQ(result.exit_status, 1) << line;
    EXPECT_NE(result.err.find(std::string("wrong.csv:3: ")), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(error), std::string::npos) << result.err;
    const CommandResult skipped = RunPlain(Words(path, {"--skip-bad"}));
    EXPECT_EQ(skipped.exit_status, 3);
    EXPECT_EQ(skipped.err, "stele: left out 1 record\n");
    EXPECT_EQ(std::count(skipped.out.begin(), skipped.out.end(), '\n'), 1) << skipped.out;
  }
  const std::string name = WriteFile("name.csv", "\xff,time\nu,1700000000\n");
  ExpectError(Words(name), 1, "name.csv:2: the name of the field \"\\xff\" is not UTF-8");
  const std::string none = WriteFile("none.jsonl", "{}\n[]\n");
  ExpectError(Words(none, {"--skip-bad"}), 1,
              "none of 2 records can be used; the first: " + none + ":1: the field \"time\"");
}

TEST_F(FromRecordsTest, FieldsOfARecordAreLimited) {
  // The paths of the fields repeat the long name.
  std::string line = "{\"time\":1700000000,\"" + std::string(1 << 20, 'n') + "\":[";
  for (int i = 0; i < 100; ++i) line += "1,";
  ExpectError(Words(WriteFile("long.jsonl", line + "1]}\n")), 1,
              "long.jsonl:1: the fields of the record have more than 67108864 bytes");
  // JSON writes six bytes for one.
  const std::string control = WriteFile(
      "control.csv", "time,text\n1700000000," + std::string(size_t{12} << 20, '\x01') + "\n");
  ExpectError(Words(control), 1, "control.csv:2: the operation has more than 67108864 bytes");
}

TEST_F(FromRecordsTest, WrongWordsAreErrors) {
  ExpectError(Words(WriteFile("empty.csv", "")), 1, "empty.csv: the file has no header line");
  ExpectError(Words(WriteFile("empty.jsonl", "\n")), 1, "empty.jsonl has no record");
  ExpectError(Words(WriteFile("visits.log", "x")), 1, "visits.log: the ending states no format");
  ExpectError(Words(Path("absent.csv")), 1, "absent.csv");
  ExpectError({"trace", "from-records", csv_, "--query", "q"}, 2, "needs --time FIELD");
  ExpectError({"trace", "from-records", csv_, "--time", "time"}, 2, "needs --query NAME");
  ExpectError({"trace", "from-records", csv_, "--time", "time", "--query", "\xff"}, 2, "UTF-8");
  ExpectError({"trace", "from-records", "--time", "time", "--query", "q"}, 2, "usage: stele trace");
  ExpectError(Words(csv_, {"--table", "visits"}), 2, "--table needs --design");
  ExpectError(Words(csv_, {"--format", "json"}), 2, "always prints JSON lines");
  ExpectError(
      {"trace", "from-records", csv_, "--time", "time", "--query", "q", "--design", design_}, 1,
      "no query \"q\"");
  for (const std::string& output : {csv_, design_})
    ExpectError(Words(csv_, {"--design", design_, "-o", output}), 1, "would be replaced");
}

// Orders by user, and the same in three buckets.
constexpr char kOrders[] =
    "stele: design/1\n"
    "inputs: {orders: {file: orders.csv}}\n"
    "tables:\n"
    "  orders:\n"
    "    families: {o: {gc: \"maxversions=1\"}}\n"
    "    key: \"{user}#{number|pad:4}\"\n"
    "    rows: [{input: orders, timestamp: \"1000\", cells: {\"o:item\": \"{item}\"}}]\n"
    "    queries:\n"
    "      newest: {read: {prefix: \"{user}#\", limit: 2}}\n"
    "      of-user: {read: {prefix: \"{user}#\"}}\n"
    "      one: {read: {row: \"{user}#{number|pad:4}\"}}\n"
    "      since: {read: {start: \"{user}#{number|pad:4}\", end: \"{user}$\"}}\n"
    "      pair: {read: {rows: [\"{user}#{number|pad:4}\", \"{other}#0001\"]}}\n"
    "      all: {read: {columns: [\"o:item\"]}}\n"
    "      add: {write: orders}\n";
constexpr char kSalted[] =
    "stele: design/1\n"
    "inputs: {orders: {file: orders.csv}}\n"
    "tables:\n"
    "  orders:\n"
    "    families: {o: {gc: \"maxversions=1\"}}\n"
    "    key: \"{user|salt:3}#{user}#{number}\"\n"
    "    rows: [{input: orders, timestamp: \"1000\", cells: {\"o:item\": \"{item}\"}}]\n"
    "    queries:\n"
    "      of-user: {read: {prefix: \"{@bucket}#{user}#\", fan_out: 3}}\n"
    "      like: {read: {prefix: \"{user|salt:3}#\", filter: 'row_regex(\".*{user}.*\")'}}\n"
    "      one: {read: {row: \"{user|salt:3}#{user}#{number}\"}}\n"
    "      add: {write: orders}\n";

// The lines without {"t":NUMBER, at their beginning.
std::string WithoutTimes(const std::string& lines) {
  std::string out;
  for (size_t at = 0; at < lines.size();) {
    const size_t end = lines.find('\n', at) + 1;
    const size_t comma = lines.find(',', at);
    out += lines.substr(comma, end - comma);
    at = end;
  }
  return out;
}

class TraceLogicalTest : public CommandTest {
 protected:
  TraceLogicalTest()
      : orders_(WriteFile("orders.yaml", kOrders)), salted_(WriteFile("salted.yaml", kSalted)) {
    std::string csv = "user,number,item,other\n";
    for (int user = 0; user < 5; ++user)
      for (int number = 1; number < 5; ++number)
        csv += fmt::format("u{},{},hat{}{},u{}\n", user, number, user, number, user + 1);
    WriteFile("orders.csv", csv);
  }

  // The members are those after "table".
  static std::string Operation(std::string_view op, std::string_view members,
                               std::string_view table = "orders") {
    return fmt::format("{{\"t\":7,\"op\":\"{}\",\"table\":\"{}\",{}}}\n", op, table, members);
  }
  CommandResult Logical(const std::string& design, const std::string& lines,
                        const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"trace", "logical", WriteFile("recorded.jsonl", lines),
                                      "--design", design};
    words.insert(words.end(), more.begin(), more.end());
    return RunPlain(words);
  }
  // The line without its time, or the reason.
  std::string OneOf(const std::string& design, const std::string& line) const {
    const CommandResult result = Logical(design, line);
    if (result.exit_status == 0) return result.err + result.out.substr(7);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.exit_status, 3) << result.err;
    constexpr std::string_view kHead = "stele: left out 1 of 1 operation:\n          1  ";
    EXPECT_TRUE(result.err.starts_with(kHead)) << result.err;
    return result.err.substr(std::min(kHead.size(), result.err.size()));
  }

  const std::string orders_;
  const std::string salted_;
};

TEST_F(TraceLogicalTest, RequestsOfADesignBecomeTheirQueriesAgain) {
  for (const std::string& design : {orders_, salted_}) {
    // A workload with the queries of one design has the times of the trace that is kept.
    const std::string copy = Path(design == orders_ ? "o2.yaml" : "s2.yaml");
    std::filesystem::copy_file(design, copy);
    const CommandResult drawn =
        RunPlain({"trace", "synth", design, "--operations", "200", "--rate", "1000/s"});
    std::string workload = drawn.out;
    for (size_t at = 0; (at = workload.find("{\"t\":", at)) != std::string::npos;) {
      const size_t end = workload.find('\n', at) + 1;
      const std::string line = workload.substr(at, end - at);
      if (line.find("\"like\"") == std::string::npos) {
        at = end;
      } else {
        workload.erase(at, end - at);  // its field is not in its rows
      }
    }
    const std::string kept = Path(design == orders_ ? "kept-o" : "kept-s");
    const CommandResult compared =
        RunPlain({"compare-designs", design, copy, "--trace", WriteFile("drawn.jsonl", workload),
                  "--rounds", "1", "--keep", kept});
    EXPECT_EQ(compared.exit_status, 0) << compared.err;
    const std::string trace =
        kept + (design == orders_ ? "/orders.trace.jsonl" : "/salted.trace.jsonl");
    const std::string binary = Path("binary.trace");
    EXPECT_EQ(RunPlain({"trace", "cat", trace, "-o", binary}).exit_status, 0);
    for (const std::string& form : {trace, binary}) {
      const CommandResult logical = RunPlain({"trace", "logical", form, "--design", design});
      EXPECT_EQ(logical.exit_status, 0) << logical.err;
      EXPECT_EQ(logical.err, "");
      EXPECT_EQ(WithoutTimes(logical.out), WithoutTimes(workload));
    }
  }
}

TEST_F(TraceLogicalTest, TheRowsOfAnOperationTellTheQuery) {
  EXPECT_EQ(OneOf(orders_, Operation("get", R"("row":"u1#0020")")),
            "\"query\":\"one\",\"params\":{\"number\":\"20\",\"user\":\"u1\"}}\n");
  EXPECT_EQ(OneOf(orders_, Operation("get", R"("row_base64":"/yMwMDAw")")),
            "\"query\":\"one\",\"params\":{\"number\":\"0\"},\"params_base64\":{\"user\":"
            "\"/w==\"}}\n");
  EXPECT_EQ(OneOf(orders_, Operation("get", R"("row":"\u0000#0001")", "p/i/orders")),
            "\"query\":\"one\",\"params\":{\"number\":\"1\",\"user\":\"\\u0000\"}}\n");
  EXPECT_EQ(OneOf(orders_, Operation("scan", R"("start":"u1#0020","end":"u1$")")),
            "\"query\":\"since\",\"params\":{\"number\":\"20\",\"user\":\"u1\"}}\n");
  // Sorted by their keys.
  EXPECT_EQ(OneOf(orders_, Operation("mget", R"("keys":["u1#0001","u2#0004"])")),
            "\"query\":\"pair\",\"params\":{\"number\":\"4\",\"other\":\"u1\",\"user\":\"u2\"}}\n");
  EXPECT_EQ(OneOf(orders_, Operation("scan", R"("reverse":true)")),
            "\"query\":\"all\",\"params\":{}}\n");
}

TEST_F(TraceLogicalTest, TheLimitChoosesBetweenQueriesOfTheSameRows) {
  const std::string params = ",\"params\":{\"user\":\"u1\"}}\n";
  const std::string range = R"("start":"u1#","end":"u1$")";
  EXPECT_EQ(OneOf(orders_, Operation("scan", range + ",\"limit\":2")),
            "\"query\":\"newest\"" + params);
  EXPECT_EQ(OneOf(orders_, Operation("scan", range)), "\"query\":\"of-user\"" + params);
  EXPECT_EQ(OneOf(orders_, Operation("scan", range + ",\"limit\":9")),
            "\"query\":\"newest\"" + params);
}

TEST_F(TraceLogicalTest, ASetIsTheRecordWithItsRowKey) {
  const std::string set = Operation("set", R"("row":"u1#0002")");
  EXPECT_EQ(
      OneOf(orders_, set),
      "\"query\":\"add\",\"record\":{\"item\":\"hat12\",\"number\":\"2\",\"user\":\"u1\"}}\n");
  const std::string none = "set: no record has its row key, whose fields alone make no cell\n";
  EXPECT_EQ(OneOf(orders_, Operation("set", R"("row":"u1#0009")")), none);
  EXPECT_EQ(OneOf(orders_, Operation("set", R"("row":"u1#9")")),
            "set: no record has its row key, which tells no fields\n");
  const std::string other = WriteFile("other.csv", "user,number,item\nu1,9,cap\n,,\nu1\n");
  EXPECT_EQ(Logical(orders_, Operation("set", R"("row":"u1#0009")"), {"--input", "orders=" + other})
                .out.substr(7),
            "\"query\":\"add\",\"record\":{\"item\":\"cap\",\"number\":\"9\",\"user\":\"u1\"}}\n");
  // Without the file, the fields of the key are a record if they make a cell.
  std::filesystem::remove(Path("orders.csv"));
  std::string from_key = kOrders;
  from_key.replace(from_key.find("\"{item}\""), 8, "\"{number}\"");
  const std::string note =
      "stele: the input orders has no file, so its writes have only the fields of the row key\n";
  EXPECT_EQ(OneOf(WriteFile("from-key.yaml", from_key), set),
            note + "\"query\":\"add\",\"record\":{\"number\":\"2\",\"user\":\"u1\"}}\n");
  EXPECT_EQ(Logical(orders_, set, {"--input", "orders=" + Path("absent.csv")}).exit_status, 1);
}

TEST_F(TraceLogicalTest, ARowKeySchemaTellsFields) {
  const std::string design =
      WriteFile("typed.yaml",
                "stele: design/1\n"
                "inputs: {orders: {format: csv}}\n"
                "tables:\n"
                "  orders:\n"
                "    families: {o: {}}\n"
                "    row_key_schema: {encoding: delimited, delimiter: \"#\", fields: [{name: u, "
                "type: string, "
                "from: \"{user}\"}, {name: n, type: string, from: \"{number|pad:3}\"}]}\n"
                "    rows: [{input: orders, cells: {\"o:n\": \"{number}\"}}]\n"
                "    queries: {add: {write: orders}}\n");
  const CommandResult result = Logical(design, Operation("set", R"("row":"u1#007")"));
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out,
            "{\"t\":7,\"query\":\"add\",\"record\":{\"number\":\"7\",\"user\":\"u1\"}}\n");
}

TEST_F(TraceLogicalTest, AQueryThatFansOutIsOneOperation) {
  const std::string of_user = "\"query\":\"of-user\",\"params\":{\"user\":\"u1\"}}\n";
  std::string scans;
  for (int bucket = 0; bucket < 3; ++bucket)
    scans += Operation("scan", fmt::format(R"("start":"{0}#u1#","end":"{0}#u1$")", bucket));
  EXPECT_EQ(OneOf(salted_, scans), of_user);
  EXPECT_EQ(OneOf(salted_, Operation("scan", R"("ranges":[["0#u1#","0#u1$"],["1#u1#","1#u1$"],)"
                                             R"(["2#u1#","2#u1$"]])")),
            of_user);
  EXPECT_EQ(OneOf(salted_, Operation("scan", R"("ranges":[["0#u1#","0#u1$"],["2#u1#","2#u1$"]])")),
            "scan: its rows are not those of a query\n");
  EXPECT_EQ(OneOf(salted_, Operation("scan", R"("start":"3#u1#","end":"3#u1$")")),
            "scan: its rows are not those of a query\n");
  EXPECT_EQ(OneOf(salted_, Operation("scan", R"("start":"2#","end":"2$")")),
            "scan: the query like has the field user, which its rows do not tell\n");
  EXPECT_EQ(OneOf(salted_, Operation("get", R"("row":"1#u1#1")")),
            "get: its rows are not those of a query\n")
      << "u1 is in the bucket 0";
}

TEST_F(TraceLogicalTest, OperationsWithoutAQueryAreCountedByReason) {
  const std::string lines =
      Operation("get", R"("row":"u1#0001")") + Operation("get", R"("row":"u1#1")") +
      Operation("get", R"("row":"u2#1")") + Operation("scan", R"("start":"u1#","end":"u1%")") +
      Operation("mget", R"("keys":["u1#0001"])", "visits") +
      Operation("mget", R"("keys":["a","b","c"])") + Operation("del", R"("row":"u1#0001")") +
      Operation("rmw", R"("row":"u1#0001")") + Operation("cas", R"("row":"u1#0001")") +
      Operation("drop", R"("start":"a")");
  const CommandResult result = Logical(orders_, lines);
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.out,
            "{\"t\":7,\"query\":\"one\",\"params\":{\"number\":\"1\",\"user\":\"u1\"}}\n");
  EXPECT_EQ(result.err,
            "stele: left out 9 of 10 operations:\n"
            "          1  cas: a design has no query with a condition\n"
            "          1  del: a design has no query that deletes\n"
            "          1  drop: a design has no query that drops rows\n"
            "          2  get: its rows are not those of a query\n"
            "          1  mget: its rows are not those of a query\n"
            "          1  rmw: a design has no query that increments\n"
            "          1  scan: its rows are not those of a query\n"
            "          1  the operation is on another table\n");
  std::string reads = kVisits;
  reads.erase(reads.find("      add:"));
  const std::string design = WriteFile("reads.yaml", reads);
  EXPECT_EQ(OneOf(design, Operation("set", R"("row":"a")", "visits")),
            "set: no query of the table writes\n");
  EXPECT_EQ(OneOf(design, Operation("get", R"("row":"a")", "visits")),
            "get: no query of the table reads rows in this way\n");
}

TEST_F(TraceLogicalTest, WrongInputIsAnError) {
  const std::string get = Operation("get", R"("row":"u1#0001")");
  const std::string wrong = WriteFile("wrong.jsonl", get + "[]\n" + get);
  ExpectError({"trace", "logical", wrong, "--design", orders_, "-o", Path("out.jsonl")}, 1,
              "wrong.jsonl:2: not a JSON object");
  const CommandResult skipped = Logical(orders_, get + "[]\n" + get, {"--skip-bad"});
  EXPECT_EQ(skipped.exit_status, 3);
  EXPECT_EQ(skipped.err, "stele: left out 1 wrong line or damaged block of the trace\n");
  EXPECT_EQ(std::count(skipped.out.begin(), skipped.out.end(), '\n'), 2);
  const std::string trace = WriteFile("one.jsonl", get);
  ExpectError({"trace", "logical", WriteFile("empty.jsonl", ""), "--design", orders_}, 1,
              "empty.jsonl has no operation");
  ExpectError({"trace", "logical", Path("absent"), "--design", orders_}, 1, "absent");
  ExpectError({"trace", "logical", trace}, 2, "needs --design DESIGN");
  ExpectError({"trace", "logical", "--design", orders_}, 2, "usage: stele trace");
  ExpectError({"trace", "logical", trace, "--design", orders_, "--format", "json"}, 2,
              "always prints JSON lines");
  ExpectError({"trace", "logical", trace, "--design", orders_, "--table", "none"}, 1,
              "has no table none");
  ExpectError({"trace", "logical", trace, "--design", orders_, "--input", "none=x"}, 1,
              "no input \"none\"");
  for (const std::string& output : {trace, orders_, Path("orders.csv")})
    ExpectError({"trace", "logical", trace, "--design", orders_, "-o", output}, 1,
                "would be replaced");
}

}  // namespace
}  // namespace stele
#endif  // STELE_HAS_LAB
