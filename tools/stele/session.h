// tools/stele/session.h: the state of one run of the command: its global options, the open
// database, and its output.
//
// Errors:    absl::Status. UsageError marks errors in the command line (exit status 2).
// Threads:   Confined to one thread.
#pragma once

#include <cstdio>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "end_signals.h"
#include "stele/stele.h"

namespace stele::cli {

enum class Format { kText, kTable, kJson, kJsonl, kCsv };

struct GlobalOptions {
  std::string database;            // --db, else $STELE_DB
  bool has_database_flag = false;  // --db was given
  std::string output;              // -o: a file instead of standard output
  std::string trace;               // --trace: a new file, in which the operations are recorded
  int64_t trace_sample = 1;        // --trace-sample: records one call in this many
  int64_t wait_seconds = 10;       // --wait: how long to wait for the lock of the database
  bool has_wait_flag = false;      // --wait was given
  Format format = Format::kText;   // --format; kText: cbt's format, or the verb's own text
  bool has_format_flag = false;    // --format was given
  // --on-damage: for verbs that only read.
  OnDamage on_damage = OnDamage::kRefuse;
};

absl::Status UsageError(std::string_view text);
bool IsUsageError(const absl::Status& status);
// True if a server has the database open. It does not close it before it ends.
bool IsOpenInServer(const absl::Status& status);
// Returns the error for a feature of cbt, or a planned one, that is not implemented.
absl::Status NotOffered(std::string_view what);
// Returns `status` with "context: " before its message, and the same code.
absl::Status Within(std::string_view context, const absl::Status& status);
absl::StatusOr<Format> ParseFormat(std::string_view text);

// Returns a snapshot of all tables, or nothing if the database does not support snapshots. Reads
// then return each row as it is at the time of the read.
absl::StatusOr<Snapshot> SnapshotWhereOffered(const Database& database);

class Session {
 public:
  explicit Session(GlobalOptions options) : options_(std::move(options)) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const GlobalOptions& options() const { return options_; }
  // Writes to this file, like -o before the verb. Must precede the first Print().
  void SetOutput(std::string path) { options_.output = std::move(path); }
  // Uses this format, like --format before the verb.
  void SetFormat(Format format) { options_.format = format; }
  // Waits for no lock unless --wait was given. Must precede Open().
  void WaitOnlyIfAsked() {
    if (!options_.has_wait_flag) options_.wait_seconds = 0;
  }
  // Uses this database, like --db before the verb. Must precede Open().
  void SetDatabase(std::string location) {
    options_.database = std::move(location);
    options_.has_database_flag = true;
  }

  // After this call, the first SIGINT, SIGTERM or SIGHUP requests a stop of the returned token, and
  // main() ends the process by this signal after Finish(). A second signal ends it at once. Must
  // precede Open(), which starts threads.
  std::stop_token TakeStopSignals();
  // OK, or Cancelled after a signal. Without TakeStopSignals() it is OK.
  absl::Status StopStatus() const;
  // The signal that requested the stop; 0: none.
  int stop_signal() const { return stop_signals_.has_value() ? stop_signals_->signal() : 0; }

  // Opens the database of --db. kRead takes a shared lock and changes nothing. kExamine is kRead
  // with OnDamage::kReadAround. kWrite requires an existing database. kCreate creates it if
  // necessary.
  enum class Access { kRead, kExamine, kWrite, kCreate };
  absl::StatusOr<Database> Open(Access access);
  absl::StatusOr<Table> OpenTable(Access access, const std::string& name);
  // Like Open(kCreate), for a verb whose result a later command uses. Warns if the database is
  // "mem:", which is lost at the end of the command.
  absl::StatusOr<Database> OpenToKeep();
  // Opens a location. Waits while another process has it open, for the time of --wait. Every verb
  // opens its databases by this function.
  absl::StatusOr<Database> OpenUnlocked(const std::string& location,
                                        const DatabaseOptions& options);
  // Returns a usage error if one of the files is the file of --trace, and InvalidArgument if one of
  // these is in the database's directory. Open and Print do this for the file of -o.
  absl::Status CheckOutputs(const std::vector<std::string>& paths) const;

  void Print(std::string_view text);
  // Keeps the output although the command returns an error, for a report of damage or errors.
  void KeepOutput() { keeps_output_ = true; }
  // Sets exit status 3: the command succeeded, but left records out or has findings.
  void SkippedSome() { has_skipped_ = true; }
  bool has_skipped() const { return has_skipped_; }
  // Prints to standard error: text for a person, not for a pipe.
  void Note(std::string_view text);
  // Writes what was printed so far.
  absl::Status Flush();
  // Ends the trace, closes the database and completes the output. Returns the first error of these.
  // The file of -o replaces an older one only if `has_succeeded`.
  absl::Status Finish(bool has_succeeded);

 private:
  // Starts and ends the trace of --trace, if there is one.
  absl::Status StartTrace(Database& database) const;
  absl::Status StopTrace();
  absl::Status OpenOutput();
  absl::Status FinishOutput(bool has_succeeded);

  GlobalOptions options_;
  std::optional<StopSignals> stop_signals_;
  std::optional<Database> database_;
  std::FILE* out_ = nullptr;
  std::string new_output_;  // written, and then renamed to the file of -o; "": written in place
  absl::Status output_status_;
  bool keeps_output_ = false;
  bool has_skipped_ = false;
};

}  // namespace stele::cli
