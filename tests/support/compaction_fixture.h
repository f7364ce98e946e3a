// tests/support/compaction_fixture.h: table definitions and SSTables made from text, for the tests
// of flush and compaction.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "manifest/version.h"
#include "model/row_ranges.h"
#include "sstable/read/sstable_reader.h"
#include "support/base_text_cases.h"

namespace stele::internal {

// Returns a table with the families of TestFamilies() that the argument families=a,b names; all of
// them if it is absent. An argument such as a=maxversions=2 sets a family's GC rule.
std::shared_ptr<const TableDefinition> DefinitionOf(const TextCase& text_case);

// Parses "a..c", the rows from a (inclusive) to c (exclusive). An omitted bound is open.
KeyRange ParseRange(const std::string& text);

// Writes lines of cell text as SSTable `number` in `directory`, as a flush does.
absl::StatusOr<SstableFile> WriteLines(FileSystem* file_system, const std::string& directory,
                                       uint64_t number, std::string_view lines);
absl::StatusOr<std::shared_ptr<SstableReader>> OpenFile(FileSystem* file_system,
                                                        const std::string& directory,
                                                        const SstableFile& file);
// Returns every cell of the file as text. Families are named as in TestFamilies(), whichever
// families the file contains.
std::string TextOf(FileSystem* file_system, const std::string& directory, const SstableFile& file);

}  // namespace stele::internal
