// Tests Unix sockets that several servers want at the same time or after each other.
#include "steled/transport/sockets/listening_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace stele::server {
namespace {

std::atomic<bool> does_listen_fail = false;

}  // namespace

// Replaces the C library's function in this program.
extern "C" int listen(int descriptor, int backlog) noexcept {
  if (does_listen_fail) {
    errno = ENOBUFS;
    return -1;
  }
  return static_cast<int>(syscall(SYS_listen, descriptor, backlog));
}

namespace {

class UnixSocketTest : public testing::Test {
 protected:
  UnixSocketTest() {
    std::string directory = testing::TempDir() + "listening-XXXXXX";
    EXPECT_NE(mkdtemp(directory.data()), nullptr);
    directory_ = directory;
    path_ = directory_ / "socket";
  }
  ~UnixSocketTest() override { std::filesystem::remove_all(directory_); }

  absl::StatusOr<ListeningSocket> Listen() const {
    return ListeningSocket::Listen("unix:" + path_.string());
  }
  sockaddr_un Address() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    return address;
  }
  bool CanConnect() const {
    const sockaddr_un address = Address();
    const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int connected =
        connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    close(client);
    return connected == 0;
  }
  // Leaves the file of a killed process.
  void LeaveStaleSocket() const {
    const sockaddr_un address = Address();
    const int killed = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(killed, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    close(killed);
  }

  std::filesystem::path directory_;
  std::filesystem::path path_;
};

TEST_F(UnixSocketTest, NothingIsLeft) {
  {
    const absl::StatusOr<ListeningSocket> listening = Listen();
    ASSERT_TRUE(listening.ok()) << listening.status();
    EXPECT_TRUE(CanConnect());
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(UnixSocketTest, NothingIsLeftIfListeningFails) {
  does_listen_fail = true;
  const absl::Status status = Listen().status();
  does_listen_fail = false;
  EXPECT_NE(status.message().find("No buffer space"), absl::string_view::npos) << status;
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(UnixSocketTest, TheSocketOfAnotherIsNotRemoved) {
  std::optional<ListeningSocket> first(Listen().value());
  std::filesystem::remove(path_);
  std::optional<ListeningSocket> second(Listen().value());
  first.reset();
  EXPECT_TRUE(CanConnect());
  second.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, OneOfManyThatListenAtOnceGetsIt) {
  constexpr int kRounds = 200;
  constexpr int kThreads = 4;
  for (int round = 0; round < kRounds; ++round) {
    LeaveStaleSocket();
    std::vector<std::optional<ListeningSocket>> listening(kThreads);
    {
      std::barrier all_ready(kThreads);
      std::vector<std::jthread> threads;
      for (std::optional<ListeningSocket>& mine : listening) {
        threads.emplace_back([this, &mine, &all_ready] {
          all_ready.arrive_and_wait();
          if (absl::StatusOr<ListeningSocket> listened = Listen(); listened.ok())
            mine.emplace(*std::move(listened));
        });
      }
    }
    int count = 0;
    for (const auto& each : listening) count += each.has_value() ? 1 : 0;
    ASSERT_EQ(count, 1) << "round " << round;
    ASSERT_TRUE(CanConnect());
  }
}

TEST_F(UnixSocketTest, TheLockThatAKilledProcessLeftDoesNoHarm) {
  std::ofstream(path_.string() + ".lock").flush();
  LeaveStaleSocket();
  const absl::StatusOr<ListeningSocket> listening = Listen();
  ASSERT_TRUE(listening.ok()) << listening.status();
  EXPECT_TRUE(CanConnect());
  EXPECT_TRUE(std::filesystem::exists(path_.string() + ".lock")) << "it is the file of another";
}

// A server that hangs, for example. The start must not hang, too.
TEST_F(UnixSocketTest, ALockThatIsHeldIsAnErrorInTheEnd) {
  const std::string lock = path_.string() + ".lock";
  const int held = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  const absl::Status status = Listen().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_NE(status.message().find(lock + ": another process holds it"), absl::string_view::npos)
      << status;
  close(held);
  EXPECT_TRUE(Listen().ok());
}

TEST_F(UnixSocketTest, ADirectoryThatIsNotThereIsNamed) {
  path_ = directory_ / "missing" / "socket";
  const absl::Status status = Listen().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_NE(status.message().find(path_.string()), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("No such file or directory"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace stele::server
