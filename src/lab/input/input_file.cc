#include "lab/input/input_file.h"

#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "lab/input/sequential_input.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kReadBytes = size_t{256} << 10;
constexpr uint64_t kGrowthCheckedFrom = uint64_t{1} << 30;
constexpr uint64_t kGrowthMax = 1000;

class GzipDecompressor : public Decompressor {
 public:
  static absl::StatusOr<std::unique_ptr<Decompressor>> Create() {
    auto gzip = std::make_unique<GzipDecompressor>();
    if (inflateInit2(&gzip->stream_, 16 + MAX_WBITS) != Z_OK)
      return internal::ResourceExhausted("not enough memory to decompress gzip");
    return gzip;
  }
  ~GzipDecompressor() override { inflateEnd(&stream_); }

  absl::StatusOr<Step> Run(std::string_view in, char* out, size_t out_bytes) override {
    // A file may be several gzip streams, one after the other.
    if (is_complete_) inflateReset(&stream_);
    is_complete_ = false;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(out_bytes);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      is_complete_ = true;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return internal::InvalidArgument("damaged gzip data: {}",
                                       stream_.msg == nullptr ? "unknown" : stream_.msg);
    }
    return Step{.used = in.size() - stream_.avail_in, .produced = out_bytes - stream_.avail_out};
  }
  bool is_complete() const override { return is_complete_; }

 private:
  z_stream stream_ = {};
  bool is_complete_ = false;
};

class ZstdDecompressor : public Decompressor {
 public:
  static absl::StatusOr<std::unique_ptr<Decompressor>> Create() {
    auto zstd = std::make_unique<ZstdDecompressor>();
    if (zstd->stream_ == nullptr)
      return internal::ResourceExhausted("not enough memory to decompress zstd");
    return zstd;
  }
  ~ZstdDecompressor() override { ZSTD_freeDStream(stream_); }

  absl::StatusOr<Step> Run(std::string_view in, char* out, size_t out_bytes) override {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out, out_bytes, 0};
    const size_t result = ZSTD_decompressStream(stream_, &output, &input);
    if (ZSTD_isError(result) != 0)
      return internal::InvalidArgument("damaged zstd data: {}", ZSTD_getErrorName(result));
    is_complete_ = result == 0;
    return Step{.used = input.pos, .produced = output.pos};
  }
  bool is_complete() const override { return is_complete_; }

 private:
  ZSTD_DStream* const stream_ = ZSTD_createDStream();
  bool is_complete_ = false;
};

// Returns the name of a format that is often mistaken for these two, or "".
std::string_view OtherFormat(std::string_view start) {
  constexpr std::string_view kBlockOfBzip2 = "1AY&SY";  // after "BZh" and a digit
  if (start.starts_with("BZh") &&
      start.substr(std::min<size_t>(4, start.size())).starts_with(kBlockOfBzip2))
    return "bzip2";
  if (start.starts_with("\xfd"
                        "7zXZ"))
    return "xz";
  return start.starts_with("PK\x03\x04") ? "zip" : "";
}

// Returns true for the first bytes of a zstd frame. A skippable frame, which pzstd writes before
// the data, begins with 5X 2a 4d 18.
bool IsZstd(std::string_view start) {
  if (start.starts_with("\x28\xb5\x2f\xfd")) return true;
  return start.size() >= 4 && (start[0] & 0xf0) == 0x50 && start.substr(1, 3) == "\x2a\x4d\x18";
}

// Returns the format that the ending of a name states, or "".
std::string_view FormatOfEnding(std::string_view path) {
  return path.ends_with(".gz") ? "gzip" : path.ends_with(".zst") ? "zstd" : "";
}

}  // namespace

struct InputFile::Checksum {
  Checksum() { XXH3_64bits_reset(state); }
  ~Checksum() { XXH3_freeState(state); }
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  XXH3_state_t* const state = XXH3_createState();
};

InputFile::InputFile(std::unique_ptr<internal::File> file)
    : file_(std::move(file)), buffer_(kReadBytes, '\0'), checksum_(std::make_unique<Checksum>()) {}
InputFile::~InputFile() = default;

uint64_t InputFile::checksum() const { return XXH3_64bits_digest(checksum_->state); }

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::Open(const std::string& path, bool hashes) {
  std::string target = path;
  // The file system of databases does not follow symbolic links.
  std::error_code error;
  if (std::filesystem::is_symlink(path, error)) {
    target = std::filesystem::canonical(path, error).string();
    if (error) target = path;
  }
  std::unique_ptr<internal::File> file;
  // The file of a SpooledInput has no name, and another file may have the name that its link shows.
  if (path.starts_with("/proc/self/fd/") && std::filesystem::is_regular_file(path, error)) {
    STELE_ASSIGN_OR_RETURN(file, SequentialInput::Open(path));
  } else {
    STELE_ASSIGN_OR_RETURN(file,
                           internal::PosixFileSystem()->Open(target, internal::OpenMode::kRead));
  }
  std::unique_ptr<InputFile> input(new InputFile(std::move(file)));
  if (hashes) input->md5_ = std::make_unique<lab::Md5>();
  STELE_RETURN_IF_ERROR(input->Fill());
  STELE_RETURN_IF_ERROR(input->ChooseDecompressor(path));
  return input;
}

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::OpenSequential(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(auto file, SequentialInput::Open(path));
  std::unique_ptr<InputFile> input(new InputFile(std::move(file)));
  STELE_RETURN_IF_ERROR(input->Fill());
  STELE_RETURN_IF_ERROR(input->ChooseDecompressor(path));
  return input;
}

absl::Status InputFile::ChooseDecompressor(std::string_view path) {
  if (const std::string_view other = OtherFormat(pending_); !other.empty())
    return internal::InvalidArgument("{}: compressed with {}; gzip and zstd are read", shown_path(),
                                     other);
  if (pending_.starts_with("\x1f\x8b")) {
    STELE_ASSIGN_OR_RETURN(decompressor_, GzipDecompressor::Create());
  } else if (IsZstd(pending_)) {
    STELE_ASSIGN_OR_RETURN(decompressor_, ZstdDecompressor::Create());
  } else if (const std::string_view format = FormatOfEnding(path); !format.empty()) {
    return internal::InvalidArgument("{}: not {} data", Printable(path, 4096), format);
  }
  return absl::OkStatus();
}

absl::Status InputFile::Fill() {
  STELE_ASSIGN_OR_RETURN(const size_t bytes, file_->Read(offset_, buffer_.size(), buffer_.data()));
  pending_ = std::string_view(buffer_.data(), bytes);
  offset_ += bytes;
  at_end_ = bytes == 0;
  if (md5_ != nullptr) md5_->Add(pending_);
  return absl::OkStatus();
}

absl::Status InputFile::CheckGrowth() const {
  if (produced_ <= kGrowthCheckedFrom || produced_ / kGrowthMax <= offset_) return absl::OkStatus();
  return internal::InvalidArgument(
      "{}: {} compressed bytes have grown to {}, more than {} times as many: not read further",
      shown_path(), offset_, produced_, kGrowthMax);
}

absl::StatusOr<size_t> InputFile::Read(char* out, size_t out_bytes) {
  STELE_ASSIGN_OR_RETURN(const size_t bytes, ReadPlain(out, out_bytes));
  XXH3_64bits_update(checksum_->state, out, bytes);
  return bytes;
}

absl::StatusOr<size_t> InputFile::ReadPlain(char* out, size_t out_bytes) {
  while (true) {
    if (pending_.empty() && !at_end_) STELE_RETURN_IF_ERROR(Fill());
    if (decompressor_ == nullptr) {
      const size_t bytes = std::min(out_bytes, pending_.size());
      std::memcpy(out, pending_.data(), bytes);
      pending_.remove_prefix(bytes);
      return bytes;
    }
    if (at_end_ && decompressor_->is_complete()) return size_t{0};
    auto step = decompressor_->Run(pending_, out, out_bytes);
    if (!step.ok()) return internal::WithContext(step.status(), shown_path());
    pending_.remove_prefix(step->used);
    produced_ += step->produced;
    STELE_RETURN_IF_ERROR(CheckGrowth());
    if (step->produced > 0) return step->produced;
    if (at_end_ && !decompressor_->is_complete())
      return internal::InvalidArgument("{}: the compressed data is truncated", shown_path());
  }
}

}  // namespace stele::internal::lab
