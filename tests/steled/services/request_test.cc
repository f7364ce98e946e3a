// Tests the parsing of the command line, and the entries of a MutateRows.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/access.h"
#include "stele/database.h"
#include "steled/base/errors.h"
#include "steled/fake_call.h"
#include "steled/flags.h"
#include "steled/services/mutate_rows.h"

namespace stele::server {
namespace {

namespace data_wire = ::google::bigtable::v2;

TEST(MutateRows, OneWrongEntryRefusesAll) {
  data_wire::MutateRowsRequest request;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "entries { row_key: 'a' mutations { delete_from_row {} } } entries { row_key: '' mutations { "
      "delete_from_row {} } }",
      &request));
  EXPECT_EQ(TextOf(ToEntries(request, {}).status()),
            "Error in field 'Entry list' : Error in element #1 : Row keys must be non-empty");
  EXPECT_TRUE(absl::IsInvalidArgument(ToEntries({}, {}).status()));
  data_wire::MutateRowsRequest many;
  for (int i = 0; i < 2; ++i) {
    auto* const entry = many.add_entries();
    entry->set_row_key("r");
    for (int j = 0; j < 50'000 + i; ++j) entry->add_mutations()->mutable_delete_from_row();
  }
  EXPECT_TRUE(absl::IsInvalidArgument(ToEntries(many, {}).status()));
}

std::string EntriesText(const absl::StatusOr<EntryList>& entries) {
  if (!entries.ok()) return entries.status().ToString();
  std::string text;
  for (size_t i = 0; i < entries->mutations.size(); ++i) {
    const RowMutation& mutation = entries->mutations[i];
    text += fmt::format("{}|{}|{}|{}\n", mutation.row_key(), mutation.count(),
                        internal::Access::EncodedOps(mutation), entries->tokens[i]);
  }
  return text;
}

TEST(MutateRows, ReadInPlaceOrByProtobufIsTheSame) {
  FakeCall call;
  const std::string cell =
      "set_cell { family_name: 'f' column_qualifier: 'q' timestamp_micros: 1000 value: 'v' }";
  for (const std::string& text : {
           std::string(),
           "entries { row_key: 'a' mutations { " + cell +
               " } } entries { row_key: 'b' mutations { " + cell + " } mutations { " + cell +
               " } }",
           "entries { row_key: 'a' mutations { " + cell +
               " } } entries { row_key: 'b' mutations { set_cell { timestamp_micros: 1001 } } }",
           "entries { row_key: 'a' mutations { " + cell + " } } entries { row_key: 'b' }",
           "entries { row_key: 'a' mutations { " + cell + " } idempotency { token: '12345678' } }",
           "entries { row_key: 'a' mutations { " + cell + " } mutations { delete_from_row {} } }",
       }) {
    data_wire::MutateRowsRequest request;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
    request.set_table_name("t");
    request.set_authorized_view_name("w");
    const std::string bytes = request.SerializeAsString();
    MutateRowsMessage message;
    ASSERT_TRUE(message.Read(bytes, &call).ok());
    EXPECT_EQ(message.table_name(), "t");
    EXPECT_EQ(message.authorized_view_name(), "w");
    EXPECT_EQ(EntriesText(message.ToEntries({})), EntriesText(ToEntries(request, {}))) << text;
  }
  EXPECT_TRUE(absl::IsInternal(MutateRowsMessage().Read("\xff", &call)));
}

TEST(MutateRows, SmallEntriesOfPlainOnesAreChargedByTheirObjects) {
  constexpr size_t kEntries = 10'000;
  data_wire::MutateRowsRequest many;
  for (size_t i = 0; i < kEntries; ++i) {
    auto* const entry = many.add_entries();
    entry->set_row_key("r");
    entry->add_mutations()->mutable_set_cell()->set_family_name("f");
  }
  const std::string bytes = many.SerializeAsString();
  FakeCall call;
  ASSERT_TRUE(MutateRowsMessage().Read(bytes, &call).ok());
  EXPECT_GT(call.reserved_bytes(), kEntries * (sizeof(RowMutation) + sizeof(internal::SetCellView) +
                                               sizeof(internal::PlainEntries::Entry)));
  FakeCall poor;
  poor.SetBytesMax(bytes.size());
  EXPECT_TRUE(absl::IsUnavailable(MutateRowsMessage().Read(bytes, &poor)));
}

TEST(MutateRows, SmallPlainOnesAreNotCharged) {
  data_wire::MutateRowsRequest small;
  for (int i = 0; i < 100; ++i) {
    auto* const entry = small.add_entries();
    entry->set_row_key("r");
    entry->add_mutations()->mutable_set_cell()->set_family_name("f");
  }
  FakeCall poor;
  poor.SetBytesMax(0);
  EXPECT_TRUE(MutateRowsMessage().Read(small.SerializeAsString(), &poor).ok());
}

TEST(MutateRows, PlainOnesAreBoundedToo) {
  FakeCall call;
  data_wire::MutateRowsRequest many;
  auto* const entry = many.add_entries();
  entry->set_row_key("r");
  for (int i = 0; i < 100'000; ++i) entry->add_mutations()->mutable_set_cell();
  std::string bytes = many.SerializeAsString();
  MutateRowsMessage message;
  ASSERT_TRUE(message.Read(bytes, &call).ok());
  EXPECT_TRUE(message.ToEntries({}).ok());
  many.add_entries()->add_mutations()->mutable_set_cell();
  bytes = many.SerializeAsString();
  ASSERT_TRUE(message.Read(bytes, &call).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(message.ToEntries({}).status()));
}

// As when the deadline passes during the call: applied entries stay, the others are not applied.
TEST(MutateRows, WhatNobodyWaitsForIsNotApplied) {
  Database database = Database::Open("mem:").value();
  Table table = database.CreateTable("t", Schema().AddFamily("f")).value();
  for (const bool has_tokens : {false, true}) {
    EntryList entries;
    const size_t count = has_tokens ? 10 : 40'000;
    for (size_t i = 0; i < count; ++i) {
      entries.mutations.emplace_back(fmt::format("{}-{}", has_tokens, i))
          .SetCell("f", "q", Timestamp::FromMicros(1000), "v");
      entries.tokens.push_back(has_tokens ? fmt::format("a token {}", i) : "");
    }
    int asked = 0;
    const auto check = [&asked] {
      return ++asked == 2 ? absl::DeadlineExceededError("passed") : absl::OkStatus();
    };
    const std::vector<absl::Status> verdicts = ApplyEntries(&table, entries, {}, check);
    EXPECT_EQ(asked, 2);
    ASSERT_EQ(verdicts.size(), count);
    EXPECT_TRUE(verdicts.front().ok());
    EXPECT_TRUE(absl::IsDeadlineExceeded(verdicts.back()));
    for (const size_t i : {size_t{0}, count / 3, count / 2, count - 1}) {
      EXPECT_EQ(table.Exists(entries.mutations[i].row_key()).value(), verdicts[i].ok()) << i;
    }
  }
}

// An entry whose write was stopped gets the same status as the entries that were not begun.
TEST(MutateRows, AWriteThatIsGivenUpGetsTheVerdictOfTheRest) {
  Database database = Database::Open("mem:").value();
  Table table = database.CreateTable("t", Schema().AddFamily("f")).value();
  EntryList entries;
  for (const char* const token : {"", "a token of it"}) {
    entries.mutations.emplace_back("r").SetCell("f", "q", "v");
    entries.tokens.emplace_back(token);
  }
  std::stop_source stop;
  stop.request_stop();
  int asked = 0;
  const auto check = [&asked] {
    return ++asked <= 2 ? absl::OkStatus() : absl::UnavailableError("The server ends");
  };
  for (const absl::Status& verdict :
       ApplyEntries(&table, entries, {.stop = stop.get_token()}, check)) {
    EXPECT_TRUE(absl::IsUnavailable(verdict)) << verdict;
  }
  EXPECT_FALSE(table.Exists("r").value());
}

TEST(MutateRows, EachIndexHasItsVerdictOnce) {
  EntryList entries;
  std::vector<absl::Status> verdicts;
  const std::string table_name = "projects/p/instances/i/tables/t";
  for (size_t i = 0; i < 40'000; ++i) {
    entries.mutations.emplace_back(fmt::format("row{}", i));
    verdicts.push_back(i % 7 == 3 ? NotFound("Requested column family not found: \"{}\"", i)
                                  : absl::OkStatus());
  }
  data_wire::MutateRowsResponse sent;
  int message_count = 0;
  EntryStatuses answer(table_name, std::move(entries), std::move(verdicts));
  for (bool is_last = false; !is_last;) {
    const std::string bytes = answer.NextMessage(5, &is_last);
    data_wire::MutateRowsResponse message;
    EXPECT_TRUE(bytes.starts_with(std::string(5, '\0')) &&
                message.ParseFromString(bytes.substr(5)));
    EXPECT_LT(bytes.size(), size_t{300} << 10);
    sent.MergeFrom(message);
    ++message_count;
  }
  ASSERT_EQ(sent.entries_size(), 40'000);
  for (int i = 0; i < 40'000; ++i) {
    const data_wire::MutateRowsResponse::Entry& entry = sent.entries(i);
    const std::string text = fmt::format(
        "Error while mutating the row 'row{}' ({}) : Requested column family not found.", i,
        table_name);
    ASSERT_TRUE(entry.index() == i && entry.has_status() &&
                entry.status().code() == (i % 7 == 3 ? 5 : 0))
        << entry.DebugString();
    ASSERT_EQ(entry.status().message(), i % 7 == 3 ? text : "");
  }
  EXPECT_GT(message_count, 1);
}

TEST(CommandLine, BackupsAreBesideTheDatabaseHoweverItsPathIsWritten) {
  const auto root = [](const std::string& database, const std::string& backups = "") {
    return BackupRootOf({.database = database, .backup_directory = backups});
  };
  const std::string here = std::filesystem::current_path().string();
  for (const char* const path :
       {"/d/db", "/d/db/", "/d/db//", "/d/db/.", "/d/./db/./", "/d/other/../db"}) {
    EXPECT_EQ(root(path), "/d/db-backups") << path;
  }
  EXPECT_EQ(root("."), here + "-backups");
  EXPECT_EQ(root("./"), here + "-backups");
  EXPECT_EQ(root("db"), here + "/db-backups");
  EXPECT_EQ(root("mem:"), "");
  EXPECT_EQ(root("/d/db/.", "elsewhere"), "elsewhere");
}

Environment EmptyEnvironment() {
  return [](const std::string&) { return std::nullopt; };
}

TEST(CommandLine, OtherMachinesNeedLeaveAndKeys) {
  const auto parse = [](std::vector<std::string> args) {
    args.insert(args.begin(), {"--db", "d"});
    return ParseFlags(args, EmptyEnvironment());
  };
  EXPECT_TRUE(parse({}).ok());
  EXPECT_EQ(parse({}).value().durability, Durability::kDisk);
  EXPECT_EQ(parse({"--memory-budget=64MiB"}).value().memory_budget_bytes, uint64_t{64} << 20);
  EXPECT_EQ(parse({"--durability", "process"}).value().durability, Durability::kProcess);
  EXPECT_FALSE(parse({"--listen", "0.0.0.0:1"}).ok());
  EXPECT_FALSE(IsLocal("127.0.0.1.example.com:1"));
  for (const char* const address :
       {"127.0.0.1:9090", "localhost:0", "[::1]:65535", "0.0.0.0:9090", "[::]:9090"})
    EXPECT_TRUE(parse({"--metrics", address}).ok()) << address;
  for (const char* const address : {"127.0.0.1:9090,9091", "127.0.0.1:9090,0.0.0.0:9091",
                                    "localhost:9090s", "127.0.0.1:", "127.0.0.1"}) {
    EXPECT_FALSE(parse({"--metrics", address}).ok()) << address;
  }
  EXPECT_FALSE(parse({"--listen", "0.0.0.0:1", "--allow-remote"}).ok());
  EXPECT_TRUE(
      parse({"--listen", "0.0.0.0:1", "--allow-remote", "--tls-cert", "c", "--tls-key", "k"}).ok());
  EXPECT_FALSE(parse({"--tls-cert", "c"}).ok());
  EXPECT_FALSE(parse({"--memory-budget", "much"}).ok());
  EXPECT_EQ(parse({"--stall-timeout", "5"}).value().stall_timeout, std::chrono::seconds(5));
  for (const char* const seconds : {"0", "-1", "86401", "1s", ""}) {
    EXPECT_FALSE(parse({"--stall-timeout", seconds}).ok()) << seconds;
  }
  EXPECT_EQ(parse({"--max-message-bytes=256MiB"}).value().message_bytes_max, size_t{256} << 20);
  for (const char* const bytes : {"0", "1048575", "257MiB", "x", ""}) {
    EXPECT_FALSE(parse({"--max-message-bytes", bytes}).ok()) << bytes;
  }
  EXPECT_FALSE(parse({"--no-such-flag", "x"}).ok());
  EXPECT_FALSE(ParseFlags(std::vector<std::string>{}, EmptyEnvironment()).ok());
}

TEST(CommandLine, PlaintextNeedsAWordOfItsOwn) {
  const auto parse = [](std::vector<std::string> args) {
    args.insert(args.begin(), {"--db", "d"});
    return ParseFlags(args, EmptyEnvironment());
  };
  EXPECT_TRUE(
      ServesPlaintextRemotely(parse({"--listen", "0.0.0.0:1", "--allow-plaintext"}).value()));
  EXPECT_FALSE(ServesPlaintextRemotely(parse({"--allow-plaintext"}).value())) << "127.0.0.1";
  EXPECT_FALSE(ServesPlaintextRemotely(parse({"--listen=unix:/run/s"}).value()));
  EXPECT_FALSE(
      parse({"--listen", "0.0.0.0:1", "--allow-plaintext", "--tls-cert", "c", "--tls-key", "k"})
          .ok());
  EXPECT_FALSE(parse({"--listen=unix:"}).ok());
}

TEST(CommandLine, AMissingValueIsNamed) {
  const auto error = [](std::vector<std::string> args) {
    const absl::Status status = ParseFlags(args, EmptyEnvironment()).status();
    return std::string(status.message().data(), status.message().size());
  };
  EXPECT_EQ(error({"--db"}), "--db needs a value: --db DIR");
  EXPECT_EQ(error({"--db", "--listen", "127.0.0.1:1"}), "--db needs a value: --db DIR");
  EXPECT_EQ(error({"--db=d", "--max-calls", "0"}),
            "--max-calls takes a number of 4 to 10000, not \"0\"");
  EXPECT_EQ(error({"--db=d", "--allow-remote=maybe"}),
            "--allow-remote takes 1 or 0, not \"maybe\"");
}

TEST(CommandLine, WhatIsWrongIsNamedAsItWasWritten) {
  const auto error = [](std::vector<std::string> args,
                        const std::map<std::string, std::string>& variables = {}) {
    const Environment environment = [&](const std::string& name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::make_optional(found->second);
    };
    const absl::Status status = ParseFlags(args, environment).status();
    return std::string(status.message().data(), status.message().size());
  };
  EXPECT_EQ(error({"--db=d", "-max-cals=5"}),
            "unknown flag -max-cals; \"steled --help\" lists the flags");
  EXPECT_EQ(error({"--db=d", "--listen", "nowhere"}),
            "--listen takes HOST:PORT or unix:PATH, not \"nowhere\": the port is missing");
  EXPECT_EQ(
      error({"--db=d", "--listen", "127.0.0.1:65536"}),
      "--listen takes HOST:PORT or unix:PATH, not \"127.0.0.1:65536\": the port is a number of "
      "0 to 65535");
  for (const char* const address :
       {"127.0.0.1:99999", "127.0.0.1:", "localhost:", "127.0.0.1:abc", "[::1]:-1"}) {
    EXPECT_TRUE(
        error({"--db=d", "--listen", address}).ends_with("the port is a number of 0 to 65535"))
        << address;
  }
  EXPECT_TRUE(
      error({"--db=d", "--listen=:8086"})
          .starts_with("--listen takes HOST:PORT or unix:PATH, not \":8086\": the host is "));
  for (const char* const address :
       {"::1:80", "::1", "[::1:80", "::1]:80", "[]:80", "[::1]]:80", "h]:80"}) {
    EXPECT_TRUE(error({"--db=d", "--listen", address})
                    .ends_with("an IPv6 address has brackets, as in [::1]:8086"))
        << address;
  }
  EXPECT_TRUE(error({"--db=d", "--listen=[::1]"}).ends_with("the port is missing"));
  EXPECT_TRUE(error({"--db=d", "--listen", " 127.0.0.1:0"}).ends_with("it has a space"));
  EXPECT_TRUE(
      error({"--db=d", "--listen=[127.0.0.1]:0"}).ends_with("only an IPv6 address has brackets"));
  const std::string no_host = error({"--db=d", "--listen=[::g]:0"});
  EXPECT_TRUE(no_host.starts_with("--listen [::g]:0: ")) << no_host;
  EXPECT_TRUE(error({"--db=d", "--listen=0.0.0.0:0"}).starts_with("other machines can reach"));
  EXPECT_TRUE(error({"--db=d", "--backup-dir="}).starts_with("--backup-dir takes a directory"));
  EXPECT_TRUE(error({"--db=d", "--listen=http://localhost:80"}).ends_with("it takes no scheme"));
  EXPECT_TRUE(error({"--db=d", "--listen=unix:"}).ends_with("\"unix:\": the path is missing"));
  EXPECT_EQ(error({"--db=d", "--metrics=unix:80"}),
            "--metrics takes HOST:PORT, not \"unix:80\": these pages have no Unix socket");
  EXPECT_EQ(error({"--db=d", "--listen=127.0.0.1:1", "--listen", "127.0.0.1:2"}),
            "--listen is given twice; give it once");
  EXPECT_EQ(error({"--db=d"}, {{"STELED_METRICS", "9090"}}),
            "STELED_METRICS takes HOST:PORT, not \"9090\": the port is missing");
  EXPECT_EQ(error({"--db=d", "--memory-budget=1KiB"}),
            "--memory-budget takes a size of 1MiB or more, such as 512MiB, not \"1KiB\"");
  EXPECT_EQ(error({"--db=d", "--log-format=xml"}), "--log-format takes text or json, not \"xml\"");
  EXPECT_EQ(error({"--db=d", "--slow-call-ms=-1"}),
            "--slow-call-ms takes 0 to 86400000 milliseconds, not \"-1\"");
  EXPECT_EQ(error({"--db=d", "--heatmap"}), "--heatmap needs --metrics HOST:PORT");
  EXPECT_EQ(error({"--db=d", "--trace-sample=0"}),
            "--trace-sample takes a number of 1 to 1000000, not \"0\"");
  EXPECT_EQ(error({"--db=d"}, {{"STELED_TRACE_SAMPLE", "16"}}),
            "STELED_TRACE_SAMPLE needs --trace");
  EXPECT_EQ(error({"--db=d"}, {{"STELED_TLS_KEY", "k"}}), "STELED_TLS_KEY needs --tls-cert, too");
  EXPECT_EQ(error({"--db=d", "--tls-cert=c", "--tls-key=k"}, {{"STELED_ALLOW_PLAINTEXT", "1"}}),
            "STELED_ALLOW_PLAINTEXT and --tls-cert contradict each other: with a certificate every "
            "connection uses TLS");
  EXPECT_EQ(error({"--db=d", "--listen", "127.0.0.1:0"}, {{"STELED_LISTEN", "nowhere"}}), "")
      << "the argument counts";
  EXPECT_EQ(error({"--db=d", "-listen=127.0.0.1:0"}, {{"STELED_LISTEN", "nowhere"}}), "");
  EXPECT_NE(error({"--db=d"}, {{"STELED_LISTEN", "nowhere"}}), "");
  EXPECT_TRUE(error({"--db=d"}, {{"STELED_LISTEN", "0.0.0.0:1"}})
                  .starts_with("other machines can reach STELED_LISTEN 0.0.0.0:1: add "));
}

TEST(CommandLine, HelpAndVersionAreGivenWhateverElseIsWrong) {
  const Environment wrong = [](const std::string&) { return std::make_optional<std::string>("x"); };
  for (const auto& [arg, action] : {std::pair("--help", Flags::FlagAction::kHelp),
                                    {"-h", Flags::FlagAction::kHelp},
                                    {"--version", Flags::FlagAction::kVersion}}) {
    const std::vector<std::string> args = {"--no-such-flag", arg};
    EXPECT_EQ(ParseFlags(args, wrong).value().action, action) << arg;
  }
}

TEST(CommandLine, WhatWasGivenIsKept) {
  const Environment environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "STELED_DB") return "from variable";
    if (name == "STELED_MAX_CALLS") return "16";
    return std::nullopt;
  };
  const std::vector<std::string> args = {"--max-calls", "32", "--strict-instances"};
  const std::vector<std::string> names = {"STELED_DB", "STELED_MAX_CALS", "PATH"};
  const Flags flags = ParseFlags(args, environment, names).value();
  EXPECT_EQ(GivenText(flags), "--db from variable --max-calls 32 --strict-instances");
  EXPECT_EQ(SourceOf(flags, "db"), "STELED_DB");
  EXPECT_EQ(SourceOf(flags, "max-calls"), "--max-calls");
  EXPECT_EQ(flags.unknown_variables, std::vector<std::string>({"STELED_MAX_CALS"}));
}

TEST(CommandLine, VariablesAreReadAndTheCommandLineWins) {
  const Environment environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "STELED_DB") return "from variable";
    if (name == "STELED_MEMORY_BUDGET") return "1GiB";
    if (name == "STELED_ALLOW_REMOTE") return "0";
    if (name == "STELED_METRICS") return "";
    return std::nullopt;
  };
  const Flags flags =
      ParseFlags(std::vector<std::string>{"--memory-budget", "64MiB"}, environment).value();
  EXPECT_EQ(flags.database, "from variable");
  EXPECT_EQ(flags.memory_budget_bytes, uint64_t{64} << 20);
  EXPECT_FALSE(flags.allow_remote);
  EXPECT_EQ(flags.metrics, "");
  const Environment wrong = [](const std::string& name) -> std::optional<std::string> {
    return name == "STELED_DURABILITY" ? std::make_optional<std::string>("none") : std::nullopt;
  };
  const absl::Status status = ParseFlags(std::vector<std::string>{"--db=d"}, wrong).status();
  EXPECT_EQ(std::string(status.message().data(), status.message().size()),
            "STELED_DURABILITY takes disk or process, not \"none\"");
}

TEST(CommandLine, TheHelpNamesFlagsAndFitsATerminal) {
  const std::string help = HelpText();
  for (const char* const flag : {"--db DIR", "--listen ADDRESS", "--durability disk|process",
                                 "--allow-plaintext", "--tls-client-ca FILE"}) {
    EXPECT_NE(help.find(flag), std::string::npos) << flag;
  }
  size_t line_start = 0;
  for (size_t end = help.find('\n'); end != std::string::npos;
       line_start = end + 1, end = help.find('\n', line_start)) {
    EXPECT_LE(end - line_start, 120u) << help.substr(line_start, end - line_start);
  }
}

}  // namespace
}  // namespace stele::server
