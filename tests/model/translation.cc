#include "model/translation.h"

#include <fmt/format.h>

namespace stele::internal {
namespace {

TimestampRange ToTimestampRange(const Term& start, const Term& end) {
  TimestampRange range{.start = Timestamp::FromMicros(start.ToNumber())};
  if (!end.Is("*")) range.end = Timestamp::FromMicros(end.ToNumber());
  return range;
}

ByteRange ToByteRange(const Term& range) {
  if (range.Is("all")) return ByteRange::All();
  if (range.Is("from")) return ByteRange::StartingAt(range.Text(0));
  if (range.Is("to")) return ByteRange::EndingAt(range.Text(0));
  if (range.Is("closed")) return ByteRange::Closed(range.Text(0), range.Text(1));
  if (range.Is("open")) return ByteRange::Open(range.Text(0), range.Text(1));
  if (range.Is("ropen")) return ByteRange::RightOpen(range.Text(0), range.Text(1));
  return ByteRange::LeftOpen(range.Text(0), range.Text(1));
}

void AddChange(const Term& change, RowMutation* mutation) {
  if (change.Is("delrow")) {
    mutation->DeleteFromRow();
  } else if (change.Is("set")) {
    mutation->SetCell(change.Text(0), change.Text(1), Timestamp::FromMicros(change.Number(2)),
                      ExpandValue(change[3]));
  } else if (change.Is("add")) {
    mutation->AddToCell(change.Text(0), change.Text(1), Timestamp::FromMicros(change.Number(2)),
                        change.Number(3));
  } else if (change.Is("item")) {
    mutation->AddToCell(change.Text(0), change.Text(1), Timestamp::FromMicros(change.Number(2)),
                        change.Text(3));
  } else if (change.Is("merge")) {
    mutation->MergeToCell(change.Text(0), change.Text(1), Timestamp::FromMicros(change.Number(2)),
                          StateOf(change[3]));
  } else if (change.Is("setnow")) {
    mutation->SetCell(change.Text(0), change.Text(1), ExpandValue(change[2]));
  } else if (change.Is("delcol")) {
    mutation->DeleteFromColumn(change.Text(0), change.Text(1));
  } else if (change.Is("delrange")) {
    mutation->DeleteFromColumn(change.Text(0), change.Text(1),
                               ToTimestampRange(change[2], change[3]));
  } else {
    mutation->DeleteFromFamily(change.Text(0));
  }
}

}  // namespace

ValueType ToValueType(std::string_view type) {
  if (type == "sum") return ValueType::kInt64Sum;
  if (type == "min") return ValueType::kInt64Min;
  if (type == "max") return ValueType::kInt64Max;
  return type == "hll" ? ValueType::kHll : ValueType::kBytes;
}

GcRule ToGcRule(const Term& rule) {
  if (rule.Is("n")) return GcRule::MaxNumVersions(static_cast<int>(rule.Number(0)));
  if (rule.Is("age")) return GcRule::MaxAge(std::chrono::microseconds(rule.Number(0)));
  std::vector<GcRule> children;
  for (const Term& child : rule.arguments) children.push_back(ToGcRule(child));
  if (rule.Is("any")) return GcRule::Union(children);
  if (rule.Is("all")) return GcRule::Intersection(children);
  return GcRule::None();
}

FamilySchema ToFamily(const Term& family) {
  return {.name = family.Text(0),
          .gc = ToGcRule(family[1]),
          .value_type = ToValueType(family.size() > 2 ? family.Text(2) : "")};
}

Schema ToSchema(const Term& create) {
  Schema schema;
  schema.SetGranularity(create.Text(1) == "us" ? TimestampGranularity::kMicros
                                               : TimestampGranularity::kMillis);
  schema.SetCompression(create.Text(2) == "none"   ? Compression::kNone
                        : create.Text(2) == "fast" ? Compression::kFast
                                                   : Compression::kBalanced);
  for (const Term& split : create[3].arguments) schema.AddSplit(split.name);
  for (size_t i = 4; i < create.size(); ++i) schema.AddFamily(ToFamily(create[i]));
  return schema;
}

std::vector<FamilyChange> ToFamilyChanges(const Term& families) {
  std::vector<FamilyChange> changes;
  for (size_t i = 1; i < families.size(); ++i) {
    const Term& change = families[i];
    if (change.Is("create")) changes.push_back(FamilyChange::Create(ToFamily(change)));
    if (change.Is("update"))
      changes.push_back(FamilyChange::Update(change.Text(0), ToGcRule(change[1])));
    if (change.Is("drop")) changes.push_back(FamilyChange::Drop(change.Text(0)));
  }
  return changes;
}

RowMutation ToMutation(const Term& row) {
  RowMutation mutation(row.Text(1));
  for (size_t i = 2; i < row.size(); ++i) AddChange(row[i], &mutation);
  return mutation;
}

Filter ToFilter(const Term& filter) {
  if (filter.Is("latest")) return Filter::Latest(static_cast<int>(filter.Number(0)));
  if (filter.Is("fam")) return Filter::Family(filter.Text(0));
  if (filter.Is("col")) return Filter::Column(filter.Text(0), filter.Text(1));
  if (filter.Is("colrange")) return Filter::ColumnRange(filter.Text(0), ToByteRange(filter[1]));
  if (filter.Is("ts")) return Filter::TimestampRange(ToTimestampRange(filter[0], filter[1]));
  if (filter.Is("limit")) return Filter::CellsRowLimit(static_cast<int>(filter.Number(0)));
  if (filter.Is("text")) return Filter::Parse(filter.Text(0)).value_or(Filter::BlockAll());
  if (!filter.Is("chain")) return Filter::PassAll();
  std::vector<Filter> stages;
  for (const Term& stage : filter.arguments) stages.push_back(ToFilter(stage));
  return Filter::Chain(std::move(stages));
}

RowRange ToRowRange(const Term& range) {
  if (range.Is("all")) return RowRange::All();
  if (range.Is("prefix")) return RowRange::Prefix(range.Text(0));
  if (range.Is("from")) return RowRange::StartingAt(range.Text(0));
  if (range.Is("to")) return RowRange::EndingAt(range.Text(0));
  if (range.Is("closed")) return RowRange::Closed(range.Text(0), range.Text(1));
  if (range.Is("open")) return RowRange::Open(range.Text(0), range.Text(1));
  if (range.Is("ropen")) return RowRange::RightOpen(range.Text(0), range.Text(1));
  return RowRange::LeftOpen(range.Text(0), range.Text(1));
}

RowSet ToRowSet(const Term& rows) {
  RowSet set;
  for (const Term& part : rows.arguments) {
    if (part.Is("key")) {
      set.Append(part.Text(0));
    } else {
      set.Append(ToRowRange(part));
    }
  }
  return set;
}

WriteOptions ToWriteOptions(const Term& durability) {
  return {.durability = durability.Is("d") ? Durability::kDisk : Durability::kProcess};
}

ReferenceRow ToReferenceRow(std::span<const CellView> cells) {
  ReferenceRow row;
  row.reserve(cells.size());
  for (const CellView& cell : cells) {
    row.push_back(
        {std::string(cell.family()), std::string(cell.qualifier()), cell.timestamp().micros(),
         std::make_shared<const ReferenceValue>(ReferenceValue{std::string(cell.value())})});
    for (const std::string& label : cell.labels()) row.back().label += label;
  }
  return row;
}

std::string ToText(const ReferenceRow& row) {
  std::string text;
  for (const ReferenceCell& cell : row) {
    text += fmt::format(
        "    {}:{} @{} = {} bytes {}{}{}\n", cell.family, ToText(Term(cell.qualifier)),
        cell.timestamp, cell.value->bytes.size(), ToText(Term(cell.value->bytes.substr(0, 12))),
        cell.is_there ? "" : " (may be absent)", cell.label.empty() ? "" : " #" + cell.label);
  }
  return text.empty() ? "    (nothing)\n" : text;
}

}  // namespace stele::internal
