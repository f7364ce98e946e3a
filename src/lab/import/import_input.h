// import/import_input.h: the options of an import, checked, and the files that it reads.
//
// Errors:    InvalidArgument or NotFound, with the option or the path, and what to do.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/dynamodb/export_directory.h"
#include "lab/input/spooled_input.h"
#include "stele/lab/dynamodb.h"

namespace stele::internal::lab {

struct ImportInput {
  std::optional<ExportDirectory> exported;  // nothing: the input is files
  std::vector<DataFile> files;
  std::unique_ptr<SpooledInput> standard_input;
  std::unique_ptr<SpooledInput> model_items;
  std::string model;          // describes the data model that has the items, or ""
  uint64_t stored_bytes = 0;  // of all files

  bool is_incremental() const { return exported.has_value() && exported->is_incremental; }
  // Describes the input for people.
  std::string Text() const;
};

absl::Status CheckImportOptions(const stele::lab::DynamoDbImportOptions& options);
// Finds the files of the input, and reads the manifests of an export.
absl::StatusOr<ImportInput> FindImportInput(const stele::lab::DynamoDbImportOptions& options);
// Returns an error if an output would replace a file of the input, or if its directory is missing.
absl::Status CheckImportOutputs(const stele::lab::DynamoDbImportOptions& options,
                                const ImportInput& input);
// Returns a text with everything that the rows depend on, except for the contents of the files. The
// state of an interrupted import has it, to detect another import.
std::string ImportJob(const stele::lab::DynamoDbImportOptions& options, const ImportInput& input);

uint64_t StoredBytes(const std::string& path);

}  // namespace stele::internal::lab
