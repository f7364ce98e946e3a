// tests/server_load/canned_server.h: a server of HTTP/2 that answers with bytes it was given, right or wrong.
//
// Threads:   confined to one; the object has another of its own, which ends when the client hangs up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace stele_load {

// A frame as RFC 9113 has it.
enum class FrameType : uint8_t { kData = 0, kHeaders = 1, kResetStream = 3, kSettings = 4, kGoAway = 7, kWindowUpdate = 8 };
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kAcknowledges = 1;  // on settings
constexpr uint8_t kEndHeaders = 4;
std::string Frame(FrameType type, uint8_t flags, uint32_t stream_id, std::string_view payload);

// Four bytes, the highest first.
std::string BigEndian(uint32_t number);

// Header fields, none of which is compressed.
std::string Fields(const std::vector<std::pair<std::string, std::string>>& fields);

struct Canned {
  std::string greeting = Frame(FrameType::kSettings, 0, 0, "") + Frame(FrameType::kSettings, kAcknowledges, 0, "");
  std::vector<std::string> answers;      // to each request, when all of it came; after the last the server hangs up
  size_t piece_bytes = size_t{1} << 20;  // how much of an answer is written at once
};

// Takes one connection.
class CannedServer {
 public:
  explicit CannedServer(Canned canned);
  ~CannedServer();
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;

  const std::string& address() const { return address_; }
  // Waits until the client or the server hung up. The data of all requests.
  const std::string& Received();

 private:
  void Serve();
  // False: the client is gone.
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
