// Filter::Parse and Filter::ToString. Both use one table of words.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

#include "base/status.h"
#include "model/access.h"
#include "model/filter_node.h"
#include "model/text.h"
#include "stele/filter.h"

namespace stele {
namespace internal {
namespace {

struct Form {
  FilterKind kind;
  std::string_view word;
};
constexpr std::array<Form, 22> kForms{{{FilterKind::kPassAll, "all"},
                                       {FilterKind::kBlockAll, "none"},
                                       {FilterKind::kLatest, "latest"},
                                       {FilterKind::kFamilyRegex, "family_regex"},
                                       {FilterKind::kColumnRegex, "column_regex"},
                                       {FilterKind::kFamily, "family"},
                                       {FilterKind::kColumn, "column"},
                                       {FilterKind::kColumnRange, "column_range"},
                                       {FilterKind::kValueRange, "value_range"},
                                       {FilterKind::kTimestampRange, "timestamps"},
                                       {FilterKind::kRowKeyRegex, "row_regex"},
                                       {FilterKind::kValueRegex, "value_regex"},
                                       {FilterKind::kValueBitmask, "value_bitmask"},
                                       {FilterKind::kCellsRowLimit, "row_limit"},
                                       {FilterKind::kCellsRowOffset, "row_offset"},
                                       {FilterKind::kRowSample, "sample"},
                                       {FilterKind::kStripValue, "strip"},
                                       {FilterKind::kLabel, "label"},
                                       {FilterKind::kSink, "sink"},
                                       {FilterKind::kCondition, "condition"},
                                       {FilterKind::kChain, "chain"},
                                       {FilterKind::kInterleave, "interleave"}}};

std::string_view WordOf(FilterKind kind) {
  for (const Form& form : kForms) {
    if (form.kind == kind) return form.word;
  }
  return {};
}

std::string RangeText(const ByteRange& range) {
  std::string out(1, range.start_bound() == RangeBound::kOpen ? '(' : '[');
  if (range.start_bound() != RangeBound::kUnbounded) out += Quoted(range.start());
  out += ", ";
  if (range.end_bound() != RangeBound::kUnbounded) out += Quoted(range.end());
  out.push_back(range.end_bound() == RangeBound::kClosed ? ']' : ')');
  return out;
}

std::string TimestampsText(const stele::TimestampRange& range) {
  return range.end ? fmt::format("{}, {}", range.start.micros(), range.end->micros())
                   : fmt::format("{}, ", range.start.micros());
}

// The text between the parentheses of a kind without children. Empty: no parentheses.
std::string ArgumentText(const FilterNode& node) {
  switch (node.kind) {
    case FilterKind::kPassAll:
    case FilterKind::kBlockAll:
    case FilterKind::kStripValue:
    case FilterKind::kSink:
      return {};
    case FilterKind::kLatest:
    case FilterKind::kCellsRowLimit:
    case FilterKind::kCellsRowOffset:
      return fmt::format("{}", node.count);
    case FilterKind::kFamilyRegex:
    case FilterKind::kColumnRegex:
    case FilterKind::kFamily:
    case FilterKind::kRowKeyRegex:
    case FilterKind::kValueRegex:
    case FilterKind::kValueBitmask:
    case FilterKind::kLabel:
      return Quoted(node.text);
    case FilterKind::kColumn:
      return Quoted(node.text) + ", " + Quoted(node.qualifier);
    case FilterKind::kColumnRange:
      return Quoted(node.text) + ", " + RangeText(node.range);
    case FilterKind::kValueRange:
      return RangeText(node.range);
    case FilterKind::kTimestampRange:
      return TimestampsText(node.timestamps);
    case FilterKind::kRowSample:
      return fmt::format("{}", node.probability);
    case FilterKind::kCondition:
    case FilterKind::kChain:
    case FilterKind::kInterleave:
      break;
  }
  return {};
}

void AppendText(const FilterNode& node, std::string* out) {
  *out += WordOf(node.kind);
  if (node.depth == 0) {
    const std::string arguments = ArgumentText(node);
    if (!arguments.empty()) *out += fmt::format("({})", arguments);
    return;
  }
  out->push_back('(');
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (i > 0) *out += ", ";
    AppendText(internal::Access::Node(node.children[i]), out);
  }
  out->push_back(')');
}

class FilterParser {
 public:
  explicit FilterParser(std::string_view text) : scanner_(text, "filter") {}

  absl::StatusOr<Filter> Parse() {
    STELE_ASSIGN_OR_RETURN(Filter filter, One());
    if (!scanner_.AtEnd()) return scanner_.Error("expected the end");
    return filter;
  }

 private:
  absl::StatusOr<Filter> One() {
    const std::string_view word = scanner_.Word();
    for (const Form& form : kForms) {
      if (form.word == word) return OfKind(form.kind);
    }
    return scanner_.Error(word.empty() ? "expected a filter"
                                       : fmt::format("'{}' is not a filter", Printable(word)));
  }

  absl::StatusOr<Filter> OfKind(FilterKind kind) {
    switch (kind) {
      case FilterKind::kPassAll:
        return Filter::PassAll();
      case FilterKind::kBlockAll:
        return Filter::BlockAll();
      case FilterKind::kStripValue:
        return Filter::StripValue();
      case FilterKind::kSink:
        return Filter::Sink();
      default:
        break;
    }
    STELE_RETURN_IF_ERROR(scanner_.Expect("("));
    STELE_ASSIGN_OR_RETURN(Filter filter, WithArguments(kind));
    STELE_RETURN_IF_ERROR(scanner_.Expect(")"));
    return filter;
  }

  absl::StatusOr<Filter> WithArguments(FilterKind kind) {
    switch (kind) {
      case FilterKind::kLatest:
      case FilterKind::kCellsRowLimit:
      case FilterKind::kCellsRowOffset:
        return Counting(kind);
      case FilterKind::kColumn:
      case FilterKind::kColumnRange:
        return OfColumns(kind);
      case FilterKind::kValueRange: {
        STELE_ASSIGN_OR_RETURN(ByteRange range, Range());
        return Filter::ValueRange(std::move(range));
      }
      case FilterKind::kTimestampRange:
        return Timestamps();
      case FilterKind::kRowSample:
        return Sample();
      case FilterKind::kCondition:
      case FilterKind::kChain:
      case FilterKind::kInterleave:
        return Composite(kind);
      default:
        return Texted(kind);
    }
  }

  absl::StatusOr<Filter> Counting(FilterKind kind) {
    STELE_ASSIGN_OR_RETURN(const int64_t number, scanner_.Int64());
    if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
      return scanner_.Error("a count too large");
    const int count = static_cast<int>(number);
    if (kind == FilterKind::kLatest) return Filter::Latest(count);
    return kind == FilterKind::kCellsRowLimit ? Filter::CellsRowLimit(count)
                                              : Filter::CellsRowOffset(count);
  }

  absl::StatusOr<Filter> Texted(FilterKind kind) {
    STELE_ASSIGN_OR_RETURN(std::string text, scanner_.QuotedString());
    switch (kind) {
      case FilterKind::kFamilyRegex:
        return Filter::FamilyRegex(std::move(text));
      case FilterKind::kColumnRegex:
        return Filter::ColumnRegex(std::move(text));
      case FilterKind::kFamily:
        return Filter::Family(std::move(text));
      case FilterKind::kRowKeyRegex:
        return Filter::RowKeyRegex(std::move(text));
      case FilterKind::kValueRegex:
        return Filter::ValueRegex(std::move(text));
      case FilterKind::kValueBitmask:
        return Filter::ValueBitmask(std::move(text));
      default:
        return Filter::Label(std::move(text));
    }
  }

  absl::StatusOr<Filter> OfColumns(FilterKind kind) {
    STELE_ASSIGN_OR_RETURN(std::string family, scanner_.QuotedString());
    STELE_RETURN_IF_ERROR(scanner_.Expect(","));
    if (kind == FilterKind::kColumn) {
      STELE_ASSIGN_OR_RETURN(std::string qualifier, scanner_.QuotedString());
      return Filter::Column(std::move(family), std::move(qualifier));
    }
    STELE_ASSIGN_OR_RETURN(ByteRange range, Range());
    return Filter::ColumnRange(std::move(family), std::move(range));
  }

  absl::StatusOr<ByteRange> Range() {
    RangeBound start_bound = scanner_.Accept("(") ? RangeBound::kOpen : RangeBound::kClosed;
    if (start_bound == RangeBound::kClosed) STELE_RETURN_IF_ERROR(scanner_.Expect("["));
    std::string start;
    std::string end;
    if (!scanner_.NextIs(',')) {
      STELE_ASSIGN_OR_RETURN(start, scanner_.QuotedString());
    } else {
      start_bound = RangeBound::kUnbounded;
    }
    STELE_RETURN_IF_ERROR(scanner_.Expect(","));
    const bool has_end = scanner_.NextIs('"');
    if (has_end) {
      STELE_ASSIGN_OR_RETURN(end, scanner_.QuotedString());
    }
    const bool closed = scanner_.Accept("]");
    if (!closed) STELE_RETURN_IF_ERROR(scanner_.Expect(")"));
    const RangeBound end_bound = !has_end ? RangeBound::kUnbounded
                                 : closed ? RangeBound::kClosed
                                          : RangeBound::kOpen;
    return ByteRange(start_bound, std::move(start), end_bound, std::move(end));
  }

  absl::StatusOr<Filter> Timestamps() {
    stele::TimestampRange range;
    STELE_ASSIGN_OR_RETURN(const int64_t start, scanner_.Int64());
    range.start = Timestamp::FromMicros(start);
    STELE_RETURN_IF_ERROR(scanner_.Expect(","));
    if (!scanner_.NextIs(')')) {
      STELE_ASSIGN_OR_RETURN(const int64_t end, scanner_.Int64());
      range.end = Timestamp::FromMicros(end);
    }
    return Filter::TimestampRange(range);
  }

  absl::StatusOr<Filter> Sample() {
    const std::string_view text = scanner_.Number();
    double probability = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), probability);
    if (error != std::errc() || end != text.data() + text.size())
      return scanner_.Error("expected a probability");
    return Filter::RowSample(probability);
  }

  absl::StatusOr<Filter> Composite(FilterKind kind) {
    if (++open_count_ > kFilterDepthMax)
      return scanner_.Error(fmt::format("filters nested more than {} deep", kFilterDepthMax));
    std::vector<Filter> filters;
    if (!scanner_.NextIs(')')) {
      do {
        STELE_ASSIGN_OR_RETURN(Filter filter, One());
        filters.push_back(std::move(filter));
      } while (scanner_.Accept(","));
    }
    --open_count_;
    if (kind == FilterKind::kChain) return Filter::Chain(std::move(filters));
    if (kind == FilterKind::kInterleave) return Filter::Interleave(std::move(filters));
    if (filters.size() != 3)
      return scanner_.Error("a condition needs three filters: predicate, if true, if false");
    return Filter::Condition(std::move(filters[0]), std::move(filters[1]), std::move(filters[2]));
  }

  TextScanner scanner_;
  int open_count_ = 0;
};

}  // namespace
}  // namespace internal

inline namespace v0 {

absl::StatusOr<Filter> Filter::Parse(std::string_view text) {
  return internal::FilterParser(text).Parse();
}

std::string Filter::ToString() const {
  std::string out;
  internal::AppendText(node(), &out);
  return out;
}

}  // namespace v0
}  // namespace stele
