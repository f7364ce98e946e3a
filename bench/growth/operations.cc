#include "operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "figure.h"
#include "measure.h"

namespace stele_growth {
namespace {

constexpr uint64_t kScanRows = 100;
constexpr uint64_t kOperationsMin = 20;
constexpr uint64_t kTimesOfClient = uint64_t{1} << 20;  // more than its writes

absl::Status Expect(uint64_t expected, uint64_t found) {
  if (found == expected) return absl::OkStatus();
  return absl::DataLossError(fmt::format("read {} cells, expected {}", found, expected));
}

// Repeats an operation on one thread.
class Client {
 public:
  Client(Operation operation, const Layout& layout, const stele::Table& table, uint64_t seed)
      : operation_(operation),
        layout_(layout),
        table_(table),
        seed_(seed),
        state_(seed),
        latencies_(0),
        value_(kValueBytes, 'v') {
    for (uint64_t family = 0; family < layout.families; ++family)
      families_.push_back(FamilyOf(family));
    for (uint64_t column = 0; column < layout.columns; ++column)
      qualifiers_.push_back(QualifierOf(column));
  }

  void Run(const RunLimit& limit) {
    const auto start = stele_compare::Clock::now();
    auto now = start;
    const auto is_over = [&] {
      if (count_ < kOperationsMin) return false;
      return count_ >= limit.operations ||
             std::chrono::duration<double>(now - start).count() >= limit.seconds;
    };
    while (status_.ok() && !is_over()) {
      status_ = Operate();
      const auto end = stele_compare::Clock::now();
      latencies_.Add(end - now);
      now = end;
      ++count_;
    }
  }

  const absl::Status& status() const { return status_; }
  uint64_t count() const { return count_; }
  const stele_compare::Latencies& latencies() const { return latencies_; }

 private:
  uint64_t Below(uint64_t end) {
    state_ = stele_compare::Mix(state_);
    return state_ % end;
  }
  std::string AnyRowKey() { return RowKeyOf(Below(layout_.rows)); }
  const std::string& AnyFamily() { return families_[Below(families_.size())]; }
  const std::string& AnyQualifier() { return qualifiers_[Below(qualifiers_.size())]; }

  absl::Status Operate() {
    switch (operation_) {
      case Operation::kCell:
        return ReadCell();
      case Operation::kRow:
        return ReadRow();
      case Operation::kScan:
        return Scan(latest_, layout_.families * layout_.columns);
      case Operation::kFamilyScan:
        return Scan(stele::Filter::Chain(stele::Filter::Family(AnyFamily()), latest_),
                    layout_.columns);
      case Operation::kWrite:
        return Write();
    }
    return absl::InternalError("no such operation");
  }

  absl::Status ReadCell() {
    const auto cell = table_.ReadCell(AnyRowKey(), AnyFamily(), AnyQualifier());
    if (!cell.ok()) return cell.status();
    const bool is_newest =
        cell->has_value() && (*cell)->timestamp() == TimeOf(layout_.versions - 1);
    return Expect(1, is_newest && (*cell)->value().size() == kValueBytes ? 1 : 0);
  }

  absl::Status ReadRow() {
    size_t cells = 0;
    const auto found = table_.VisitRow(
        AnyRowKey(), [&cells](const stele::RowView& row) { cells = row.cells().size(); }, latest_);
    if (!found.ok()) return found.status();
    return Expect(layout_.families * layout_.columns, cells);
  }

  absl::Status Scan(const stele::Filter& filter, uint64_t cells_per_row) {
    const uint64_t rows = std::min(kScanRows, layout_.rows);
    const uint64_t start = Below(layout_.rows - rows + 1);
    stele::RowReader reader = table_.ReadRows(stele::RowRange::StartingAt(RowKeyOf(start)), filter,
                                              {.limit = static_cast<int64_t>(rows)});
    uint64_t cells = 0;
    while (reader.Next()) cells += reader.row().cells().size();
    return reader.status().ok() ? Expect(rows * cells_per_row, cells) : reader.status();
  }

  absl::Status Write() {
    // No other client has the same times.
    const stele::Timestamp time = TimeOf(layout_.versions + seed_ * kTimesOfClient + count_);
    return table_.Apply(
        stele::RowMutation(AnyRowKey()).SetCell(AnyFamily(), AnyQualifier(), time, value_));
  }

  const Operation operation_;
  const Layout& layout_;
  stele::Table table_;
  const stele::Filter latest_ = stele::Filter::Latest(1);
  const uint64_t seed_;
  uint64_t state_;  // of the random numbers
  uint64_t count_ = 0;
  stele_compare::Latencies latencies_;
  const std::string value_;
  std::vector<std::string> families_;
  std::vector<std::string> qualifiers_;
  absl::Status status_;
};

absl::StatusOr<Cost> Repeat(Operation operation, const Layout& layout, const stele::Table& table,
                            const RunLimit& limit, uint64_t seed) {
  std::vector<Client> clients;
  for (uint64_t i = 0; i < layout.threads; ++i)
    clients.emplace_back(operation, layout, table, seed + i);
  const double cpu_start = stele_compare::CpuSeconds();
  const auto start = stele_compare::Clock::now();
  std::vector<std::thread> threads;
  for (Client& client : clients) threads.emplace_back([&client, &limit] { client.Run(limit); });
  for (std::thread& thread : threads) thread.join();
  Cost cost{.seconds = stele_compare::SecondsSince(start),
            .cpu_seconds = stele_compare::CpuSeconds() - cpu_start};
  stele_compare::Latencies latencies(0);
  for (const Client& client : clients) {
    if (!client.status().ok()) return client.status();
    cost.operations += client.count();
    latencies.Append(client.latencies());
  }
  stele_compare::Figure figure;
  latencies.Read(&figure);
  cost.p50_us = figure.p50_us;
  cost.p99_us = figure.p99_us;
  return cost;
}

}  // namespace

std::string_view NameOf(Operation operation) {
  switch (operation) {
    case Operation::kCell:
      return "cell";
    case Operation::kRow:
      return "row";
    case Operation::kScan:
      return "scan";
    case Operation::kFamilyScan:
      return "family_scan";
    case Operation::kWrite:
      return "write";
  }
  return "";
}

absl::Status Warm(const Layout& layout, const stele::Table& table) {
  stele::RowReader reader = table.ReadRows();
  uint64_t cells = 0;
  while (reader.Next()) cells += reader.row().cells().size();
  if (!reader.status().ok()) return reader.status();
  return Expect(layout.rows * layout.families * layout.columns * layout.versions, cells);
}

absl::StatusOr<Cost> Measure(Operation operation, const Layout& layout, const stele::Table& table,
                             const RunLimit& limit) {
  const absl::StatusOr<Cost> warm = Repeat(operation, layout, table, limit, 1);
  if (!warm.ok()) return warm;
  return Repeat(operation, layout, table, limit, 1000);
}

}  // namespace stele_growth
