#include "steled/metrics_page.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <string_view>

namespace stele::server {

std::string FetchPage(const std::string& address, std::string_view request) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  inet_pton(AF_INET, "127.0.0.1", &where.sin_addr);
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string text;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) == 0) {
    EXPECT_EQ(write(connection, request.data(), request.size()),
              static_cast<ssize_t>(request.size()));
    std::array<char, 4096> part{};
    for (ssize_t bytes = 0; (bytes = read(connection, part.data(), part.size())) > 0;)
      text.append(part.data(), static_cast<size_t>(bytes));
  }
  close(connection);
  return text;
}

std::string FetchMetrics(const std::string& address) {
  return FetchPage(address, "GET /metrics HTTP/1.0\r\n\r\n");
}

double MetricOf(const std::string& address, const std::string& name) {
  std::istringstream lines(FetchMetrics(address));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + " ")) return std::stod(line.substr(name.size() + 1));
  }
  return -1;
}

}  // namespace stele::server
