#include "lab/facts/key_facts.h"

#include <algorithm>
#include <utility>

#include "keys/utf8.h"
#include "lab/kinds/personal_data.h"
#include "lab/kinds/value_kinds.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kSegmentCountsMax = 64;

}  // namespace

void PositionFacts::Add(std::string_view segment) {
  ++rows;
  if (IsTime(segment)) ++times;
  if (segment.size() <= NumberOrder::kDigitsMax && IsDigits(segment)) {
    ++numbers;
    order.Add(segment);
  }
  distinct.Add(segment);
}

void PositionFacts::AddField(std::string_view field) {
  ++fields;
  if (IsCardNumber(field)) cards.Add(Masked(field));
}

KeyFacts::KeyFacts(SegmentPlan plan, const keys::RowKeySchema* schema)
    : plan_(std::move(plan)),
      field_plan_{.delimiter = std::string(kFieldSeparator)},
      schema_(schema) {}

void KeyFacts::NotePersonal(const char* kind, std::string_view value) {
  if (personal_kind_.empty()) personal_kind_ = kind;
  if (personal_.samples.size() < kFindingSamplesMax) personal_.samples.push_back(Masked(value));
}

void KeyFacts::Add(std::string_view row_key, bool has_personal_column) {
  ++rows_;
  if (first_keys_.size() < kFindingSamplesMax)
    first_keys_.emplace_back(row_key.substr(0, kSampleBytesMax));
  AddBytes(row_key);
  if (schema_ != nullptr && !schema_->Decode(row_key).ok()) schema_misses_.Add(row_key);
  const Segments segments = SplitKey(row_key, plan_);
  const bool is_personal = AddFields(plan_.is_ordered ? SplitKey(row_key, field_plan_) : segments);
  if (is_personal || has_personal_column) ++personal_.count;
  AddSegments(row_key, segments);
}

bool KeyFacts::AddFields(const Segments& fields) {
  for (size_t i = 0; i < fields.examined(); ++i) positions_[i].AddField(fields.values[i]);
  for (size_t i = 0; i < fields.examined(); ++i) {
    const char* const kind = PersonalDataIn(fields.values[i]);
    if (kind == nullptr) continue;
    NotePersonal(kind, fields.values[i]);
    return true;
  }
  return false;
}

void KeyFacts::AddBytes(std::string_view row_key) {
  const bool has_control = std::any_of(row_key.begin(), row_key.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  const bool has_other = std::any_of(row_key.begin(), row_key.end(),
                                     [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (has_control || (has_other && FirstNotUtf8(row_key).has_value())) {
    control_bytes_.Add(row_key);
  } else if (has_other) {
    beyond_ascii_.Add(row_key);
  }
}

void KeyFacts::AddSegments(std::string_view row_key, const Segments& segments) {
  size_t count = segments.count;
  if (by_segment_count_.size() == kSegmentCountsMax && by_segment_count_.count(count) == 0)
    count = by_segment_count_.rbegin()->first;
  by_segment_count_[count].Add(row_key);
  for (size_t i = 0; i < segments.examined(); ++i) positions_[i].Add(segments.values[i]);
  first_.Add(segments.values[0]);
  if (IsTime(segments.last)) ++last_times_;
  if (segments.count < 2) return;
  ++rows_with_parts_;
  if (prefix_run_rows_ > 0 && prefix_ != segments.prefix) {
    prefix_rows_.Add(prefix_run_rows_);
    prefix_run_rows_ = 0;
  }
  if (prefix_run_rows_ == 0) prefix_ = segments.prefix;
  ++prefix_run_rows_;
}

void KeyFacts::Finish() {
  first_.Finish();
  if (prefix_run_rows_ > 0) prefix_rows_.Add(prefix_run_rows_);
  prefix_run_rows_ = 0;
}

}  // namespace stele::internal::lab
