#include "steled/raw_client.h"

#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace stele::server {

RawClient::RawClient(const std::string& address) {
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found) != 0) {
    ADD_FAILURE() << "no address: " << address;
    return;
  }
  descriptor_ = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(descriptor_, found->ai_addr, found->ai_addrlen), 0) << address;
  freeaddrinfo(found);
}

RawClient::~RawClient() {
  if (descriptor_ >= 0) close(descriptor_);
}

void RawClient::Send(std::string_view bytes) const {
  EXPECT_EQ(send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

std::string RawClient::ReadAll() const {
  std::string text;
  std::array<char, 65'536> part{};
  for (ssize_t bytes = 0; (bytes = recv(descriptor_, part.data(), part.size(), 0)) > 0;)
    text.append(part.data(), static_cast<size_t>(bytes));
  return text;
}

bool RawClient::IsQuiet() const {
  char byte = 0;
  return recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace stele::server
