#include "lab/lint/table_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/design/parse_design.h"
#include "lab/mapping/mapping.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kRangesMax = 64;
constexpr uint64_t kPieceBytes = uint64_t{4} << 20;
constexpr uint64_t kProgressRows = 4096;
constexpr std::string_view kKeySchemaPropertyName = "row_key_schema";

using PieceSink = std::function<void(const RowView& piece)>;

// Reads ranges of a table, and at most a given number of rows of each.
class RangedReader {
 public:
  RangedReader(const Table& table, Snapshot snapshot, const ReadPlan& plan)
      : table_(table), snapshot_(std::move(snapshot)), plan_(plan) {}

  absl::Status ChooseRanges() {
    starts_ = {""};
    if (plan_.sample_rows == 0) return absl::OkStatus();
    STELE_ASSIGN_OR_RETURN(const std::vector<RowKeySample> samples, table_.SampleRowKeys());
    const size_t count = std::min<size_t>(kRangesMax, plan_.sample_rows);
    for (size_t i = 1; i < count && !samples.empty(); ++i) {
      const std::string& key = samples[i * samples.size() / count].row_key;
      if (key > starts_.back()) starts_.push_back(key);
    }
    limit_ = static_cast<int64_t>(
        std::min<uint64_t>((plan_.sample_rows + starts_.size() - 1) / starts_.size(), INT64_MAX));
    return absl::OkStatus();
  }

  absl::Status Read(const Filter& filter, bool apply_gc, const PieceSink& sink) {
    for (size_t i = 0; i < starts_.size(); ++i) {
      const bool is_last = i + 1 == starts_.size();
      const RowRange range = is_last ? RowRange::StartingAt(starts_[i])
                                     : RowRange::RightOpen(starts_[i], starts_[i + 1]);
      STELE_RETURN_IF_ERROR(ReadRange(range, filter, apply_gc, sink));
    }
    return absl::OkStatus();
  }

  // True if a range may have more rows than were read.
  bool has_left_out() const { return has_left_out_; }

 private:
  absl::Status ReadRange(const RowRange& range, const Filter& filter, bool apply_gc,
                         const PieceSink& sink) {
    RowReader reader = table_.ReadRows(RowSet(range), filter,
                                       {.limit = limit_,
                                        .snapshot = snapshot_,
                                        .apply_gc = apply_gc,
                                        .fill_cache = false,
                                        .row_piece_bytes = kPieceBytes});
    int64_t rows = 0;
    while (reader.Next()) {
      sink(reader.row());
      if (!reader.row().is_last_piece()) continue;
      ++rows;
      if (++rows_ % kProgressRows == 0 && plan_.progress != nullptr) plan_.progress(rows_);
    }
    if (limit_ != 0 && rows == limit_) has_left_out_ = true;
    return reader.status();
  }

  const Table& table_;
  const Snapshot snapshot_;
  const ReadPlan& plan_;
  std::vector<std::string> starts_;
  int64_t limit_ = 0;
  uint64_t rows_ = 0;
  bool has_left_out_ = false;
};

bool IsOrdered(const keys::RowKeySchema& schema) {
  return schema.encoding() == keys::RowKeySchema::KeyEncoding::kOrderedCode;
}

bool HasBinaryFields(const keys::RowKeySchema& schema) {
  using Schema = keys::RowKeySchema;
  return IsOrdered(schema) ||
         std::any_of(schema.fields().begin(), schema.fields().end(),
                     [](const auto& field) { return field.type != Schema::FieldType::kString; });
}

// The number of segments of a key, if no value contains the delimiter.
size_t PartsOf(const DesignKey& key) {
  if (key.schema.has_value()) return key.schema->fields().size();
  size_t parts = 1;
  for (const Template::Piece& piece : key.text.pieces()) {
    if (piece.is_field || key.delimiter.empty()) continue;
    for (size_t at = piece.text.find(key.delimiter); at != std::string::npos;
         at = piece.text.find(key.delimiter, at + key.delimiter.size()))
      ++parts;
  }
  return parts;
}

bool BeginsSpread(const DesignKey& key) {
  const Template& text = key.from.empty() ? key.text : key.from.front();
  if (text.pieces().empty()) return false;
  const std::vector<TemplateFunction>& functions = text.pieces().front().functions;
  return std::any_of(functions.begin(), functions.end(), [](const TemplateFunction& function) {
    return function.kind == TemplateFunction::Kind::kReverseDigits ||
           function.kind == TemplateFunction::Kind::kSalt;
  });
}

}  // namespace

std::optional<SegmentPlan> DesignedPlan(const Schema& schema) {
  const auto property = schema.properties().find(kDesignProperty);
  if (property == schema.properties().end()) return std::nullopt;
  const auto design = ParseStoredDesign(property->second);
  if (!design.ok() || design->tables.size() != 1) return std::nullopt;
  const DesignKey& key = design->tables.front().key;
  return SegmentPlan{.delimiter = key.delimiter,
                     .declared_parts = PartsOf(key),
                     .has_binary = key.schema.has_value() && HasBinaryFields(*key.schema),
                     .is_ordered = key.schema.has_value() && IsOrdered(*key.schema),
                     .is_spread = BeginsSpread(key)};
}

namespace {

// The layout of keys that the table or the caller declares.
std::optional<SegmentPlan> DeclaredPlan(const Schema& schema, const keys::RowKeySchema* key_schema,
                                        const std::optional<std::string>& delimiter) {
  if (auto plan = DesignedPlan(schema)) return plan;
  if (key_schema != nullptr)
    return SegmentPlan{.delimiter = key_schema->delimiter(),
                       .has_binary = HasBinaryFields(*key_schema),
                       .is_ordered = IsOrdered(*key_schema)};
  const auto property = schema.properties().find(kMappingProperty);
  if (property != schema.properties().end()) {
    const auto mapping = Mapping::Parse(property->second);
    if (mapping.ok())
      return SegmentPlan{.delimiter = mapping->key.delimiter(),
                         .parts_max = mapping->key.parts().size(),
                         .has_binary = mapping->key.is_ordered(),
                         .is_ordered = mapping->key.is_ordered()};
  }
  if (delimiter.has_value()) return SegmentPlan{.delimiter = *delimiter};
  return std::nullopt;
}

bool HasGcRule(const Schema& schema) {
  return std::any_of(schema.families().begin(), schema.families().end(),
                     [](const FamilySchema& family) { return !(family.gc == GcRule::None()); });
}

}  // namespace

absl::StatusOr<std::optional<keys::RowKeySchema>> KeySchemaOf(const Schema& schema) {
  const auto property = schema.properties().find(kKeySchemaPropertyName);
  if (property == schema.properties().end()) return std::optional<keys::RowKeySchema>();
  auto parsed = keys::RowKeySchema::Parse(property->second);
  if (!parsed.ok())
    return internal::WithContext(parsed.status(), "the table's property row_key_schema");
  return std::optional<keys::RowKeySchema>(*std::move(parsed));
}

absl::StatusOr<TableRows> ReadTable(const Database& database, const Table& table,
                                    const Schema& schema, const keys::RowKeySchema* key_schema,
                                    const ReadPlan& plan) {
  Snapshot snapshot;
  if (auto taken = database.GetSnapshot(); taken.ok()) {
    snapshot = *std::move(taken);
  } else if (taken.status().code() != absl::StatusCode::kUnimplemented) {
    return taken.status();
  }
  RangedReader reader(table, std::move(snapshot), plan);
  STELE_RETURN_IF_ERROR(reader.ChooseRanges());
  auto segments = DeclaredPlan(schema, key_schema, plan.delimiter);
  if (!segments.has_value()) {
    DelimiterChoice choice;
    STELE_RETURN_IF_ERROR(reader.Read(Filter::Chain(Filter::CellsRowLimit(1), Filter::StripValue()),
                                      true,
                                      [&](const RowView& piece) { choice.Add(piece.row_key()); }));
    segments = SegmentPlan{.delimiter = choice.Choose()};
  }
  TableRows rows;
  rows.facts = std::make_unique<TableFacts>(plan.limits, plan.versions_max, *std::move(segments),
                                            key_schema);
  TableFacts& facts = *rows.facts;
  const auto add_live = [&](const RowView& piece) {
    facts.AddLive(piece);
    if (!piece.is_last_piece() || plan.prefix_scans == nullptr) return;
    if (facts.rows() == 1) plan.prefix_scans->Start(facts.row_keys().plan().delimiter);
    rows.known_keys.AddInOrder(piece.row_key());
    plan.prefix_scans->Match(piece.row_key());
  };
  if (HasGcRule(schema)) {
    STELE_RETURN_IF_ERROR(reader.Read(Filter::PassAll(), false,
                                      [&](const RowView& piece) { facts.AddStored(piece); }));
    STELE_RETURN_IF_ERROR(reader.Read(Filter::PassAll(), true, add_live));
  } else {
    STELE_RETURN_IF_ERROR(reader.Read(Filter::PassAll(), false, [&](const RowView& piece) {
      facts.AddStored(piece);
      add_live(piece);
    }));
  }
  facts.Finish();
  rows.is_sampled = reader.has_left_out();
  return rows;
}

}  // namespace stele::internal::lab
