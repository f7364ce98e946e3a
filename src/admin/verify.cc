#include "admin/verify.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "io/file_names.h"
#include "sstable/inspect/sstable_verify.h"

namespace stele::internal {
namespace {

RowRange RowsOf(const KeyRange& range) {
  return range.unbounded_end ? RowRange::StartingAt(range.start)
                             : RowRange::RightOpen(range.start, range.end);
}

// The ids of the families that the file has. Empty, which means all, if it has tombstones of rows.
std::vector<uint32_t> FamiliesOf(const SstableSummary& summary) {
  std::vector<uint32_t> ids;
  if (summary.row_tombstones > 0) return ids;
  for (const FamilySummary& family : summary.families) ids.push_back(family.family_id);
  return ids;
}

std::vector<std::string> NamesOf(const TableDefinition& definition,
                                 const std::vector<uint32_t>& family_ids) {
  std::vector<std::string> names;
  for (const uint32_t id : family_ids) {
    if (const std::optional<uint32_t> family_index = definition.families.IndexOfId(id))
      names.push_back(definition.families[*family_index].name);
  }
  return names;
}

struct Place {
  std::string file;
  uint64_t offset = 0;
  std::string what;
};

// Parses the place of corruption from an error: DataLoss begins with "file @offset: "
// (base/status.h). Any other error is attributed to `file`. File names have no space and no slash;
// a directory may precede them.
Place PlaceOf(const absl::Status& status, std::string_view file) {
  const std::string_view text = ToStd(status.message());
  const Place unknown{.file = std::string(file), .what = std::string(text)};
  if (status.code() != absl::StatusCode::kDataLoss) return unknown;
  for (size_t at = text.find(" @"); at != std::string_view::npos; at = text.find(" @", at + 1)) {
    const std::string_view rest = text.substr(at + 2);
    uint64_t offset = 0;
    const auto [digits_end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), offset);
    const size_t digits = static_cast<size_t>(digits_end - rest.data());
    if (error != std::errc() || rest.substr(digits, 2) != ": ") continue;
    const size_t name_begin = text.substr(0, at).find_last_of("/ ") + 1;
    const std::string_view name = text.substr(name_begin, at - name_begin);
    if (!ParseFileName(name)) continue;
    return {
        .file = std::string(name), .offset = offset, .what = std::string(rest.substr(digits + 2))};
  }
  return unknown;
}

// Returns for each file the range of rows that the table's tablets reference.
std::map<uint64_t, KeyRange> RowsByFile(const TableView& table) {
  std::map<uint64_t, KeyRange> rows;
  for (const ViewTablet& tablet : table.tablets) {
    for (const ViewReference& reference : tablet.stack) {
      const auto [it, added] =
          rows.emplace(reference.reference.file->number, reference.reference.range);
      if (!added) it->second = Hull(it->second, reference.reference.range);
    }
  }
  return rows;
}

// Checks the reference's file. `rows_shown` is the range of its rows that the table references.
void VerifyFile(const TableView& table, const ViewReference& reference, const KeyRange& rows_shown,
                VerifyReport* report) {
  const TableDefinition& definition = table.definition();
  const SstableFile& file = *reference.reference.file;
  const std::string name = SstableName(file.number);
  ++report->files;
  report->bytes += file.summary.file_bytes;
  const auto add = [&](const SstableDamage& damage) {
    RowRange rows = damage.first_row.empty() && damage.last_row.empty()
                        ? RowsOf(rows_shown)
                        : RowRange::Closed(damage.first_row, damage.last_row);
    report->damages.push_back({.file = name,
                               .offset = damage.offset,
                               .table = definition.name,
                               .rows = std::move(rows),
                               .families = NamesOf(definition, damage.family_ids),
                               .what = damage.what});
  };
  const auto add_error = [&](const absl::Status& status) {
    const Place place = PlaceOf(status, name);
    add({.offset = place.offset, .family_ids = FamiliesOf(file.summary), .what = place.what});
  };
  const std::shared_ptr<SstableReader>& reader = reference.file->reader();
  if (reader == nullptr) return add_error(reference.file->open_status());
  if (absl::Status status = VerifySstable(*reader, add); !status.ok()) add_error(status);
}

void AddError(const absl::Status& status, std::string_view file, VerifyReport* report) {
  Place place = PlaceOf(status, file);
  report->damages.push_back(
      {.file = std::move(place.file), .offset = place.offset, .what = std::move(place.what)});
}

// Returns true if the damage of the manifest was found, and accepted, when the database was opened.
bool IsManifestListed(const VerifySource& source) {
  const std::vector<LogDamage>* const damages = source.recovered_log.damages;
  return damages != nullptr &&
         std::any_of(damages->begin(), damages->end(),
                     [](const LogDamage& damage) { return !damage.file.ends_with(".log"); });
}

void VerifyManifest(const VerifySource& source, VerifyReport* report) {
  const absl::StatusOr<ManifestLog::Recovered> read = ManifestLog::Recover(
      source.directory->file_system(), source.directory->path(), /*read_only=*/true);
  ++report->files;
  if (!read.ok() && IsManifestListed(source)) return;
  if (!read.ok()) return AddError(read.status(), kCurrentName, report);
  const ManifestLog::SyncedEnd synced =
      source.manifest == nullptr ? ManifestLog::SyncedEnd() : source.manifest->synced_end();
  if (read->manifest_number < synced.number || read->end_offset < synced.bytes) {
    const std::string name = ManifestName(read->manifest_number);
    AddError(DataLoss(name, read->end_offset,
                      fmt::format("no valid record, although {} was synced up to {}",
                                  ManifestName(synced.number), synced.bytes)),
             name, report);
  }
  const absl::StatusOr<FileInfo> info = source.directory->file_system()->Stat(
      source.directory->PathOf(ManifestName(read->manifest_number)));
  if (info.ok()) report->bytes += info->bytes;
}

// Reads the log concurrently with its writers, up to the end that it had at the start.
absl::Status ReadUpTo(const std::vector<LogPosition>& segment_ends, const VerifySource& source) {
  const LogPosition& written = segment_ends.back();
  STELE_ASSIGN_OR_RETURN(const LogTail tail,
                         ReadLog({.file_system = source.directory->file_system(),
                                  .directory = source.directory->path(),
                                  .database_id = source.directory->id(),
                                  .oldest_segment = segment_ends.front().segment_number,
                                  .end = written},
                                 [](uint64_t, std::string_view) { return absl::OkStatus(); }));
  // After a crash, a bad end would be an unfinished write. In an open log, the end of the written
  // records is known.
  if (LogPosition{tail.segment_number, tail.end_offset} >= written) return absl::OkStatus();
  return DataLoss(SegmentName(tail.segment_number), tail.end_offset,
                  fmt::format("no valid record, although {} was written up to {}",
                              SegmentName(written.segment_number), written.offset));
}

// A flush may release segments while they are read, which then look corrupt or are missing. The
// read is repeated, in the end without a concurrent install.
void VerifyLog(const VerifySource& source, VerifyReport* report) {
  constexpr int kReadsDuringInstalls = 3;
  std::vector<LogPosition> segment_ends;
  const auto read = [&] {
    segment_ends = source.log->SegmentEnds();
    return ReadUpTo(segment_ends, source);
  };
  absl::Status status;
  for (int readings = 0; readings <= kReadsDuringInstalls; ++readings) {
    status = readings < kReadsDuringInstalls ? read() : source.installer->RunWithoutInstalls(read);
    // NotFound: a spare segment was renamed between its listing and its opening.
    const bool is_settled = source.log->oldest_segment() == segment_ends.front().segment_number &&
                            !absl::IsNotFound(status);
    if (status.ok() || is_settled) break;
  }
  for (const LogPosition& end : segment_ends) {
    ++report->files;
    report->bytes += end.offset;
  }
  if (!status.ok()) AddError(status, SegmentName(segment_ends.front().segment_number), report);
}

// Writers continue meanwhile. Only the manifest is read without concurrent edits.
absl::Status VerifyLogAndManifest(const VerifySource& source, VerifyReport* report) {
  STELE_RETURN_IF_ERROR(source.installer->RunWithoutInstalls([&] {
    VerifyManifest(source, report);
    return absl::OkStatus();
  }));
  VerifyLog(source, report);
  return source.open
      ->CheckOpen();  // if it was closed meanwhile, the files may belong to another process
}

std::string LostText(const LogDamage& damage) {
  if (damage.lost_through <= damage.last_sequence) return damage.what + "; no commit is lost";
  const std::string after =
      damage.last_sequence == 0 ? "" : fmt::format(" after {}", damage.last_sequence);
  const std::string through =
      damage.lost_through == UINT64_MAX ? "" : fmt::format(" up to {}", damage.lost_through);
  return fmt::format("{}; commits{}{} may be lost", damage.what, after, through);
}

// The tables of a lost commit are unknown. The commit may be of any table whose files do not
// include it.
void AddLogDamage(const ReadView& view, const LogDamage& damage, VerifyReport* report) {
  VerifyReport::Damage entry{
      .file = damage.file, .offset = damage.offset, .what = LostText(damage)};
  const size_t count_before = report->damages.size();
  for (const auto& [table_id, table] : view.tables) {
    const bool may_be_lost = damage.lost_through > damage.last_sequence &&
                             damage.lost_through > table->state->flushed_through;
    if (!may_be_lost || table_id == kTokenTableId) continue;
    entry.table = table->definition().name;
    report->damages.push_back(entry);
  }
  if (report->damages.size() > count_before) return;
  entry.table.clear();
  report->damages.push_back(std::move(entry));
}

}  // namespace

absl::StatusOr<VerifyReport> VerifyDatabase(const VerifySource& source) {
  STELE_RETURN_IF_ERROR(source.open->CheckOpen());
  VerifyReport report;
  const std::shared_ptr<const ReadView> view = source.state->view();
  for (const auto& [table_id, table] : view->tables) {
    std::map<uint64_t, KeyRange> to_check = RowsByFile(*table);
    for (const ViewTablet& tablet : table->tablets) {
      for (const ViewReference& reference : tablet.stack) {
        STELE_RETURN_IF_ERROR(source.open->CheckOpen());
        const auto file = to_check.find(reference.reference.file->number);
        if (file == to_check.end()) continue;  // it was checked for another tablet
        VerifyFile(*table, reference, file->second, &report);
        to_check.erase(file);
      }
    }
  }
  if (source.log == nullptr) {
    VerifyManifest(source, &report);
    report.files += source.recovered_log.files;
    report.bytes += source.recovered_log.bytes;
    for (const LogDamage& damage : *source.recovered_log.damages)
      AddLogDamage(*view, damage, &report);
    return report;
  }
  STELE_RETURN_IF_ERROR(VerifyLogAndManifest(source, &report));
  return report;
}

}  // namespace stele::internal
