#include <algorithm>

#include "base/status.h"
#include "model/access.h"
#include "model/filter_node.h"
#include "model/validate.h"

namespace stele::internal {
namespace {

constexpr size_t kLabelBytesMax = 15;

absl::Status CheckCount(const FilterNode& node, std::string_view what, int least) {
  if (node.count >= least) return absl::OkStatus();
  return InvalidArgument("filter: {} of {}, it must be at least {}", what, node.count, least);
}

// In a protocol buffer a family is a regex, in which ':' is refused.
absl::Status CheckNoColon(const std::string& family) {
  if (family.find(':') == std::string::npos) return absl::OkStatus();
  return InvalidArgument("filter: family \"{}\": a ':' cannot be part of it", Printable(family));
}

absl::Status CheckRange(std::string_view what, const ByteRange& range) {
  const bool bounded =
      range.start_bound() != RangeBound::kUnbounded && range.end_bound() != RangeBound::kUnbounded;
  if (!bounded || range.start() <= range.end()) return absl::OkStatus();
  return InvalidArgument("filter: {} range: the start \"{}\" is greater than the end \"{}\"", what,
                         Printable(range.start()), Printable(range.end()));
}

absl::Status CheckLabel(const std::string& label) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (!label.empty() && label.size() <= kLabelBytesMax &&
      std::all_of(label.begin(), label.end(), allowed))
    return absl::OkStatus();
  return InvalidArgument("filter: label \"{}\": it must be 1 to {} of [a-z0-9-]", Printable(label),
                         kLabelBytesMax);
}

absl::Status CheckSample(double probability) {
  if (probability > 0 && probability < 1) return absl::OkStatus();  // false for NaN, too
  return InvalidArgument("filter: a row sample of {}, it must be greater than 0 and less than 1",
                         probability);
}

// Traverses a filter whose depth and size were checked before.
class FilterCheck {
 public:
  explicit FilterCheck(TimestampGranularity granularity) : granularity_(granularity) {}

  absl::Status Check(const FilterNode& node, bool in_condition) {
    switch (node.kind) {
      case FilterKind::kCondition:
      case FilterKind::kChain:
      case FilterKind::kInterleave:
        return CheckComposite(node, in_condition);
      case FilterKind::kLabel:
        has_label_ = true;
        return CheckLabel(node.text);
      case FilterKind::kSink:
        return in_condition ? InvalidArgument("filter: a sink cannot be nested in a condition")
                            : absl::OkStatus();
      default:
        return CheckLeaf(node);
    }
  }

 private:
  absl::Status CheckComposite(const FilterNode& node, bool in_condition) {
    const bool is_chain = node.kind == FilterKind::kChain;
    const bool is_condition = node.kind == FilterKind::kCondition;
    if (!is_condition && node.children.size() < 2) {
      return InvalidArgument("filter: {} of {} filters, it needs at least two",
                             is_chain ? "a chain" : "an interleave", node.children.size());
    }
    int labelling_count = 0;
    for (const Filter& child : node.children) {
      has_label_ = false;
      STELE_RETURN_IF_ERROR(Check(Access::Node(child), in_condition || is_condition));
      if (has_label_) ++labelling_count;
    }
    has_label_ = labelling_count > 0;
    if (is_chain && labelling_count > 1)
      return InvalidArgument("filter: a chain in which more than one filter applies a label");
    return absl::OkStatus();
  }

  absl::Status CheckLeaf(const FilterNode& node) const {
    switch (node.kind) {
      case FilterKind::kLatest:
        return CheckCount(node, "the latest cells", 1);
      case FilterKind::kCellsRowLimit:
        return CheckCount(node, "a limit of cells in a row", 1);
      case FilterKind::kCellsRowOffset:
        return CheckCount(node, "an offset of cells in a row", 0);
      case FilterKind::kFamilyRegex:
      case FilterKind::kFamily:
      case FilterKind::kColumn:
        return CheckNoColon(node.text);
      case FilterKind::kRowKeyRegex:
        return node.text.empty() ? InvalidArgument("filter: an empty row key regex")
                                 : absl::OkStatus();
      case FilterKind::kColumnRange:
        return CheckRange("column", node.range);
      case FilterKind::kValueRange:
        return CheckRange("value", node.range);
      case FilterKind::kTimestampRange:
        return WithContext(ValidateTimestampRange(node.timestamps, granularity_), "filter");
      case FilterKind::kValueBitmask:
        return node.text.empty() ? InvalidArgument("filter: an empty value bitmask")
                                 : absl::OkStatus();
      case FilterKind::kRowSample:
        return CheckSample(node.probability);
      default:
        return absl::OkStatus();
    }
  }

  TimestampGranularity granularity_;
  bool has_label_ = false;  // True if the filter checked last applies a label.
};

}  // namespace

absl::Status ValidateFilter(const Filter& filter, TimestampGranularity granularity) {
  const FilterNode& node = Access::Node(filter);
  if (node.depth > kFilterDepthMax)
    return InvalidArgument("filter: nested {} deep, at most {} are allowed", node.depth,
                           kFilterDepthMax);
  if (node.wire_bytes > kFilterWireBytesMax) {
    return InvalidArgument("filter: {} bytes as a message, at most {} are allowed", node.wire_bytes,
                           kFilterWireBytesMax);
  }
  return FilterCheck(granularity).Check(node, /*in_condition=*/false);
}

}  // namespace stele::internal
