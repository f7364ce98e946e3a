// heat_map/heat_map.cc: builds the maps of all tables in two passes over the traces.
#include "stele/lab/heat_map.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/status.h"
#include "lab/heat_map/key_store.h"
#include "lab/heat_map/operation_reader.h"
#include "lab/heat_map/table_map.h"
#include "lab/values/number_text.h"

namespace stele::internal::lab {
namespace {

using stele::lab::HeatMapInput;
using stele::lab::HeatMapOptions;
using stele::lab::HeatMaps;

constexpr size_t kMapTablesMax = 1'000;
constexpr uint64_t kCellsMax = 4'000'000;
constexpr size_t kNamedTables = 10;

absl::Status CheckHeatMapOptions(const HeatMapOptions& options) {
  if (options.bands < 1 || options.bands > 1'000)
    return internal::InvalidArgument("{} bands: must be 1 to 1,000", options.bands);
  if (options.columns < 1 || options.columns > 2'000)
    return internal::InvalidArgument("{} columns: must be 1 to 2,000", options.columns);
  if (options.step.count() < 0) return internal::InvalidArgument("the step must be positive");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TabletLoad>> TabletsOf(const Table& table) {
  std::vector<TabletLoad> tablets;
  const auto stats = table.Stats();
  if (stats.ok()) {
    for (const TabletStats& tablet : stats->tablets)
      tablets.push_back({.start = tablet.start, .end = tablet.end});
    return tablets;
  }
  if (stats.status().code() != absl::StatusCode::kUnimplemented) return stats.status();
  // A server samples row keys at the boundaries of its tablets.
  STELE_ASSIGN_OR_RETURN(const std::vector<RowKeySample> samples, table.SampleRowKeys());
  tablets.emplace_back();
  for (const RowKeySample& sample : samples) {
    if (sample.row_key <= tablets.back().start) continue;
    tablets.back().end = sample.row_key;
    tablets.push_back({.start = sample.row_key});
  }
  return tablets;
}

// One call of HeatMap::Build().
class HeatMapRun {
 public:
  HeatMapRun(const HeatMapInput& input, const HeatMapOptions& options)
      : input_(input),
        options_(options),
        reader_(input, options),
        has_database_(input.database.has_value()) {
    keys_.emplace(options.key_bytes_max);
  }

  absl::StatusOr<HeatMaps> Run() {
    STELE_RETURN_IF_ERROR(CheckHeatMapOptions(options_));
    STELE_RETURN_IF_ERROR(
        reader_.ForEach([&](const TraceRecord& record) { return NoteOperation(record); }));
    STELE_RETURN_IF_ERROR(CheckTables());
    if (has_database_) STELE_RETURN_IF_ERROR(ReadDatabase());
    MakeBands();
    STELE_RETURN_IF_ERROR(MakeCells());
    STELE_RETURN_IF_ERROR(reader_.ForEach([&](const TraceRecord& record) {
      if (TableMap* const map = Find(record.table)) map->Count(record);
      return absl::OkStatus();
    }));
    HeatMaps maps = {.skipped_lines = reader_.skipped_lines()};
    for (const auto& map : maps_)
      maps.maps.push_back(map->Finish(TitleOf(*map), keys_per_known_key_));
    std::sort(maps.maps.begin(), maps.maps.end(),
              [](const auto& a, const auto& b) { return a.parts().table < b.parts().table; });
    return maps;
  }

 private:
  // The number of a table's rows in the store of keys; those of the trace have number().
  static uint16_t NumberOfRows(const TableMap& map) {
    return static_cast<uint16_t>(map.number() + kMapTablesMax);
  }

  TableMap* Find(const std::string& table) {
    if (last_found_ != nullptr && last_found_->table() == table) return last_found_;
    const auto known = numbers_.find(table);
    if (known == numbers_.end()) return nullptr;
    last_found_ = maps_[known->second].get();
    return last_found_;
  }

  TableMap* AddTable(const std::string& table) {
    numbers_.emplace(table, maps_.size());
    maps_.push_back(std::make_unique<TableMap>(table, static_cast<uint16_t>(maps_.size())));
    return maps_.back().get();
  }

  absl::Status NoteOperation(const TraceRecord& record) {
    TableMap* map = Find(record.table);
    if (map == nullptr) {
      if (maps_.size() == kMapTablesMax)
        return internal::InvalidArgument("more than {} tables; choose one", kMapTablesMax);
      map = AddTable(record.table);
    }
    map->NoteOperation(record);
    const uint16_t number = map->number();
    if (record.op == TraceOp::kMget) {
      for (const std::string& key : record.keys) keys_->Add(number, key, record.sample);
    } else if (record.is_point()) {
      keys_->Add(number, record.row, record.sample);
    } else if (record.op == TraceOp::kScan) {
      AddBound(number, record.start);
      AddBound(number, record.last);
      for (const auto& range : record.ranges) AddBound(number, range.start);
    }
    return absl::OkStatus();
  }

  void AddBound(uint16_t number, const std::optional<std::string>& key) {
    if (key.has_value() && !key->empty()) keys_->Add(number, *key, 0);
  }

  // A table without a selected operation has an empty map if it exists.
  absl::Status CheckTables() {
    if (!maps_.empty()) return absl::OkStatus();
    const auto& tables = reader_.tables();
    if (options_.table.empty()) {
      if (tables.empty() && reader_.skipped_lines() > 0)
        return internal::NotFound(
            "the traces have no operation; wrong lines and damaged blocks: {}",
            WithCommas(reader_.skipped_lines()));
      if (tables.empty()) return internal::NotFound("the traces have no operation");
      return internal::NotFound("the traces have no operation with this tag at this time");
    }
    if (!tables.contains(options_.table) && !has_database_) {
      std::string names;
      for (const std::string& name : tables) {
        if (std::count(names.begin(), names.end(), ',') == kNamedTables) break;
        names += (names.empty() ? "" : ", ") + internal::Printable(name);
      }
      return internal::NotFound("the traces have no operation on table {}; their tables are: {}",
                                internal::Printable(options_.table), names);
    }
    AddTable(options_.table);
    return absl::OkStatus();
  }

  // Returns a map whose table has the same name in another instance, or null.
  const TableMap* WithSameName(const TableMap& map) const {
    const size_t slash = map.table().rfind('/');
    const std::string name = map.table().substr(slash == std::string::npos ? 0 : slash + 1);
    for (const auto& other : maps_) {
      const bool is_same = other->table() == name || other->table().ends_with("/" + name);
      if (other.get() != &map && is_same) return other.get();
    }
    return nullptr;
  }

  std::string TitleOf(const TableMap& map) const {
    return WithSameName(map) == nullptr ? "" : map.table();
  }

  // Opens the table of a map. A server's trace has the table PROJECT/INSTANCE/T for the table T of
  // a remote database.
  absl::StatusOr<Table> OpenTableOf(const TableMap& map) const {
    absl::StatusOr<Table> table = input_.database->OpenTable(map.table());
    const size_t slash = map.table().rfind('/');
    if (table.ok() || slash == std::string::npos) return table;
    const bool is_missing = table.status().code() == absl::StatusCode::kNotFound;
    if (!is_missing && table.status().code() != absl::StatusCode::kInvalidArgument) return table;
    if (const TableMap* const other = WithSameName(map))
      return internal::FailedPrecondition(
          "the tables {} and {} of the traces have the same name in this database; choose one",
          internal::Printable(map.table()), internal::Printable(other->table()));
    absl::StatusOr<Table> plain = input_.database->OpenTable(map.table().substr(slash + 1));
    return plain.ok() || !is_missing ? plain : table;
  }

  absl::Status ReadDatabase() {
    for (const auto& map : maps_) {
      STELE_ASSIGN_OR_RETURN(const Table table, OpenTableOf(*map));
      STELE_ASSIGN_OR_RETURN(std::vector<TabletLoad> tablets, TabletsOf(table));
      map->SetTablets(std::move(tablets));
      RowReader rows = table.ReadRows(RowSet(RowRange::All()),
                                      Filter::Chain(Filter::CellsRowLimit(1), Filter::StripValue()),
                                      {.fill_cache = false});
      while (rows.Next()) keys_->Add(NumberOfRows(*map), rows.row().row_key(), 0);
      STELE_RETURN_IF_ERROR(rows.status());
    }
    return absl::OkStatus();
  }

  void MakeBands() {
    keys_->Finish();
    keys_per_known_key_ = keys_->keys_per_known_key();
    for (const auto& map : maps_)
      map->BeginBands(keys_->KeysOf(has_database_ ? NumberOfRows(*map) : map->number()),
                      options_.bands);
    keys_->ForEach([&](uint16_t number, std::string_view key, uint64_t count) {
      const bool is_row = number >= kMapTablesMax;
      TableMap& map = *maps_[is_row ? number - kMapTablesMax : number];
      if (!is_row) map.NoteRow(key, count);
      if (is_row == has_database_) map.AddKnownKey(key);
    });
    keys_.reset();
  }

  absl::Status MakeCells() {
    uint64_t cells = 0;
    for (const auto& map : maps_) {
      STELE_RETURN_IF_ERROR(map->BeginCells(options_));
      cells += map->cells();
    }
    if (cells > kCellsMax)
      return internal::InvalidArgument(
          "{} have {} cells, at most {}; choose one table, fewer bands, or fewer columns",
          Counted(maps_.size(), "map"), WithCommas(cells), WithCommas(kCellsMax));
    for (const auto& map : maps_) map->AllocateCells();
    return absl::OkStatus();
  }

  const HeatMapInput& input_;
  const HeatMapOptions& options_;
  OperationReader reader_;
  std::optional<KeyStore> keys_;
  uint64_t keys_per_known_key_ = 1;
  const bool has_database_;
  std::vector<std::unique_ptr<TableMap>> maps_;
  std::unordered_map<std::string, size_t> numbers_;
  TableMap* last_found_ = nullptr;
};

constexpr std::string_view kMetricNames[] = {"ops",   "reads",   "writes",    "rows",
                                             "bytes", "latency", "seen-ratio"};

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string_view HeatMetricName(HeatMetric metric) {
  return internal::lab::kMetricNames[static_cast<size_t>(metric)];
}

absl::StatusOr<HeatMaps> HeatMap::Build(const HeatMapInput& input, const HeatMapOptions& options) {
  return internal::lab::HeatMapRun(input, options).Run();
}

double HeatMap::At(HeatMetric metric, size_t band, uint64_t step) const {
  const auto values = parts_.values.find(metric);
  return values == parts_.values.end() ? 0 : values->second[step * parts_.bands.size() + band];
}

double HeatMap::Sum(HeatMetric metric) const {
  const auto values = parts_.values.find(metric);
  if (values == parts_.values.end()) return 0;
  return std::accumulate(values->second.begin(), values->second.end(), 0.0);
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
