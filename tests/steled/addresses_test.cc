// Tests where steled listens and how it reports that: Unix sockets, plaintext on every address,
// variables, SIGHUP, systemd.
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <sstream>

#include "steled/metrics_page.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

using Rows = std::vector<std::string>;

// An environment variable of this process and its children, as long as this object lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

// The text that a server with these flags writes to standard error until it ends, and its exit
// status.
struct Told {
  int exit_status = 0;
  std::string text;
};

class Addresses : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::unique_ptr<ServerProcess> Start(std::vector<std::string> flags) {
    flags.emplace_back("--durability=process");
    return std::make_unique<ServerProcess>(Path("db"), std::move(flags));
  }
  static void ExpectServes(const std::string& address) {
    Client client(address);
    ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
    ASSERT_TRUE(client.Set("t", "r", "f:a", 1000, "v").ok());
    EXPECT_EQ(client.Read("t"), Rows({"r f:a@1000=v"}));
  }
  // Runs the program with its standard error in a file; `act` runs while it serves.
  Told Run(const std::string& flags, const std::function<void(const ServerProcess&)>& act) {
    const std::string path = Path("errors");
    const int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
    std::vector<std::string> words;
    std::istringstream in(flags);
    for (std::string word; in >> word;) words.push_back(word);
    std::unique_ptr<ServerProcess> server = Start(std::move(words));
    dup2(kept, STDERR_FILENO);
    close(kept);
    if (act) act(*server);
    Told told{.exit_status = server->Terminate()};
    std::ifstream errors(path);
    told.text.assign(std::istreambuf_iterator<char>(errors), std::istreambuf_iterator<char>());
    return told;
  }

 private:
  const ScratchDirectory directory_;
};

TEST_F(Addresses, AUnixSocketIsServedAndRemoved) {
  const std::string address = "unix:" + Path("socket");
  const auto server = Start({"--listen", address});
  EXPECT_EQ(server->address(), address);
  ExpectServes(address);
  EXPECT_EQ(server->Terminate(), 0);
  EXPECT_FALSE(std::filesystem::exists(Path("socket")));
}

TEST_F(Addresses, ASocketThatAKilledServerLeftIsReplaced) {
  const std::string address = "unix:" + Path("socket");
  Start({"--listen", address})->Kill();
  ASSERT_TRUE(std::filesystem::exists(Path("socket")));
  const auto server = Start({"--listen", address});
  ExpectServes(address);
}

TEST_F(Addresses, AnotherFileIsNotReplaced) {
  std::ofstream(Path("file")) << "precious";
  const char* const program = std::getenv("STELED_COMMAND");
  ASSERT_NE(program, nullptr) << "run this through ctest";
  std::filesystem::create_directory(Path("directory"));
  for (const auto& [name, what] : {std::pair<std::string, std::string>{"file", "another file"},
                                   {"directory", "a directory"}}) {
    const std::string command =
        std::string(program) + " --db mem: --listen unix:" + Path(name) + " 2>" + Path("errors");
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
    std::ifstream errors(Path("errors"));
    std::string line;
    std::getline(errors, line);
    EXPECT_NE(line.find("cannot listen on unix:" + Path(name) + ": it is " + what),
              std::string::npos)
        << line;
  }
  EXPECT_EQ(std::filesystem::file_size(Path("file")), 8u);
}

TEST_F(Addresses, PlaintextForOtherMachinesIsServedWithAWarning) {
  const Told told = Run("--listen 0.0.0.0:0 --allow-plaintext", [](const ServerProcess& server) {
    ExpectServes("127.0.0.1" + server.address().substr(server.address().rfind(':')));
  });
  EXPECT_EQ(told.exit_status, 0);
  EXPECT_NE(told.text.find("warning: other machines reach 0.0.0.0:"), std::string::npos)
      << told.text;
  EXPECT_EQ(Run("", nullptr).text.find("warning: other machines"), std::string::npos);
}

TEST_F(Addresses, VariablesAreFlags) {
  const Variable listen("STELED_LISTEN", "0.0.0.0:0");
  const Variable plaintext("STELED_ALLOW_PLAINTEXT", "1");
  const Variable metrics("STELED_METRICS", "0.0.0.0:0");
  const auto server = Start({});
  EXPECT_TRUE(server->address().starts_with("127.0.0.1:"))
      << "the command line wins: " << server->address();
  EXPECT_TRUE(server->metrics_address().starts_with("0.0.0.0:")) << server->metrics_address();
  EXPECT_TRUE(FetchMetrics(server->metrics_address()).starts_with("HTTP/1.1 200 "));
}

TEST_F(Addresses, AHangUpDoesNotEndTheServer) {
  const Told told = Run("", [](const ServerProcess& server) {
    kill(server.pid(), SIGHUP);
    ExpectServes(server.address());
  });
  EXPECT_EQ(told.exit_status, 0);
  EXPECT_NE(told.text.find("SIGHUP: nothing to reload without --tls-cert"), std::string::npos)
      << told.text;
}

TEST_F(Addresses, SignalsThatMeanNothingDoNotEndTheServer) {
  const Told told = Run("", [](const ServerProcess& server) {
    for (const int signal : {SIGUSR2, SIGALRM}) kill(server.pid(), signal);
    ExpectServes(server.address());
  });
  EXPECT_EQ(told.exit_status, 0);
}

TEST_F(Addresses, AQuitSignalEndsTheServerCleanly) {
  const Told told = Run("", [](const ServerProcess& server) { kill(server.pid(), SIGQUIT); });
  EXPECT_EQ(told.exit_status, 0);
  EXPECT_NE(told.text.find("SIGQUIT"), std::string::npos) << told.text;
}

// Takes the place of systemd.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path)
      : descriptor_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ~NotifySocket() { close(descriptor_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  // The next message; "" if none comes within two minutes.
  std::string Next() {
    pollfd wait{.fd = descriptor_, .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, 120'000) != 1) return "";
    std::array<char, 1024> bytes{};
    const ssize_t count = recv(descriptor_, bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<size_t>(std::max<ssize_t>(count, 0))};
  }

 private:
  const int descriptor_;
};

TEST_F(Addresses, SystemdIsTold) {
  NotifySocket systemd(Path("notify"));
  const Variable variable("NOTIFY_SOCKET", Path("notify"));
  const auto server = Start({});
  const std::string ready = "READY=1\nSTATUS=serving " + Path("db") + " on " + server->address();
  EXPECT_EQ(systemd.Next(), ready);
  kill(server->pid(), SIGHUP);
  EXPECT_EQ(systemd.Next(), "RELOADING=1");
  EXPECT_EQ(systemd.Next(), ready);
  EXPECT_EQ(server->Terminate(), 0);
  EXPECT_EQ(systemd.Next(), "STOPPING=1");
}

}  // namespace
}  // namespace stele::server
