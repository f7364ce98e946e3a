#include "lab/staging/row_line.h"

#include <cstdint>
#include <set>
#include <utility>

#include "base/status.h"
#include "lab/staging/staged_table.h"
#include "lab/values/base64.h"
#include "lab/values/row_events.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kCellOverheadBytes = 64;  // of a change in memory

// The cells of a line, until the key of their row is known.
class LineCells {
 public:
  static absl::Status DecodeBase64(std::string_view text, std::string* out) {
    out->clear();
    return AppendDecodedBase64(text, out) ? absl::OkStatus() : InvalidArgument("not base64");
  }
  void Clear() {
    cells_.clear();
    families_.clear();
    bytes_.clear();
    family_bytes_ = 0;
  }
  absl::Status Add(RowLineCell cell) {
    const int64_t micros = cell.timestamp.value_or(Timestamp()).micros();
    if (micros < 0)
      return InvalidArgument("\"timestamp\" is negative: it is a number of microseconds");
    const auto family = families_.insert(std::move(cell.family)).first;
    if (families_.size() > kStagedFamiliesMax)
      return InvalidArgument("more than {} column families", kStagedFamiliesMax);
    cells_.push_back({.family = &*family,
                      .qualifier_bytes = cell.qualifier.size(),
                      .value_bytes = cell.value.size(),
                      .micros = micros});
    family_bytes_ += family->size();
    bytes_.append(cell.qualifier).append(cell.value);
    return absl::OkStatus();
  }
  size_t size() const { return cells_.size(); }

  void MoveTo(std::string row_key, StagedRow* out) {
    out->bytes = row_key.size() + bytes_.size() + cells_.size() * kCellOverheadBytes;
    out->row = RowMutation(std::move(row_key));
    out->row.Reserve(cells_.size(), family_bytes_ + bytes_.size());
    std::string_view rest = bytes_;
    for (const Cell& cell : cells_) {
      const std::string_view qualifier = rest.substr(0, cell.qualifier_bytes);
      const std::string_view value = rest.substr(cell.qualifier_bytes, cell.value_bytes);
      rest.remove_prefix(qualifier.size() + value.size());
      out->row.SetCell(*cell.family, qualifier, Timestamp::FromMicros(cell.micros), value);
    }
    out->families.assign(families_.begin(), families_.end());
  }

 private:
  struct Cell {
    const std::string* family;  // in families_
    size_t qualifier_bytes;
    size_t value_bytes;
    int64_t micros;
  };

  std::vector<Cell> cells_;
  std::set<std::string, std::less<>> families_;
  std::string bytes_;  // of each cell, the qualifier and the value
  size_t family_bytes_ = 0;
};

}  // namespace

absl::Status ParseRowLine(std::string_view line, StagedRow* out) {
  LineCells cells;
  std::string row_key;
  STELE_RETURN_IF_ERROR(ReadRowLine(line, &cells, &row_key));
  if (cells.size() == 0) return InvalidArgument("the row has no cell");
  cells.MoveTo(std::move(row_key), out);
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
