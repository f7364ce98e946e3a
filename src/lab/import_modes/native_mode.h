// import_modes/native_mode.h: the native mode: stores each item as one row, from which `export`
// builds the item again.
//
// Errors:    those of ImportMode.
// Threads:   confined to one thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/import_modes/attribute_counts.h"
#include "lab/import_modes/import_mode.h"
#include "lab/import_modes/index_survey.h"
#include "lab/import_modes/row_builder.h"
#include "lab/mapping/key_layout.h"
#include "lab/mapping/mapping.h"
#include "lab/values/key_hashes.h"

namespace stele::internal::lab {

class NativeMode : public ImportMode {
 public:
  // `source_table`: the table's name in DynamoDB.
  NativeMode(const DynamoDbImportOptions& options, std::string source_table, TimeRules times);

  absl::Status Survey(const Record& record, uint64_t position) override;
  absl::Status EndSurvey(const PositionText& text, DynamoDbImportReport* report) override;
  absl::StatusOr<std::vector<TablePlan>> Tables() const override;
  absl::Status Convert(const Record& record, const RowSink& sink,
                       DynamoDbImportReport* report) override;

  const Mapping* NewMapping() const override { return &mapping_; }

 private:
  // An index of the source.
  struct Index {
    stele::lab::DynamoDbIndex options;
    IndexSurvey survey;
    KeyLayout key;
  };

  absl::Status ReportDuplicates(const PositionText& text);
  void DescribeAttributes(DynamoDbImportReport* report) const;
  void DescribeKey(DynamoDbImportReport* report) const;
  absl::Status ConvertForIndex(size_t table, const Item& item, const ItemTime& time,
                               const std::string& row_key, const RowSink& sink,
                               DynamoDbImportReport* report);
  std::string IndexTable(const Index& index) const;

  const DynamoDbImportOptions options_;
  const TimeRules times_;
  Mapping mapping_;
  KeySurvey key_survey_;
  KeyHashes keys_;
  AttributeCounts attributes_;
  FamilyNeeds needs_;
  std::vector<Index> indexes_;
  DynamoDbImportReport notes_;  // only its notes: they are found before the report exists
  bool has_items_without_cells_ = false;
  std::set<std::string, std::less<>> unseen_counters_;  // no item has a number for them so far
};

}  // namespace stele::internal::lab
