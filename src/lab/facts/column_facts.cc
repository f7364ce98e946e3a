#include "lab/facts/column_facts.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/checksum.h"
#include "lab/kinds/personal_data.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kColumnsMax = 1'000;  // per family
constexpr size_t kAllColumnsMax = 10'000;
constexpr size_t kQualifierBytesMax = 256;

}  // namespace

void TableColumns::Add(const RowView& piece) {
  if (!is_row_open_) {
    is_row_open_ = true;
    set_hash_ = 0;
    row_personal_kind_ = nullptr;
  }
  for (const CellView& cell : piece.cells()) {
    if (column_ == nullptr || cell.qualifier() != qualifier_ || cell.family() != family_name_) {
      EndColumn(piece.row_key());
      BeginColumn(cell);
    }
    ++versions_;
  }
  if (!piece.is_last_piece()) return;
  EndColumn(piece.row_key());
  is_row_open_ = false;
  const std::string_view set(reinterpret_cast<const char*>(&set_hash_), sizeof set_hash_);
  sets_.Add(set, 1);
  set_counter_.Add(set);
}

void TableColumns::BeginColumn(const CellView& cell) {
  if (family_ == nullptr || cell.family() != family_name_) {
    auto place = families_.find(cell.family());
    if (place == families_.end()) {
      place = families_.emplace(cell.family(), FamilyFacts()).first;
      place->second.personal_kind = PersonalDataIn(cell.family());
    }
    family_ = &place->second;
    family_name_ = cell.family();
  }
  qualifier_ = cell.qualifier();
  const uint64_t hash = Checksum64(qualifier_);
  set_hash_ = Checksum64(family_name_, set_hash_ * 31 + hash);
  auto place = family_->columns.find(hash);
  if (place == family_->columns.end()) {
    if (family_->columns.size() >= 2 * kColumnsMax ||
        (known_columns_ >= kAllColumnsMax && family_->columns.size() > 1))
      Prune(family_);
    place = family_->columns.try_emplace(hash).first;
    ++known_columns_;
    place->second.qualifier = qualifier_.substr(0, kQualifierBytesMax);
    place->second.personal_kind = PersonalDataIn(qualifier_);
  }
  column_ = &place->second;
  const bool is_family = family_->personal_kind != nullptr;
  const char* const kind = is_family ? family_->personal_kind : column_->personal_kind;
  if (kind != nullptr && row_personal_kind_ == nullptr) {
    row_personal_kind_ = kind;
    row_personal_name_ = is_family ? family_name_ : qualifier_;
  }
}

void TableColumns::EndColumn(std::string_view row_key) {
  if (column_ == nullptr) return;
  ++row_columns_;
  ++column_->rows;
  column_->cells += versions_;
  column_->versions.Add(versions_);
  family_->versions.Add(versions_);
  family_->many_versions.Check(versions_, versions_max_, row_key);
  column_ = nullptr;
  versions_ = 0;
}

// Removes the half of the columns with the fewest cells.
void TableColumns::Prune(FamilyFacts* family) {
  std::vector<uint64_t> cells;
  for (const auto& [hash, column] : family->columns) cells.push_back(column.cells);
  const auto middle = cells.begin() + static_cast<ptrdiff_t>(cells.size() / 2);
  std::nth_element(cells.begin(), middle, cells.end(), std::greater<>());
  size_t kept = 0;
  for (auto column = family->columns.begin(); column != family->columns.end();) {
    const bool is_kept = column->second.cells >= *middle && kept < cells.size() / 2;
    if (is_kept) ++kept;
    column = is_kept ? std::next(column) : family->columns.erase(column);
  }
  known_columns_ -= cells.size() - kept;
}

}  // namespace stele::internal::lab
