// tools/stele/session.h: what one run of the command works with: its global options, the database it opened, where it prints.
//
// Errors:    absl::Status; UsageError marks the ones that are about how the command was called (exit status 2).
// Threads:   one.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

enum class Format { kText, kTable, kJson, kJsonl, kCsv };

struct GlobalOptions {
  std::string database;           // --db, else $STELE_DB
  std::string output;             // -o: a file instead of standard output
  Format format = Format::kText;  // --format; kText: as cbt prints it
};

absl::Status UsageError(std::string_view text);
bool IsUsageError(const absl::Status& status);
// What is in cbt or planned, but not here yet.
absl::Status NotOffered(std::string_view what);
// `status` with "context: " in front, its code kept.
absl::Status Within(std::string_view context, const absl::Status& status);
absl::StatusOr<Format> ParseFormat(std::string_view text);

// All tables as they are now; none where the database has no snapshots: then each row is read as it is when its turn comes.
absl::StatusOr<std::optional<Snapshot>> SnapshotWhereOffered(const Database& database);

class Session {
 public:
  explicit Session(GlobalOptions options) : options_(std::move(options)) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const GlobalOptions& options() const { return options_; }

  // The database of --db. Reading takes a shared lock and changes nothing; writing wants one that is there; creating makes it.
  enum class Access { kRead, kWrite, kCreate };
  absl::StatusOr<Database> Open(Access access);
  absl::StatusOr<Table> OpenTable(Access access, const std::string& name);

  void Print(std::string_view text);
  // To standard error: what a person wants to know and a pipe does not.
  void Note(std::string_view text);
  // Closes the database and writes out what was printed; reports what went wrong in either.
  absl::Status Finish();

 private:
  absl::Status OpenOutput();

  const GlobalOptions options_;
  std::optional<Database> database_;
  std::FILE* out_ = nullptr;
  absl::Status output_status_;
};

}  // namespace stele::cli
