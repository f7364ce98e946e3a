// Counts views of pages with aggregate families, which need no read before a write.
#include <stele/stele.h>

#include <iostream>
#include <optional>
#include <string>

absl::Status Run() {
  absl::StatusOr<stele::Database> database = stele::Database::Open("mem:");
  if (!database.ok()) return database.status();

  // An aggregate family folds every value that is added to a cell.
  stele::Schema schema;
  schema.AddFamily({.name = "views", .value_type = stele::ValueType::kInt64Sum})
      .AddFamily({.name = "slowest", .value_type = stele::ValueType::kInt64Max})
      .AddFamily({.name = "visitors", .value_type = stele::ValueType::kHll})
      .AddFamily("state");
  absl::StatusOr<stele::Table> pages = database->CreateTable("pages", schema);
  if (!pages.ok()) return pages.status();

  // 1,000 views by 100 visitors. All go to one cell per day; the timestamp is the start of the day.
  const stele::Timestamp day = stele::Timestamp::FromMillis(1'700'006'400'000);
  for (int i = 0; i < 1000; ++i) {
    stele::RowMutation view("/index.html");
    view.AddToCell("views", "day", day, int64_t{1})
        .AddToCell("slowest", "millis", day, int64_t{5 + i % 97})
        .AddToCell("visitors", "day", day, "visitor" + std::to_string(i % 100));
    if (absl::Status status = pages->Apply(view); !status.ok()) return status;
  }

  // Reads return the folded values.
  absl::StatusOr<std::optional<stele::Row>> row = pages->ReadRow("/index.html");
  if (!row.ok()) return row.status();
  if (!row->has_value()) return absl::NotFoundError("the page has no row");
  absl::StatusOr<int64_t> views = (*row)->cell("views", "day")->AsInt64();
  absl::StatusOr<int64_t> slowest = (*row)->cell("slowest", "millis")->AsInt64();
  absl::StatusOr<double> visitors = (*row)->cell("visitors", "day")->EstimateCardinality();
  if (!views.ok()) return views.status();
  if (!slowest.ok()) return slowest.status();
  if (!visitors.ok()) return visitors.status();
  std::cout << "views: " << *views << ", slowest: " << *slowest << " ms, visitors: about "
            << static_cast<int64_t>(*visitors + 0.5) << "\n";

  // ReadModifyWriteRow increments a counter in an ordinary family and returns its new value.
  absl::StatusOr<stele::Row> counter = pages->ReadModifyWriteRow(
      "/index.html", {stele::ReadModifyWriteRule::IncrementAmount("state", "revision", 1)});
  if (!counter.ok()) return counter.status();
  absl::StatusOr<int64_t> revision = counter->cells().front().AsInt64();
  if (!revision.ok()) return revision.status();
  std::cout << "revision: " << *revision << "\n";
  return database->Close();
}

int main() {
  const absl::Status status = Run();
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
