#include "sstable/inspect/sstable_dump.h"

#include "base/status.h"
#include "cell/fold.h"
#include "sstable/format/large_value_reference.h"
#include "sstable/read/row_group_loader.h"

namespace stele::internal {
namespace {

void AppendBlockText(std::string* out, const BlockHandle& block) {
  *out += fmt::format("@{} {} of {} bytes {} {:016x}", block.offset, block.stored_bytes,
                      block.raw_bytes, CodecName(block.codec), block.checksum);
}

void AppendHead(const OpenSstable& table, std::string* out) {
  const Footer& footer = table.footer;
  const SstableSummary& summary = footer.summary;
  *out += fmt::format("sstable format {} file_id {:016x} {} bytes\n", kSstableFormatVersion,
                      summary.file_id, summary.file_bytes);
  *out += fmt::format("rows {} cells {} row_tombstones {} tombstones {} logical_bytes {}\n",
                      summary.rows, summary.cells, summary.row_tombstones, summary.tombstones,
                      summary.logical_bytes);
  *out += fmt::format("first_row \"{}\" last_row \"{}\"\n", Printable(summary.first_row),
                      Printable(summary.last_row));
  *out += fmt::format("families by index: {}\n", fmt::join(footer.family_ids, " "));
  for (const FamilySummary& family : summary.families) {
    *out += fmt::format(
        "family {} cells {} tombstones {} logical_bytes {} timestamps {}..{} versions_max {}\n",
        family.family_id, family.cells, family.tombstones, family.logical_bytes,
        family.timestamp_min, family.timestamp_max, family.versions_max);
  }
  *out += fmt::format("bloom @{} {} bytes {:016x}\n", footer.bloom_offset, footer.bloom_bytes,
                      footer.bloom_checksum);
  *out += fmt::format("index @{} {} bytes {:016x}\n", summary.index_offset, summary.index_bytes,
                      summary.index_checksum);
}

void AppendSectionText(const SectionReference& section, size_t number, std::string* out) {
  *out +=
      fmt::format("section {}{} families {} groups {} index {} bytes dictionary {} bytes", number,
                  section.is_history ? " history" : "", fmt::join(section.family_indexes, " "),
                  section.group_count, section.index_bytes, section.dictionary_bytes);
  if (section.dictionary_bytes != 0) *out += fmt::format(" {:016x}", section.dictionary_checksum);
  *out += '\n';
}

absl::Status AppendCell(const OpenSstable& table, uint64_t group_offset, const FamilyPage& page,
                        uint32_t cell, std::string* out) {
  *out += fmt::format("    {} \"{}\" {} ", page.family_index(), Printable(page.qualifier(cell)),
                      page.timestamp(cell));
  const std::string_view slot = page.slot(cell);
  switch (page.kind(cell)) {
    case StoredKind::kDeleteFamily:
      *out += "delete family\n";
      break;
    case StoredKind::kDeleteRange:
      *out += fmt::format("delete from {}\n", static_cast<int64_t>(LoadFixed64(slot.data())));
      break;
    case StoredKind::kSet:
      *out += fmt::format("= \"{}\"\n", Printable(slot));
      break;
    case StoredKind::kSum:
    case StoredKind::kMin:
    case StoredKind::kMax:
    case StoredKind::kHll:
      *out += DeltaText(static_cast<CellKind>(page.kind(cell)), slot) + "\n";
      break;
    case StoredKind::kSetLarge: {
      STELE_ASSIGN_OR_RETURN(
          const LargeValueReference reference,
          ParseLargeValueReference(slot, group_offset, table.footer.data_end(), table.name));
      *out += fmt::format("= {} bytes apart\n", reference.value_bytes);
      for (const BlockHandle& block : reference.blocks) {
        *out += "      block ";
        AppendBlockText(out, block);
        *out += '\n';
      }
    }
  }
  return absl::OkStatus();
}

absl::Status AppendRows(const OpenSstable& table, uint64_t group_offset, const RowGroup& group,
                        std::string* out) {
  for (uint32_t row = 0; row < group.row_count(); ++row) {
    *out += fmt::format("  row \"{}\"{}\n", Printable(group.keys().key(row)),
                        group.keys().is_row_deleted(row) ? " deleted" : "");
    absl::Status status;
    group.ForEachPage([&](const FamilyPage& page) {
      if (row < page.row_first() || row >= page.row_end()) return;
      for (uint32_t cell = page.row_begin(row); status.ok() && cell < page.row_begin(row + 1);
           ++cell) {
        status = AppendCell(table, group_offset, page, cell, out);
      }
    });
    STELE_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

void AppendGroupText(const GroupReference& group, size_t group_index, std::string* out) {
  *out += fmt::format("group {} rows {} \"{}\" .. \"{}\"", group_index, group.row_count,
                      Printable(group.first_row), Printable(group.last_row));
  if (group.continues_row) {
    *out += fmt::format(" continues at family {} \"{}\" {}", group.first_cell.family,
                        Printable(group.first_cell.qualifier), group.first_cell.timestamp);
  }
  *out += '\n';
  for (const BlockEntry& block : group.blocks) {
    *out += block.is_keys() ? std::string("  keys ")
                            : fmt::format("  families {}..{} rows {}..{} ", block.family_first,
                                          block.family_last, block.row_first, block.row_end);
    AppendBlockText(out, block.handle);
    if (block.statistics.has_cells)
      *out += fmt::format(" timestamps {}..{}", block.statistics.timestamp_min,
                          block.statistics.timestamp_max);
    if (block.statistics.has_tombstones) *out += " tombstones";
    *out += '\n';
  }
}

absl::Status AppendGroups(const OpenSstable& table, const OpenSection& section, bool cells,
                          std::string* out) {
  CursorOptions options;
  options.families.assign(table.footer.family_ids.size() + 1, 1);
  options.fill_cache = false;
  RowGroupLoader loader(table, section, options);
  for (size_t i = 0; i < section.index.group_count(); ++i) {
    const GroupReference reference = section.index.group(i);
    AppendGroupText(reference, i, out);
    STELE_ASSIGN_OR_RETURN(const std::shared_ptr<const RowGroup> group, loader.LoadAll(i));
    group->ForEachPage([out](const FamilyPage& page) {
      *out += fmt::format("  page of family {} rows {}..{}: cells {} qualifiers {}\n",
                          page.family_index(), page.row_first(), page.row_end(), page.cell_count(),
                          page.qualifier_count());
    });
    if (cells) STELE_RETURN_IF_ERROR(AppendRows(table, reference.offset(), *group, out));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> DumpSstable(const SstableReader& reader, bool cells) {
  const OpenSstable& table = reader.table();
  std::string out;
  AppendHead(table, &out);
  for (const OpenSection& section : table.sections) {
    AppendSectionText(*section.reference, section.number, &out);
    STELE_RETURN_IF_ERROR(AppendGroups(table, section, cells, &out));
  }
  return out;
}

}  // namespace stele::internal
