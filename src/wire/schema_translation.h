// wire/schema_translation.h: tables and families, from the wire's form to the library's and back.
//
// Deletion protection, what the items of an hll family are, and whether a family of bytes is described as strings, are properties of the
// library's schema, of no meaning to the engine.
//
// Errors:    InvalidArgument; Unimplemented for settings that are not offered; AlreadyExists and NotFound for families that change.
// Threads:   pure functions.
#pragma once

#include <functional>
#include <map>
#include <optional>
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

// The property that tells of a family's type what its ValueType does not; empty for one of which there is no more to tell.
std::string TypeProperty(const FamilySchema& family);

// A family with what its TypeProperty says. Of an hll family that is what its items are: "int64", "string", or "" (as where there is none)
// for bytes; of a family of bytes "string" where it is described so, which changes nothing of what it takes.
struct TypedFamily {
  FamilySchema schema;
  std::string type_text;
};
using TypedFamilies = std::map<std::string, TypedFamily, std::less<>>;
TypedFamilies FamiliesOf(const Schema& schema);

TableTraits TraitsOf(const Schema& schema);

absl::StatusOr<Schema> ToSchema(const google::bigtable::admin::v2::CreateTableRequest& request);

// `families` are those that the modification meets, with what earlier ones of the request changed; it changes them, too. None where the
// type_text alone becomes another: to the table that is no change of a family.
absl::StatusOr<std::optional<FamilyChange>> ToFamilyChange(
    const google::bigtable::admin::v2::ModifyColumnFamiliesRequest::Modification& modification, TypedFamilies* families);

// What `view` asks for; unspecified: the schema.
google::bigtable::admin::v2::Table ToWireTable(std::string_view wire_name, const Schema& schema,
                                               google::bigtable::admin::v2::Table::View view);

// The other way round: what a server shows of a table, with SCHEMA_VIEW or FULL. Splits and limits are not shown: none, and the defaults.
absl::StatusOr<Schema> ToSchema(const google::bigtable::admin::v2::Table& table);

// All but the parent and the id. Unimplemented for a property or a limit that the wire has no place for. The codec is the server's own.
absl::StatusOr<google::bigtable::admin::v2::CreateTableRequest> ToWireCreation(const Schema& schema);

google::bigtable::admin::v2::ModifyColumnFamiliesRequest::Modification ToWireChange(const FamilyChange& change);

}  // namespace stele::internal
