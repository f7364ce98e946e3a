#include "lab/staging/staged_table.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kBufferedBytesMax = size_t{16} << 20;
constexpr uint64_t kBudgetBytes = uint64_t{64} << 20;
constexpr size_t kRowOverheadBytes = 96;
constexpr size_t kFamiliesMax = 1'000;

// The largest limits that a table may have.
TableLimits WideLimits() {
  return {.row_key_bytes = 65'535,
          .qualifier_bytes = 65'535,
          .value_bytes = uint64_t{256} << 20,
          .row_bytes = uint64_t{256} << 20,
          .mutations = 1'000'000};
}

absl::StatusOr<std::string> NewDirectory(std::string parent) {
  if (parent.empty()) {
    std::error_code error;
    parent = std::filesystem::temp_directory_path(error).string();
    if (error) parent = "/tmp";
  }
  std::string path = parent + "/stele_lab_XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return internal::ErrnoStatus("mkdtemp", path, errno);
  return path;
}

}  // namespace

StagedTable::StagedTable(std::string name, std::string directory)
    : name_(std::move(name)), parent_(std::move(directory)) {}

StagedTable::~StagedTable() {
  table_ = Table();
  if (is_open_) database_.Close().IgnoreError();
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

absl::Status StagedTable::AddFamily(std::string_view name) {
  if (families_.find(name) != families_.end()) return absl::OkStatus();
  if (families_.size() == kFamiliesMax)
    return internal::InvalidArgument("more than {} column families", kFamiliesMax);
  families_.emplace(name);
  if (!is_open_) return absl::OkStatus();
  return table_.ModifyColumnFamilies({FamilyChange::Create({.name = std::string(name)})});
}

absl::Status StagedTable::Open(bool in_memory) {
  if (!in_memory) {
    STELE_ASSIGN_OR_RETURN(directory_, NewDirectory(parent_));
  }
  STELE_ASSIGN_OR_RETURN(database_, Database::Open(in_memory ? "mem:" : directory_ + "/db",
                                                   {.memory_budget_bytes = kBudgetBytes}));
  is_open_ = true;
  Schema schema;
  schema.SetGranularity(TimestampGranularity::kMicros).SetLimits(WideLimits());
  for (const std::string& family : families_) schema.AddFamily(family);
  STELE_ASSIGN_OR_RETURN(table_, database_.CreateTable(name_, schema));
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
  if (!is_open_) STELE_RETURN_IF_ERROR(Open(false));
  return Flush();
}

absl::StatusOr<Table> StagedTable::Finish() {
  if (!is_open_) STELE_RETURN_IF_ERROR(Open(true));
  STELE_RETURN_IF_ERROR(Flush());
  return table_;
}

}  // namespace stele::internal::lab
