// manifest/definition_coding.h: a table's definition (its schema and ids) as the fields of an edit.
//
// Format:    docs/format/manifest.md.
// Errors:    reading answers false or InvalidArgument for bytes that are not a definition, also for a schema that no user could have made.
// Threads:   one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/coding.h"
#include "manifest/version.h"

namespace stele::internal {

// All but families, splits and properties.
void AppendDefinitionTraits(std::string* out, const TableDefinition& definition);
void AppendDefinitionFamily(std::string* out, const TableDefinition& definition, const FamilySchema& family);

// Collects the fields of one definition: first the traits. The others are in the order in which a definition holds them.
class DefinitionReader {
 public:
  explicit DefinitionReader(uint32_t table_id) : table_id_(table_id) {}
  bool ReadTraits(ByteReader* in);
  bool ReadFamily(ByteReader* in);
  bool ReadSplit(ByteReader* in);
  bool ReadProperty(ByteReader* in);
  absl::StatusOr<std::shared_ptr<const TableDefinition>> Finish() const;

 private:
  uint32_t table_id_;
  std::string name_;
  uint64_t epoch_ = 0;
  Schema schema_;
  std::vector<FamilyEntry> families_;
};

}  // namespace stele::internal
