// input/input_file.h: reads a file that may be compressed with gzip or zstd. The first bytes of the
// file determine which. A file whose name ends with .gz or .zst must be compressed.
//
// Errors:    errors of the file system; InvalidArgument, with the path, for damaged or truncated
//            compressed data, for another compression format, for plain data under a name that
//            ends with .gz or .zst, and for more than 1 GiB of data that is a thousand times as
//            large as the file.
// Threads:   confined to one thread.
// Memory:    about 1 MiB, and at most 128 MiB more for a zstd file with a large window.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "io/file_system.h"
#include "lab/input/md5.h"

namespace stele::internal::lab {

// Converts compressed bytes to plain ones.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  struct Step {
    size_t used = 0;      // bytes of the input
    size_t produced = 0;  // bytes of the output
  };
  // Fails with a reason that has no path.
  virtual absl::StatusOr<Step> Run(std::string_view in, char* out, size_t out_bytes) = 0;
  // True if the data may end here.
  virtual bool is_complete() const = 0;
};

class InputFile {
 public:
  ~InputFile();
  // `hashes`: computes the MD5 of the stored bytes.
  static absl::StatusOr<std::unique_ptr<InputFile>> Open(const std::string& path, bool hashes);
  // Opens a pipe or, as "-", standard input, to be read once.
  static absl::StatusOr<std::unique_ptr<InputFile>> OpenSequential(const std::string& path);

  // Returns the number of decompressed bytes, 0 at the end.
  absl::StatusOr<size_t> Read(char* out, size_t out_bytes);

  const std::string& path() const { return file_->path(); }
  // The same for messages.
  std::string shown_path() const { return Printable(path(), 4096); }
  // True if the file has gzip or zstd data.
  bool is_compressed() const { return decompressor_ != nullptr; }
  // How many bytes of the file were read.
  uint64_t stored_bytes() const { return offset_; }
  // A checksum of the bytes that Read() returned.
  uint64_t checksum() const;
  // The MD5 of the file as base64. Call it once, after Read() has returned 0, and only with
  // `hashes`.
  std::string Md5() { return md5_->Base64(); }

 private:
  struct Checksum;

  explicit InputFile(std::unique_ptr<internal::File> file);
  absl::Status Fill();
  // `path`: as the caller gave it.
  absl::Status ChooseDecompressor(std::string_view path);
  absl::Status CheckGrowth() const;
  absl::StatusOr<size_t> ReadPlain(char* out, size_t out_bytes);

  const std::unique_ptr<internal::File> file_;
  std::unique_ptr<lab::Md5> md5_;
  std::unique_ptr<Decompressor> decompressor_;  // null: the file is not compressed
  std::string buffer_;
  std::string_view pending_;  // in buffer_: read and not yet used
  uint64_t offset_ = 0;
  uint64_t produced_ = 0;
  const std::unique_ptr<Checksum> checksum_;
  bool at_end_ = false;
};

}  // namespace stele::internal::lab
