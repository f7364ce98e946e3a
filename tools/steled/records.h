// steled/records.h: what the server has to remember of instances, clusters, app profiles and policies: messages by record keys.
//
// They are cells of a table of the served database, kRecordTable, which has no project and no instance and so no name on the wire. It is
// made with the first record.
//
// Format:    row: the record key; column "record:" with the message, serialized, at timestamp 0.
// Errors:    the library's; DataLoss for a record that is no such message.
// Threads:   thread-safe; what reads before it writes needs a lock of its own.
#pragma once

#include <google/protobuf/message_lite.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "errors.h"
#include "stele/database.h"

namespace stele::server {

inline constexpr std::string_view kRecordTable = "_steled";

class Records {
 public:
  // Changes to be made together. A message of none deletes.
  using Changes = std::vector<std::pair<std::string, std::optional<std::string>>>;

  explicit Records(Database database) : database_(std::move(database)) {}

  template <typename Message>
  absl::StatusOr<std::optional<Message>> Get(const std::string& record_key) const {
    STELED_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, GetBytes(record_key));
    if (!bytes.has_value()) return std::optional<Message>();
    return Parse<Message>(record_key, *bytes);
  }

  // Those whose keys begin so, in their order.
  template <typename Message>
  absl::StatusOr<std::vector<Message>> List(std::string_view prefix) const {
    STELED_ASSIGN_OR_RETURN(const auto found, ListBytes(prefix));
    std::vector<Message> messages;
    for (const auto& [record_key, bytes] : found) {
      STELED_ASSIGN_OR_RETURN(std::optional<Message> message, Parse<Message>(record_key, bytes));
      messages.push_back(*std::move(message));
    }
    return messages;
  }

  absl::Status Put(const std::string& record_key, const google::protobuf::MessageLite& message) {
    return Apply({{record_key, message.SerializeAsString()}});
  }
  // All or nothing, durable as the database's writes are where nothing else is asked for.
  absl::Status Apply(const Changes& changes, std::optional<Durability> durability = std::nullopt);
  // Of all whose keys begin so.
  absl::Status AddDeletions(std::string_view prefix, Changes* changes) const;

 private:
  template <typename Message>
  static absl::StatusOr<std::optional<Message>> Parse(const std::string& record_key, const std::string& bytes) {
    std::optional<Message> message(std::in_place);
    if (message->ParseFromString(bytes)) return message;
    return MakeStatus(absl::StatusCode::kDataLoss,
                      fmt::format("table {}: row \"{}\" holds no {}", kRecordTable, record_key, message->GetTypeName()));
  }

  absl::StatusOr<std::optional<std::string>> GetBytes(const std::string& record_key) const;
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ListBytes(std::string_view prefix) const;

  Database database_;
};

}  // namespace stele::server
