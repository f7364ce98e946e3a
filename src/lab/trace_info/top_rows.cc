#include "lab/trace_info/top_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/checksum.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kTopRowsMax = 10;

}  // namespace

void TopRows::Add(std::string_view table, std::string_view row) {
  const uint64_t hash = Checksum64(row, Checksum64(table));
  const SpaceSaving::Estimate estimate = counts_.Add(hash, 1);
  const uint64_t least = estimate.count - estimate.error;
  auto top = std::find_if(tops_.begin(), tops_.end(),
                          [&](const Top& known) { return known.hash == hash; });
  if (top == tops_.end()) {
    if (tops_.size() < kTopRowsMax) {
      top = tops_.insert(top, Top{.hash = hash});
    } else {
      top = std::min_element(tops_.begin(), tops_.end(), [](const Top& a, const Top& b) {
        return a.row.records < b.row.records;
      });
      if (top->row.records >= least) return;
      *top = Top{.hash = hash};
    }
    top->row.table = table;
    top->row.row = row;
  }
  top->row.is_exact = estimate.error == 0;
  top->row.records = std::max(top->row.records + 1, least);
}

std::vector<stele::lab::TraceInfo::Row> TopRows::Take() {
  std::vector<stele::lab::TraceInfo::Row> rows;
  for (Top& top : tops_) rows.push_back(std::move(top.row));
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tie(b.records, a.table, a.row) < std::tie(a.records, b.table, b.row);
  });
  return rows;
}

}  // namespace stele::internal::lab
