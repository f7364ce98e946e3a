#include "db/damage.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status.h"
#include "db/readable_manifest.h"
#include "io/file_names.h"

namespace stele::internal {
namespace {

constexpr size_t kUnusedNamesMax = 20;

AtDamage AtDamageFor(OnDamage on_damage) {
  switch (on_damage) {
    case OnDamage::kReadBefore:
      return AtDamage::kStop;
    case OnDamage::kReadAround:
      return AtDamage::kSkip;
    default:
      return AtDamage::kFail;
  }
}

// Compares how far the log and the manifest extend: each states how far the other was synced.
absl::Status CheckManifestEnd(const ManifestLog::Recovered& recovered, const LogTail& tail) {
  const std::string name = ManifestName(recovered.manifest_number);
  const SyncedManifestEnd manifest_end{.number = recovered.manifest_number,
                                       .bytes = recovered.end_offset};
  // Close ends the manifest before the log. So if the log has an end mark that states no position
  // (StoreManifestEnd), the manifest must have an end mark, too. If the log's end mark states a
  // position, only the positions are compared, below. Then edits may follow the manifest's end
  // mark, and the last one may be torn: a session that found no space to begin the log writes them
  // (CommitLogOptions::may_begin_later).
  if (tail.clean && !recovered.closed && tail.closed_manifest_end == SyncedManifestEnd()) {
    return DataLoss(name, recovered.end_offset,
                    "the log was closed properly but the manifest was not: the end of the manifest "
                    "is lost; restore the file from a copy");
  }
  const SyncedManifestEnd& synced = tail.synced_manifest_end;
  if (manifest_end >= synced) return absl::OkStatus();
  return DataLoss(name, recovered.end_offset,
                  fmt::format("the manifest ends here; the log says that {} was synced up to {}; "
                              "restore the file from a copy, or take a checkpoint",
                              ManifestName(synced.number), synced.bytes));
}

absl::Status CheckLogEnd(const Version& version, const LogTail& tail) {
  const SyncedLogEnd log_end{.segment = tail.segment_number, .end_offset = tail.end_offset};
  const SyncedLogEnd& synced = version.synced_log_end;
  if (log_end >= synced) return absl::OkStatus();
  return DataLoss(SegmentName(synced.segment), synced.end_offset,
                  fmt::format("the log was synced up to here, and now ends in segment {} at {}; "
                              "restore the missing files from a copy",
                              log_end.segment, log_end.end_offset));
}

LogDamage DamageOf(const absl::Status& status, const std::string& file, uint64_t offset,
                   uint64_t last_sequence) {
  std::string what(status.message());
  const std::string place = fmt::format("{} @{}: ", file, offset);
  if (what.starts_with(place)) what.erase(0, place.size());
  return {.file = file, .offset = offset, .last_sequence = last_sequence, .what = std::move(what)};
}

// Returns DataLoss if an SSTable has commits after the damage. An SSTable shows all its commits or
// none, so the database cannot be shown as of the last commit before the damage.
absl::Status CheckNoLaterCommits(const Version& version, const LogDamage& damage) {
  for (const auto& [table_id, table] : version.tables) {
    for (const Tablet& tablet : table->tablets) {
      for (const SstableReference& reference : tablet.stack) {
        if (reference.sequence_last <= damage.last_sequence) continue;
        return DataLoss(
            damage.file, damage.offset,
            fmt::format("{}; {} has commits up to {}, after the damage. "
                        "OnDamage::kReadAround (--on-damage around) shows them, and "
                        "\"stele salvage\" copies them",
                        damage.what, SstableName(reference.file->number), reference.sequence_last));
      }
    }
  }
  return absl::OkStatus();
}

std::string UnusedText(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string list = names[0];
  for (size_t i = 1; i < std::min(names.size(), kUnusedNamesMax); ++i) list += ", " + names[i];
  if (names.size() > kUnusedNamesMax)
    list += fmt::format(" and {} more files", names.size() - kUnusedNamesMax);
  return fmt::format("; {} {} not used: other files have replaced {}, or nothing says where {}",
                     list, names.size() == 1 ? "is" : "are", names.size() == 1 ? "it" : "them",
                     names.size() == 1 ? "it belongs" : "they belong");
}

// Returns the error of CheckManifestEnd if the log proves that the manifest lacks its last edits.
absl::Status FindLostEdits(Storage& storage, const ManifestLog::Recovered& recovered) {
  storage.directory.SetId(recovered.database_id);
  const absl::StatusOr<LogTail> tail =
      ReadLog(ReadOptionsOf(storage, *recovered.version),
              [](uint64_t, std::string_view) { return absl::OkStatus(); });
  // An error of the log is reported when it is replayed.
  return tail.ok() ? CheckManifestEnd(recovered, *tail) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<DirectoryState> InspectToOpen(FileSystem* file_system, const std::string& directory,
                                             const EngineOptions& options) {
  absl::StatusOr<DirectoryState> state = InspectDirectory(file_system, directory);
  if (state.ok() || options.database.on_damage != OnDamage::kReadAround) return state;
  return HasReadableFiles(file_system, directory) ? DirectoryState::kDatabase : state;
}

absl::StatusOr<ManifestLog::Recovered> RecoverManifest(Storage& storage) {
  FileSystem* const fs = storage.directory.file_system();
  const std::string& path = storage.directory.path();
  absl::StatusOr<ManifestLog::Recovered> recovered =
      ManifestLog::Recover(fs, path, /*read_only=*/true);
  if (storage.options.database.on_damage != OnDamage::kReadAround) return recovered;
  const bool is_lost = absl::IsDataLoss(recovered.status()) || absl::IsNotFound(recovered.status());
  absl::Status why = recovered.status();
  if (recovered.ok()) why = FindLostEdits(storage, *recovered);
  if (why.ok() || (!recovered.ok() && !is_lost)) return recovered;
  STELE_ASSIGN_OR_RETURN(ReadableManifest found,
                         RecoverReadable(fs, path, why, /*lacks_edits=*/recovered.ok()));
  const absl::Status status =
      MakeStatus(absl::StatusCode::kDataLoss, found.what + UnusedText(found.unused_sstables));
  storage.log_damages.push_back(
      DamageOf(status, found.file, found.offset, found.recovered.version->last_sequence));
  return std::move(found.recovered);
}

LogReadOptions ReadOptionsOf(const Storage& storage, const Version& version) {
  return {.file_system = storage.directory.file_system(),
          .directory = storage.directory.path(),
          .database_id = storage.directory.id(),
          .oldest_segment = version.oldest_segment,
          .at_damage = AtDamageFor(storage.options.database.on_damage),
          .number_end = FileNumberEnd(version.next_file_number)};
}

absl::Status CheckEnds(Storage& storage, const ManifestLog::Recovered& recovered,
                       const LogTail& tail) {
  const Version& version = *recovered.version;
  const OnDamage on_damage = storage.options.database.on_damage;
  const bool manifest_is_damaged = !storage.log_damages.empty();
  storage.log_damages.insert(storage.log_damages.end(), tail.damages.begin(), tail.damages.end());
  LogTail whole = tail;
  if (on_damage == OnDamage::kReadBefore && !tail.damages.empty()) {
    // Read the records after the damage, too: they may state that the manifest had more edits.
    LogReadOptions options = ReadOptionsOf(storage, version);
    options.at_damage = AtDamage::kSkip;
    STELE_ASSIGN_OR_RETURN(
        whole, ReadLog(options, [](uint64_t, std::string_view) { return absl::OkStatus(); }));
  }
  if (absl::Status end = CheckManifestEnd(recovered, whole); !end.ok() && !manifest_is_damaged) {
    if (on_damage != OnDamage::kReadAround) return end;
    storage.log_damages.push_back(DamageOf(end, ManifestName(recovered.manifest_number),
                                           recovered.end_offset, version.last_sequence));
  }
  if (absl::Status end = CheckLogEnd(version, tail); !end.ok()) {
    if (on_damage == OnDamage::kRefuse) return end;
    const SyncedLogEnd& synced = version.synced_log_end;
    // If reading stopped at damage (kReadBefore), the end of the log is unknown.
    if (on_damage == OnDamage::kReadAround || tail.damages.empty())
      storage.log_damages.push_back(
          DamageOf(end, SegmentName(synced.segment), synced.end_offset, tail.last_sequence));
  }
  if (on_damage != OnDamage::kReadBefore) return absl::OkStatus();
  for (const LogDamage& damage : storage.log_damages) {
    if (damage.lost_through <= damage.last_sequence) continue;
    STELE_RETURN_IF_ERROR(CheckNoLaterCommits(version, damage));
  }
  return absl::OkStatus();
}

}  // namespace stele::internal
