// tools/stele/import_file.h: the file of an import as a stream of its bytes. A file whose first
// bytes are those of gzip or zstd is decompressed.
//
// Errors:    errors of the file system; InvalidArgument for damaged compressed data, and for
//            compressed data in a build without the schema lab.
// Threads:   Confined to one thread.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace stele::cli {

class ImportFile {
 public:
  // "-" is standard input.
  static absl::StatusOr<std::unique_ptr<ImportFile>> Open(const std::string& path);
  ~ImportFile();
  ImportFile(const ImportFile&) = delete;
  ImportFile& operator=(const ImportFile&) = delete;

  std::FILE* stream() const { return stream_; }
  // The error that the stream reports only as a read error, or OK.
  const absl::Status& status() const;
  // False for standard input and for pipes, which can be read only once.
  bool can_be_opened_again() const { return can_be_opened_again_; }

 private:
  struct Source;
  ImportFile(std::unique_ptr<Source> source, std::FILE* stream, bool can_be_opened_again);

  const std::unique_ptr<Source> source_;
  std::FILE* const stream_;
  const bool can_be_opened_again_;
};

}  // namespace stele::cli
