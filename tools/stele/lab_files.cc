#include "lab_files.h"

#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/status.h"
#include "io/output_file.h"
#include "location.h"

namespace stele::cli {
namespace {

// True if ReplaceFile makes a new file instead of writing in place.
bool IsReplaced(std::filesystem::file_type type) {
  return type == std::filesystem::file_type::regular ||
         type == std::filesystem::file_type::not_found;
}

}  // namespace

std::string DefaultStatePath(const std::string& database, std::string_view verb,
                             const std::string& input, const std::string& table) {
  if (database.empty() || database == "mem:" || IsRemote(database)) return "";
  std::error_code error;
  std::filesystem::path path = std::filesystem::weakly_canonical(input, error);
  if (error) path = input;
  const std::string named = path.string() + '\0' + table;
  std::string base = database;
  while (base.size() > 1 && base.ends_with('/')) base.pop_back();
  return fmt::format("{}.{}-{:016x}", base, verb, XXH3_64bits(named.data(), named.size()));
}

absl::Status CheckAreDifferent(const std::vector<std::string>& outputs) {
  std::set<std::filesystem::path> places;
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    std::error_code error;
    std::filesystem::path place =
        std::filesystem::weakly_canonical(std::filesystem::absolute(output, error), error);
    const bool is_file = IsReplaced(std::filesystem::status(output, error).type());
    if (is_file && !places.insert(std::move(place)).second)
      return UsageError(fmt::format("{} is the file of two outputs: name another file",
                                    internal::Printable(output)));
  }
  return absl::OkStatus();
}

absl::Status CheckOutputDirectories(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    const std::filesystem::path directory = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      return internal::InvalidArgument("{} is a directory: name a file", internal::Printable(path));
    if (!directory.empty() && !std::filesystem::is_directory(directory, error))
      return internal::NotFound("{}: there is no directory {}", internal::Printable(path),
                                internal::Printable(directory.string()));
    const auto type = std::filesystem::status(path, error).type();
    // A file is replaced by a new one. A device or a pipe is written in place.
    std::filesystem::path written = path;
    if (IsReplaced(type))
      written = std::filesystem::path(internal::LinkTargetOf(path)).parent_path();
    if (written.empty()) written = ".";
    if (::access(written.c_str(), W_OK) != 0)
      return internal::ErrnoStatus("write to", written.string(), errno);
  }
  return absl::OkStatus();
}

namespace {

// Writes `text` to `file`, which may be null, and closes it. `syncs`: also syncs it.
absl::Status WriteAndClose(std::FILE* file, const std::string& path, std::string_view text,
                           bool syncs) {
  if (file == nullptr) return internal::ErrnoStatus("open", path, errno);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int write_error = errno;
  const absl::Status synced =
      is_written && syncs ? internal::SyncNewFile(file, path) : absl::OkStatus();
  if (!synced.ok()) {
    std::fclose(file);
    return synced;
  }
  if (std::fclose(file) == 0 && is_written) return absl::OkStatus();
  return internal::ErrnoStatus("write", path, is_written ? errno : write_error);
}

}  // namespace

absl::Status WriteReport(const std::string& path, std::string_view text) {
  return WriteAndClose(std::fopen(path.c_str(), "wb"), path, text, /*syncs=*/false);
}

absl::Status ReplaceFile(const std::string& path, std::string_view text) {
  std::error_code error;
  if (!IsReplaced(std::filesystem::status(path, error).type()))
    return WriteReport(path, text);  // a device or a pipe
  const std::string target = internal::LinkTargetOf(path);
  const std::string new_path = fmt::format("{}.{}.new", target, ::getpid());
  absl::Status status =
      WriteAndClose(internal::CreateInPlaceOf(new_path, target), new_path, text, /*syncs=*/true);
  if (status.ok() && std::rename(new_path.c_str(), target.c_str()) != 0)
    status = internal::ErrnoStatus("rename to", path, errno);
  if (!status.ok()) std::remove(new_path.c_str());
  return status;
}

void NoteUnstored(Session& session, bool has_key_schema) {
  session.Note(
      fmt::format("a server stores no properties of tables: lab.design{} not stored, so later "
                  "commands need the design\n",
                  has_key_schema ? " and row_key_schema are" : " is"));
}

absl::Status WithoutLab(std::string_view verb) {
  return internal::Unimplemented(
      "{}: this command was built without stele::lab; build it with -DSTELE_BUILD_LAB=ON", verb);
}

}  // namespace stele::cli
