// import/import_state.h: the file that lets an interrupted import continue.
//
// Format:    JSON. The file is replaced atomically. Row keys are base64, because they may be any
//            bytes.
// Errors:    FailedPrecondition if the file is not one of imports, or belongs to another import;
//            errors of the file system.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace stele::internal::lab {

// A data file whose rows are durable.
struct CompletedFile {
  std::string md5;
  // By table: a row that the file wrote and that existed afterwards; "": none.
  std::vector<std::string> known_rows;
};

class ImportState {
 public:
  // With an empty `path`, nothing is stored. `job` describes the import.
  ImportState(std::string path, std::string job) : path_(std::move(path)), job_(std::move(job)) {}

  // Returns a random text for `run`.
  static std::string NewRun();
  // Reads the state of an earlier run, if there is one. Otherwise nothing changes.
  absl::Status Read();
  absl::Status Write() const;
  absl::Status Remove() const;

  int64_t start_micros = 0;          // when the import began
  std::string run;                   // that of the table's ImportRecord
  std::vector<CompletedFile> files;  // in their order

 private:
  const std::string path_;
  const std::string job_;
};

}  // namespace stele::internal::lab
