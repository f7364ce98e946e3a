// Stores measurements of sensors, and reads the newest ones first.
//
// Row keys: "SENSOR#HOUR", with the hours counted backwards from a fixed point. Keys sort by sensor
// and then from the newest hour to the oldest, so a scan of a prefix returns the newest rows first.
// Each measurement is a version of one column: its timestamp is the time of the measurement.
#include <stele/stele.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

using std::chrono::hours;
using std::chrono::minutes;

// 10 digits are enough for the hours until the year 9999.
std::string RowKey(const std::string& sensor, stele::Timestamp time) {
  constexpr int64_t kMicrosPerHour = 3'600'000'000;
  char hour[16];
  std::snprintf(hour, sizeof(hour), "%010lld",
                static_cast<long long>(9'999'999'999 - time.micros() / kMicrosPerHour));
  return sensor + "#" + hour;
}

absl::Status Run() {
  absl::StatusOr<stele::Database> database = stele::Database::Open("mem:");
  if (!database.ok()) return database.status();

  // Measurements disappear 90 days after their timestamp. No program has to delete them.
  stele::Schema schema;
  schema.AddFamily("m", stele::GcRule::MaxAge(hours(24 * 90)));
  absl::StatusOr<stele::Table> table = database->CreateTable("sensors", schema);
  if (!table.ok()) return table.status();

  // One measurement every 10 minutes, for 6 hours. BulkApply commits many rows at once, and returns
  // those that failed.
  const auto start = std::chrono::floor<hours>(std::chrono::system_clock::now()) - hours(6);
  std::vector<stele::RowMutation> mutations;
  for (int i = 0; i < 36; ++i) {
    const stele::Timestamp time = stele::Timestamp::From(start + i * minutes(10));
    stele::RowMutation mutation(RowKey("kitchen", time));
    mutation.SetCell("m", "celsius", time, std::to_string(18 + i % 5));
    mutations.push_back(std::move(mutation));
  }
  for (const stele::FailedMutation& failed : table->BulkApply(mutations)) return failed.status;

  // The newest measurement: the first cell of the first row.
  stele::ReadOptions first;
  first.limit = 1;
  stele::RowReader newest = table->ReadRows(stele::RowRange::Prefix("kitchen#"), {}, first);
  for (const stele::RowView& row : newest)
    std::cout << "newest: " << row.cells().front().value() << " degrees\n";
  if (!newest.status().ok()) return newest.status();

  // The measurements of one hour: the filter skips the others.
  const stele::TimestampRange hour{.start = stele::Timestamp::From(start + hours(2)),
                                   .end = stele::Timestamp::From(start + hours(3))};
  stele::RowReader reader =
      table->ReadRows(stele::RowRange::Prefix("kitchen#"), stele::Filter::TimestampRange(hour));
  int count = 0;
  for (const stele::RowView& row : reader) count += static_cast<int>(row.cells().size());
  if (!reader.status().ok()) return reader.status();
  std::cout << "measurements in the third hour: " << count << "\n";
  return database->Close();
}

int main() {
  const absl::Status status = Run();
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
