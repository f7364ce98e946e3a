#include "stele/filter.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <bit>
#include <ostream>

#include "model/access.h"
#include "model/filter_node.h"
#include "model/wire_bytes.h"

namespace stele {
namespace internal {
namespace {

uint64_t BoundWireBytes(RangeBound bound, const std::string& bytes) {
  return bound == RangeBound::kUnbounded ? 0 : FieldWireBytes(bytes.size());
}
uint64_t RangeWireBytes(const ByteRange& range) {
  return BoundWireBytes(range.start_bound(), range.start()) +
         BoundWireBytes(range.end_bound(), range.end());
}
uint64_t TimestampsWireBytes(const stele::TimestampRange& range) {
  return (range.start.micros() == 0 ? 0 : 1 + Int64WireBytes(range.start.micros())) +
         (range.end ? 1 + Int64WireBytes(range.end->micros()) : 0);
}
// The size of a name in a protocol buffer, where an exact name is an escaped regex.
uint64_t NameWireBytes(const std::string& name) {
  return FieldWireBytes(re2::RE2::QuoteMeta(name).size());
}

// Fields with numbers above 15 have a tag of two bytes.
uint64_t LeafWireBytes(const FilterNode& node) {
  switch (node.kind) {
    case FilterKind::kPassAll:
    case FilterKind::kBlockAll:
    case FilterKind::kSink:
      return 3;
    case FilterKind::kStripValue:
      return 2;
    case FilterKind::kLatest:
    case FilterKind::kCellsRowLimit:
    case FilterKind::kCellsRowOffset:
      return 1 + Int64WireBytes(node.count);
    case FilterKind::kFamilyRegex:
    case FilterKind::kColumnRegex:
    case FilterKind::kRowKeyRegex:
    case FilterKind::kValueRegex:
      return FieldWireBytes(node.text.size());
    case FilterKind::kFamily:
      return NameWireBytes(node.text);
    case FilterKind::kColumn:
      return FieldWireBytes(FieldWireBytes(NameWireBytes(node.text)) +
                            FieldWireBytes(NameWireBytes(node.qualifier)));
    case FilterKind::kColumnRange:
      return FieldWireBytes(FieldWireBytes(node.text.size()) + RangeWireBytes(node.range));
    case FilterKind::kValueRange:
      return FieldWireBytes(RangeWireBytes(node.range));
    case FilterKind::kTimestampRange:
      return FieldWireBytes(TimestampsWireBytes(node.timestamps));
    case FilterKind::kValueBitmask:
      return 1 + FieldWireBytes(FieldWireBytes(node.text.size()));
    case FilterKind::kRowSample:
      return 1 + 8;
    case FilterKind::kLabel:
      return 1 + FieldWireBytes(node.text.size());
    case FilterKind::kCondition:
    case FilterKind::kChain:
    case FilterKind::kInterleave:
      break;
  }
  return 0;  // composites: see Compose
}

Filter Leaf(FilterNode node) {
  node.wire_bytes = LeafWireBytes(node);
  return internal::Access::Make<Filter>(std::make_shared<const FilterNode>(std::move(node)));
}

Filter Compose(FilterKind kind, std::vector<Filter> filters) {
  auto node = std::make_shared<FilterNode>();
  node->kind = kind;
  uint64_t content_bytes = 0;
  for (const Filter& filter : filters) {
    node->depth = std::max(node->depth, internal::Access::Node(filter).depth);
    content_bytes = std::min(
        kWireBytesCap, content_bytes + FieldWireBytes(internal::Access::Node(filter).wire_bytes));
  }
  node->depth += 1;
  node->wire_bytes = FieldWireBytes(content_bytes);
  if (node->depth <= 2 * kFilterDepthMax && node->wire_bytes <= 4 * kFilterWireBytesMax)
    node->children = std::move(filters);
  return internal::Access::Make<Filter>(std::move(node));
}

Filter Plain(FilterKind kind) { return Leaf({.kind = kind}); }
Filter Counting(FilterKind kind, int count) { return Leaf({.kind = kind, .count = count}); }
Filter Texted(FilterKind kind, std::string text) {
  return Leaf({.kind = kind, .text = std::move(text)});
}

}  // namespace
}  // namespace internal

inline namespace v0 {

using internal::FilterKind;
using internal::FilterNode;

ByteRange::ByteRange(RangeBound start_bound, std::string start, RangeBound end_bound,
                     std::string end)
    : start_(start_bound == RangeBound::kUnbounded ? std::string() : std::move(start)),
      end_(end_bound == RangeBound::kUnbounded ? std::string() : std::move(end)),
      start_bound_(start_bound),
      end_bound_(end_bound) {}

ByteRange ByteRange::All() { return ByteRange(); }
ByteRange ByteRange::StartingAt(std::string start) {
  return ByteRange(RangeBound::kClosed, std::move(start), RangeBound::kUnbounded, "");
}
ByteRange ByteRange::EndingAt(std::string end) {
  return ByteRange(RangeBound::kUnbounded, "", RangeBound::kClosed, std::move(end));
}
ByteRange ByteRange::Closed(std::string start, std::string end) {
  return ByteRange(RangeBound::kClosed, std::move(start), RangeBound::kClosed, std::move(end));
}
ByteRange ByteRange::Open(std::string start, std::string end) {
  return ByteRange(RangeBound::kOpen, std::move(start), RangeBound::kOpen, std::move(end));
}
ByteRange ByteRange::RightOpen(std::string start, std::string end) {
  return ByteRange(RangeBound::kClosed, std::move(start), RangeBound::kOpen, std::move(end));
}
ByteRange ByteRange::LeftOpen(std::string start, std::string end) {
  return ByteRange(RangeBound::kOpen, std::move(start), RangeBound::kClosed, std::move(end));
}

bool ByteRange::Contains(std::string_view bytes) const {
  if (start_bound_ == RangeBound::kClosed && bytes < start_) return false;
  if (start_bound_ == RangeBound::kOpen && bytes <= start_) return false;
  if (end_bound_ == RangeBound::kClosed && bytes > end_) return false;
  if (end_bound_ == RangeBound::kOpen && bytes >= end_) return false;
  return true;
}

Filter Filter::PassAll() { return Filter(); }
Filter Filter::BlockAll() { return internal::Plain(FilterKind::kBlockAll); }
Filter Filter::Latest(int count) { return internal::Counting(FilterKind::kLatest, count); }
Filter Filter::FamilyRegex(std::string regex) {
  return internal::Texted(FilterKind::kFamilyRegex, std::move(regex));
}
Filter Filter::ColumnRegex(std::string regex) {
  return internal::Texted(FilterKind::kColumnRegex, std::move(regex));
}
Filter Filter::Family(std::string name) {
  return internal::Texted(FilterKind::kFamily, std::move(name));
}
Filter Filter::Column(std::string family, std::string qualifier) {
  return internal::Leaf(
      {.kind = FilterKind::kColumn, .text = std::move(family), .qualifier = std::move(qualifier)});
}
Filter Filter::ColumnRange(std::string family, ByteRange qualifiers) {
  return internal::Leaf({.kind = FilterKind::kColumnRange,
                         .text = std::move(family),
                         .range = std::move(qualifiers)});
}
Filter Filter::ValueRange(ByteRange values) {
  return internal::Leaf({.kind = FilterKind::kValueRange, .range = std::move(values)});
}
Filter Filter::ValueRegex(std::string regex) {
  return internal::Texted(FilterKind::kValueRegex, std::move(regex));
}
Filter Filter::ValueBitmask(std::string mask) {
  return internal::Texted(FilterKind::kValueBitmask, std::move(mask));
}
Filter Filter::TimestampRange(stele::TimestampRange range) {
  return internal::Leaf({.kind = FilterKind::kTimestampRange, .timestamps = range});
}
Filter Filter::RowKeyRegex(std::string regex) {
  return internal::Texted(FilterKind::kRowKeyRegex, std::move(regex));
}
Filter Filter::RowSample(double probability) {
  return internal::Leaf({.kind = FilterKind::kRowSample, .probability = probability});
}
Filter Filter::CellsRowLimit(int count) {
  return internal::Counting(FilterKind::kCellsRowLimit, count);
}
Filter Filter::CellsRowOffset(int count) {
  return internal::Counting(FilterKind::kCellsRowOffset, count);
}
Filter Filter::StripValue() { return internal::Plain(FilterKind::kStripValue); }
Filter Filter::Label(std::string label) {
  return internal::Texted(FilterKind::kLabel, std::move(label));
}
Filter Filter::Sink() { return internal::Plain(FilterKind::kSink); }

Filter Filter::Condition(Filter predicate, Filter if_true, Filter if_false) {
  return internal::Compose(FilterKind::kCondition,
                           {std::move(predicate), std::move(if_true), std::move(if_false)});
}
Filter Filter::Chain(std::vector<Filter> filters) {
  return internal::Compose(FilterKind::kChain, std::move(filters));
}
Filter Filter::Interleave(std::vector<Filter> filters) {
  return internal::Compose(FilterKind::kInterleave, std::move(filters));
}

bool Filter::operator==(const Filter& other) const {
  const FilterNode& a = node();
  const FilterNode& b = internal::Access::Node(other);
  if (&a == &b) return true;
  // Compares probabilities by their bits, so that even a NaN equals itself.
  return a.kind == b.kind && a.count == b.count &&
         std::bit_cast<uint64_t>(a.probability) == std::bit_cast<uint64_t>(b.probability) &&
         a.text == b.text && a.qualifier == b.qualifier && a.range == b.range &&
         a.timestamps == b.timestamps && a.depth == b.depth && a.wire_bytes == b.wire_bytes &&
         a.children == b.children;
}

const FilterNode& Filter::node() const {
  static const FilterNode* const pass_all = new FilterNode{.wire_bytes = 3};
  return node_ == nullptr ? *pass_all : *node_;
}

namespace {
// Initialized before main, since after a fork during the initialization the child would wait
// forever.
[[maybe_unused]] const FilterNode& kEarlyFilterNode = internal::Access::Node(Filter());
}  // namespace

std::ostream& operator<<(std::ostream& out, const Filter& filter) {
  return out << filter.ToString();
}

}  // namespace v0
}  // namespace stele
