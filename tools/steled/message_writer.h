// steled/message_writer.h: messages as the bytes that a call sends.
//
// Path:      a service's method -> MessageWriter -> Call::Send.
// Threads:   confined to the call that it serves.
// Cost:      a message is serialised once, to where it is sent from.
#pragma once

#include <google/protobuf/message_lite.h>

#include <optional>
#include <string>
#include <utility>

#include "transport/call.h"

namespace stele::server {

// With room for the prefix before it. None: protobuf serialises no message above 2 GiB.
inline std::optional<std::string> Framed(const google::protobuf::MessageLite& message) {
  std::string framed(kPrefixBytes, '\0');
  if (!message.AppendToString(&framed)) return std::nullopt;
  return framed;
}

// The answers of a streaming call.
template <typename Message>
class MessageWriter {
 public:
  explicit MessageWriter(Call* call) : call_(*call) {}

  // Waits while the client leaves unread what was sent before. The last message before the method returns goes together with its status:
  // one packet less to send and to read. False: nobody listens any more.
  bool Write(const Message& message) { return Send(message, /*is_last=*/false); }
  bool WriteLast(const Message& message) { return Send(message, /*is_last=*/true); }

 private:
  bool Send(const Message& message, bool is_last) {
    std::optional<std::string> framed = Framed(message);
    return framed.has_value() && call_.Send(*std::move(framed), is_last);
  }

  Call& call_;
};

}  // namespace stele::server
