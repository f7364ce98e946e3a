#include "db/readable_manifest.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "db/file_edits.h"
#include "db/gapped_edits.h"
#include "io/file_names.h"
#include "manifest/current_file.h"
#include "manifest/manifest_reader.h"
#include "sstable/read/sstable_reader.h"
#include "wal/segment_reader.h"

namespace stele::internal {
namespace {

// Returns the numbers of the files of one type.
absl::StatusOr<std::vector<uint64_t>> ListNumbers(FileSystem* file_system,
                                                  const std::string& directory, FileType type) {
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, file_system->List(directory));
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    const std::optional<FileName> parsed = ParseFileName(name);
    if (parsed.has_value() && parsed->type == type) numbers.push_back(parsed->number);
  }
  return numbers;
}

// What the footers of the directory's SSTables say.
struct DescribedFiles {
  std::map<uint64_t, absl::StatusOr<SstableSummary>> summaries;  // by number
  std::vector<FileWithEdit> files;                               // those that name their tables
  std::string faults;  // why the other files do not; "; " before each reason
};

absl::StatusOr<std::shared_ptr<SstableReader>> OpenFile(FileSystem* file_system,
                                                        const std::string& directory,
                                                        uint64_t number) {
  const std::string name = SstableName(number);
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file,
                         file_system->Open(JoinPath(directory, name), OpenMode::kRead));
  return SstableReader::Open(std::move(file), name, nullptr, nullptr);
}

absl::StatusOr<DescribedFiles> DescribeFiles(FileSystem* file_system,
                                             const std::string& directory) {
  STELE_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers,
                         ListNumbers(file_system, directory, FileType::kSstable));
  DescribedFiles described;
  for (const uint64_t number : numbers) {
    const auto reader = OpenFile(file_system, directory, number);
    if (!reader.ok()) {
      described.faults += fmt::format("; {} is not readable: {}", SstableName(number),
                                      ToStd(reader.status().message()));
      described.summaries.emplace(number, reader.status());
      continue;
    }
    described.summaries.emplace(number, (*reader)->summary());
    absl::StatusOr<Edit> edit = DecodeEdit((*reader)->edit());
    // The time of its newest commit is unknown. With INT64_MAX, no version is garbage because of
    // its ordinal.
    FileWithEdit file{.file = {.number = number,
                               .summary = (*reader)->summary(),
                               .newest_commit_time = INT64_MAX},
                      .edit = edit.ok() ? *std::move(edit) : Edit()};
    if (NamesItsTable(file)) {
      described.files.push_back(std::move(file));
    } else {
      described.faults +=
          fmt::format("; {} does not say to which table it belongs", SstableName(number));
    }
  }
  return described;
}

// The manifest that CURRENT names comes first, then the others by descending number.
absl::StatusOr<std::vector<uint64_t>> ListCandidates(FileSystem* file_system,
                                                     const std::string& directory) {
  STELE_ASSIGN_OR_RETURN(std::vector<uint64_t> numbers,
                         ListNumbers(file_system, directory, FileType::kManifest));
  std::sort(numbers.rbegin(), numbers.rend());
  const absl::StatusOr<CurrentFile> current = ReadCurrent(file_system, directory);
  if (!current.ok()) return numbers;
  const auto named = std::find(numbers.begin(), numbers.end(), current->manifest_number);
  if (named != numbers.end()) std::rotate(numbers.begin(), named, named + 1);
  return numbers;
}

// What the readable edits of a manifest say.
struct ReadEdits {
  std::shared_ptr<const Version> version = std::make_shared<const Version>();
  std::set<uint64_t> described_files;
  // A table that the version lacks was dropped if its id is here or below `next_table_id`.
  std::set<uint32_t> dropped_tables;
  uint32_t next_table_id = 0;
};

// Adds the SSTables that the manifest lacks.
std::shared_ptr<const Version> AddUnlistedFiles(const ReadEdits& edits,
                                                const DescribedFiles& described,
                                                std::string* what) {
  const Version& version = *edits.version;
  std::vector<FileWithEdit> files;
  for (const FileWithEdit& file : described.files) {
    const uint32_t table_id = file.edit.tables.front().table_id;
    const bool is_dropped = edits.dropped_tables.contains(table_id) ||
                            (table_id < edits.next_table_id && !version.tables.contains(table_id));
    if (!is_dropped) files.push_back(file);
  }
  absl::StatusOr<std::shared_ptr<const Version>> with_files =
      AddFiles(version, files, edits.described_files);
  if (!with_files.ok()) {
    *what += fmt::format("; SSTables that it does not list are not read: {}",
                         ToStd(with_files.status().message()));
    return edits.version;
  }
  const auto added = std::count_if(files.begin(), files.end(), [&](const FileWithEdit& file) {
    return (*with_files)->files.contains(file.file.number) &&
           !version.files.contains(file.file.number);
  });
  if (added > 0) *what += fmt::format("; {} SSTables that it does not list are read", added);
  return *std::move(with_files);
}

// Applies the edits after the damage.
void ApplyRest(GappedEdits* rest, uint64_t rest_count, const DescribedFiles& described,
               ReadEdits* edits, std::string* what) {
  absl::StatusOr<std::shared_ptr<const Version>> with_rest =
      rest->Finish([&described](uint64_t number) -> absl::StatusOr<SstableSummary> {
        const auto found = described.summaries.find(number);
        if (found == described.summaries.end()) return NotFound("the file is missing");
        return found->second;
      });
  edits->dropped_tables = rest->dropped_tables();
  if (with_rest.ok()) {
    *what += fmt::format("; the {} edits after it are applied", rest_count);
    edits->version = *std::move(with_rest);
  } else {
    *what += fmt::format("; the {} edits after it are not applied: {}", rest_count,
                         ToStd(with_rest.status().message()));
  }
  for (const std::string& loss : rest->losses()) *what += "; " + loss;
}

// Reads around damage after the first edit, and describes it in `what`.
absl::StatusOr<ReadEdits> ReplayAround(const File& file, std::string_view name,
                                       const DescribedFiles& described, ManifestScan* scan,
                                       std::string* what) {
  ReadEdits edits;
  std::optional<GappedEdits> rest;
  uint64_t rest_count = 0;
  absl::Status damage;
  const auto note_files = [&edits](const Edit& edit) {
    for (const SstableFile& sstable : edit.new_files) edits.described_files.insert(sstable.number);
  };
  const auto apply = [&](Edit edit) -> absl::Status {
    note_files(edit);
    STELE_ASSIGN_OR_RETURN(edits.version, Apply(*edits.version, std::move(edit)));
    return absl::OkStatus();
  };
  const auto add = [&](Edit edit) {
    note_files(edit);
    if (!rest.has_value()) rest.emplace(*edits.version, NewestDefinitions(described.files));
    rest->Add(std::move(edit));
    ++rest_count;
    return absl::OkStatus();
  };
  STELE_ASSIGN_OR_RETURN(*scan, ReadDamagedManifest(file, name, apply, add, &damage));
  const absl::Status checked = CheckVersion(*edits.version);
  if (!checked.ok()) return DataLoss(name, scan->end_offset, ToStd(checked.message()));
  edits.next_table_id = edits.version->next_table_id;
  if (damage.ok()) return edits;
  *what = ToStd(damage.message());
  if (rest.has_value()) ApplyRest(&*rest, rest_count, described, &edits, what);
  return edits;
}

// `lacks_edits`: the manifest is known to lack its last edits.
absl::StatusOr<ReadableManifest> ReadCandidate(FileSystem* file_system,
                                               const std::string& directory, uint64_t number,
                                               bool lacks_edits, const absl::Status& why) {
  const std::string name = ManifestName(number);
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                         file_system->Open(JoinPath(directory, name), OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(const DescribedFiles described, DescribeFiles(file_system, directory));
  ManifestScan scan;
  ReadableManifest found{.file = std::string(kCurrentName)};
  STELE_ASSIGN_OR_RETURN(const ReadEdits edits,
                         ReplayAround(*file, name, described, &scan, &found.what));
  if (scan.header.number != number)
    return DataLoss(name, 0, "the number in the header is not the one in the file's name");
  const bool is_damaged = !found.what.empty();
  if (is_damaged || lacks_edits) {
    found.file = name;
    found.offset = scan.end_offset;
  }
  if (!is_damaged) found.what = ToStd(why.message());
  found.recovered.version =
      is_damaged || lacks_edits ? AddUnlistedFiles(edits, described, &found.what) : edits.version;
  found.recovered.database_id = scan.header.database_id;
  found.recovered.manifest_number = number;
  found.recovered.end_offset = scan.end_offset;
  found.recovered.discarded_bytes = scan.discarded_bytes;
  found.recovered.closed = scan.closed;
  return found;
}

// Lists the SSTables that the version does not use.
absl::Status ListUnused(FileSystem* file_system, const std::string& directory,
                        ReadableManifest* found) {
  STELE_ASSIGN_OR_RETURN(std::vector<uint64_t> numbers,
                         ListNumbers(file_system, directory, FileType::kSstable));
  std::sort(numbers.begin(), numbers.end());
  const auto files = found->recovered.version->Files();
  for (const uint64_t number : numbers) {
    if (!files.contains(number)) found->unused_sstables.push_back(SstableName(number));
  }
  return absl::OkStatus();
}

// The id of the database that wrote the newest segment; 0 if there is none.
absl::StatusOr<uint64_t> FindDatabaseId(FileSystem* file_system, const std::string& directory) {
  STELE_ASSIGN_OR_RETURN(std::vector<uint64_t> numbers,
                         ListNumbers(file_system, directory, FileType::kSegment));
  std::sort(numbers.rbegin(), numbers.rend());
  for (const uint64_t number : numbers) {
    const absl::StatusOr<SegmentReader> reader =
        SegmentReader::Open(file_system, JoinPath(directory, SegmentName(number)), number);
    if (reader.ok() && reader->header() != nullptr && reader->IsStarted(std::nullopt))
      return reader->header()->database_id;
  }
  return 0;
}

absl::StatusOr<ReadableManifest> ReadWithoutManifest(FileSystem* file_system,
                                                     const std::string& directory,
                                                     const absl::Status& why) {
  STELE_ASSIGN_OR_RETURN(const DescribedFiles described, DescribeFiles(file_system, directory));
  if (described.files.empty()) return why;
  absl::StatusOr<std::shared_ptr<const Version>> version =
      AddFiles(Version(), described.files, /*described=*/{});
  if (!version.ok())
    return WithContext(why, fmt::format("no manifest is readable, and the SSTables contradict each "
                                        "other ({})",
                                        ToStd(version.status().message())));
  ReadableManifest found{.file = std::string(kCurrentName)};
  found.what = fmt::format(
      "{}; no manifest is readable, so the SSTables say which tables there are: rows "
      "that were dropped may be visible again, and a table without SSTables is not "
      "shown{}",
      ToStd(why.message()), described.faults);
  found.recovered.version = *std::move(version);
  STELE_ASSIGN_OR_RETURN(found.recovered.database_id, FindDatabaseId(file_system, directory));
  return found;
}

}  // namespace

bool HasReadableFiles(FileSystem* file_system, const std::string& directory) {
  for (const FileType type : {FileType::kManifest, FileType::kSstable}) {
    const absl::StatusOr<std::vector<uint64_t>> numbers = ListNumbers(file_system, directory, type);
    if (numbers.ok() && !numbers->empty()) return true;
  }
  return false;
}

absl::StatusOr<ReadableManifest> RecoverReadable(FileSystem* file_system,
                                                 const std::string& directory,
                                                 const absl::Status& why, bool lacks_edits) {
  STELE_ASSIGN_OR_RETURN(const std::vector<uint64_t> candidates,
                         ListCandidates(file_system, directory));
  const absl::StatusOr<CurrentFile> current = ReadCurrent(file_system, directory);
  uint64_t newest = candidates.empty() ? 0 : candidates.front();
  if (current.ok()) newest = current->manifest_number;
  for (const uint64_t number : candidates) {
    absl::StatusOr<ReadableManifest> found =
        ReadCandidate(file_system, directory, number, lacks_edits || number != newest, why);
    if (absl::IsDataLoss(found.status())) continue;
    if (!found.ok()) return found.status();
    STELE_RETURN_IF_ERROR(ListUnused(file_system, directory, &*found));
    return found;
  }
  return ReadWithoutManifest(file_system, directory, why);
}

}  // namespace stele::internal
