// load/field_hints.h: finds fields of a design that its inputs lack, and cells that stay empty.
//
// Threads:   confined to one thread.
// Memory:    the names of the fields of one record of each input.
// Source:    docs/lab/designs.md, "Load".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lab/design/row_mapping.h"
#include "lab/records/record_reader.h"
#include "stele/lab/load.h"

namespace stele::internal::lab {

// Collects the fields and cells of one table. Keeps a reference to the table.
class FieldHints {
 public:
  explicit FieldHints(const DesignTable& table) : table_(table) {}

  // Adds a record of an input that the table may read. The record fits the design.
  void AddRecord(const std::string& input, const RecordReader& reader);
  // Adds the header of an input without records.
  void AddHeader(const std::string& input, const std::vector<std::string>& header);
  // Adds a row that it becomes.
  void AddRow(const MappedRow& row);
  // Sets unfilled_cells and hints.
  void AddTo(stele::lab::LoadReport::TableCounts* counts) const;

  // Returns a sentence about a field without `or` of the key or a timestamp that the header lacks,
  // or "".
  std::string LackingField(std::string_view input, const std::vector<std::string>& header) const;

 private:
  static constexpr size_t kListedMax = 20;

  // The fields of an input, as far as they are known.
  struct Known {
    std::vector<std::string> names;
    bool is_header = false;   // false: the fields of the first record
    bool has_records = true;  // false: only the header is known
  };

  // Adds hints about the fields that an input without records lacks.
  void AddLackingOfRow(const DesignRow& row, std::vector<std::string>* hints) const;
  void AddLackingOf(const std::string& input, const Template& text,
                    std::vector<std::string>* hints) const;
  void AddUnselected(const DesignRow& row, std::vector<std::string>* hints) const;
  void AddLacking(const std::string& input, std::string_view field,
                  std::vector<std::string>* hints) const;

  const DesignTable& table_;
  std::map<std::string, Known> inputs_;             // those with a record that fits, or without
  std::unordered_set<const DesignRow*> selecting_;  // entries whose `when` selected a record
  std::unordered_set<const DesignCell*> filled_;
};

}  // namespace stele::internal::lab
