// A program that uses stele::remote as an application does. No server listens at its address,
// so it makes only calls that need no response.
#include <stele/remote.h>
#include <stele/stele.h>

#include <cstdio>

int main() {
  const absl::StatusOr<stele::Database> database =
      stele::remote::Open("bigtable://p/i?endpoint=127.0.0.1:1&retry_seconds=0");
  if (!database.ok()) {
    std::fprintf(stderr, "Open: %s\n", database.status().ToString().c_str());
    return 1;
  }
  const absl::Status answer = database->ListTables().status();
  if (answer.code() != absl::StatusCode::kUnavailable) {
    std::fprintf(stderr, "ListTables: %s, and not Unavailable\n", answer.ToString().c_str());
    return 1;
  }
  const absl::StatusOr<stele::Database> memory = stele::Database::Open("mem:");
  return memory.ok() ? 0 : 1;
}
