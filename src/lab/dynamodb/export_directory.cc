#include "lab/dynamodb/export_directory.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "io/file_system.h"
#include "lab/dynamodb/json_document.h"
#include "lab/input/md5.h"
#include "lab/values/time_text.h"

namespace stele::internal::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExportsFolder = "AWSDynamoDB";
constexpr std::string_view kSummaryName = "manifest-summary.json";
constexpr std::string_view kFilesName = "manifest-files.json";
constexpr uint64_t kSummaryBytesMax = uint64_t{16} << 20;
constexpr uint64_t kFilesBytesMax = uint64_t{256} << 20;
constexpr size_t kStrayFilesMax = 100;
constexpr size_t kManifestDepthMax = 32;

std::string FileIn(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

absl::StatusOr<std::string> ReadManifest(const std::string& path, uint64_t bytes_max) {
  STELE_ASSIGN_OR_RETURN(const auto file,
                         internal::PosixFileSystem()->Open(path, internal::OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, file->Size());
  if (bytes > bytes_max)
    return internal::InvalidArgument("{} has {} bytes, more than a manifest has", path, bytes);
  std::string text(bytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t read, file->Read(0, text.size(), text.data()));
  text.resize(read);
  return text;
}

// The sum is in NAME.md5, NAME.checksum, or the same with NAME's ending replaced.
absl::Status CheckManifestSum(const std::string& path, std::string_view text) {
  const std::string stem = path.substr(0, path.size() - std::string_view(".json").size());
  for (const std::string& sum_path :
       {stem + ".md5", stem + ".checksum", path + ".md5", path + ".checksum"}) {
    if (!Exists(sum_path)) continue;
    STELE_ASSIGN_OR_RETURN(std::string expected, ReadManifest(sum_path, 1024));
    while (!expected.empty() && (expected.back() == '\n' || expected.back() == '\r'))
      expected.pop_back();
    if (expected != Md5Base64(text)) {
      return internal::InvalidArgument(
          "{}: its MD5 is not the one in {}: download the export again", path, sum_path);
    }
  }
  return absl::OkStatus();
}

// The members of a manifest's object. A wrong type is reported by the member's name.
class ManifestObject {
 public:
  ManifestObject(simdjson::dom::object object, std::string where)
      : object_(object), where_(std::move(where)) {}

  absl::StatusOr<std::string> Text(std::string_view name) const {
    std::string_view text;
    if (object_[name].get(text) != simdjson::SUCCESS) return Wrong(name, "a string");
    return std::string(text);
  }
  absl::StatusOr<uint64_t> Count(std::string_view name) const {
    int64_t count = 0;
    if (object_[name].get(count) != simdjson::SUCCESS || count < 0) return Wrong(name, "a count");
    return static_cast<uint64_t>(count);
  }
  absl::StatusOr<int64_t> Time(std::string_view name) const {
    STELE_ASSIGN_OR_RETURN(const std::string text, Text(name));
    const std::optional<int64_t> micros = ParseTime(text);
    if (!micros.has_value()) return Wrong(name, "a time");
    return *micros;
  }
  bool has(std::string_view name) const { return object_[name].error() == simdjson::SUCCESS; }

 private:
  absl::Status Wrong(std::string_view name, std::string_view what) const {
    return internal::InvalidArgument("{}: \"{}\" is missing or not {}", where_, name, what);
  }

  const simdjson::dom::object object_;
  const std::string where_;
};

absl::StatusOr<ManifestObject> ParseManifestObject(JsonParser& parser, std::string_view text,
                                                   const std::string& where) {
  simdjson::dom::element document;
  const absl::Status parsed = parser.ParseCopy(text, &document);
  if (!parsed.ok()) return internal::WithContext(parsed, where);
  simdjson::dom::object object;
  if (document.get(object) != simdjson::SUCCESS)
    return internal::InvalidArgument("{}: not a JSON object", where);
  return ManifestObject(object, where);
}

absl::Status CheckFormat(const ManifestObject& summary, const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const std::string format, summary.Text("outputFormat"));
  if (format == "DYNAMODB_JSON") return absl::OkStatus();
  if (format == "ION") {
    return internal::InvalidArgument(
        "{}: the export is in Ion, which is not supported: export the table again with "
        "aws dynamodb export-table-to-point-in-time --export-format DYNAMODB_JSON",
        path);
  }
  return internal::InvalidArgument("{}: outputFormat \"{}\" is not DYNAMODB_JSON", path,
                                   internal::Printable(format));
}

absl::Status ReadSummary(ExportDirectory* exported) {
  const std::string path = FileIn(exported->path, kSummaryName);
  STELE_ASSIGN_OR_RETURN(const std::string text, ReadManifest(path, kSummaryBytesMax));
  STELE_RETURN_IF_ERROR(CheckManifestSum(path, text));
  JsonParser parser(kManifestDepthMax);
  STELE_ASSIGN_OR_RETURN(const ManifestObject summary, ParseManifestObject(parser, text, path));
  STELE_RETURN_IF_ERROR(CheckFormat(summary, path));
  STELE_ASSIGN_OR_RETURN(exported->item_count, summary.Count("itemCount"));
  STELE_ASSIGN_OR_RETURN(const std::string table_arn, summary.Text("tableArn"));
  exported->table_name = table_arn.substr(table_arn.rfind('/') + 1);
  std::string type = "FULL_EXPORT";
  if (summary.has("exportType")) {
    STELE_ASSIGN_OR_RETURN(type, summary.Text("exportType"));
  }
  exported->is_incremental = type == "INCREMENTAL_EXPORT";
  if (exported->is_incremental) {
    STELE_ASSIGN_OR_RETURN(exported->from_micros, summary.Time("exportFromTime"));
    STELE_ASSIGN_OR_RETURN(exported->time_micros, summary.Time("exportToTime"));
    return absl::OkStatus();
  }
  if (type != "FULL_EXPORT")
    return internal::InvalidArgument("{}: unknown exportType \"{}\"", path,
                                     internal::Printable(type));
  STELE_ASSIGN_OR_RETURN(exported->time_micros, summary.Time("exportTime"));
  return absl::OkStatus();
}

// True if an object's key names a file, and does not lead to a folder above.
bool IsSafeKey(const std::string& key) {
  const fs::path path(key);
  return key.find('\0') == std::string::npos && path.has_filename() && path.filename() != "." &&
         std::none_of(path.begin(), path.end(),
                      [](const fs::path& part) { return part == ".." || part == "/"; });
}

// True if `path`, with all links followed, is below `folder`.
bool IsBelow(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  const fs::path real_folder = fs::canonical(folder, error);
  if (error) return false;
  const auto [end, unused] =
      std::mismatch(real_folder.begin(), real_folder.end(), real.begin(), real.end());
  return end == real_folder.end();
}

absl::StatusOr<fs::path> FindDataFile(const ExportDirectory& exported, const std::string& key,
                                      const std::string& where) {
  if (!IsSafeKey(key))
    return internal::InvalidArgument(
        "{}: dataFileS3Key \"{}\" does not name a file below a folder: download the manifest again",
        where, internal::Printable(key));
  const fs::path above = fs::path(exported.path).parent_path();
  // An export that was copied elsewhere is alone.
  const fs::path exports = above.filename() == kExportsFolder ? above : fs::path(exported.path);
  std::vector<fs::path> candidates;
  const size_t at = key.find(std::string(kExportsFolder) + "/");
  if (at != std::string::npos) candidates.push_back(above.parent_path() / key.substr(at));
  candidates.push_back(fs::path(exported.path) / "data" / fs::path(key).filename());
  std::string outside;  // perhaps the file of another copy of the export
  for (const fs::path& candidate : candidates) {
    if (!Exists(candidate.string())) continue;
    if (IsBelow(candidate, exports)) return candidate;
    outside = candidate.string();
  }
  if (!outside.empty())
    return internal::InvalidArgument("{}: {} leads out of the export", where, outside);
  return internal::NotFound("{}: the data file {} is missing: download the whole export", where,
                            candidates.back().string());
}

absl::Status ReadFileList(bool verifies, ExportDirectory* exported) {
  const std::string path = FileIn(exported->path, kFilesName);
  STELE_ASSIGN_OR_RETURN(const std::string text, ReadManifest(path, kFilesBytesMax));
  STELE_RETURN_IF_ERROR(CheckManifestSum(path, text));
  JsonParser parser(kManifestDepthMax);
  std::set<std::string> known;
  uint64_t line_number = 0;
  uint64_t item_sum = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const std::string where = fmt::format("{}:{}", path, ++line_number);
    if (line.find_first_not_of(" \r\t") == std::string_view::npos) continue;
    STELE_ASSIGN_OR_RETURN(const ManifestObject entry, ParseManifestObject(parser, line, where));
    STELE_ASSIGN_OR_RETURN(const std::string key, entry.Text("dataFileS3Key"));
    STELE_ASSIGN_OR_RETURN(const uint64_t item_count, entry.Count("itemCount"));
    DataFile file;
    STELE_ASSIGN_OR_RETURN(const fs::path found, FindDataFile(*exported, key, where));
    std::error_code error;
    file.path = fs::canonical(found, error).string();
    if (error) return internal::ErrnoStatus("resolve", found.string(), error.value());
    STELE_ASSIGN_OR_RETURN(file.md5, entry.Text("md5Checksum"));
    if (verifies && file.md5.empty()) {
      return internal::InvalidArgument(
          "{}: \"md5Checksum\" is empty: download the manifest again, or use --no-verify", where);
    }
    file.name = "data/" + found.filename().string();
    file.item_count = static_cast<int64_t>(item_count);
    item_sum += item_count;
    if (!known.insert(file.path).second)
      return internal::InvalidArgument("{}: names {} a second time", where, file.path);
    exported->files.push_back(std::move(file));
  }
  if (item_sum != exported->item_count) {
    return internal::InvalidArgument("{}: the files have {} items, but {} states {}", path,
                                     item_sum, kSummaryName, exported->item_count);
  }
  return absl::OkStatus();
}

void FindStrayFiles(ExportDirectory* exported) {
  std::set<std::string> known;
  for (const DataFile& file : exported->files) known.insert(file.name);
  std::error_code error;
  for (fs::directory_iterator entry(FileIn(exported->path, "data"), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = "data/" + entry->path().filename().string();
    if (!known.contains(name) && exported->stray_files.size() < kStrayFilesMax)
      exported->stray_files.push_back(name);
  }
  std::sort(exported->stray_files.begin(), exported->stray_files.end());
}

// Returns the directories of the exports in a folder, sorted.
absl::StatusOr<std::vector<std::string>> ExportsIn(const std::string& folder) {
  std::vector<std::string> found;
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         internal::PosixFileSystem()->List(folder));
  for (const std::string& name : names) {
    std::string path = FileIn(folder, name);
    if (Exists(FileIn(path, kSummaryName))) found.push_back(std::move(path));
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Returns the directory of the only export in the folder `exports`.
absl::StatusOr<std::string> OnlyExportIn(const std::string& exports) {
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> found, ExportsIn(exports));
  if (found.size() == 1) return found[0];
  if (found.empty())
    return internal::NotFound("{} contains no export with a {}", exports, kSummaryName);
  std::string list;
  for (const std::string& path : found) list.append("\n  ").append(path);
  return internal::InvalidArgument("{} contains {} exports; name one of them:{}", exports,
                                   found.size(), list);
}

}  // namespace

bool IsExportDirectory(const std::string& path) {
  if (Exists(FileIn(path, kSummaryName)) || Exists(FileIn(path, kExportsFolder))) return true;
  const auto exports = ExportsIn(path);
  return exports.ok() && !exports->empty();
}

absl::StatusOr<ExportDirectory> ReadExportDirectory(const std::string& path, bool verifies) {
  ExportDirectory exported;
  std::error_code error;
  exported.path = fs::weakly_canonical(path, error).string();
  if (error) exported.path = path;
  if (!Exists(FileIn(exported.path, kSummaryName))) {
    const std::string below = FileIn(exported.path, kExportsFolder);
    STELE_ASSIGN_OR_RETURN(exported.path, OnlyExportIn(Exists(below) ? below : exported.path));
  }
  exported.id = fs::path(exported.path).filename().string();
  STELE_RETURN_IF_ERROR(ReadSummary(&exported));
  STELE_RETURN_IF_ERROR(ReadFileList(verifies, &exported));
  FindStrayFiles(&exported);
  return exported;
}

}  // namespace stele::internal::lab
