#include "steled/logged_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <utility>

namespace stele::server {

LoggedServer::LoggedServer(const std::string& database, std::vector<std::string> flags) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  process_ = std::make_unique<ServerProcess>(database, std::move(flags));
  dup2(kept, STDERR_FILENO);
  close(kept);
  log_ = ends[0];
}

LoggedServer::~LoggedServer() {
  process_.reset();
  close(log_);
}

std::string LoggedServer::NextLine() {
  constexpr int kWaitMillis = 300'000;  // a server that logs nothing fails the test
  std::string line;
  pollfd wait{.fd = log_, .events = POLLIN, .revents = 0};
  for (char c = 0; poll(&wait, 1, kWaitMillis) == 1 && read(log_, &c, 1) == 1;) {
    if (c == '\n') return line;
    line.push_back(c);
  }
  return {};
}

std::string LoggedServer::NextLineWith(const std::string& text) {
  std::string line = NextLine();
  while (!line.empty() && line.find(text) == std::string::npos) line = NextLine();
  return line;
}

}  // namespace stele::server
