// trace/operation_facts.h: facts about the operations on one table, for the rules of lint.
//
// Threads:   confined to one thread. Operations come in the order of time.
// Memory:    at most 64 MiB, for traces of any size.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lab/facts/frequent_items.h"
#include "lab/facts/offenders.h"
#include "lab/facts/segments.h"
#include "lab/trace/hot_rows.h"
#include "lab/trace/load_spread.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

// Parameters of rules that must be known before the operations.
struct OperationLimits {
  double mutation_cells = 0;
  double small_bytes = 0;
  double writes_per_minute = 0;
  double sustained_writes = 0;
};

// The order in which rows were first written. After 200,000 rows, or 16 MiB, the rest is ignored.
class WriteOrder {
 public:
  void Add(const std::string& row);
  size_t rows() const { return rows_.size(); }
  // Returns the share of rows above all earlier rows, or the share below all earlier rows,
  // whichever is larger. The first row is not counted.
  double MonotoneShare() const;
  // The absolute value of Spearman's rank correlation between the order of the keys and the order
  // of the first writes.
  double RankCorrelation() const;

 private:
  std::vector<std::string> rows_;
  std::unordered_set<std::string> seen_;
  size_t bytes_ = 0;
  uint64_t above_ = 0;
  uint64_t below_ = 0;
  std::string smallest_;
  std::string largest_;
};

class OperationFacts {
 public:
  struct Column {
    uint64_t writes = 0;
    uint64_t increments = 0;
  };
  struct RegexScans {
    uint64_t scans = 0;
    uint64_t rows_seen = 0;
    uint64_t rows_returned = 0;
  };

  // `table_rows`: the number of rows of the table; 0 if it is unknown. `keys` are its known keys,
  // and must outlive the object.
  OperationFacts(const OperationLimits& limits, std::string delimiter, uint64_t table_rows,
                 const KnownKeys& keys)
      : limits_(limits),
        delimiter_(std::move(delimiter)),
        table_rows_(table_rows),
        hot_rows_(limits.writes_per_minute, limits.sustained_writes),
        spread_(keys) {}

  void Add(const TraceRecord& record);
  // True if the counts of hot rows are estimates. Then call StartRecount(), and Recount() with each
  // operation in the same order.
  bool needs_recount() const { return hot_rows_.needs_recount(); }
  void StartRecount() { hot_rows_.Recount(); }
  void Recount(const TraceRecord& record);
  // Call it after the last operation.
  void Finish() { spread_.Finish(); }

  uint64_t operations() const { return operations_; }
  uint64_t reads() const { return reads_; }
  const std::string& delimiter() const { return delimiter_; }  // of the row keys
  uint64_t unfiltered_reads() const { return unfiltered_reads_; }
  uint64_t filtered_cells_seen() const { return filtered_cells_seen_; }
  uint64_t filtered_cells_returned() const { return filtered_cells_returned_; }
  uint64_t filtered_reads() const { return filtered_reads_; }
  // Scans without bounds and limit, and scans that visited at least half of the table's rows.
  uint64_t full_scans() const { return full_scans_; }
  // Scans of a prefix that ends with the delimiter. They returned two or more rows, and fewer bytes
  // than OperationLimits::small_bytes.
  uint64_t entity_scans() const { return entity_scans_; }
  const Offenders& large_mutations() const { return large_mutations_; }
  const Offenders& wide_batches() const { return wide_batches_; }
  // The set of families that most reads read.
  struct FamilySet {
    bool has_all = false;
    std::vector<std::string> names;  // empty if has_all; "" for a name beyond the limit
    uint64_t reads = 0;
  };
  FamilySet MostReadFamilies() const;
  const std::map<std::string, Column, std::less<>>& columns() const {
    return columns_;
  }  // by family:qualifier
  const std::map<std::string, RegexScans>& regex_scans() const { return regex_scans_; }  // by tag
  const HotRows& hot_rows() const { return hot_rows_; }
  const WriteOrder& write_order() const { return write_order_; }
  const LoadSpread& spread() const { return spread_; }

 private:
  void AddRead(const TraceRecord& record);
  void AddFamilies(const TraceRecord& record);
  void AddScan(const TraceRecord& record);
  void AddWrite(const TraceRecord& record);
  void AddBatch(const TraceRecord& record);
  void AddColumn(std::string_view name, uint64_t count, bool is_increment);

  const OperationLimits limits_;
  const std::string delimiter_;
  const uint64_t table_rows_;
  uint64_t operations_ = 0;
  uint64_t reads_ = 0;
  uint64_t unfiltered_reads_ = 0;
  uint64_t filtered_reads_ = 0;
  uint64_t filtered_cells_seen_ = 0;
  uint64_t filtered_cells_returned_ = 0;
  uint64_t full_scans_ = 0;
  uint64_t entity_scans_ = 0;
  Offenders large_mutations_;
  Offenders wide_batches_;
  // The names of families, at most 1,000 or 64 KiB. A set is the places of its names, two bytes
  // each and in ascending order; "" is the set of all families.
  std::vector<std::string> family_names_;
  std::map<std::string, uint16_t> family_places_;
  size_t family_bytes_ = 0;
  FrequentItems family_sets_;
  std::map<std::string, Column, std::less<>> columns_;
  size_t column_bytes_ = 0;
  std::map<std::string, RegexScans> regex_scans_;
  // The first row of each batch; "" after the batch was counted. At most 50,000 batches or 4 MiB.
  std::map<uint64_t, std::string> batches_;
  size_t batch_bytes_ = 0;
  HotRows hot_rows_;
  WriteOrder write_order_;
  LoadSpread spread_;
};

}  // namespace stele::internal::lab
