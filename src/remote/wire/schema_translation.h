// remote/wire/schema_translation.h: converts tables and families between the protocol buffers and
// the library's types.
//
// Deletion protection, the policy of automated backups, the item type of an hll family, and whether
// a family of bytes is described as strings are stored as properties of the library's schema. The
// engine ignores them.
//
// Errors:    InvalidArgument; Unimplemented for settings that are not supported; AlreadyExists and
//            NotFound for families that change.
// Threads:   pure functions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/mutation_translation.h"
#include "remote/wire/table_admin.pb.h"
#include "stele/schema.h"

namespace stele::internal {

inline constexpr std::string_view kDeletionProtection = "deletion_protection";

// The property of a table's automated backups: the retention in seconds, a space, and the seconds
// between two backups.
inline constexpr std::string_view kAutomatedBackupPolicy = "automated_backup_policy";

// The property for a policy. Returns InvalidArgument for a retention outside of 3 to 90 days, and
// for a frequency that is not 24 hours, the default.
absl::StatusOr<std::string> BackupPolicyText(
    const google::bigtable::admin::v2::AutomatedBackupPolicy& policy);
// The policy of a table; nullopt if it has none.
std::optional<google::bigtable::admin::v2::AutomatedBackupPolicy> BackupPolicyOf(
    const Schema& schema);

bool IsProtected(const Schema& schema);
std::string ProtectionText(bool is_protected);

// Returns the name of the property that describes a family's type in addition to its ValueType; ""
// if the ValueType says everything.
std::string TypeProperty(const FamilySchema& family);

// A family with the value of its TypeProperty. For an hll family it is the type of its items:
// "int64", "string", or "" (also without the property) for bytes. For a family of bytes it is
// "string" if it is described so, which does not affect its values.
struct TypedFamily {
  FamilySchema schema;
  std::string type_text;
};
using TypedFamilies = std::map<std::string, TypedFamily, std::less<>>;
TypedFamilies FamiliesOf(const Schema& schema);

TableTraits TraitsOf(const Schema& schema);

absl::StatusOr<Schema> ToSchema(const google::bigtable::admin::v2::CreateTableRequest& request);

// `families` are the table's families after the request's earlier modifications; this call updates
// them. Returns nullopt if only the type_text changes: then the table's schema does not change.
absl::StatusOr<std::optional<FamilyChange>> ToFamilyChange(
    const google::bigtable::admin::v2::ModifyColumnFamiliesRequest::Modification& modification,
    TypedFamilies* families);

// Sets the fields that `view` selects; unspecified: the schema.
google::bigtable::admin::v2::Table ToWireTable(std::string_view wire_name, const Schema& schema,
                                               google::bigtable::admin::v2::Table::View view);

// Converts the table that a server returns with SCHEMA_VIEW or FULL. Splits and limits are not in
// the message: the result has no splits and the default limits.
absl::StatusOr<Schema> ToSchema(const google::bigtable::admin::v2::Table& table);

// Sets everything except the parent and the id. Returns Unimplemented for a property or a limit
// that the message cannot express. The server chooses the codec.
absl::StatusOr<google::bigtable::admin::v2::CreateTableRequest> ToWireCreation(
    const Schema& schema);

google::bigtable::admin::v2::ModifyColumnFamiliesRequest::Modification ToWireChange(
    const FamilyChange& change);

}  // namespace stele::internal
