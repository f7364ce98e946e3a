#include "remote/wire/row_set_translation.h"

#include <string>
#include <utility>

#include "remote/wire/field_errors.h"

namespace stele::internal {

namespace wire = ::google::bigtable::v2;

absl::StatusOr<RowRange> ToRowRange(const wire::RowRange& range) {
  const bool start_open = range.start_key_case() == wire::RowRange::kStartKeyOpen;
  const bool end_closed = range.end_key_case() == wire::RowRange::kEndKeyClosed;
  const std::string& start = start_open ? range.start_key_open() : range.start_key_closed();
  const std::string& end = end_closed ? range.end_key_closed() : range.end_key_open();
  RowRange result;
  if (start_open) {
    result = end_closed ? RowRange::LeftOpen(start, end) : RowRange::Open(start, end);
  } else {
    result = end_closed ? RowRange::Closed(start, end) : RowRange::RightOpen(start, end);
  }
  if (result.IsEmpty()) return InvalidArgument("start_key must be less than end_key");
  return result;
}

absl::StatusOr<RowSet> ToRowSet(const wire::RowSet& rows) {
  if (rows.row_keys().empty() && rows.row_ranges().empty()) return RowSet::All();
  RowSet result;
  for (int i = 0; i < rows.row_keys_size(); ++i) {
    if (rows.row_keys(i).empty()) {
      return InField(
          InElement(InvalidArgument("Row keys must be non-empty"), static_cast<size_t>(i)),
          "row_keys");
    }
    result.Append(rows.row_keys(i));
  }
  for (int i = 0; i < rows.row_ranges_size(); ++i) {
    absl::StatusOr<RowRange> range = ToRowRange(rows.row_ranges(i));
    if (!range.ok())
      return InField(InElement(range.status(), static_cast<size_t>(i)), "row_ranges");
    result.Append(*std::move(range));
  }
  return result;
}

void AddToWire(const KeyRange& range, wire::RowSet* out) {
  const bool is_single = !range.unbounded_end && range.end.size() == range.start.size() + 1 &&
                         range.end.back() == '\0' && range.end.starts_with(range.start);
  if (is_single && !range.start.empty()) {
    out->add_row_keys(range.start);
    return;
  }
  wire::RowRange* const added = out->add_row_ranges();
  if (!range.start.empty()) added->set_start_key_closed(range.start);
  if (!range.unbounded_end) added->set_end_key_open(range.end);
}

}  // namespace stele::internal
