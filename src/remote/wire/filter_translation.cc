#include "remote/wire/filter_translation.h"

#include <google/protobuf/unknown_field_set.h>

#include <string>
#include <utility>
#include <vector>

#include "model/access.h"
#include "model/filter_node.h"
#include "remote/wire/field_errors.h"
#include "remote/wire/timestamps.h"

namespace stele::internal {

namespace wire = ::google::bigtable::v2;

namespace {

// A switch is a field that must be true if it is set.
absl::StatusOr<Filter> Switch(const char* field, bool on, Filter filter) {
  if (!on) return InvalidArgument("Error in field '{}' : must be true", field);
  return filter;
}

ByteRange ToColumnBytes(const wire::ColumnRange& range) {
  RangeBound start_bound = RangeBound::kUnbounded;
  RangeBound end_bound = RangeBound::kUnbounded;
  std::string start;
  std::string end;
  if (range.start_qualifier_case() == wire::ColumnRange::kStartQualifierClosed) {
    start_bound = RangeBound::kClosed;
    start = range.start_qualifier_closed();
  } else if (range.start_qualifier_case() == wire::ColumnRange::kStartQualifierOpen) {
    start_bound = RangeBound::kOpen;
    start = range.start_qualifier_open();
  }
  if (range.end_qualifier_case() == wire::ColumnRange::kEndQualifierClosed) {
    end_bound = RangeBound::kClosed;
    end = range.end_qualifier_closed();
  } else if (range.end_qualifier_case() == wire::ColumnRange::kEndQualifierOpen) {
    end_bound = RangeBound::kOpen;
    end = range.end_qualifier_open();
  }
  return ByteRange(start_bound, std::move(start), end_bound, std::move(end));
}

ByteRange ToValueBytes(const wire::ValueRange& range) {
  RangeBound start_bound = RangeBound::kUnbounded;
  RangeBound end_bound = RangeBound::kUnbounded;
  std::string start;
  std::string end;
  if (range.start_value_case() == wire::ValueRange::kStartValueClosed) {
    start_bound = RangeBound::kClosed;
    start = range.start_value_closed();
  } else if (range.start_value_case() == wire::ValueRange::kStartValueOpen) {
    start_bound = RangeBound::kOpen;
    start = range.start_value_open();
  }
  if (range.end_value_case() == wire::ValueRange::kEndValueClosed) {
    end_bound = RangeBound::kClosed;
    end = range.end_value_closed();
  } else if (range.end_value_case() == wire::ValueRange::kEndValueOpen) {
    end_bound = RangeBound::kOpen;
    end = range.end_value_open();
  }
  return ByteRange(start_bound, std::move(start), end_bound, std::move(end));
}

class FilterTranslation {
 public:
  explicit FilterTranslation(TimestampGranularity granularity) : granularity_(granularity) {}

  absl::StatusOr<Filter> Translate(const wire::RowFilter& filter, int depth) {
    switch (filter.filter_case()) {
      case wire::RowFilter::kChain: {
        STELE_ASSIGN_OR_RETURN(std::vector<Filter> children,
                               Children(filter.chain().filters(), depth));
        return Filter::Chain(std::move(children));
      }
      case wire::RowFilter::kInterleave: {
        STELE_ASSIGN_OR_RETURN(std::vector<Filter> children,
                               Children(filter.interleave().filters(), depth));
        return Filter::Interleave(std::move(children));
      }
      case wire::RowFilter::kCondition:
        return Condition(filter.condition(), depth);
      case wire::RowFilter::kTimestampRangeFilter: {
        absl::StatusOr<TimestampRange> range =
            ToTimestampRange(filter.timestamp_range_filter(), granularity_);
        if (!range.ok()) return InField(range.status(), "timestamp_range_filter");
        return Filter::TimestampRange(*range);
      }
      case wire::RowFilter::kPassAllFilter:
      case wire::RowFilter::kBlockAllFilter:
      case wire::RowFilter::kSink:
      case wire::RowFilter::kStripValueTransformer:
        return Switched(filter);
      case wire::RowFilter::FILTER_NOT_SET:
        // A filter kind that is unknown to this server must not be treated as PassAll.
        if (!filter.GetReflection()->GetUnknownFields(filter).empty())
          return Unimplemented("A filter of a kind that this server does not support");
        return Filter::PassAll();
      default:
        return Leaf(filter);
    }
  }

 private:
  absl::Status CheckDepth(int depth) const {
    if (depth < kFilterDepthMax) return absl::OkStatus();
    return InvalidArgument("Filters may be nested at most {} deep", kFilterDepthMax);
  }

  template <typename Filters>
  absl::StatusOr<std::vector<Filter>> Children(const Filters& filters, int depth) {
    STELE_RETURN_IF_ERROR(CheckDepth(depth));
    std::vector<Filter> children;
    children.reserve(static_cast<size_t>(filters.size()));
    for (const wire::RowFilter& filter : filters) {
      STELE_ASSIGN_OR_RETURN(Filter child, Translate(filter, depth + 1));
      children.push_back(std::move(child));
    }
    return children;
  }

  // A missing branch passes nothing. A missing predicate passes everything, as any empty filter
  // does.
  absl::StatusOr<Filter> Condition(const wire::RowFilter::Condition& condition, int depth) {
    STELE_RETURN_IF_ERROR(CheckDepth(depth));
    STELE_ASSIGN_OR_RETURN(Filter predicate, Translate(condition.predicate_filter(), depth + 1));
    Filter if_true = Filter::BlockAll();
    if (condition.has_true_filter()) {
      STELE_ASSIGN_OR_RETURN(if_true, Translate(condition.true_filter(), depth + 1));
    }
    Filter if_false = Filter::BlockAll();
    if (condition.has_false_filter()) {
      STELE_ASSIGN_OR_RETURN(if_false, Translate(condition.false_filter(), depth + 1));
    }
    return Filter::Condition(std::move(predicate), std::move(if_true), std::move(if_false));
  }

  static absl::StatusOr<Filter> Switched(const wire::RowFilter& filter) {
    switch (filter.filter_case()) {
      case wire::RowFilter::kPassAllFilter:
        return Switch("pass_all_filter", filter.pass_all_filter(), Filter::PassAll());
      case wire::RowFilter::kBlockAllFilter:
        return Switch("block_all_filter", filter.block_all_filter(), Filter::BlockAll());
      case wire::RowFilter::kSink:
        return Switch("sink", filter.sink(), Filter::Sink());
      default:
        return Switch("strip_value_transformer", filter.strip_value_transformer(),
                      Filter::StripValue());
    }
  }

  static Filter Leaf(const wire::RowFilter& filter) {
    switch (filter.filter_case()) {
      case wire::RowFilter::kRowKeyRegexFilter:
        return Filter::RowKeyRegex(filter.row_key_regex_filter());
      case wire::RowFilter::kFamilyNameRegexFilter:
        return Filter::FamilyRegex(filter.family_name_regex_filter());
      case wire::RowFilter::kColumnQualifierRegexFilter:
        return Filter::ColumnRegex(filter.column_qualifier_regex_filter());
      case wire::RowFilter::kColumnRangeFilter:
        return Filter::ColumnRange(filter.column_range_filter().family_name(),
                                   ToColumnBytes(filter.column_range_filter()));
      case wire::RowFilter::kValueRegexFilter:
        return Filter::ValueRegex(filter.value_regex_filter());
      case wire::RowFilter::kCellsPerRowOffsetFilter:
        return Filter::CellsRowOffset(filter.cells_per_row_offset_filter());
      case wire::RowFilter::kCellsPerRowLimitFilter:
        return Filter::CellsRowLimit(filter.cells_per_row_limit_filter());
      case wire::RowFilter::kCellsPerColumnLimitFilter:
        return Filter::Latest(filter.cells_per_column_limit_filter());
      case wire::RowFilter::kRowSampleFilter:
        return Filter::RowSample(filter.row_sample_filter());
      case wire::RowFilter::kValueRangeFilter:
        return Filter::ValueRange(ToValueBytes(filter.value_range_filter()));
      case wire::RowFilter::kApplyLabelTransformer:
        return Filter::Label(filter.apply_label_transformer());
      case wire::RowFilter::kValueBitmaskFilter:
        return Filter::ValueBitmask(filter.value_bitmask_filter().mask());
      default:
        return Filter::PassAll();
    }
  }

  const TimestampGranularity granularity_;
};

void FillColumnRange(const std::string& family, const ByteRange& range, wire::ColumnRange* out) {
  out->set_family_name(family);
  if (range.start_bound() == RangeBound::kClosed) out->set_start_qualifier_closed(range.start());
  if (range.start_bound() == RangeBound::kOpen) out->set_start_qualifier_open(range.start());
  if (range.end_bound() == RangeBound::kClosed) out->set_end_qualifier_closed(range.end());
  if (range.end_bound() == RangeBound::kOpen) out->set_end_qualifier_open(range.end());
}

void FillValueRange(const ByteRange& range, wire::ValueRange* out) {
  if (range.start_bound() == RangeBound::kClosed) out->set_start_value_closed(range.start());
  if (range.start_bound() == RangeBound::kOpen) out->set_start_value_open(range.start());
  if (range.end_bound() == RangeBound::kClosed) out->set_end_value_closed(range.end());
  if (range.end_bound() == RangeBound::kOpen) out->set_end_value_open(range.end());
}

void FillTimestampRange(const TimestampRange& range, wire::RowFilter* out) {
  if (range.end == Timestamp()) {
    out->set_block_all_filter(true);
    return;
  }
  wire::TimestampRange* const bounds = out->mutable_timestamp_range_filter();
  bounds->set_start_timestamp_micros(range.start.micros());
  if (range.end.has_value()) bounds->set_end_timestamp_micros(range.end->micros());
}

void FillCondition(const std::vector<Filter>& children, wire::RowFilter::Condition* out) {
  *out->mutable_predicate_filter() = ToWireFilter(children[0]);
  *out->mutable_true_filter() = ToWireFilter(children[1]);
  *out->mutable_false_filter() = ToWireFilter(children[2]);
}

// Translates filters that select by name, value or time.
void FillSelection(const FilterNode& node, wire::RowFilter* out) {
  switch (node.kind) {
    case FilterKind::kFamilyRegex:
      out->set_family_name_regex_filter(node.text);
      break;
    case FilterKind::kColumnRegex:
      out->set_column_qualifier_regex_filter(node.text);
      break;
    case FilterKind::kFamily:
      FillColumnRange(node.text, ByteRange::All(), out->mutable_column_range_filter());
      break;
    case FilterKind::kColumn:
      FillColumnRange(node.text, ByteRange::Closed(node.qualifier, node.qualifier),
                      out->mutable_column_range_filter());
      break;
    case FilterKind::kColumnRange:
      FillColumnRange(node.text, node.range, out->mutable_column_range_filter());
      break;
    case FilterKind::kValueRange:
      FillValueRange(node.range, out->mutable_value_range_filter());
      break;
    case FilterKind::kTimestampRange:
      FillTimestampRange(node.timestamps, out);
      break;
    case FilterKind::kRowKeyRegex:
      out->set_row_key_regex_filter(node.text);
      break;
    case FilterKind::kValueRegex:
      out->set_value_regex_filter(node.text);
      break;
    case FilterKind::kValueBitmask:
      out->mutable_value_bitmask_filter()->set_mask(node.text);
      break;
    default:
      break;
  }
}

}  // namespace

wire::RowFilter ToWireFilter(const Filter& filter) {
  const FilterNode& node = Access::Node(filter);
  wire::RowFilter result;
  switch (node.kind) {
    case FilterKind::kPassAll:
      result.set_pass_all_filter(true);
      break;
    case FilterKind::kBlockAll:
      result.set_block_all_filter(true);
      break;
    case FilterKind::kLatest:
      result.set_cells_per_column_limit_filter(node.count);
      break;
    case FilterKind::kCellsRowLimit:
      result.set_cells_per_row_limit_filter(node.count);
      break;
    case FilterKind::kCellsRowOffset:
      result.set_cells_per_row_offset_filter(node.count);
      break;
    case FilterKind::kRowSample:
      result.set_row_sample_filter(node.probability);
      break;
    case FilterKind::kStripValue:
      result.set_strip_value_transformer(true);
      break;
    case FilterKind::kLabel:
      result.set_apply_label_transformer(node.text);
      break;
    case FilterKind::kSink:
      result.set_sink(true);
      break;
    case FilterKind::kCondition:
      FillCondition(node.children, result.mutable_condition());
      break;
    case FilterKind::kChain:
      for (const Filter& child : node.children)
        *result.mutable_chain()->add_filters() = ToWireFilter(child);
      break;
    case FilterKind::kInterleave:
      for (const Filter& child : node.children)
        *result.mutable_interleave()->add_filters() = ToWireFilter(child);
      break;
    default:
      FillSelection(node, &result);
      break;
  }
  return result;
}

absl::StatusOr<Filter> ToFilter(const wire::RowFilter& filter, TimestampGranularity granularity) {
  if (const size_t bytes = filter.ByteSizeLong(); bytes > kFilterWireBytesMax) {
    return InvalidArgument("The filter has {} bytes, at most {} are allowed", bytes,
                           kFilterWireBytesMax);
  }
  return FilterTranslation(granularity).Translate(filter, 0);
}

}  // namespace stele::internal
