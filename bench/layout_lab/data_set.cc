#include "data_set.h"

#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>

#include "base/random.h"
#include "base/status.h"

namespace stele::layout_lab {
namespace {

using internal::Random;

constexpr size_t kPoolBytes = size_t{64} << 20;
constexpr int64_t kFirstTimestamp = 1'700'000'000'000'000;

// Makes a mix of words, which repeat, and tokens, which do not. zstd-3 compresses 16 KiB of it to
// about 50 %, lz4 to about 70 %.
std::string MakePool() {
  Random random(20261121);
  std::vector<std::string> words(1000);
  for (std::string& word : words) {
    for (uint64_t i = 0, length = 3 + random.Below(8); i < length; ++i)
      word.push_back(static_cast<char>('a' + random.Below(26)));
  }
  std::string pool;
  pool.reserve(kPoolBytes + 64);
  while (pool.size() < kPoolBytes) {
    if (random.Below(100) < 16) {
      static constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
      for (int i = 0; i < 10; ++i) pool.push_back(kDigits[random.Below(kDigits.size())]);
    } else {
      // The cube of a uniform number makes some words frequent.
      const uint64_t x = random.Below(words.size());
      pool.append(words[x * x * x / (words.size() * words.size())]);
    }
    pool.push_back(' ');
  }
  return pool;
}

std::string SyntheticRow(uint32_t ordinal, Random& random) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "usr:%012llu",
                static_cast<unsigned long long>(ordinal) * 1000 + random.Below(900));
  return digits;
}

struct Shape {
  uint32_t rows;
  uint32_t versions;
  uint32_t projected_family;
  std::vector<Column> columns;
};

Shape ShapeOf(const std::string& name) {
  if (name == "W") {
    Shape shape{20'000, 1, 0, {{0, "count"}}};
    for (int i = 0; i < 24; ++i) shape.columns.push_back({1, fmt::format("column{:02}", i)});
    return shape;
  }
  const std::vector<Column> five = {{0, "st"}, {1, "addr"}, {1, "mail"}, {1, "name"}, {1, "note"}};
  if (name == "V") return {2'000, 100, 0, five};
  return {200'000, 1, 0, five};
}

DataSet MakeSynthetic(const std::string& name, uint32_t scale) {
  const Shape shape = ShapeOf(name);
  DataSet set{.name = name, .text = MakePool(), .columns = shape.columns, .family_count = 2};
  set.projected_family = shape.projected_family;
  set.has_versions = shape.versions > 1;
  Random random(7);
  const uint32_t row_count = std::max(1U, shape.rows / scale);
  const std::string_view pool = set.text;
  for (uint32_t row = 0; row < row_count; ++row) {
    set.rows.push_back(SyntheticRow(row, random));
    set.row_starts.push_back(static_cast<uint32_t>(set.cells.size()));
    for (uint32_t column = 0; column < shape.columns.size(); ++column) {
      const size_t value_bytes = name == "W" && column == 0 ? 8 : 100;
      for (uint32_t version = 0; version < shape.versions; ++version) {
        const int64_t age = int64_t{1'000'003} * version + static_cast<int64_t>(random.Below(1000));
        set.cells.push_back({column, kFirstTimestamp + int64_t{row} * 1000 - age,
                             pool.substr(random.Below(kPoolBytes - value_bytes), value_bytes)});
      }
    }
  }
  set.row_starts.push_back(static_cast<uint32_t>(set.cells.size()));
  return set;
}

absl::StatusOr<std::string> Unpack(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return internal::NotFound("cannot read {}", path);
  const std::string packed((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  std::string text;
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  std::string part(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer out{part.data(), part.size(), 0};
    const size_t result = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(result)) return internal::DataLoss(path, in.pos, ZSTD_getErrorName(result));
    text.append(part.data(), out.pos);
  }
  return text;
}

// Splits the line at `begin` into fields, which are views. Quotes around a field are removed;
// doubled quotes inside it stay doubled. Returns the start of the next line.
size_t SplitLine(std::string_view text, size_t begin, std::vector<std::string_view>& fields) {
  fields.clear();
  for (size_t at = begin;; ++at) {
    const bool quoted = at < text.size() && text[at] == '"';
    const size_t first = quoted ? at + 1 : at;
    size_t end = first;
    if (quoted) {
      while (end < text.size() &&
             (text[end] != '"' || (end + 1 < text.size() && text[end + 1] == '"')))
        end += text[end] == '"' ? 2 : 1;
      at = std::min(end + 1, text.size());
    } else {
      end = std::min(text.find_first_of(",\n", first), text.size());
      at = end;
    }
    fields.push_back(text.substr(first, std::min(end, text.size()) - first));
    if (at >= text.size() || text[at] == '\n') return at + 1;
  }
}

// Parses "2020-02-24T18:00:00" into microseconds.
int64_t ParseDay(std::string_view text) {
  std::tm day{};
  if (std::sscanf(std::string(text).c_str(), "%d-%d-%dT%d", &day.tm_year, &day.tm_mon, &day.tm_mday,
                  &day.tm_hour) < 3)
    return 0;
  day.tm_year -= 1900;
  day.tm_mon -= 1;
  return int64_t{timegm(&day)} * 1'000'000;
}

// The mapping of a CSV file to cells: the columns' fields and families, and the fields of row key
// and timestamp.
struct CsvMapping {
  std::string file;
  std::vector<std::pair<std::string, uint32_t>> columns;  // header name, family
  uint32_t projected_family;
  bool has_versions;
  std::string (*row_key)(const std::vector<std::string_view>& fields, size_t line);
  int64_t (*timestamp)(const std::vector<std::string_view>& fields);
};

std::vector<std::pair<std::string, uint32_t>> RegionColumns() {
  std::vector<std::pair<std::string, uint32_t>> columns = {
      {"denominazione_regione", 1}, {"lat", 1}, {"long", 1}, {"note", 1}};
  for (const char* name :
       {"ricoverati_con_sintomi", "terapia_intensiva", "totale_ospedalizzati",
        "isolamento_domiciliare", "totale_positivi", "variazione_totale_positivi", "nuovi_positivi",
        "dimessi_guariti", "deceduti", "casi_da_sospetto_diagnostico", "casi_da_screening",
        "totale_casi", "tamponi", "casi_testati", "ingressi_terapia_intensiva",
        "totale_positivi_test_molecolare", "totale_positivi_test_antigenico_rapido",
        "tamponi_test_molecolare", "tamponi_test_antigenico_rapido"}) {
    columns.emplace_back(name, 0);
  }
  return columns;
}

CsvMapping MappingOf(const std::string& name) {
  if (name == "covid") {
    // One row per province and day. The count has its own family, separate from the description of
    // the province.
    return {"covid-ita/provinces.csv.zst",
            {{"totale_casi", 0},
             {"stato", 1},
             {"denominazione_regione", 1},
             {"denominazione_provincia", 1},
             {"sigla_provincia", 1},
             {"lat", 1},
             {"long", 1},
             {"note", 1},
             {"codice_nuts_1", 1},
             {"codice_nuts_2", 1},
             {"codice_nuts_3", 1}},
            0,
            false,
            [](const std::vector<std::string_view>& f, size_t) {
              return fmt::format("{}#{}#{}", f[2], f[4], f[0]);
            },
            [](const std::vector<std::string_view>& f) { return ParseDay(f[0]); }};
  }
  if (name == "covid-days") {
    // One row per region. Each day is a version of its columns.
    return {"covid-ita/regions.csv.zst",
            RegionColumns(),
            0,
            true,
            [](const std::vector<std::string_view>& f, size_t) { return std::string(f[2]); },
            [](const std::vector<std::string_view>& f) { return ParseDay(f[0]); }};
  }
  return {"geonames-cities/cities.csv.zst",
          {{"lat", 0}, {"lng", 0}, {"country", 1}, {"admin1", 1}, {"admin2", 1}, {"name", 1}},
          0,
          false,
          [](const std::vector<std::string_view>& f, size_t line) {
            return fmt::format("{}#{}#{}#{}#{}", f[0], f[1], f[2], f[3], line);
          },
          [](const std::vector<std::string_view>&) { return kFirstTimestamp; }};
}

struct Line {
  std::string row;
  int64_t timestamp;
  std::vector<std::string_view> values;  // by column; an empty value is no cell
};

absl::StatusOr<std::vector<Line>> ReadLines(const CsvMapping& mapping, const DataSet& set) {
  std::vector<std::string_view> fields;
  size_t at = SplitLine(set.text, 0, fields);
  std::vector<size_t> field_of_column;
  for (const Column& column : set.columns) {
    const auto found = std::find(fields.begin(), fields.end(), column.qualifier);
    if (found == fields.end())
      return internal::NotFound("{} has no column {}", mapping.file, column.qualifier);
    field_of_column.push_back(static_cast<size_t>(found - fields.begin()));
  }
  const size_t field_count = fields.size();
  std::vector<Line> lines;
  for (size_t number = 1; at < set.text.size(); ++number) {
    at = SplitLine(set.text, at, fields);
    if (fields.size() != field_count)
      return internal::InvalidArgument("{}: line {} has {} fields", mapping.file, number,
                                       fields.size());
    Line line{mapping.row_key(fields, number), mapping.timestamp(fields), {}};
    for (const size_t field : field_of_column) line.values.push_back(fields[field]);
    lines.push_back(std::move(line));
  }
  // By row, newest first. Of lines with the same row and timestamp, the first wins.
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.row != b.row ? a.row < b.row : a.timestamp > b.timestamp;
  });
  lines.erase(std::unique(lines.begin(), lines.end(),
                          [](const Line& a, const Line& b) {
                            return a.row == b.row && a.timestamp == b.timestamp;
                          }),
              lines.end());
  return lines;
}

absl::StatusOr<DataSet> LoadCsv(const std::string& name, const std::string& data_directory) {
  CsvMapping mapping = MappingOf(name);
  DataSet set{.name = name,
              .family_count = 2,
              .projected_family = mapping.projected_family,
              .has_versions = mapping.has_versions};
  STELE_ASSIGN_OR_RETURN(set.text, Unpack(data_directory + "/" + mapping.file));
  for (const auto& [qualifier, family] : mapping.columns)
    set.columns.push_back({family, qualifier});
  std::sort(set.columns.begin(), set.columns.end(), [](const Column& a, const Column& b) {
    return a.family != b.family ? a.family < b.family : a.qualifier < b.qualifier;
  });
  STELE_ASSIGN_OR_RETURN(const std::vector<Line> lines, ReadLines(mapping, set));
  for (size_t begin = 0, end = 0; begin < lines.size(); begin = end) {
    while (end < lines.size() && lines[end].row == lines[begin].row) ++end;
    set.rows.push_back(lines[begin].row);
    set.row_starts.push_back(static_cast<uint32_t>(set.cells.size()));
    for (uint32_t column = 0; column < set.columns.size(); ++column) {
      for (size_t i = begin; i < end; ++i) {
        if (!lines[i].values[column].empty())
          set.cells.push_back({column, lines[i].timestamp, lines[i].values[column]});
      }
    }
  }
  set.row_starts.push_back(static_cast<uint32_t>(set.cells.size()));
  return set;
}

}  // namespace

uint64_t DataSet::UserBytes() const {
  uint64_t bytes = 0;
  for (const std::string& row : rows) bytes += row.size();
  for (const StoredCell& cell : cells) bytes += CellBytes(cell);
  return bytes;
}

std::vector<std::string> DataSetNames() {
  return {"S", "W", "V", "covid", "covid-days", "geonames"};
}

absl::StatusOr<DataSet> LoadDataSet(const std::string& name, const std::string& data_directory,
                                    uint32_t scale) {
  const std::vector<std::string> names = DataSetNames();
  if (std::find(names.begin(), names.end(), name) == names.end())
    return internal::InvalidArgument("no data set is called {}", name);
  if (name.size() == 1) return MakeSynthetic(name, scale);
  return LoadCsv(name, data_directory);
}

}  // namespace stele::layout_lab
