// Reserves a seat for one of several customers, with two kinds of conditional writes.
#include <stele/stele.h>

#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

// Writes the customer's name into the seat if the seat has no owner yet. No other write of the row
// can happen between the check and the write.
absl::StatusOr<bool> Reserve(stele::Table table, const std::string& seat,
                             const std::string& customer) {
  absl::StatusOr<stele::MutationBranch> branch = table.CheckAndMutateRow(
      seat, stele::Filter::Column("seat", "owner"),
      /*if_matched=*/stele::RowMutation(),
      /*if_not_matched=*/stele::RowMutation().SetCell("seat", "owner", customer));
  if (!branch.ok()) return branch.status();
  return *branch == stele::MutationBranch::kPredicateNotMatched;
}

// Several rows change together in a batch, or not at all. The reads before the batch are not part
// of it: a write between them and the batch is overwritten.
absl::Status SwapSeats(stele::Database& database, stele::Table& table, const std::string& a,
                       const std::string& b) {
  absl::StatusOr<std::optional<stele::Cell>> owner_a = table.ReadCell(a, "seat", "owner");
  absl::StatusOr<std::optional<stele::Cell>> owner_b = table.ReadCell(b, "seat", "owner");
  if (!owner_a.ok()) return owner_a.status();
  if (!owner_b.ok()) return owner_b.status();
  if (!owner_a->has_value() || !owner_b->has_value())
    return absl::FailedPreconditionError("both seats must have an owner");
  stele::WriteBatch batch;
  batch.Add(table, stele::RowMutation(a).SetCell("seat", "owner", (*owner_b)->value()));
  batch.Add(table, stele::RowMutation(b).SetCell("seat", "owner", (*owner_a)->value()));
  return database.Apply(batch);
}

absl::Status Run() {
  absl::StatusOr<stele::Database> database = stele::Database::Open("mem:");
  if (!database.ok()) return database.status();
  stele::Schema schema;
  schema.AddFamily("seat", stele::GcRule::MaxNumVersions(1));
  absl::StatusOr<stele::Table> table = database->CreateTable("seats", schema);
  if (!table.ok()) return table.status();

  // Handles are cheap to copy and thread-safe. Exactly one of the four threads gets the seat.
  std::vector<absl::StatusOr<bool>> results(4, false);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&results, i, table = *table] {
      results[i] = Reserve(table, "12A", "customer" + std::to_string(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  int reserved = 0;
  for (const absl::StatusOr<bool>& result : results) {
    if (!result.ok()) return result.status();
    reserved += *result ? 1 : 0;
  }
  std::cout << "reservations of seat 12A: " << reserved << "\n";

  absl::StatusOr<bool> other = Reserve(*table, "12B", "Ada");
  if (!other.ok()) return other.status();
  if (absl::Status status = SwapSeats(*database, *table, "12A", "12B"); !status.ok()) return status;
  absl::StatusOr<std::optional<stele::Cell>> owner = table->ReadCell("12A", "seat", "owner");
  if (!owner.ok()) return owner.status();
  if (!owner->has_value()) return absl::NotFoundError("seat 12A has no owner");
  std::cout << "seat 12A now belongs to " << (*owner)->value() << "\n";
  return database->Close();
}

int main() {
  const absl::Status status = Run();
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
