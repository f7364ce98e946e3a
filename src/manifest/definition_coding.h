// manifest/definition_coding.h: encodes a table's definition (its schema and ids) as fields of an
// edit.
//
// Format:    docs/reference/format/manifest.md.
// Errors:    reading returns false or InvalidArgument for bytes that are not a definition, and for
//            a schema that no user could have created.
// Threads:   one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/coding.h"
#include "manifest/version.h"

namespace stele::internal {

// Encodes everything except families, splits and properties.
void AppendDefinitionTraits(std::string* out, const TableDefinition& definition);
void AppendDefinitionFamily(std::string* out, const TableDefinition& definition,
                            const FamilySchema& family);

// Collects the fields of one definition. The traits come first, the others in the order of the
// definition.
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
