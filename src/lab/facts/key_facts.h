// facts/key_facts.h: facts about the row keys of a table, and their segments.
//
// Threads:   confined to one thread. Keys come in order.
// Memory:    at most 110 MB, if eight segments have a million distinct values each.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lab/facts/count_histogram.h"
#include "lab/facts/distinct_counter.h"
#include "lab/facts/first_segment.h"
#include "lab/facts/number_order.h"
#include "lab/facts/offenders.h"
#include "lab/facts/segments.h"
#include "stele/keys.h"

namespace stele::internal::lab {

// The segments at one position.
struct PositionFacts {
  uint64_t rows = 0;
  uint64_t times = 0;
  uint64_t numbers = 0;  // of at most NumberOrder::kDigitsMax digits
  NumberOrder order;
  DistinctCounter distinct;
  // The fields at this position. They are the segments, except in ordered code.
  uint64_t fields = 0;
  Offenders cards;  // samples are masked

  void Add(std::string_view segment);
  void AddField(std::string_view field);
};

class KeyFacts {
 public:
  KeyFacts(SegmentPlan plan, const keys::RowKeySchema* schema);

  // `has_personal_column`: the row has a column whose name is personal data.
  void Add(std::string_view row_key, bool has_personal_column);
  void Finish();

  const SegmentPlan& plan() const { return plan_; }
  uint64_t rows() const { return rows_; }
  uint64_t rows_with_parts() const { return rows_with_parts_; }  // with two or more segments
  // The rows whose last segment is a time.
  uint64_t last_times() const { return last_times_; }
  // The keys with control characters, or with bytes that are not UTF-8.
  const Offenders& control_bytes() const { return control_bytes_; }
  // The other keys with characters beyond ASCII.
  const Offenders& beyond_ascii() const { return beyond_ascii_; }
  const Offenders& schema_misses() const { return schema_misses_; }
  const Offenders& personal() const { return personal_; }  // samples are masked
  const std::string& personal_kind() const { return personal_kind_; }
  const std::vector<std::string>& first_keys() const { return first_keys_; }
  // The keys by their number of segments. After 64 different numbers, keys with another number
  // count under the largest known one.
  const std::map<size_t, Offenders>& by_segment_count() const { return by_segment_count_; }
  const std::array<PositionFacts, kSegmentsMax>& positions() const { return positions_; }
  const FirstSegment& first() const { return first_; }
  // How many rows have the same prefix: everything before the last segment.
  const CountHistogram& prefix_rows() const { return prefix_rows_; }
  void NotePersonal(const char* kind, std::string_view value);

 private:
  void AddBytes(std::string_view row_key);
  // `fields`: those of the key. Returns true if one is personal data.
  bool AddFields(const Segments& fields);
  void AddSegments(std::string_view row_key, const Segments& segments);

  const SegmentPlan plan_;
  const SegmentPlan field_plan_;  // of keys in ordered code
  const keys::RowKeySchema* const schema_;
  uint64_t rows_ = 0;
  uint64_t rows_with_parts_ = 0;
  uint64_t last_times_ = 0;
  Offenders control_bytes_;
  Offenders beyond_ascii_;
  Offenders schema_misses_;
  Offenders personal_;
  std::string personal_kind_;
  std::vector<std::string> first_keys_;
  std::map<size_t, Offenders> by_segment_count_;
  std::array<PositionFacts, kSegmentsMax> positions_;
  FirstSegment first_;
  std::string prefix_;
  uint64_t prefix_run_rows_ = 0;
  CountHistogram prefix_rows_;
};

}  // namespace stele::internal::lab
