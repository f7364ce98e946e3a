// lint/design_source.h: reads the tables of a design file, and maps the records of its inputs to
// rows.
//
// Errors:    InvalidArgument for a wrong design, and for a record that does not fit; NotFound for a
//            missing file; errors of the temporary database.
// Threads:   confined to one thread.
// Memory:    64 MiB while records are read, and a database with a budget of 64 MiB.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lab/design/design_model.h"
#include "lab/rules/rule.h"
#include "lab/staging/temporary_database.h"
#include "stele/lab/design.h"
#include "stele/lab/load.h"

namespace stele::internal::lab {

class DesignSource {
 public:
  // Reads the design. `tables`: the tables that are checked; empty: all. `inputs`: the paths of
  // inputs by name, instead of those in the design.
  absl::Status Open(const std::string& path, const std::vector<std::string>& tables,
                    const std::map<std::string, std::string>& inputs);

  // The chosen tables, by name.
  const std::vector<std::string>& tables() const { return tables_; }
  std::vector<std::string> all_tables() const { return design_->tables(); }
  const LintSettings& settings() const { return model_.lint; }
  absl::StatusOr<Schema> TableSchema(const std::string& table) const {
    return design_->TableSchema(table);
  }

  // The design, and the files and directories of its inputs.
  std::vector<std::string> Files() const;
  // True if an input of a chosen table has a file.
  bool HasRecords() const;
  // Maps the records of all inputs that have a file to rows. `records_max`: of each input; 0: all.
  absl::Status Load(uint64_t records_max, const std::string& temporary_directory);
  // The rows of a table, or nullopt if none of its inputs has a file. Call it after Load().
  absl::StatusOr<std::optional<Table>> OpenRows(const std::string& table) const;
  const Database& database() const { return rows_.database(); }
  // Sentences about cells that no record fills, and fields that no record has, after Load().
  // `records_max`: as for Load().
  std::vector<std::string> Hints(uint64_t records_max) const;
  // The counts of Load() for a table, or null.
  const stele::lab::LoadReport::TableCounts* CountsOf(const std::string& table) const;

  // The line of the design file at which a finding is shown: that of the key, family or table.
  uint64_t LineOf(const LintFinding& finding) const;

 private:
  bool HasFile(const std::string& input) const;
  // The design with only the chosen tables and the inputs that have a file, and without age limits
  // in GC rules. Returns nullopt if no table is left.
  std::optional<stele::lab::Design> LoadableDesign() const;

  DesignModel model_;
  std::optional<stele::lab::Design> design_;
  std::vector<std::string> tables_;
  std::map<std::string, std::string> inputs_;
  TemporaryDatabase rows_;
  stele::lab::LoadReport report_;
};

}  // namespace stele::internal::lab
