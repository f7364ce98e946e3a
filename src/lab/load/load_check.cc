#include "lab/load/load_check.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "lab/load/cell_conflicts.h"

namespace stele::internal::lab {
namespace {

void AppendCounted(std::string_view bytes, std::string* out) {
  out->append(std::to_string(bytes.size())).append(1, ':').append(bytes);
}

}  // namespace

LoadPosition LoadPosition::Of(uint64_t packed) {
  return {.table = packed >> (kFileBits + kRecordNumberBits),
          .file = (packed >> kRecordNumberBits) & ((uint64_t{1} << kFileBits) - 1),
          .number = packed & ((uint64_t{1} << kRecordNumberBits) - 1)};
}

absl::Status LoadCheck::AddRow(const LoadPosition& position, const DesignTable& table,
                               const MappedRow& row) {
  if (row.cells.empty()) return absl::OkStatus();
  key_ = std::to_string(position.table);
  key_ += ' ';
  AppendCounted(row.row_key, &key_);
  const size_t row_bytes = key_.size();
  STELE_RETURN_IF_ERROR(rows_.Add(key_, position.Packed()));
  for (const MappedCell& cell : row.cells) {
    key_.resize(row_bytes);
    AppendCounted(cell.design->family, &key_);
    AppendCounted(cell.qualifier, &key_);
    key_ += std::to_string(row.timestamp.micros());
    // In an aggregate family the values of all records are added.
    const bool is_plain = table.schema.family(cell.design->family)->value_type == ValueType::kBytes;
    STELE_RETURN_IF_ERROR(cells_.Add(key_, position.Packed(), is_plain ? cell.value : ""));
  }
  return absl::OkStatus();
}

absl::Status LoadCheck::AddBad(const LoadPosition& position, std::string text) {
  ++counts_[position.table].bad;
  if (!text.empty() && listed_bad_.size() < kListedMax) listed_bad_.push_back(std::move(text));
  const uint64_t record = position.PackedRecord();
  if (!left_out_.empty() && left_out_.back() == record) return absl::OkStatus();
  if (left_out_.size() == kLeftOutMax)
    return ResourceExhausted("more than {} bad records: is this the input of the design?",
                             kLeftOutMax);
  left_out_.push_back(record);
  return absl::OkStatus();
}

absl::Status LoadCheck::Finish(bool allows_duplicates,
                               const std::function<std::string(const LoadPosition&)>& name) {
  const auto record_of = [](uint64_t position) {
    return LoadPosition::Of(position).PackedRecord();
  };
  STELE_ASSIGN_OR_RETURN(
      std::vector<KeyHashes::Repeated> duplicates,
      allows_duplicates ? FindChangedCells(&cells_) : FindConflicts(&cells_, record_of));
  CountDuplicates(std::move(duplicates), allows_duplicates, name);
  STELE_RETURN_IF_ERROR(CountKept(&rows_, [this](uint64_t table) { ++counts_[table].rows; }));
  return CountKept(&cells_, [this](uint64_t table) { ++counts_[table].cells; });
}

absl::Status LoadCheck::CountKept(KeyHashes* keys,
                                  const std::function<void(uint64_t table)>& count) const {
  bool is_counted = false;
  const auto visit = [&](uint64_t packed) {
    const LoadPosition position = LoadPosition::Of(packed);
    // Bad records have no rows.
    is_counted = !IsDuplicate(position.PackedRecord());
    if (is_counted) count(position.table);
  };
  return keys->FinishEach(visit, [&](const KeyHashes::Repeated& repeated) {
    if (!is_counted) visit(repeated.position);
  });
}

bool LoadCheck::IsDuplicate(uint64_t record) const {
  return std::binary_search(duplicates_.begin(), duplicates_.end(), record);
}

bool LoadCheck::IsDuplicateIn(const LoadPosition& position) const {
  return std::binary_search(duplicate_positions_.begin(), duplicate_positions_.end(),
                            position.Packed());
}

void LoadCheck::CountDuplicates(std::vector<KeyHashes::Repeated> duplicates, bool allows_duplicates,
                                const std::function<std::string(const LoadPosition&)>& name) {
  std::sort(duplicates.begin(), duplicates.end(), [](const auto& a, const auto& b) {
    return std::pair(a.position, a.first) < std::pair(b.position, b.first);
  });
  uint64_t last = UINT64_MAX;
  for (const KeyHashes::Repeated& duplicate : duplicates) {
    if (std::exchange(last, duplicate.position) == duplicate.position) continue;
    const LoadPosition position = LoadPosition::Of(duplicate.position);
    ++counts_[position.table].duplicates;
    duplicate_positions_.push_back(duplicate.position);
    if (listed_duplicates_.size() < kListedMax) {
      listed_duplicates_.push_back(fmt::format("{}: a cell of {} with another value",
                                               name(position),
                                               name(LoadPosition::Of(duplicate.first))));
    }
    if (!allows_duplicates) duplicates_.push_back(position.PackedRecord());
  }
  std::sort(duplicates_.begin(), duplicates_.end());
  duplicates_.erase(std::unique(duplicates_.begin(), duplicates_.end()), duplicates_.end());
  left_out_.insert(left_out_.end(), duplicates_.begin(), duplicates_.end());
  std::sort(left_out_.begin(), left_out_.end());
  left_out_.erase(std::unique(left_out_.begin(), left_out_.end()), left_out_.end());
}

}  // namespace stele::internal::lab
