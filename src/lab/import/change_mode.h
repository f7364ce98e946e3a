// import/change_mode.h: applies the changes of an incremental export to a table of an earlier
// import.
//
// Errors:    those of ImportMode.
// Threads:   confined to one thread.
#pragma once

#include <vector>

#include "lab/import/import_mode.h"
#include "lab/import/row_builder.h"
#include "lab/mapping/mapping.h"
#include "stele/table.h"

namespace stele::internal::lab {

class ChangeMode : public ImportMode {
 public:
  // `mapping`: that of the table.
  ChangeMode(Table table, Mapping mapping, TimeRules times);

  absl::Status Survey(const Record& record, uint64_t position) override;
  absl::Status EndSurvey(const PositionText& text, DynamoDbImportReport* report) override;
  // Adds the families that the new items need.
  absl::StatusOr<std::vector<TablePlan>> Tables() const override;
  absl::Status Convert(const Record& record, const RowSink& sink,
                       DynamoDbImportReport* report) override;

 private:
  const Table table_;
  const Mapping mapping_;
  const TimeRules times_;
  FamilyNeeds needs_;
};

}  // namespace stele::internal::lab
