#include "support/db_contract.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/status.h"
#include "db/local_database.h"
#include "model/access.h"

namespace stele::internal {
namespace {

constexpr Timestamp kStart = Timestamp::FromMillis(1'000'000'000);

std::string ShowCells(std::span<const CellView> cells) {
  std::string text;
  for (const CellView& cell : cells) {
    text += fmt::format("{}{}:{}@{}={}", text.empty() ? "" : ", ", cell.family(),
                        Printable(cell.qualifier()), cell.timestamp().micros(),
                        Printable(cell.value(), 20));
  }
  return text;
}

}  // namespace

ContractDatabase::ContractDatabase(uint64_t memory_budget_bytes)
    : memory_budget_bytes_(memory_budget_bytes), clock_(std::make_shared<ManualClock>(kStart)) {
  Open();
}

void ContractDatabase::Open(DatabaseOptions options, const std::string& directory) {
  table_.reset();
  database_.reset();
  options.clock = clock_;
  absl::StatusOr<std::shared_ptr<LocalDatabase>> opened =
      OpenDatabase(directory, {.database = options,
                               .sizes = SizesFor(memory_budget_bytes_),
                               .file_system = &file_system_,
                               .background_threads = 0});
  ASSERT_TRUE(opened.ok()) << opened.status();
  engine_ = (*opened)->engine().get();
  database_ = Access::Make<Database>(*std::move(opened));
  if (absl::StatusOr<Table> table = database_->OpenTable("t"); table.ok()) table_ = *table;
}

Table& ContractDatabase::MakeTable(const Schema& schema) {
  absl::StatusOr<Table> made = database_->CreateTable("t", schema);
  EXPECT_TRUE(made.ok()) << made.status();
  table_ = made.ok() ? *made : Table();
  return *table_;
}

void ContractDatabase::Reopen(std::optional<Timestamp> clock_at) {
  const absl::Status closed = database_->Close();
  EXPECT_TRUE(closed.ok()) << closed;
  if (clock_at) clock_->Set(*clock_at);
  Open();
}

std::string Show(const RowView& row) {
  return fmt::format("{} {}", Printable(row.row_key()), ShowCells(row.cells()));
}

std::string Show(const std::optional<Row>& row) {
  return row ? fmt::format("{} {}", Printable(row->row_key()), ShowCells(row->cells())) : "none";
}

std::string Show(RowReader reader) {
  std::string text;
  for (const RowView& row : reader) {
    if (!text.empty() && text.back() != '+') text += "; ";
    text += Show(row);
    if (!row.is_last_piece()) text += " +";
  }
  if (reader.status().ok()) return text;
  return fmt::format("{}{}{}: {}", text, text.empty() ? "" : "; ", CodeName(reader.status()),
                     ToStd(reader.status().message()));
}

std::string ShowAll(const Table& table, const ReadOptions& options) {
  return Show(table.ReadRows(RowSet::All(), {}, options));
}

std::string CodeName(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return "OK";
    case absl::StatusCode::kInvalidArgument:
      return "InvalidArgument";
    case absl::StatusCode::kNotFound:
      return "NotFound";
    case absl::StatusCode::kAlreadyExists:
      return "AlreadyExists";
    case absl::StatusCode::kFailedPrecondition:
      return "FailedPrecondition";
    case absl::StatusCode::kUnimplemented:
      return "Unimplemented";
    case absl::StatusCode::kCancelled:
      return "Cancelled";
    case absl::StatusCode::kDeadlineExceeded:
      return "DeadlineExceeded";
    case absl::StatusCode::kResourceExhausted:
      return "ResourceExhausted";
    case absl::StatusCode::kDataLoss:
      return "DataLoss";
    default:
      return std::to_string(static_cast<int>(status.code()));
  }
}

}  // namespace stele::internal
