// dynamodb/export_directory.h: the manifests of an export that DynamoDB wrote to S3.
//
// Format:    docs.aws.amazon.com, "DynamoDB table export output format": manifest-summary.json,
//            manifest-files.json, and data files that they name.
// Errors:    InvalidArgument or NotFound, with the path of the file that is wrong or missing.
// Threads:   values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stele::internal::lab {

struct DataFile {
  std::string path;
  std::string name;         // for messages: the path below the export
  std::string md5;          // base64; empty: not checked
  int64_t item_count = -1;  // -1: unknown
};

struct ExportDirectory {
  std::string id;  // the name of the directory, such as 01732060900000-e5f6a7b8
  std::string path;
  std::string table_name;
  bool is_incremental = false;
  int64_t time_micros = 0;  // the state that the export contains; of incremental ones, the end
  int64_t from_micros = 0;  // of incremental exports: the first change
  uint64_t item_count = 0;
  std::vector<DataFile> files;
  std::vector<std::string> stray_files;  // in data/, and not named by the manifest; at most 100
};

// True if `path` is the directory of an export, or contains one or a directory AWSDynamoDB.
bool IsExportDirectory(const std::string& path);

// Reads the manifests at `path` and finds the data files. Checks the MD5 sums of the manifests and
// that every data file exists, but does not read the data.
//
// `path` is the directory of one export, the folder AWSDynamoDB/ with one export, or the folder
// that contains it. InvalidArgument: the folder has several exports; the message lists them.
// A data file is never outside this folder, whatever the manifest and links say. `verifies`: every
// data file must have an MD5 in the manifest.
absl::StatusOr<ExportDirectory> ReadExportDirectory(const std::string& path, bool verifies);

}  // namespace stele::internal::lab
