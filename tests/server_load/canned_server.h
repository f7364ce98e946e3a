// tests/server_load/canned_server.h: an HTTP/2 server that responds with given bytes, valid or
// invalid.
//
// Threads:   Confined to one thread. The object has its own thread, which ends when the client
//            closes the connection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace stele_load {

// A frame of RFC 9113.
enum class FrameType : uint8_t {
  kData = 0,
  kHeaders = 1,
  kResetStream = 3,
  kSettings = 4,
  kGoAway = 7,
  kWindowUpdate = 8
};
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kAcknowledges = 1;  // on settings
constexpr uint8_t kEndHeaders = 4;
std::string Frame(FrameType type, uint8_t flags, uint32_t stream_id, std::string_view payload);

// Encodes four bytes, big-endian.
std::string BigEndian(uint32_t number);

// Encodes header fields without compression.
std::string Fields(const std::vector<std::pair<std::string, std::string>>& fields);

struct Canned {
  std::string greeting =
      Frame(FrameType::kSettings, 0, 0, "") + Frame(FrameType::kSettings, kAcknowledges, 0, "");
  // To each request, sent when the whole request was received; the server closes after the last.
  std::vector<std::string> answers;
  size_t piece_bytes = size_t{1} << 20;  // bytes of a response per write
};

// Serves one connection.
class CannedServer {
 public:
  explicit CannedServer(Canned canned);
  ~CannedServer();
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;

  const std::string& address() const { return address_; }
  // Waits until the client or the server has closed. Returns the data of all requests.
  const std::string& Received();

 private:
  void Serve();
  // Returns false if the client has closed.
  bool ReadRequest(int client);
  bool ReadExactly(int client, size_t bytes, std::string* read);
  bool Write(int client, std::string_view bytes) const;

  const Canned canned_;
  int listener_ = -1;
  std::string address_;
  std::string received_;
  std::jthread thread_;
};

}  // namespace stele_load
