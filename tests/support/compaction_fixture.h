// tests/support/compaction_fixture.h: tables, SSTables and their text for the tests of flush and compaction.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "manifest/version.h"
#include "model/row_ranges.h"
#include "sstable/sstable_reader.h"
#include "support/base_text_cases.h"

namespace stele::internal {

// A table with the families of TestFamilies() that `text_case` names as families=a,b (all without it), and rules from arguments like
// a=maxversions=2.
std::shared_ptr<const TableDefinition> DefinitionOf(const TextCase& text_case);

// "a..c" is the rows from a on and below c; a bound left out is none.
KeyRange ParseRange(const std::string& text);

// Writes lines of cell text as SSTable `number` in `directory`, as a flush would have.
absl::StatusOr<SstableFile> WriteLines(FileSystem* file_system, const std::string& directory, uint64_t number, std::string_view lines);
absl::StatusOr<std::shared_ptr<SstableReader>> OpenFile(FileSystem* file_system, const std::string& directory, const SstableFile& file);
// Every cell of the file as text, families named as in TestFamilies() whatever the file holds.
std::string TextOf(FileSystem* file_system, const std::string& directory, const SstableFile& file);

}  // namespace stele::internal
