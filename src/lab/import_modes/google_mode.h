// import_modes/google_mode.h: the mode that reproduces Google's migration job: items with the same
// partition key are merged into one row, and every timestamp is 0.
//
// Errors:    those of ImportMode.
// Threads:   confined to one thread.
#pragma once

#include <string>
#include <vector>

#include "lab/import_modes/import_mode.h"
#include "lab/values/key_hashes.h"

namespace stele::internal::lab {

class GoogleMode : public ImportMode {
 public:
  explicit GoogleMode(const DynamoDbImportOptions& options) : options_(options) {}

  absl::Status Survey(const Record& record, uint64_t position) override;
  absl::Status EndSurvey(const PositionText& text, DynamoDbImportReport* report) override;
  absl::StatusOr<std::vector<TablePlan>> Tables() const override;
  absl::Status Convert(const Record& record, const RowSink& sink,
                       DynamoDbImportReport* report) override;

 private:
  absl::Status SurveyCells(const Item& item, const std::string& row_key);
  // The options that decide which cells an item becomes, as JSON: the property of the table.
  std::string OptionsText() const;

  const DynamoDbImportOptions options_;
  KeyHashes rows_{KeyHashes::kMemoryBytes / 4};
  KeyHashes cells_;
  uint64_t items_with_cells_ = 0;
  DynamoDbImportReport notes_;  // only its notes
};

}  // namespace stele::internal::lab
