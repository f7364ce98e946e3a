#include "curves.h"

#include <algorithm>
#include <functional>

namespace stele_growth {
namespace {

using enum Operation;

// Tables of wide rows or many versions have this many cells in all, so that curves end.
constexpr uint64_t kCells = 500'000;
constexpr uint64_t kMemtableCells = 100'000;

constexpr uint64_t kSmallCells = 1'000;
constexpr size_t kSmallPoints = 2;

class CurveList {
 public:
  explicit CurveList(bool is_small) : is_small_(is_small) {}

  // Adds a curve with a point for each value. If is_small_ is set, it has only the first values,
  // and tables with few rows.
  void Add(std::string_view name, std::string_view varies, std::vector<Operation> operations,
           const std::vector<uint64_t>& values,
           const std::function<void(uint64_t value, Layout* layout)>& vary) {
    Curve curve{name, varies, std::move(operations), {}};
    for (const uint64_t value : values) {
      if (is_small_ && curve.points.size() == kSmallPoints) break;
      Layout layout;
      vary(value, &layout);
      if (is_small_) layout.rows = std::min(layout.rows, kSmallCells / layout.columns);
      curve.points.push_back({value, layout});
    }
    curves_.push_back(std::move(curve));
  }
  std::vector<Curve> Take() { return std::move(curves_); }

 private:
  const bool is_small_;
  std::vector<Curve> curves_;
};

}  // namespace

std::vector<Curve> Curves(bool is_small) {
  CurveList list(is_small);
  list.Add("rows", "rows of the table", {kCell, kRow, kScan, kWrite},
           {10'000, 100'000, 1'000'000, 10'000'000},
           [](uint64_t rows, Layout* layout) { layout->rows = rows; });
  list.Add("columns", "columns of each row", {kCell, kRow, kWrite}, {1, 10, 100, 1'000, 10'000},
           [](uint64_t columns, Layout* layout) {
             layout->columns = columns;
             layout->rows = kCells / columns;
           });
  list.Add("versions_in_file", "versions of each column, in a file", {kCell, kRow, kWrite},
           {1, 10, 100, 1'000, 10'000, 100'000}, [](uint64_t versions, Layout* layout) {
             layout->columns = 1;
             layout->versions = versions;
             layout->rows = kCells / versions;
           });
  list.Add("versions_in_memtable", "versions of each column, in the memtable",
           {kCell, kRow, kWrite}, {1, 10, 100, 1'000, 10'000, 100'000},
           [](uint64_t versions, Layout* layout) {
             layout->columns = 1;
             layout->versions = versions;
             layout->rows = kMemtableCells / versions;
             layout->files = 0;
           });
  list.Add("families", "families of one column each", {kCell, kRow, kFamilyScan, kWrite},
           {1, 3, 10, 30, 100}, [](uint64_t families, Layout* layout) {
             layout->families = families;
             layout->columns = 1;
             layout->rows = kCells / families;
           });
  list.Add("files", "files of the tablet", {kCell, kRow, kScan}, {1, 2, 3, 4, 5},
           [](uint64_t files, Layout* layout) { layout->files = files; });
  list.Add("tablets", "tablets of the table", {kCell, kRow, kScan, kWrite}, {1, 10, 100, 1'000},
           [](uint64_t tablets, Layout* layout) { layout->tablets = tablets; });
  list.Add("threads", "threads that work at the same time", {kCell, kRow, kScan, kWrite},
           {1, 2, 4, 8}, [](uint64_t threads, Layout* layout) { layout->threads = threads; });
  list.Add("budget", "MiB of the memory budget", {kCell, kRow, kScan, kWrite},
           {16, 32, 64, 128, 256, 512},
           [](uint64_t budget_mib, Layout* layout) { layout->budget_mib = budget_mib; });
  return list.Take();
}

}  // namespace stele_growth
