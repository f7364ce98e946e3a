#include "import_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/status.h"

#ifdef STELE_HAS_LAB
#include "lab/input/input_file.h"
#endif

namespace stele::cli {
namespace {

bool IsRegular(const std::string& path) {
  struct stat found = {};
  return path != "-" && stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

absl::Status CheckNotDirectory(const std::string& path) {
  struct stat found = {};
  if (path == "-" || stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
    return absl::OkStatus();
  return internal::ErrnoStatus("read", path, EISDIR);
}

}  // namespace

#ifdef STELE_HAS_LAB

struct ImportFile::Source {
  // Reads for the stream. Returns -1 for an error, which stays in `status`.
  static ssize_t Read(void* cookie, char* out, size_t out_bytes) {
    auto* const source = static_cast<Source*>(cookie);
    const auto bytes = source->file->Read(out, out_bytes);
    if (bytes.ok()) return static_cast<ssize_t>(*bytes);
    source->status = bytes.status();
    errno = EIO;
    return -1;
  }

  std::unique_ptr<internal::lab::InputFile> file;
  absl::Status status;
};

absl::StatusOr<std::unique_ptr<ImportFile>> ImportFile::Open(const std::string& path) {
  STELE_RETURN_IF_ERROR(CheckNotDirectory(path));
  using internal::lab::InputFile;
  const bool is_regular = IsRegular(path);
  STELE_ASSIGN_OR_RETURN(auto file, InputFile::OpenSequential(path));
  auto source = std::make_unique<Source>(Source{.file = std::move(file), .status = {}});
  std::FILE* const stream =
      fopencookie(source.get(), "rb",
                  {.read = &Source::Read, .write = nullptr, .seek = nullptr, .close = nullptr});
  if (stream == nullptr) return internal::ErrnoStatus("open", path, errno);
  return std::unique_ptr<ImportFile>(new ImportFile(std::move(source), stream, is_regular));
}

#else

struct ImportFile::Source {
  absl::Status status;
};

namespace {

// A zstd file begins with a frame, or with a skippable one.
bool IsCompressed(std::string_view start) {
  if (start.starts_with("\x1f\x8b") || start == "\x28\xb5\x2f\xfd") return true;
  return start.size() == 4 && (start[0] & '\xf0') == '\x50' && start.substr(1) == "\x2a\x4d\x18";
}

absl::Status CheckNotCompressed(std::FILE* stream, const std::string& path) {
  char start[4] = {};
  const size_t size = std::fread(start, 1, sizeof(start), stream);
  std::rewind(stream);
  if (!IsCompressed({start, size})) return absl::OkStatus();
  return internal::InvalidArgument(
      "{} is compressed, and this build of stele has no schema lab: decompress it first", path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ImportFile>> ImportFile::Open(const std::string& path) {
  STELE_RETURN_IF_ERROR(CheckNotDirectory(path));
  std::FILE* const stream = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (stream == nullptr) return internal::ErrnoStatus("open", path, errno);
  const bool is_regular = IsRegular(path);
  std::unique_ptr<ImportFile> file(new ImportFile(std::make_unique<Source>(), stream, is_regular));
  if (is_regular) STELE_RETURN_IF_ERROR(CheckNotCompressed(stream, path));
  return file;
}

#endif

ImportFile::ImportFile(std::unique_ptr<Source> source, std::FILE* stream, bool can_be_opened_again)
    : source_(std::move(source)), stream_(stream), can_be_opened_again_(can_be_opened_again) {}

ImportFile::~ImportFile() {
  if (stream_ != stdin) std::fclose(stream_);
}

const absl::Status& ImportFile::status() const { return source_->status; }

}  // namespace stele::cli
