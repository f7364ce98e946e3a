#include "canned_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>

namespace stele_load {
namespace {

constexpr size_t kPrefaceBytes = 24;  // "PRI * HTTP/2.0 ..."
constexpr size_t kFrameHeaderBytes = 9;
constexpr time_t kWaitSecondsMax = 120;  // for a client that neither sends a request nor closes

uint32_t Number(std::string_view bytes) {
  uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

}  // namespace

std::string BigEndian(uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16),
          static_cast<char>(number >> 8), static_cast<char>(number)};
}

std::string Frame(FrameType type, uint8_t flags, uint32_t stream_id, std::string_view payload) {
  std::string frame = BigEndian(static_cast<uint32_t>(payload.size())).substr(1);
  frame.push_back(static_cast<char>(type));
  frame.push_back(static_cast<char>(flags));
  return frame.append(BigEndian(stream_id)).append(payload);
}

std::string Fields(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string block;
  for (const auto& [name, value] : fields) {
    block.push_back('\0');  // a literal without indexing, with a new name
    for (const std::string& text : {name, value})
      block.append(1, static_cast<char>(text.size())).append(text);
  }
  return block;
}

CannedServer::CannedServer(Canned canned) : canned_(std::move(canned)) {
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t place_bytes = sizeof place;
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bind(listener_, reinterpret_cast<sockaddr*>(&place), sizeof place);
  listen(listener_, 1);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&place), &place_bytes);
  address_ = "127.0.0.1:" + std::to_string(ntohs(place.sin_port));
  thread_ = std::jthread([this] { Serve(); });
}

CannedServer::~CannedServer() {
  shutdown(listener_, SHUT_RDWR);  // in case no client connected
  if (thread_.joinable()) thread_.join();
  close(listener_);
}

const std::string& CannedServer::Received() {
  if (thread_.joinable()) thread_.join();
  return received_;
}

void CannedServer::Serve() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const timeval wait = {.tv_sec = kWaitSecondsMax, .tv_usec = 0};
  const int yes = 1;
  setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  std::string preface;
  bool goes_on = Write(client, canned_.greeting) && ReadExactly(client, kPrefaceBytes, &preface);
  for (const std::string& answer : canned_.answers)
    goes_on = goes_on && ReadRequest(client) && Write(client, answer);
  // Read all bytes first: a close with unread bytes resets the connection and could discard the
  // response.
  shutdown(client, SHUT_WR);
  for (char byte = 0; recv(client, &byte, 1, 0) > 0;) continue;
  close(client);
}

bool CannedServer::ReadRequest(int client) {
  for (;;) {
    std::string header;
    std::string payload;
    if (!ReadExactly(client, kFrameHeaderBytes, &header)) return false;
    const uint32_t payload_bytes = Number(header.substr(0, 3));
    const uint32_t stream_id = Number(header.substr(5, 4));
    if (!ReadExactly(client, payload_bytes, &payload)) return false;
    if (header[3] != static_cast<char>(FrameType::kData)) continue;
    received_ += payload;
    if ((header[4] & kEndStream) != 0) return true;
    for (const uint32_t window : {uint32_t{0}, stream_id}) {
      if (payload_bytes > 0 &&
          !Write(client, Frame(FrameType::kWindowUpdate, 0, window, BigEndian(payload_bytes))))
        return false;
    }
  }
}

bool CannedServer::ReadExactly(int client, size_t bytes, std::string* read) {
  read->resize(bytes);
  for (size_t done = 0; done < bytes;) {
    const ssize_t count = recv(client, read->data() + done, bytes - done, 0);
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

bool CannedServer::Write(int client, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count =
        send(client, bytes.data(), std::min(bytes.size(), canned_.piece_bytes), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace stele_load
