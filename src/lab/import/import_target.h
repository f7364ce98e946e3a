// import/import_target.h: opens and checks the tables that an import writes to, and records the
// import. It also checks whether the tables still have the rows that an interrupted run wrote.
//
// Record:    the property dynamodb.import of the first table (mapping/mapping_store.h). A server
//            stores no properties. There, a table with rows is accepted only if the state file or
//            the mapping file shows that this import made it.
// Threads:   confined to one thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/dynamodb/export_directory.h"
#include "lab/import/import_state.h"
#include "lab/import/table_writer.h"
#include "lab/import_modes/import_mode.h"
#include "lab/mapping/mapping.h"
#include "lab/mapping/mapping_store.h"
#include "stele/database.h"

namespace stele::internal::lab {

class ImportTarget {
 public:
  // `options` must outlive it.
  ImportTarget(Database database, const DynamoDbImportOptions& options)
      : database_(std::move(database)), options_(options) {}

  // Opens the table that an incremental export changes, and returns it with the mapping of its full
  // import.
  // Errors: NotFound if there is no such table; FailedPrecondition if it was imported from another
  // table of DynamoDB.
  absl::StatusOr<std::pair<Table, Mapping>> OpenChanged(const ExportDirectory& exported);

  // Checks that the input with these MD5 sums may be written to the tables of the mode. `exported`:
  // null if the input is no export. Returns true if an earlier import has written all of it.
  absl::StatusOr<bool> Check(const ImportMode& mode, const ExportDirectory* exported,
                             const std::vector<std::string>& sums, DynamoDbImportReport* report);
  // Opens the tables, after Check(), and creates those that are missing.
  absl::StatusOr<TableWriter> Open(const ImportMode& mode);
  // Removes the completed files of an interrupted run from its state if the tables do not have
  // their rows, because the database or a table was deleted or replaced. Adds a note to the report.
  absl::Status CheckCompletedFiles(TableWriter& writer, ImportState* state,
                                   DynamoDbImportReport* report) const;
  // Records in the first table that the files of the state are completed.
  absl::Status Record(Table& table, const ImportState& state, bool is_complete);

  // Empty if the database is created only after all checks.
  const Database& database() const { return database_; }

 private:
  bool has_record() const {
    const bool is_google = options_.mode == DynamoDbImportOptions::Mode::kGoogle;
    return options_.stores_properties && (is_google || options_.mapping_path.empty());
  }
  absl::StatusOr<Table> TableOfFullImport() const;
  absl::Status CheckSourceTable(const Table& table, const Mapping& mapping,
                                const ExportDirectory& exported) const;
  absl::StatusOr<bool> CheckTables(const ImportMode& mode);
  absl::Status CheckWithoutRecord(const Table& table) const;
  absl::StatusOr<bool> CheckChanges(const ExportDirectory& exported, DynamoDbImportReport* report);
  absl::Status CheckOrder(const ExportDirectory& exported, DynamoDbImportReport* report) const;
  absl::StatusOr<bool> HasFiles(TableWriter& writer, const ImportState& state) const;
  absl::StatusOr<bool> HasKnownRows(TableWriter& writer, const ImportState& state) const;

  Database database_;
  const DynamoDbImportOptions& options_;
  std::optional<Table> changed_table_;         // of an incremental export
  std::optional<int64_t> export_time_micros_;  // of an export
  std::string source_;                         // identifies the input
  bool has_mapping_file_ = false;              // before this run
  bool tables_exist_ = true;                   // all of them, before this run
  ImportRecord found_;                         // the record of the table before this run
  ImportRecord record_;                        // of the table
};

}  // namespace stele::internal::lab
