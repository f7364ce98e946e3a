// facts/column_facts.h: the families and columns of a table, and how many versions they have.
//
// Threads:   confined to one thread. Rows come in order, and cells in the order of a read.
// Memory:    at most 2,000 columns per family, and about 10,000 in all. At these limits, the half
//            of a family's columns with the fewest cells is dropped. A dropped column that occurs
//            again is counted from 0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lab/facts/count_histogram.h"
#include "lab/facts/distinct_counter.h"
#include "lab/facts/frequent_items.h"
#include "lab/facts/offenders.h"
#include "stele/row.h"

namespace stele::internal::lab {

struct ColumnFacts {
  std::string qualifier;  // its first 256 bytes
  uint64_t rows = 0;
  uint64_t cells = 0;
  const char* personal_kind = nullptr;  // the kind of personal data in the qualifier, or null
  CountHistogram versions{48};          // per row
};

struct FamilyFacts {
  const char* personal_kind = nullptr;  // the kind of personal data in its name, or null
  CountHistogram versions;              // per row and column
  Offenders many_versions;              // rows with a column that has more versions than the limit
  std::unordered_map<uint64_t, ColumnFacts> columns;  // by the hash of the qualifier
};

class TableColumns {
 public:
  explicit TableColumns(double versions_max) : versions_max_(versions_max) {}

  // Adds a row, or the next piece of a large one.
  void Add(const RowView& piece);

  // The kind of personal data in the name of a family or column of the last row, or null; and this
  // name.
  const char* row_personal_kind() const { return row_personal_kind_; }
  const std::string& row_personal_name() const { return row_personal_name_; }

  const std::map<std::string, FamilyFacts, std::less<>>& families() const { return families_; }
  // The rows that have the most frequent set of columns.
  uint64_t largest_set_rows() const { return sets_.Largest().count; }
  // The number of different sets of columns, and the sum of the numbers of columns of all rows.
  uint64_t set_count() const { return set_counter_.Count(); }
  uint64_t column_count() const { return row_columns_; }

 private:
  void BeginColumn(const CellView& cell);
  void EndColumn(std::string_view row_key);
  void Prune(FamilyFacts* family);

  const double versions_max_;
  std::map<std::string, FamilyFacts, std::less<>> families_;
  size_t known_columns_ = 0;
  FrequentItems sets_;  // of the hashes of column sets
  DistinctCounter set_counter_;
  uint64_t row_columns_ = 0;
  bool is_row_open_ = false;
  uint64_t set_hash_ = 0;
  const char* row_personal_kind_ = nullptr;
  std::string row_personal_name_;
  // The column whose versions are being counted.
  FamilyFacts* family_ = nullptr;
  std::string family_name_;
  ColumnFacts* column_ = nullptr;
  std::string qualifier_;
  uint64_t versions_ = 0;
};

}  // namespace stele::internal::lab
