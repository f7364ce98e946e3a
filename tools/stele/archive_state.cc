#include "archive_state.h"

#include <algorithm>
#include <array>

#include "base/checksum.h"
#include "base/status.h"
#include "io/file_system.h"
#include "io/output_file.h"
#include "keys/printable.h"
#include "location.h"
#include "row_text.h"
#include "session.h"
#include "state_file.h"

namespace stele::cli {
namespace {

constexpr char kArchiveState[] = "state of stele archive, 1";
constexpr uint64_t kStateBytesMax = uint64_t{4} << 20;
constexpr size_t kShownStateBytesMax = 400;  // of a value in a message

// A parameter of a run: its member in the file, its name in a message, and its value.
struct ParameterField {
  const char* member;
  const char* name;
  std::string value;
};

// The whole row key, since RowRange::ToString cuts long ones. "": no bound.
std::string StartText(const RowRange& rows) {
  if (rows.start_bound() == RangeBound::kUnbounded) return "";
  return (rows.start_bound() == RangeBound::kOpen ? "(" : "[") +
         internal::EscapedBytes(rows.start());
}
std::string EndText(const RowRange& rows) {
  if (rows.end_bound() == RangeBound::kUnbounded) return "";
  return internal::EscapedBytes(rows.end()) + (rows.end_bound() == RangeBound::kOpen ? ")" : "]");
}

std::array<ParameterField, 6> FieldsOf(const ArchiveParameters& parameters) {
  return {{{"database", "database", internal::EscapedBytes(NormalLocation(parameters.database))},
           {"table", "table", internal::EscapedBytes(parameters.table)},
           {"start", "first row", StartText(parameters.rows)},
           {"end", "last row", EndText(parameters.rows)},
           {"before_micros", "time of --before, in microseconds,",
            fmt::format("{}", parameters.before.micros())},
           {"archive", "archive", internal::EscapedBytes(NormalLocation(parameters.archive))}}};
}

absl::StatusOr<std::string> ReadStateFile(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const auto file,
                         internal::PosixFileSystem()->Open(path, internal::OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, file->Size());
  if (bytes > kStateBytesMax)
    return internal::FailedPrecondition("{} has {} bytes and is not a state file of archive", path,
                                        bytes);
  std::string text(bytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t read, file->Read(0, text.size(), text.data()));
  text.resize(read);
  return text;
}

absl::Status NotAStateFile(const std::string& path) {
  return internal::FailedPrecondition(
      "{} exists and is not a state file of archive: name another file with --resume", path);
}

// Returns an error that names each parameter in which the file has another value.
absl::Status CheckParameters(const std::string& path, const Json& json,
                             const ArchiveParameters& parameters) {
  std::string differences;
  for (const ParameterField& field : FieldsOf(parameters)) {
    const auto found = json.find(field.member);
    if (found == json.end() || !found->is_string()) return NotAStateFile(path);
    const auto& value = found->get_ref<const std::string&>();
    if (value == field.value) continue;
    differences += fmt::format("{}its {} is \"{}\", not \"{}\"", differences.empty() ? "" : "; ",
                               field.name, internal::Printable(value, kShownStateBytesMax),
                               internal::Printable(field.value, kShownStateBytesMax));
  }
  if (differences.empty()) return absl::OkStatus();
  return internal::FailedPrecondition(
      "{} is the state of another archive run: {}. Repeat that run, name another file with "
      "--resume, or remove the file",
      path, differences);
}

// Adds what to do if the directory of the state file cannot be written.
absl::Status LockError(const absl::Status& status) {
  if (status.code() != absl::StatusCode::kPermissionDenied) return status;
  return internal::MakeStatus(status.code(), fmt::format("{}; name a file elsewhere with --resume",
                                                         internal::ToStd(status.message())));
}

}  // namespace

std::string DefaultArchiveState(const ArchiveParameters& parameters) {
  Json fields;
  for (const ParameterField& field : FieldsOf(parameters)) fields[field.member] = field.value;
  return fmt::format("{}.archive-{:016x}", NormalLocation(parameters.archive),
                     internal::Checksum64(fields.dump()));
}

std::vector<std::string> ArchiveStateFiles(const std::string& path) {
  return {path, StateFileLock::PathOf(path), internal::NewFileOf(path)};
}

absl::Status ArchiveState::Check() {
  has_file_ = false;
  verified_cells_.reset();
  const auto text = ReadStateFile(path_);
  if (text.status().code() == absl::StatusCode::kNotFound) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(text.status());
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return NotAStateFile(path_);
  const auto what = json.find("what");
  if (what == json.end() || !what->is_string() ||
      what->get_ref<const std::string&>() != kArchiveState)
    return NotAStateFile(path_);
  STELE_RETURN_IF_ERROR(CheckParameters(path_, json, parameters_));
  if (const auto verified = json.find("verified_cells"); verified != json.end()) {
    if (!verified->is_number_unsigned()) return NotAStateFile(path_);
    verified_cells_ = verified->get<uint64_t>();
  }
  has_file_ = true;
  return absl::OkStatus();
}

absl::Status ArchiveState::Begin() {
  auto lock = StateFileLock::Take(path_, "archive run");
  if (!lock.ok()) return Within("locking the state file", LockError(lock.status()));
  lock_ = *std::move(lock);
  STELE_RETURN_IF_ERROR(Check());
  return has_file_ ? absl::OkStatus() : Write();
}

absl::Status ArchiveState::SetVerified(uint64_t cells) {
  // An earlier run may have deleted a part of the cells that it verified.
  verified_cells_ = std::max(cells, verified_cells_.value_or(0));
  return Write();
}

absl::Status ArchiveState::Remove() { return RemoveStateFile(path_); }

absl::Status ArchiveState::Write() const {
  Json json;
  json["what"] = kArchiveState;
  for (const ParameterField& field : FieldsOf(parameters_)) json[field.member] = field.value;
  if (verified_cells_.has_value()) json["verified_cells"] = *verified_cells_;
  return WriteStateFile(path_, json, "writing the state file");
}

}  // namespace stele::cli
