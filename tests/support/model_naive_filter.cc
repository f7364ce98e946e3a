#include "support/model_naive_filter.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "model/access.h"
#include "model/filter_node.h"

namespace stele::internal {
namespace {

bool FullMatch(const std::string& pattern, std::string_view text) {
  const re2::RE2 regex(pattern, re2::RE2::Latin1);
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), regex);
}

bool HasAllBits(const std::string& value, const std::string& mask) {
  if (value.size() != mask.size()) return false;
  for (size_t i = 0; i < mask.size(); ++i) {
    if ((value[i] & mask[i]) != mask[i]) return false;
  }
  return true;
}

// Whether the filter passes the cell; for filters that depend on the cell alone.
bool Passes(const FilterNode& node, std::string_view row_key, const NaiveCell& cell) {
  switch (node.kind) {
    case FilterKind::kBlockAll:
      return false;
    case FilterKind::kFamilyRegex:
      return FullMatch(node.text, cell.family);
    case FilterKind::kColumnRegex:
      return FullMatch(node.text, cell.qualifier);
    case FilterKind::kFamily:
      return cell.family == node.text;
    case FilterKind::kColumn:
      return cell.family == node.text && cell.qualifier == node.qualifier;
    case FilterKind::kColumnRange:
      return cell.family == node.text && node.range.Contains(cell.qualifier);
    case FilterKind::kValueRange:
      return node.range.Contains(cell.value);
    case FilterKind::kTimestampRange:
      return cell.timestamp >= node.timestamps.start.micros() &&
             (!node.timestamps.end || cell.timestamp < node.timestamps.end->micros());
    case FilterKind::kRowKeyRegex:
      return FullMatch(node.text, row_key);
    case FilterKind::kValueRegex:
      return FullMatch(node.text, cell.value);
    case FilterKind::kValueBitmask:
      return HasAllBits(cell.value, node.text);
    default:
      return true;
  }
}

bool StandsBefore(const NaiveCell& a, const NaiveCell& b) {
  return std::tuple(std::string_view(a.family), std::string_view(a.qualifier), b.timestamp) <
         std::tuple(std::string_view(b.family), std::string_view(b.qualifier), a.timestamp);
}

// The row samples' results, and the cells that sinks received.
struct RowContext {
  std::string_view row_key;
  std::map<const FilterNode*, bool> samples = {};
  NaiveRow sunk = {};
};

NaiveRow Apply(const FilterNode& node, NaiveRow row, RowContext* context);

NaiveRow ApplyInterleave(const FilterNode& node, NaiveRow row, RowContext* context) {
  for (size_t i = 0; i < row.size(); ++i) row[i].trail.push_back(i);
  NaiveRow together;
  for (const Filter& filter : node.children) {
    NaiveRow one = Apply(Access::Node(filter), row, context);
    together.insert(together.end(), one.begin(), one.end());
  }
  std::stable_sort(together.begin(), together.end(), [](const NaiveCell& a, const NaiveCell& b) {
    return a.trail.back() < b.trail.back();
  });
  for (NaiveCell& cell : together) cell.trail.pop_back();
  return together;
}

NaiveRow ApplyCounting(const FilterNode& node, const NaiveRow& row) {
  NaiveRow kept;
  std::map<std::pair<std::string, std::string>, int> in_column;
  int in_row = 0;
  for (const NaiveCell& cell : row) {
    const int column_place = ++in_column[{cell.family, cell.qualifier}];
    ++in_row;
    const bool keeps = node.kind == FilterKind::kLatest          ? column_place <= node.count
                       : node.kind == FilterKind::kCellsRowLimit ? in_row <= node.count
                                                                 : in_row > node.count;
    if (keeps) kept.push_back(cell);
  }
  return kept;
}

NaiveRow Apply(const FilterNode& node, NaiveRow row, RowContext* context) {
  switch (node.kind) {
    case FilterKind::kChain:
      for (const Filter& filter : node.children)
        row = Apply(Access::Node(filter), std::move(row), context);
      return row;
    case FilterKind::kInterleave:
      return ApplyInterleave(node, std::move(row), context);
    case FilterKind::kCondition: {
      const bool holds = !Apply(Access::Node(node.children[0]), row, context).empty();
      return Apply(Access::Node(node.children[holds ? 1 : 2]), std::move(row), context);
    }
    case FilterKind::kSink:
      context->sunk.insert(context->sunk.end(), row.begin(), row.end());
      return {};
    case FilterKind::kRowSample:
      return context->samples.at(&node) ? row : NaiveRow();
    case FilterKind::kLatest:
    case FilterKind::kCellsRowLimit:
    case FilterKind::kCellsRowOffset:
      return ApplyCounting(node, row);
    case FilterKind::kStripValue:
      for (NaiveCell& cell : row) cell.value.clear();
      return row;
    case FilterKind::kLabel:
      for (NaiveCell& cell : row) cell.label = node.text;
      return row;
    default:
      std::erase_if(row,
                    [&](const NaiveCell& cell) { return !Passes(node, context->row_key, cell); });
      return row;
  }
}

void AddSamples(const FilterNode& node, std::vector<const FilterNode*>* samples) {
  if (node.kind == FilterKind::kRowSample) samples->push_back(&node);
  for (const Filter& filter : node.children) AddSamples(Access::Node(filter), samples);
}

}  // namespace

size_t CountSamples(const Filter& filter) {
  std::vector<const FilterNode*> samples;
  AddSamples(Access::Node(filter), &samples);
  return samples.size();
}

NaiveRow FilterNaively(const Filter& filter, std::string_view row_key, const NaiveRow& row,
                       uint64_t kept_samples) {
  RowContext context{.row_key = row_key};
  std::vector<const FilterNode*> samples;
  AddSamples(Access::Node(filter), &samples);
  for (size_t i = 0; i < samples.size(); ++i)
    context.samples[samples[i]] = (kept_samples >> i & 1) != 0;
  NaiveRow passed = Apply(Access::Node(filter), row, &context);
  passed.insert(passed.end(), context.sunk.begin(), context.sunk.end());
  for (NaiveCell& cell : passed) cell.trail.clear();
  // Families keep the order of the input row.
  const auto family_place = [&row](const NaiveCell& cell) {
    return std::find_if(row.begin(), row.end(),
                        [&cell](const NaiveCell& other) { return other.family == cell.family; });
  };
  std::stable_sort(passed.begin(), passed.end(), [&](const NaiveCell& a, const NaiveCell& b) {
    return a.family == b.family ? StandsBefore(a, b) : family_place(a) < family_place(b);
  });
  return passed;
}

NaiveRow InOrder(NaiveRow row) {
  std::stable_sort(row.begin(), row.end(), [](const NaiveCell& a, const NaiveCell& b) {
    if (StandsBefore(a, b) || StandsBefore(b, a)) return StandsBefore(a, b);
    return std::tie(a.value, a.label) < std::tie(b.value, b.label);
  });
  return row;
}

std::string ToText(const NaiveRow& row) {
  std::string text;
  for (const NaiveCell& cell : row) {
    text += fmt::format("{}{}:{}@{}={}{}{}", text.empty() ? "" : " ", cell.family,
                        Printable(cell.qualifier), cell.timestamp, Printable(cell.value),
                        cell.label.empty() ? "" : "#", cell.label);
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const NaiveCell& cell) { return out << ToText({cell}); }

namespace {

template <typename Word>
const Word& Pick(Random& random, const std::vector<Word>& words) {
  return words[random.Below(words.size())];
}

ByteRange RandomRange(Random& random, const std::vector<std::string>& words) {
  const std::string a = Pick(random, words);
  const std::string b = Pick(random, words);
  constexpr RangeBound kBounds[] = {RangeBound::kUnbounded, RangeBound::kClosed, RangeBound::kOpen};
  return {kBounds[random.Below(3)], std::min(a, b), kBounds[random.Below(3)], std::max(a, b)};
}

std::string RandomRegex(Random& random, const std::vector<std::string>& words) {
  const auto literal = [&] { return re2::RE2::QuoteMeta(Pick(random, words)); };
  const std::string word = Pick(random, words);
  switch (random.Below(9)) {
    case 0:
      return "\\C*";
    case 1:
      return ".*";
    case 2:
      return literal() + "|" + literal();
    case 3:
      return re2::RE2::QuoteMeta(word.substr(0, random.Below(word.size() + 1))) + "\\C*";
    case 4:
      return "\\C*" + re2::RE2::QuoteMeta(word.substr(word.size() / 2));
    case 5:
      return "(?i)" + literal();
    case 6:
      return "(" + literal() + ")+";
    case 7:
      return "[^a-m]*";
    default:
      return literal();
  }
}

// The engine rejects an empty expression, so write one that matches only the empty key.
Filter RowKeyRegex(const std::string& regex) {
  return Filter::RowKeyRegex(regex.empty() ? "(?:)" : regex);
}

class FilterMaker {
 public:
  FilterMaker(Random& random, const FilterWords& words)
      : random_(random), words_(words), samples_left_(words.samples_max) {}

  Filter Make(int depth, bool may_sink, bool may_label) {
    if (depth > 0 && random_.OneIn(2)) return MakeComposite(depth, may_sink, may_label);
    if (may_label && random_.OneIn(8)) return Filter::Label(random_.OneIn(2) ? "l-1" : "l2");
    if (may_sink && random_.OneIn(8)) return Filter::Sink();
    return MakeLeaf();
  }

 private:
  Filter MakeComposite(int depth, bool may_sink, bool may_label) {
    switch (random_.Below(6)) {
      case 0:
        return Filter::Condition(Make(depth - 1, false, may_label),
                                 Make(depth - 1, false, may_label),
                                 Make(depth - 1, false, may_label));
      case 1:
      case 2: {
        std::vector<Filter> filters;
        for (uint64_t left = 2 + random_.Below(2); left > 0; --left)
          filters.push_back(Make(depth - 1, may_sink, may_label));
        return Filter::Interleave(std::move(filters));
      }
      default: {
        const uint64_t count = 2 + random_.Below(3);
        const uint64_t labelling = random_.Below(count);
        std::vector<Filter> filters;
        for (uint64_t i = 0; i < count; ++i)
          filters.push_back(Make(depth - 1, may_sink, may_label && i == labelling));
        return Filter::Chain(std::move(filters));
      }
    }
  }

  Filter MakeLeaf() {
    switch (random_.Below(17)) {
      case 0:
        return random_.OneIn(3) ? Filter::BlockAll() : Filter::PassAll();
      case 1:
      case 2:
        return Filter::Latest(1 + static_cast<int>(random_.Below(3)));
      case 3:
        return Filter::FamilyRegex(RandomRegex(random_, words_.families));
      case 4:
        return Filter::ColumnRegex(RandomRegex(random_, words_.qualifiers));
      case 5:
        return Filter::Family(Pick(random_, words_.families));
      case 6:
        return Filter::Column(Pick(random_, words_.families), Pick(random_, words_.qualifiers));
      case 7:
        return Filter::ColumnRange(Pick(random_, words_.families),
                                   RandomRange(random_, words_.qualifiers));
      case 8:
        return Filter::ValueRange(RandomRange(random_, words_.values));
      case 9:
        return Filter::ValueRegex(RandomRegex(random_, words_.values));
      case 10: {
        std::string mask = Pick(random_, words_.values);
        if (mask.empty()) mask = "a";
        mask[random_.Below(mask.size())] &= static_cast<char>(random_.Next());
        return Filter::ValueBitmask(std::move(mask));
      }
      case 11:
        return MakeTimestampRange();
      case 12:
        return RowKeyRegex(RandomRegex(random_, words_.row_keys));
      case 13:
        return Filter::CellsRowLimit(1 + static_cast<int>(random_.Below(8)));
      case 14:
        return Filter::CellsRowOffset(static_cast<int>(random_.Below(6)));
      case 15:
        return Filter::StripValue();
      default:
        if (samples_left_ == 0) return Filter::PassAll();
        --samples_left_;
        return Filter::RowSample(0.5);
    }
  }

  Filter MakeTimestampRange() {
    const int64_t a = Pick(random_, words_.timestamps);
    const int64_t b = Pick(random_, words_.timestamps);
    stele::TimestampRange range{.start = Timestamp::FromMicros(std::min(a, b))};
    if (random_.OneIn(2)) range.end = Timestamp::FromMicros(std::max(a, b));
    return Filter::TimestampRange(range);
  }

  Random& random_;
  const FilterWords& words_;
  int samples_left_;
};

}  // namespace

Filter RandomFilter(Random& random, const FilterWords& words, int depth) {
  return FilterMaker(random, words).Make(depth, true, true);
}

}  // namespace stele::internal
