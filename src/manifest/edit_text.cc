// Implements EditText and VersionText: stable text for dumps and tests.
#include "base/status.h"
#include "manifest/edit.h"

namespace stele::internal {
namespace {

std::string_view ValueTypeText(ValueType type) {
  switch (type) {
    case ValueType::kBytes:
      return "bytes";
    case ValueType::kInt64Sum:
      return "int64sum";
    case ValueType::kInt64Min:
      return "int64min";
    case ValueType::kInt64Max:
      return "int64max";
    case ValueType::kHll:
      return "hll";
  }
  return "?";
}

std::string_view CompressionText(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kFast:
      return "fast";
    case Compression::kBalanced:
      return "balanced";
  }
  return "?";
}

void AppendFileText(std::string* out, const SstableFile& file) {
  const SstableSummary& s = file.summary;
  *out += fmt::format(
      "  file {} id={:#x} bytes={} index={}+{} rows={} cells={} tombstones={} row_tombstones={} "
      "logical_bytes={}\n",
      file.number, s.file_id, s.file_bytes, s.index_offset, s.index_bytes, s.rows, s.cells,
      s.tombstones, s.row_tombstones, s.logical_bytes);
  *out += fmt::format("    rows [\"{}\", \"{}\"] newest_commit_time={}{}\n", Printable(s.first_row),
                      Printable(s.last_row), file.newest_commit_time,
                      file.bottommost_codec ? " bottommost_codec" : "");
  for (const FamilySummary& f : s.families) {
    *out += fmt::format(
        "    family {} cells={} tombstones={} logical_bytes={} timestamps=[{}, {}] "
        "versions_max={}\n",
        f.family_id, f.cells, f.tombstones, f.logical_bytes, f.timestamp_min, f.timestamp_max,
        f.versions_max);
  }
}

void AppendDefinitionText(std::string* out, const TableDefinition& definition) {
  const Schema& schema = definition.schema;
  const TableLimits& limits = schema.limits();
  *out += fmt::format("    definition \"{}\" epoch={} granularity={} compression={}\n",
                      Printable(definition.name), definition.epoch,
                      schema.granularity() == TimestampGranularity::kMillis ? "millis" : "micros",
                      CompressionText(schema.compression()));
  *out += fmt::format(
      "      limits row_key_bytes={} qualifier_bytes={} value_bytes={} row_bytes={} mutations={}\n",
      limits.row_key_bytes, limits.qualifier_bytes, limits.value_bytes, limits.row_bytes,
      limits.mutations);
  for (const FamilySchema& family : schema.families()) {
    const uint32_t family_index = definition.families.IndexOfName(family.name).value_or(kRowFamily);
    const FamilyEntry entry =
        family_index == kRowFamily ? FamilyEntry() : definition.families[family_index];
    *out += fmt::format("      family {} \"{}\" {} gc={}", entry.id, Printable(family.name),
                        ValueTypeText(family.value_type), family.gc.ToString());
    *out += entry.unfenced_through == 0
                ? "\n"
                : fmt::format(" unfenced_through={}\n", entry.unfenced_through);
  }
  for (const std::string& split : schema.splits())
    *out += fmt::format("      split \"{}\"\n", Printable(split));
  for (const auto& [key, value] : schema.properties()) {
    *out += fmt::format("      property \"{}\" \"{}\"\n", Printable(key), Printable(value));
  }
}

void AppendTabletText(std::string* out, const TabletEdit& tablet) {
  *out += fmt::format("    tablet {}\n", RangeText(tablet.range));
  for (const ReferenceEdit& reference : tablet.stack) {
    *out +=
        fmt::format("      file {} {} sequences {}-{}\n", reference.file_number,
                    RangeText(reference.range), reference.sequence_first, reference.sequence_last);
  }
}

void AppendTableText(std::string* out, const TableEdit& table) {
  *out += fmt::format("  table {}{}\n", table.table_id, table.drop ? " drop" : "");
  if (table.definition != nullptr) AppendDefinitionText(out, *table.definition);
  if (table.flushed_through.has_value())
    *out += fmt::format("    flushed_through={}\n", *table.flushed_through);
  for (const TabletEdit& tablet : table.tablets) AppendTabletText(out, tablet);
}

}  // namespace

std::string EditText(const Edit& edit) {
  std::string out = fmt::format(
      "  last_sequence={} clock_mark={} next_file_number={} next_table_id={} next_family_id={}",
      edit.last_sequence, edit.clock_mark, edit.next_file_number, edit.next_table_id,
      edit.next_family_id);
  if (edit.oldest_segment.has_value())
    out += fmt::format(" oldest_segment={}", *edit.oldest_segment);
  if (edit.synced_log_end.segment != 0)
    out += fmt::format(" synced_log_end={}@{}", edit.synced_log_end.segment,
                       edit.synced_log_end.end_offset);
  out += "\n";
  for (const SstableFile& file : edit.new_files) AppendFileText(&out, file);
  for (const TableEdit& table : edit.tables) AppendTableText(&out, table);
  if (edit.token_key.has_value()) out += "  token_key\n";
  return out;
}

std::string VersionText(const Version& version) { return EditText(SnapshotEdit(version)); }

}  // namespace stele::internal
