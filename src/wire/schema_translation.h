// wire/schema_translation.h: tables and families, from the wire's form to the library's and back.
//
// Deletion protection, and what the items of an hll family are, are properties of the library's schema, of no meaning to the engine.
//
// Errors:    InvalidArgument; Unimplemented for settings that are not offered.
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/schema.h"
#include "wire/mutation_translation.h"
#include "wire/table_admin.pb.h"

namespace stele::internal {

inline constexpr std::string_view kDeletionProtection = "deletion_protection";

bool IsProtected(const Schema& schema);
std::string ProtectionText(bool is_protected);

// The property that says what an hll family's items are, and what it says: "int64", "string", or "" (as where there is none) for bytes.
std::string HllInputProperty(std::string_view family);
absl::StatusOr<std::string> HllInputText(const google::bigtable::admin::v2::Type& value_type);

TableTraits TraitsOf(const Schema& schema);

absl::StatusOr<Schema> ToSchema(const google::bigtable::admin::v2::CreateTableRequest& request);

// `schema` is the one that the modification meets, but for what others of the request change.
absl::StatusOr<FamilyChange> ToFamilyChange(const google::bigtable::admin::v2::ModifyColumnFamiliesRequest::Modification& modification,
                                            const Schema& schema);

// What `view` asks for; unspecified: the schema.
google::bigtable::admin::v2::Table ToWireTable(std::string_view wire_name, const Schema& schema,
                                               google::bigtable::admin::v2::Table::View view);

// The other way round: what a server shows of a table, with SCHEMA_VIEW or FULL. Splits and limits are not shown: none, and the defaults.
absl::StatusOr<Schema> ToSchema(const google::bigtable::admin::v2::Table& table);

// All but the parent and the id. Unimplemented for a property or a limit that the wire has no place for. The codec is the server's own.
absl::StatusOr<google::bigtable::admin::v2::CreateTableRequest> ToWireCreation(const Schema& schema);

google::bigtable::admin::v2::ModifyColumnFamiliesRequest::Modification ToWireChange(const FamilyChange& change);

}  // namespace stele::internal
