// Tests a server that is slow to answer a new connection, as a distant one is.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "model/access.h"
#include "remote/client/connection.h"
#include "unit/remote/client/fake_server.h"

namespace stele::internal {
namespace {

// Passes nothing from the server to a new client until the client gives up, or until the patience
// is over.
class SlowDoor {
 public:
  SlowDoor(int server_port, int patience_millis)
      : server_port_(server_port), patience_millis_(patience_millis) {
    sockaddr_in address = Loopback(0);
    EXPECT_EQ(bind(listening_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listening_, 8), 0);
    socklen_t length = sizeof address;
    EXPECT_EQ(getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { AcceptAll(); });
  }
  ~SlowDoor() {
    shutdown(listening_, SHUT_RDWR);
    thread_.join();
    close(listening_);
  }

  int port() const { return port_; }
  bool was_left() const { return was_left_; }

 private:
  static sockaddr_in Loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    return address;
  }

  void AcceptAll() {
    for (int client = 0; (client = accept(listening_, nullptr, nullptr)) >= 0; close(client))
      Serve(client);
  }

  void Serve(int client) {
    pollfd left = {.fd = client, .events = POLLRDHUP, .revents = 0};
    if (poll(&left, 1, patience_millis_) != 0) {
      was_left_ = true;
      return;
    }
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = Loopback(server_port_);
    EXPECT_EQ(connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    while (Pass(client, server)) continue;
    close(server);
  }

  // Passes bytes of either side to the other. Returns false if one side has closed.
  bool Pass(int client, int server) const {
    std::array<pollfd, 3> sides = {
        {{client, POLLIN, 0}, {server, POLLIN, 0}, {listening_, POLLRDHUP, 0}}};
    if (poll(sides.data(), sides.size(), -1) < 0 || (sides[2].revents & (POLLHUP | POLLRDHUP)) != 0)
      return false;
    std::array<char, 4096> bytes;
    for (const auto& [from, to] : {std::pair(sides[0], server), std::pair(sides[1], client)}) {
      if (from.revents == 0) continue;
      const ssize_t count = recv(from.fd, bytes.data(), bytes.size(), 0);
      if (count <= 0 || send(to, bytes.data(), static_cast<size_t>(count), MSG_NOSIGNAL) != count)
        return false;
    }
    return true;
  }

  const int server_port_;
  const int patience_millis_;
  const int listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
  std::atomic<bool> was_left_ = false;
  std::thread thread_;
};

// Regression: a connection had to be established within 100 ms. A call that is not retried failed
// if that was too short.
TEST(RemoteConnect, AServerThatIsSlowToAnswerIsWaitedFor) {
  FakeServer server;
  server.on_check = [](size_t) { return grpc::Status::OK; };
  SlowDoor door(server.port(), /*patience_millis=*/600);
  const std::string location = "bigtable://p/i?endpoint=127.0.0.1:" + std::to_string(door.port());
  Table table = Access::Make<Database>(OpenRemoteDatabase(location, {}, server.waiter).value())
                    .OpenTable("t")
                    .value();
  const RowMutation set = RowMutation("r").SetCell("f", "q", Timestamp::FromMillis(1), "v");
  const absl::StatusOr<MutationBranch> branch =
      table.CheckAndMutateRow("r", Filter::PassAll(), set, set);
  EXPECT_TRUE(branch.ok()) << branch.status();
  EXPECT_FALSE(door.was_left());
}

// The sum of the pauses between the attempts of a call.
std::chrono::duration<double> Waited(FakeWaiter* waiter) {
  std::chrono::duration<double> sum{0};
  for (const auto pause : waiter->pauses()) sum += pause;
  return sum;
}

TEST(RemoteConnect, AWrongLocationIsToldWithinSeconds) {
  FakeServer server;
  const int unused = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);  // bound, and does not listen
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(unused, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t length = sizeof address;
  ASSERT_EQ(getsockname(unused, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::string endpoint = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const Database database = Access::Make<Database>(
      OpenRemoteDatabase("bigtable://p/i?endpoint=" + endpoint, {}, server.waiter).value());
  const absl::Status status = database.ListTables().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(status.message().find(endpoint), absl::string_view::npos) << status;
  EXPECT_GT(Waited(server.waiter.get()), std::chrono::seconds(2)) << "the server may be starting";
  EXPECT_LT(Waited(server.waiter.get()), std::chrono::seconds(11));
  close(unused);
}

TEST(RemoteConnect, AServerThatHasRespondedWithAnErrorIsWaitedForLonger) {
  auto server = std::make_unique<FakeServer>();
  const std::shared_ptr<FakeWaiter> waiter = server->waiter;
  server->table_is_gone = true;
  const Database database = server->Open();
  EXPECT_EQ(database.OpenTable("t").status().code(), absl::StatusCode::kNotFound);
  server.reset();
  EXPECT_EQ(database.ListTables().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_GT(Waited(waiter.get()), std::chrono::seconds(50));
}

TEST(RemoteConnect, AServerThatHasRespondedIsWaitedForLonger) {
  auto server = std::make_unique<FakeServer>();
  const std::shared_ptr<FakeWaiter> waiter = server->waiter;
  const Database database = server->Open();
  ASSERT_TRUE(database.ListTables().ok());
  server.reset();
  EXPECT_EQ(database.ListTables().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_GT(Waited(waiter.get()), std::chrono::seconds(50));
}

TEST(RemoteConnect, MissingCredentialsAreExplained) {
  // The status of calls without credentials.
  const grpc::Status failed(grpc::StatusCode::INVALID_ARGUMENT, "Invalid credentials.");
  for (const bool is_google : {true, false}) {
    const RemoteConnection connection({.project = "p",
                                       .instance = "i",
                                       .data_endpoint = "127.0.0.1:1",
                                       .admin_endpoint = "127.0.0.1:1",
                                       .is_google = is_google},
                                      {}, std::make_shared<FakeWaiter>());
    const absl::Status status = RemoteCall(&connection, "ListTables").Failure(failed);
    const std::string text(status.message());
    EXPECT_EQ(text.find("GOOGLE_APPLICATION_CREDENTIALS") != text.npos, is_google) << text;
    EXPECT_EQ(text.find("endpoint=HOST:PORT") != text.npos, is_google) << text;
  }
}

// The channel's threads exist only in the parent.
TEST(RemoteConnect, AForkedChildIsRefusedAndEndsNoConnection) {
  FakeServer server;
  Database database = server.Open();
  ASSERT_TRUE(database.ListTables().ok());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(180);
    const absl::Status closed = database.Close();
    const absl::Status refused = database.ListTables().status();
    database = Database();
    ::_exit(absl::IsFailedPrecondition(closed) && absl::IsFailedPrecondition(refused) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(database.ListTables().ok());
}

}  // namespace
}  // namespace stele::internal
