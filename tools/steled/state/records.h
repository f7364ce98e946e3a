// steled/state/records.h: stores the server's records of instances, clusters, app profiles,
// policies and automated backups: messages by record keys.
//
// The records are cells of the table kRecordTable of the served database. The table belongs to no
// instance, so it has no name in the API. It is created with the first record.
//
// Format:    row: the record key; column "record:" with the message, serialized, at timestamp 0.
// Errors:    those of the library; DataLoss for a record that cannot be parsed.
// Threads:   thread-safe; a read-modify-write needs a separate lock.
#pragma once

#include <google/protobuf/message_lite.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/database.h"
#include "steled/base/errors.h"

namespace stele::server {

inline constexpr std::string_view kRecordTable = "_steled";

// The key of a table's record in AutomatedBackups. `table_name` is the name in the API.
inline std::string AutomatedBackupKey(std::string_view table_name) {
  return fmt::format("automated_backup/{}", table_name);
}

class Records {
 public:
  // Changes that are applied together. Without a message the record is deleted.
  using Changes = std::vector<std::pair<std::string, std::optional<std::string>>>;

  explicit Records(Database database) : database_(std::move(database)) {}

  template <typename Message>
  absl::StatusOr<std::optional<Message>> Get(const std::string& record_key) const {
    STELED_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, GetBytes(record_key));
    if (!bytes.has_value()) return std::optional<Message>();
    return Parse<Message>(record_key, *bytes);
  }

  // Returns the records with this key prefix, by key.
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
  // Does nothing if there is no such record.
  absl::Status Remove(const std::string& record_key);
  // Applies all changes or none. The default durability is that of the database.
  absl::Status Apply(const Changes& changes, std::optional<Durability> durability = std::nullopt);
  // Adds deletions of all records with this key prefix.
  absl::Status AddDeletions(std::string_view prefix, Changes* changes) const;

 private:
  template <typename Message>
  static absl::StatusOr<std::optional<Message>> Parse(const std::string& record_key,
                                                      const std::string& bytes) {
    std::optional<Message> message(std::in_place);
    if (message->ParseFromString(bytes)) return message;
    return MakeStatus(absl::StatusCode::kDataLoss,
                      fmt::format("table {}: row \"{}\" holds no {}", kRecordTable, record_key,
                                  message->GetTypeName()));
  }

  absl::StatusOr<std::optional<std::string>> GetBytes(const std::string& record_key) const;
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ListBytes(
      std::string_view prefix) const;

  Database database_;
};

}  // namespace stele::server
