#include "lab/import/import_state.h"

#include <string_view>

#include "base/status.h"
#include "io/file_names.h"
#include "io/file_system.h"
#include "lab/dynamodb/json_document.h"
#include "lab/mapping/lab_json.h"

namespace stele::internal::lab {
namespace {

constexpr std::string_view kStateKind = "state of stele import dynamodb, 1";
constexpr uint64_t kStateBytesMax = uint64_t{64} << 20;
constexpr size_t kStateDepthMax = 4;

absl::Status NotAState(const std::string& path) {
  return FailedPrecondition(
      "{} exists and is not the state of an import: name another file with --resume, or remove it",
      path);
}

}  // namespace

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
  simdjson::dom::array sums;
  if (!parser.ParseCopy(text, &state).ok() || state["what"].get(kind) != simdjson::SUCCESS ||
      kind != kStateKind || state["job"].get(job) != simdjson::SUCCESS ||
      state["start"].get(start_micros) != simdjson::SUCCESS ||
      state["files"].get(sums) != simdjson::SUCCESS)
    return NotAState(path_);
  if (job != job_) {
    return FailedPrecondition(
        "{} is the state of another import, {}: repeat that one, name another file with --resume, "
        "or remove the file",
        path_, Printable(job, 1000));
  }
  for (const auto element : sums) {
    std::string_view sum;
    if (element.get(sum) != simdjson::SUCCESS) return NotAState(path_);
    file_sums.emplace_back(sum);
  }
  was_read_ = true;
  return absl::OkStatus();
}

absl::Status ImportState::Write() const {
  if (path_.empty()) return absl::OkStatus();
  std::string text = fmt::format("{{\"what\":\"{}\",\"job\":", kStateKind);
  AppendJsonString(job_, &text);
  text += fmt::format(",\"start\":{},\"files\":[", start_micros);
  for (const std::string& sum : file_sums) {
    if (text.back() != '[') text.push_back(',');
    AppendJsonString(sum, &text);
  }
  text += "]}\n";
  FileSystem* const files = PosixFileSystem();
  const std::string beside = path_ + ".new";
  // A killed run may have left this file.
  const absl::Status removed = files->Remove(beside);
  if (!removed.ok() && removed.code() != absl::StatusCode::kNotFound) return removed;
  STELE_ASSIGN_OR_RETURN(const auto file, files->Open(beside, OpenMode::kCreate));
  STELE_RETURN_IF_ERROR(file->Write(0, text));
  STELE_RETURN_IF_ERROR(file->Sync());
  return files->Rename(beside, path_);
}

absl::Status ImportState::Remove() const {
  if (path_.empty()) return absl::OkStatus();
  const absl::Status removed = PosixFileSystem()->Remove(path_);
  if (!removed.ok())
    return removed.code() == absl::StatusCode::kNotFound ? absl::OkStatus() : removed;
  return PosixFileSystem()->SyncDirectory(ParentDirectory(path_));
}

}  // namespace stele::internal::lab
