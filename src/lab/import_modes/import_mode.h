// import_modes/import_mode.h: what the modes of an import have in common: each one checks all
// records, and then converts each to rows.
//
// Threads:   confined to one thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/dynamodb/record_parser.h"
#include "lab/mapping/mapping.h"
#include "stele/lab/dynamodb.h"
#include "stele/mutation.h"
#include "stele/schema.h"

namespace stele::internal::lab {

using stele::lab::DynamoDbImportOptions;
using stele::lab::DynamoDbImportReport;

// A table that the import creates if it is missing.
struct TablePlan {
  std::string name;
  Schema schema;
  // The property that an existing table must have with the same value; "": none.
  std::string property = {};
};

// `table` is the index of a plan.
using RowSink = std::function<absl::Status(size_t table, RowMutation row)>;
// Returns "FILE:LINE" of a position.
using PositionText = std::function<std::string(uint64_t position)>;

// Adds `count` and the sample to the note with this id and message. Creates the note if there is
// none.
void AddNote(std::string_view id, std::string_view severity, std::string_view message,
             std::string_view sample, DynamoDbImportReport* report, uint64_t count = 1);

class ImportMode {
 public:
  virtual ~ImportMode() = default;

  // Checks a record of the input. InvalidArgument: the record is bad. Another error ends the
  // import.
  virtual absl::Status Survey(const Record& record, uint64_t position) = 0;
  // Decides how the items are stored, after all records have been surveyed. Errors: duplicates.
  virtual absl::Status EndSurvey(const PositionText& text, DynamoDbImportReport* report) = 0;
  // The tables to write to.
  virtual absl::StatusOr<std::vector<TablePlan>> Tables() const = 0;
  // Converts a record that Survey() accepted, and counts it.
  virtual absl::Status Convert(const Record& record, const RowSink& sink,
                               DynamoDbImportReport* report) = 0;
  // The mapping that the import makes, after EndSurvey(); null if it makes none.
  virtual const Mapping* NewMapping() const { return nullptr; }
};

}  // namespace stele::internal::lab
