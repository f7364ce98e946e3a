// tools/main_job/data_set.h: reads the daily figures of Italy's provinces (data/covid-ita), line by
// line.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "csv_reader.h"
#include "stele/stele.h"

namespace stele::main_job {

// The figures of one province on one day.
struct Reading {
  std::string row_key;  // "REGION#PROVINCE CODE"
  Timestamp day;
  std::string province;
  std::string latitude;
  std::string longitude;
  std::string total_cases;
};

class DataSet {
 public:
  // Decompresses the zstd file into memory, about 25 MB.
  static absl::StatusOr<std::unique_ptr<DataSet>> Open(const std::string& path);

  // Reads the next line. Returns false at the end. Errors name file and line.
  absl::StatusOr<bool> Next(Reading& reading);
  uint64_t bytes_total() const { return text_.size(); }
  uint64_t bytes_read() const { return reader_->bytes_read(); }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  explicit DataSet(std::string text) : text_(std::move(text)) {}
  absl::Status Begin(const std::string& path);

  std::string text_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::unique_ptr<cli::CsvReader> reader_;
  std::vector<std::string> fields_;
};

}  // namespace stele::main_job
