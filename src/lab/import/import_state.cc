#include "lab/import/import_state.h"

#include <string_view>

#include "base/random.h"
#include "base/status.h"
#include "io/file_names.h"
#include "io/file_system.h"
#include "io/output_file.h"
#include "lab/dynamodb/json_document.h"
#include "lab/mapping/lab_json.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {
namespace {

constexpr std::string_view kStateKind = "state of stele import dynamodb, 2";
constexpr uint64_t kStateBytesMax = uint64_t{64} << 20;
constexpr size_t kStateDepthMax = 5;

absl::Status NotAState(const std::string& path) {
  return FailedPrecondition(
      "{} exists and is not the state of an import: name another file with --resume, or remove it",
      path);
}

// Returns false if it is no file of a state.
bool FromJson(const simdjson::dom::element& json, CompletedFile* file) {
  std::string_view md5;
  simdjson::dom::array rows;
  if (json["md5"].get(md5) != simdjson::SUCCESS || json["rows"].get(rows) != simdjson::SUCCESS)
    return false;
  file->md5 = md5;
  for (const auto element : rows) {
    std::string_view row_key;
    if (element.get(row_key) != simdjson::SUCCESS ||
        !AppendDecodedBase64(row_key, &file->known_rows.emplace_back()))
      return false;
  }
  return true;
}

void AppendJson(const CompletedFile& file, std::string* text) {
  text->append("{\"md5\":");
  AppendJsonString(file.md5, text);
  text->append(",\"rows\":[");
  for (const std::string& row_key : file.known_rows) {
    if (text->back() != '[') text->push_back(',');
    text->push_back('"');
    AppendBase64(row_key, text);
    text->push_back('"');
  }
  text->append("]}");
}

}  // namespace

std::string ImportState::NewRun() { return fmt::format("{:016x}", RandomSeed()); }

absl::Status ImportState::Read() {
  if (path_.empty()) return absl::OkStatus();
  const auto file = PosixFileSystem()->Open(path_, OpenMode::kRead);
  if (file.status().code() == absl::StatusCode::kNotFound) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(file.status());
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, (*file)->Size());
  if (bytes > kStateBytesMax) return NotAState(path_);
  std::string text(bytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t read, (*file)->Read(0, text.size(), text.data()));
  text.resize(read);
  JsonParser parser(kStateDepthMax);
  simdjson::dom::element state;
  std::string_view kind;
  std::string_view job;
  std::string_view run_text;
  simdjson::dom::array completed;
  if (!parser.ParseCopy(text, &state).ok() || state["what"].get(kind) != simdjson::SUCCESS ||
      kind != kStateKind || state["job"].get(job) != simdjson::SUCCESS ||
      state["start"].get(start_micros) != simdjson::SUCCESS ||
      state["run"].get(run_text) != simdjson::SUCCESS ||
      state["files"].get(completed) != simdjson::SUCCESS)
    return NotAState(path_);
  if (job != job_) {
    return FailedPrecondition(
        "{} is the state of another import, {}: repeat that one, name another file with --resume, "
        "or remove the file",
        path_, Printable(job, 1000));
  }
  for (const auto element : completed) {
    if (!FromJson(element, &files.emplace_back())) return NotAState(path_);
  }
  run = run_text;
  return absl::OkStatus();
}

absl::Status ImportState::Write() const {
  if (path_.empty()) return absl::OkStatus();
  std::string text = fmt::format("{{\"what\":\"{}\",\"job\":", kStateKind);
  AppendJsonString(job_, &text);
  text += ",\"run\":";
  AppendJsonString(run, &text);
  text += fmt::format(",\"start\":{},\"files\":[", start_micros);
  for (const CompletedFile& file : files) {
    if (text.back() != '[') text.push_back(',');
    AppendJson(file, &text);
  }
  text += "]}\n";
  return ReplaceFileDurably(PosixFileSystem(), path_, text);
}

absl::Status ImportState::Remove() const {
  if (path_.empty()) return absl::OkStatus();
  const absl::Status removed = PosixFileSystem()->Remove(path_);
  if (!removed.ok())
    return removed.code() == absl::StatusCode::kNotFound ? absl::OkStatus() : removed;
  return PosixFileSystem()->SyncDirectory(ParentDirectory(path_));
}

}  // namespace stele::internal::lab
