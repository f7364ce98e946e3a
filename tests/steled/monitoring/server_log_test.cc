// Tests the log of the built server: its start, its recovery and its end, slow calls, clients that
// do not speak HTTP/2, and wrong flags.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "steled/logged_server.h"
#include "steled/metrics_page.h"

namespace stele::server {
namespace {

class ServerLog : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::unique_ptr<LoggedServer> Start(std::vector<std::string> flags) {
    flags.emplace_back("--durability=process");
    return std::make_unique<LoggedServer>(Path("db"), std::move(flags));
  }
  struct Outcome {
    int exit_status = -1;
    std::string error;  // the first line
  };
  // Runs the program with a shell's words, until it ends.
  Outcome Run(const std::string& variables, const std::string& flags) const {
    const char* const program = std::getenv("STELED_COMMAND");
    EXPECT_NE(program, nullptr) << "run this through ctest";
    const std::string command = "env -u STELED_COMMAND " + variables + " timeout 300 " +
                                std::string(program) + " " + flags + " 2>" + Path("errors") +
                                " >/dev/null";
    Outcome outcome{.exit_status = WEXITSTATUS(std::system(command.c_str()))};
    std::ifstream errors(Path("errors"));
    std::getline(errors, outcome.error);
    return outcome;
  }

 private:
  const ScratchDirectory directory_;
};

TEST_F(ServerLog, TheFirstLineTellsWhatWasStarted) {
  const auto server = Start({"--max-calls", "32", "--strict-instances"});
  const std::string line = server->NextLine();
  EXPECT_NE(line.find("Z info: the server has started version="), std::string::npos) << line;
  EXPECT_NE(line.find(" db=" + Path("db") + " "), std::string::npos) << line;
  EXPECT_NE(line.find(" address=" + server->process().address() + " "), std::string::npos) << line;
  EXPECT_NE(line.find("--max-calls 32 --strict-instances --durability process\" "),
            std::string::npos)
      << line;
  EXPECT_NE(line.find(" replayed_log_bytes=0 discarded_log_bytes=0 "), std::string::npos) << line;
  EXPECT_EQ(server->Terminate(), 0);
  EXPECT_NE(server->NextLineWith("the server stops"), "");
  EXPECT_NE(server->NextLine().find("the server has stopped"), std::string::npos);
  EXPECT_EQ(server->NextLine(), "");
}

TEST_F(ServerLog, TheStartTellsWhatWasRecovered) {
  {
    const auto server = Start({});
    Client client(server->process().address());
    ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
    ASSERT_TRUE(client.Set("t", "r", "f:a", 1000, std::string(5000, 'v')).ok());
    server->process().Kill();
  }
  const auto server = Start({"--log-format", "json"});
  const nlohmann::json line = nlohmann::json::parse(server->NextLine());
  EXPECT_GT(line.at("replayed_log_bytes"), 5000);
  EXPECT_EQ(line.at("discarded_log_bytes"), 0);
  EXPECT_EQ(line.at("tables"), 1);
}

TEST_F(ServerLog, JsonIsOneObjectALine) {
  const auto server = Start({"--log-format=json", "--slow-call-ms=1"});
  FetchPage(server->process().address(), "GET \"\\\n HTTP/1.1\r\n\r\n");
  EXPECT_EQ(server->Terminate(), 0);
  int count = 0;
  for (std::string line = server->NextLine(); !line.empty(); line = server->NextLine(), ++count) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(json.is_object()) << line;
    for (const char* const name : {"time", "level", "message"})
      EXPECT_TRUE(json.contains(name)) << line;
  }
  EXPECT_GE(count, 4) << "start, handshake, and two of the end";
}

TEST_F(ServerLog, AClientThatDoesNotSpeakHttp2IsALine) {
  const auto server = Start({});
  FetchPage(server->process().address(), "GET / HTTP/1.1\r\n\r\n");
  const std::string line = server->NextLineWith("handshake");
  EXPECT_NE(line.find("warning: a handshake failed reason=\"the client does not begin with the "
                      "preface of HTTP/2\" peer=127.0.0.1:"),
            std::string::npos)
      << line;
}

// A write of 64 MiB takes more than a millisecond on every machine.
TEST_F(ServerLog, ASlowCallIsALine) {
  const auto server = Start({"--slow-call-ms", "1"});
  Client client(server->process().address());
  ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
  ASSERT_TRUE(client.Set("t", "r", "f:a", 1000, std::string(size_t{64} << 20, 'v')).ok());
  const std::string line = server->NextLineWith("a call was slow method=/google.bigtable.v2.");
  EXPECT_NE(line.find("/google.bigtable.v2.Bigtable/MutateRow code=OK duration_ms="),
            std::string::npos)
      << line;
}

TEST_F(ServerLog, AnUnusableBackupDirectoryIsNamedAtTheStart) {
  std::ofstream(Path("file")) << "no directory";
  const std::string flags = "--listen 127.0.0.1:0 --db " + Path("db");
  for (const std::string& directory : {Path("file"), Path("file") + "/below"}) {
    const Outcome outcome = Run("", flags + " --backup-dir " + directory);
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_NE(outcome.error.find("error: the server cannot start: --backup-dir " + directory +
                                 " cannot be used: "),
              std::string::npos)
        << outcome.error;
  }
  for (const std::string& directory : {Path("db"), Path("db") + "/backups"}) {
    const Outcome outcome = Run("", flags + " --backup-dir " + directory);
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_NE(outcome.error.find(directory + " cannot be used: it is the database " + Path("db") +
                                 ", or inside it"),
              std::string::npos)
        << outcome.error;
  }
  const Outcome outcome = Run("STELED_BACKUP_DIR=" + Path("file"), flags);
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_NE(outcome.error.find(": STELED_BACKUP_DIR " + Path("file")), std::string::npos)
      << outcome.error;
  const auto server = Start({"--backup-dir", Path("made/at/the/start")});
  EXPECT_TRUE(std::filesystem::is_directory(Path("made/at/the/start")));
}

TEST_F(ServerLog, WrongFlagsAreNamed) {
  EXPECT_EQ(Run("", "--db mem: --max-cals 5").error,
            "steled: unknown flag --max-cals; \"steled --help\" lists the flags");
  EXPECT_EQ(Run("STELED_MAX_CALLS=many", "--db mem:").error,
            "steled: STELED_MAX_CALLS takes a number of 4 to 10000, not \"many\"");
  EXPECT_EQ(Run("STELED_MAX_CALLS=many", "--db mem:").exit_status, 2);
  EXPECT_EQ(Run("STELED_MAX_CALLS=many", "--version").exit_status, 0);
  const Outcome outcome = Run("", "--db mem: --tls-key k --tls-cert " + Path("missing"));
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_NE(outcome.error.find("--tls-cert " + Path("missing") +
                               ": the file cannot be read: No such file or directory"),
            std::string::npos)
      << outcome.error;
}

}  // namespace
}  // namespace stele::server
