#include "db/verify.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "io/file_names.h"

namespace stele::internal {
namespace {

RowRange RowsOf(const KeyRange& range) {
  return range.unbounded_end ? RowRange::StartingAt(range.start) : RowRange::RightOpen(range.start, range.end);
}

std::vector<std::string> NamesOf(const TableDefinition& definition, const std::vector<uint32_t>& family_ids) {
  std::vector<std::string> names;
  for (const uint32_t id : family_ids) {
    if (const std::optional<uint32_t> rank = definition.families.RankOfId(id)) names.push_back(definition.families[*rank].name);
  }
  return names;
}

void VerifyReference(const TableView& table, const ViewReference& reference, VerifyReport* report) {
  const TableDefinition& definition = table.definition();
  const SstableFile& file = *reference.reference.file;
  const std::string name = SstableName(file.number);
  ++report->files;
  report->bytes += file.summary.file_bytes;
  const auto add = [&](const SstableReader::Damage& damage) {
    RowRange rows = damage.first_row.empty() && damage.last_row.empty() ? RowsOf(reference.reference.range)
                                                                        : RowRange::Closed(damage.first_row, damage.last_row);
    report->damages.push_back({.file = name,
                               .offset = damage.offset,
                               .table = definition.name,
                               .rows = std::move(rows),
                               .families = NamesOf(definition, damage.family_ids),
                               .what = damage.what});
  };
  if (reference.file->reader() == nullptr) return add({.what = std::string(ToStd(reference.file->open_status().message()))});
  if (absl::Status status = reference.file->reader()->Verify(add); !status.ok()) add({.what = std::string(ToStd(status.message()))});
}

void VerifyManifest(Engine& engine, VerifyReport* report) {
  const absl::StatusOr<ManifestLog::Recovered> read =
      ManifestLog::Recover(engine.options.file_system, engine.directory, /*read_only=*/true);
  ++report->files;
  if (!read.ok()) {
    report->damages.push_back({.file = std::string(kCurrentName), .what = std::string(ToStd(read.status().message()))});
    return;
  }
  const absl::StatusOr<FileInfo> info = engine.options.file_system->Stat(JoinPath(engine.directory, ManifestName(read->manifest_number)));
  if (info.ok()) report->bytes += info->bytes;
}

}  // namespace

absl::StatusOr<VerifyReport> VerifyDatabase(Engine& engine) {
  STELE_RETURN_IF_ERROR(engine.CheckOpen());
  VerifyReport report;
  const std::shared_ptr<const ReadView> view = engine.state.view();
  std::set<uint64_t> seen;
  for (const auto& [table_id, table] : view->tables) {
    for (const ViewTablet& tablet : table->tablets) {
      for (const ViewReference& reference : tablet.stack) {
        STELE_RETURN_IF_ERROR(engine.CheckOpen());
        if (seen.insert(reference.reference.file->number).second) VerifyReference(*table, reference, &report);
      }
    }
  }
  if (engine.log == nullptr) {
    VerifyManifest(engine, &report);
    return report;
  }
  // No edit and no commit beside it: the manifest and the log are read as they stand.
  STELE_RETURN_IF_ERROR(engine.committer->RunExclusive([&] {
    return engine.installer->Pause([&] {
      VerifyManifest(engine, &report);
      for (const CommitLog::SegmentPart& part : engine.log->Parts()) {
        ++report.files;
        report.bytes += part.bytes;
      }
      const absl::StatusOr<LogTail> tail = ReadLog({.file_system = engine.options.file_system,
                                                    .directory = engine.directory,
                                                    .database_id = engine.database_id,
                                                    .oldest_segment = engine.log->oldest_segment()},
                                                   [](uint64_t, std::string_view) { return absl::OkStatus(); });
      if (!tail.ok()) report.damages.push_back({.file = "log", .what = std::string(ToStd(tail.status().message()))});
      return absl::OkStatus();
    });
  }));
  return report;
}

}  // namespace stele::internal
