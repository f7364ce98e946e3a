#include "support/compaction_fixture.h"

#include <vector>

#include "base/invariant.h"
#include "base/status.h"
#include "io/file_names.h"
#include "sstable/write/sstable_builder.h"
#include "support/cell_text.h"

namespace stele::internal {

std::shared_ptr<const TableDefinition> DefinitionOf(const TextCase& text_case) {
  Schema schema;
  std::vector<FamilyEntry> families;
  for (uint32_t family_index = 1; family_index <= TestFamilies().size(); ++family_index) {
    const FamilyEntry& family = TestFamilies()[family_index];
    if (text_case.has("families") &&
        text_case.value("families").find(family.name) == std::string::npos)
      continue;
    GcRule rule;
    if (text_case.has(family.name)) {
      const auto parsed = GcRule::Parse(text_case.value(family.name));
      STELE_CHECK(parsed.ok());
      rule = *parsed;
    }
    schema.AddFamily(family.name, rule);
    families.push_back(family);
  }
  return MakeDefinition(1, "t", 1, schema, families);
}

KeyRange ParseRange(const std::string& text) {
  if (text.empty()) return KeyRange::All();
  const size_t dots = text.find("..");
  const std::string end = text.substr(dots + 2);
  return {text.substr(0, dots), end, end.empty()};
}

absl::StatusOr<SstableFile> WriteLines(FileSystem* file_system, const std::string& directory,
                                       uint64_t number, std::string_view lines) {
  SstableBuilderOptions options;
  options.file_id = number * 1000;
  options.family_ids = TestFamilies().ids();
  options.row_group_bytes = 256;  // several row groups even in a small file
  STELE_ASSIGN_OR_RETURN(
      const auto file,
      file_system->Open(JoinPath(directory, SstableName(number)), OpenMode::kCreate));
  SstableBuilder builder(file.get(), options);
  for (const OwnedRow& row : ParseRows(lines)) {
    std::vector<Cell> cells;
    for (const OwnedCell& cell : row.cells) cells.push_back(cell.View());
    STELE_RETURN_IF_ERROR(builder.StartRow(row.row_key));
    STELE_RETURN_IF_ERROR(builder.AddCells(cells));
  }
  SstableFile written;
  written.number = number;
  STELE_ASSIGN_OR_RETURN(written.summary, builder.Finish());
  STELE_RETURN_IF_ERROR(file->Sync());
  return written;
}

absl::StatusOr<std::shared_ptr<SstableReader>> OpenFile(FileSystem* file_system,
                                                        const std::string& directory,
                                                        const SstableFile& file) {
  const std::string name = SstableName(file.number);
  STELE_ASSIGN_OR_RETURN(auto opened,
                         file_system->Open(JoinPath(directory, name), OpenMode::kRead));
  return SstableReader::Open(std::move(opened), name, &file.summary, nullptr);
}

std::string TextOf(FileSystem* file_system, const std::string& directory, const SstableFile& file) {
  const auto reader = OpenFile(file_system, directory, file);
  if (!reader.ok()) return fmt::format("{}\n", ToStd(reader.status().message()));
  const auto cursor =
      (*reader)->NewCursor({.families = TestFamilies().MapFrom((*reader)->family_ids())});
  return PrintAll(cursor.get());
}

}  // namespace stele::internal
