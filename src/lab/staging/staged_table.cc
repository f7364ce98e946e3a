#include "lab/staging/staged_table.h"

#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kBufferedBytesMax = size_t{16} << 20;
constexpr size_t kRowOverheadBytes = 96;

// The largest limits that a table may have.
TableLimits WideLimits() {
  return {.row_key_bytes = 65'535,
          .qualifier_bytes = 65'535,
          .value_bytes = uint64_t{256} << 20,
          .row_bytes = uint64_t{256} << 20,
          .mutations = 1'000'000};
}

}  // namespace

StagedTable::StagedTable(std::string name, std::string directory)
    : name_(std::move(name)), parent_(std::move(directory)) {}

absl::Status StagedTable::AddFamily(std::string_view name) {
  if (families_.find(name) != families_.end()) return absl::OkStatus();
  if (families_.size() == kStagedFamiliesMax)
    return internal::InvalidArgument("more than {} column families", kStagedFamiliesMax);
  families_.emplace(name);
  if (!staging_.is_open()) return absl::OkStatus();
  return table_.ModifyColumnFamilies({FamilyChange::Create({.name = std::string(name)})});
}

absl::Status StagedTable::Open(bool in_memory) {
  STELE_RETURN_IF_ERROR(in_memory ? staging_.OpenInMemory() : staging_.OpenBelow(parent_));
  Schema schema;
  schema.SetGranularity(TimestampGranularity::kMicros).SetLimits(WideLimits());
  for (const std::string& family : families_) schema.AddFamily(family);
  STELE_ASSIGN_OR_RETURN(table_, staging_.database().CreateTable(name_, schema));
  return absl::OkStatus();
}

absl::Status StagedTable::Flush() {
  const auto failed = table_.BulkApply(rows_);
  if (!failed.empty()) {
    const FailedMutation& first = failed.front();
    return internal::WithContext(
        first.status, fmt::format("row \"{}\"", internal::Printable(rows_[first.index].row_key())));
  }
  rows_.clear();
  buffered_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status StagedTable::Add(RowMutation row, size_t bytes) {
  rows_.push_back(std::move(row));
  buffered_bytes_ += bytes + kRowOverheadBytes;
  if (buffered_bytes_ < kBufferedBytesMax) return absl::OkStatus();
  if (!staging_.is_open()) STELE_RETURN_IF_ERROR(Open(false));
  return Flush();
}

absl::StatusOr<Table> StagedTable::Finish() {
  if (!staging_.is_open()) STELE_RETURN_IF_ERROR(Open(true));
  STELE_RETURN_IF_ERROR(Flush());
  return table_;
}

}  // namespace stele::internal::lab
