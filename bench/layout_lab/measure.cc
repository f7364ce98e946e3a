#include "measure.h"

#include <algorithm>
#include <ctime>

#include "base/checksum.h"
#include "base/random.h"

namespace stele::layout_lab {
namespace {

// Each timed read writes its result here, so that the compiler cannot remove the read.
volatile uint64_t g_sink = 0;

// The consumer. It touches every cell's column, timestamp and both ends of its value, and every
// row's key.
class Tally {
 public:
  void Row(std::string_view row_key) { sum_ += static_cast<unsigned char>(row_key.back()); }
  void Cell(uint32_t column, int64_t timestamp, std::string_view value) {
    sum_ += column + static_cast<uint64_t>(timestamp);
    if (!value.empty())
      sum_ += static_cast<unsigned char>(value.front()) + static_cast<unsigned char>(value.back());
  }
  ~Tally() { g_sink = g_sink + sum_; }

 private:
  uint64_t sum_ = 0;
};

uint64_t HashCell(uint64_t row_hash, uint32_t column, int64_t timestamp, std::string_view value) {
  return internal::Checksum64(value, row_hash + column * 0x9e3779b97f4a7c15 +
                                         static_cast<uint64_t>(timestamp) * 0xbf58476d1ce4e5b9);
}

// The sum does not depend on the order of a row's cells, which differs between layouts. This class
// also checks that rows ascend.
class Summer {
 public:
  void Row(std::string_view row_key) {
    if (has_row_ && row_key <= last_row_) Die("rows out of order");
    has_row_ = true;
    last_row_ = row_key;
    row_hash_ = internal::Checksum64(row_key);
  }
  void Cell(uint32_t column, int64_t timestamp, std::string_view value) {
    sum_.hash += HashCell(row_hash_, column, timestamp, value);
    ++sum_.cell_count;
  }
  const CellSum& sum() const { return sum_; }

 private:
  CellSum sum_;
  std::string last_row_;
  uint64_t row_hash_ = 0;
  bool has_row_ = false;
};

CellSum SumOfRows(const DataSet& set, uint32_t row_begin, uint32_t row_end, const Query& query) {
  Summer summer;
  for (uint32_t row = row_begin; row < row_end; ++row) {
    summer.Row(set.rows[row]);
    for (uint32_t i = set.row_starts[row]; i < set.row_starts[row + 1]; ++i) {
      const StoredCell& cell = set.cells[i];
      const bool is_latest = i == set.row_starts[row] || set.cells[i - 1].column != cell.column;
      if (cell.column < query.column_begin || cell.column >= query.column_end ||
          (query.only_latest && !is_latest))
        continue;
      summer.Cell(cell.column, cell.timestamp, cell.value);
    }
  }
  return summer.sum();
}

Query AllQuery(const DataSet& set) { return MakeQuery(set, kAllFamilies, false); }
Query ProjectedQuery(const DataSet& set) {
  return MakeQuery(set, set.projected_family, set.has_versions);
}
Query LatestQuery(const DataSet& set) { return MakeQuery(set, kAllFamilies, true); }

double BestScanSeconds(const std::vector<Section>& sections, const Query& query, int repetitions) {
  double best = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const double begin = ThreadSeconds();
    double seconds = 0;
    int scans = 0;
    do {  // repeat a scan that is too short for the clock
      Tally tally;
      Scan(sections, query, tally);
      ++scans;
      seconds = ThreadSeconds() - begin;
    } while (seconds < 0.02);
    best = std::min(best, seconds / scans);
  }
  return best;
}

double BestGetMicroseconds(const DataSet& set, const std::vector<Section>& sections,
                           const Query& query, int repetitions) {
  internal::Random random(99);
  OpenPage page;
  Tally tally;
  double best = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const double begin = ThreadSeconds();
    double seconds = 0;
    int gets = 0;
    do {
      for (int j = 0; j < 64; ++j)
        Get(sections, query, set.rows[random.Below(set.rows.size())], &page, tally);
      gets += 64;
      seconds = ThreadSeconds() - begin;
    } while (seconds < 0.04);
    best = std::min(best, seconds * 1e6 / gets);
  }
  return best;
}

}  // namespace

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Query MakeQuery(const DataSet& set, uint32_t family, bool only_latest) {
  Query query{.family = family, .only_latest = only_latest};
  if (family == kAllFamilies) return query;
  const auto is_before = [&](const Column& column) { return column.family < family; };
  const auto is_not_after = [&](const Column& column) { return column.family <= family; };
  query.column_begin =
      static_cast<uint32_t>(std::count_if(set.columns.begin(), set.columns.end(), is_before));
  query.column_end =
      static_cast<uint32_t>(std::count_if(set.columns.begin(), set.columns.end(), is_not_after));
  return query;
}

Expectation Expect(const DataSet& set) {
  const auto rows = static_cast<uint32_t>(set.rows.size());
  return {SumOfRows(set, 0, rows, AllQuery(set)), SumOfRows(set, 0, rows, ProjectedQuery(set)),
          SumOfRows(set, 0, rows, LatestQuery(set))};
}

void Verify(const DataSet& set, const Expectation& expected, const std::vector<Section>& sections) {
  const auto check_scan = [&](const Query& query, const CellSum& sum, std::string_view what) {
    Summer summer;
    Scan(sections, query, summer);
    if (!(summer.sum() == sum)) Die(what);
  };
  check_scan(AllQuery(set), expected.all, "a scan gives other cells than went in");
  check_scan(ProjectedQuery(set), expected.projected,
             "a projection gives other cells than went in");
  check_scan(LatestQuery(set), expected.latest,
             "a scan of the latest versions gives other cells than went in");
  internal::Random random(5);
  OpenPage page;
  for (int i = 0; i < 50; ++i) {
    const auto row = static_cast<uint32_t>(random.Below(set.rows.size()));
    for (const Query& query : {AllQuery(set), ProjectedQuery(set), LatestQuery(set)}) {
      Summer summer;
      Get(sections, query, set.rows[row], &page, summer);
      if (!(summer.sum() == SumOfRows(set, row, row + 1, query)))
        Die("a point read gives other cells than went in");
    }
  }
}

Figures Measure(const DataSet& set, const Expectation& expected,
                const std::vector<Section>& sections, int repetitions) {
  Figures figures;
  for (const Section& section : sections) {
    figures.page_bytes += section.page_bytes();
    figures.head_bytes += section.head_bytes();
    figures.index_bytes += section.index_bytes();
    figures.dictionary_bytes += section.dictionary_bytes();
    figures.page_count += section.page_count();
  }
  const auto cells_per_second = [&](const Query& query, const CellSum& sum) {
    return static_cast<double>(sum.cell_count) / BestScanSeconds(sections, query, repetitions);
  };
  figures.scan_cells_s = cells_per_second(AllQuery(set), expected.all);
  figures.scan_mb_s = figures.scan_cells_s * static_cast<double>(set.UserBytes()) /
                      static_cast<double>(expected.all.cell_count) / 1e6;
  figures.project_cells_s = cells_per_second(ProjectedQuery(set), expected.projected);
  figures.get_us = BestGetMicroseconds(set, sections, AllQuery(set), repetitions);
  figures.project_get_us = BestGetMicroseconds(set, sections, ProjectedQuery(set), repetitions);
  if (set.has_versions) {
    figures.latest_cells_s = cells_per_second(LatestQuery(set), expected.latest);
    figures.latest_get_us = BestGetMicroseconds(set, sections, LatestQuery(set), repetitions);
  }
  return figures;
}

}  // namespace stele::layout_lab
