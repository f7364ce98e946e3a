#include "session.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "base/status.h"
#include "io/output_file.h"
#include "lab_files.h"
#include "listing.h"
#include "location.h"

namespace stele::cli {
namespace {

constexpr char kUsageMark[] = "stele/usage";
constexpr std::chrono::milliseconds kLockPause(20);
constexpr std::chrono::seconds kWaitBeforeNote(1);

// True if another process has the database open, and may close it soon.
bool IsLocked(const absl::Status& status) {
  return absl::StrContains(status.message(), " is open elsewhere");
}

}  // namespace

absl::Status UsageError(std::string_view text) {
  absl::Status status = internal::InvalidArgument("{}", text);
  status.SetPayload(kUsageMark, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) { return status.GetPayload(kUsageMark).has_value(); }

bool IsOpenInServer(const absl::Status& status) {
  return IsLocked(status) && absl::StrContains(status.message(), " (steled)");
}

absl::Status NotOffered(std::string_view what) {
  return internal::Unimplemented("{} is not implemented", what);
}

absl::Status Within(std::string_view context, const absl::Status& status) {
  return status.ok() ? status : internal::WithContext(status, context);
}

absl::StatusOr<Format> ParseFormat(std::string_view text) {
  if (text == "text") return Format::kText;
  if (text == "table") return Format::kTable;
  if (text == "json") return Format::kJson;
  if (text == "jsonl") return Format::kJsonl;
  if (text == "csv") return Format::kCsv;
  return UsageError(
      fmt::format("--format must be text, table, json, jsonl or csv, not \"{}\"", text));
}

absl::StatusOr<Snapshot> SnapshotWhereOffered(const Database& database) {
  auto snapshot = database.GetSnapshot();
  if (snapshot.status().code() == absl::StatusCode::kUnimplemented) return Snapshot();
  return snapshot;
}

Session::~Session() {
  if (out_ != nullptr && out_ != stdout) std::fclose(out_);
}

std::stop_token Session::TakeStopSignals() {
  if (!stop_signals_.has_value()) stop_signals_.emplace();
  return stop_signals_->token();
}

absl::Status Session::StopStatus() const {
  return stop_signals_.has_value() ? stop_signals_->status() : absl::OkStatus();
}

absl::StatusOr<Database> Session::OpenUnlocked(const std::string& location,
                                               const DatabaseOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::seconds wait(options_.wait_seconds);
  bool is_noted = false;
  while (true) {
    STELE_RETURN_IF_ERROR(StopStatus());
    absl::StatusOr<Database> database = OpenLocation(location, options);
    const auto waited = std::chrono::steady_clock::now() - start;
    if (!IsLocked(database.status())) return database;
    if (waited >= wait) {
      return internal::MakeStatus(
          database.status().code(),
          fmt::format("{}; {}", internal::ToStd(database.status().message()),
                      IsOpenInServer(database.status())
                          ? "a server keeps it open until it is stopped"
                          : "--wait SECONDS waits longer"));
    }
    if (waited >= kWaitBeforeNote && !std::exchange(is_noted, true))
      Note(fmt::format("waiting up to {} s: {}\n", options_.wait_seconds,
                       internal::ToStd(database.status().message())));
    std::this_thread::sleep_for(kLockPause);
  }
}

absl::Status Session::CheckOutputs(const std::vector<std::string>& paths) const {
  for (const std::string& path : paths)
    STELE_RETURN_IF_ERROR(CheckAreDifferent({path, options_.trace}));
  if (options_.database.empty() || options_.database == "mem:" || IsRemote(options_.database))
    return absl::OkStatus();
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs(paths, {options_.database}));
  return internal::CheckOutputsAreNotInputs({options_.trace}, {options_.database});
}

absl::StatusOr<Database> Session::Open(Access access) {
  if (database_.has_value()) return *database_;
  STELE_RETURN_IF_ERROR(CheckOutputs({options_.output}));
  if (options_.database.empty()) {
    return UsageError("no database given: use --db DIR before the verb, or set STELE_DB");
  }
  DatabaseOptions options;
  options.read_only = access == Access::kRead || access == Access::kExamine;
  options.on_damage = access == Access::kExamine ? OnDamage::kReadAround : options_.on_damage;
  if (!options.read_only && options.on_damage != OnDamage::kRefuse)
    return UsageError("--on-damage is only for commands that read");
  options.create_if_missing = access == Access::kCreate;
  absl::StatusOr<Database> database = OpenUnlocked(options_.database, options);
  if (!database.ok()) {
    if (database.status().code() == absl::StatusCode::kNotFound) {
      if (options_.database == "mem:")
        return internal::NotFound(
            "mem: has no table at the start of a command; --db DIRECTORY keeps tables");
      return internal::NotFound(
          "{} contains no database; \"stele --db {} createtable TABLE\" creates one",
          options_.database, options_.database);
    }
    return database.status();
  }
  STELE_RETURN_IF_ERROR(StartTrace(*database));
  database_ = *std::move(database);
  return *database_;
}

absl::StatusOr<Database> Session::OpenToKeep() {
  if (options_.database == "mem:") {
    Note(
        "stele: warning: mem: keeps nothing after this command; --db DIRECTORY keeps the "
        "database\n");
  }
  return Open(Access::kCreate);
}

absl::Status Session::StartTrace(Database& database) const {
  if (options_.trace.empty()) return absl::OkStatus();
  return Within("--trace",
                database.StartTrace(options_.trace,
                                    {.sample = static_cast<uint32_t>(options_.trace_sample)}));
}

absl::Status Session::StopTrace() {
  if (options_.trace.empty()) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(const TraceSummary summary, database_->StopTrace());
  Note(fmt::format("stele: recorded {} of {} in {}; {} dropped{}\n", summary.recorded,
                   Counted(summary.operations, "operation", "operations"), options_.trace,
                   summary.dropped,
                   summary.stopped_at_limit ? ", since the file reached its largest size" : ""));
  return absl::OkStatus();
}

absl::StatusOr<Table> Session::OpenTable(Access access, const std::string& name) {
  STELE_ASSIGN_OR_RETURN(const Database database, Open(access));
  return database.OpenTable(name);
}

absl::Status Session::OpenOutput() {
  if (options_.output.empty()) {
    out_ = stdout;
    return absl::OkStatus();
  }
  STELE_RETURN_IF_ERROR(CheckOutputs({options_.output}));
  // Devices and pipes are written in place.
  std::error_code error;
  const auto type = std::filesystem::status(options_.output, error).type();
  if (type == std::filesystem::file_type::regular || type == std::filesystem::file_type::not_found)
    new_output_ = fmt::format("{}.{}.new", internal::LinkTargetOf(options_.output), ::getpid());
  const std::string& path = new_output_.empty() ? options_.output : new_output_;
  out_ = new_output_.empty() ? std::fopen(path.c_str(), "wb")
                             : internal::CreateInPlaceOf(path, options_.output);
  if (out_ == nullptr) return internal::ErrnoStatus("open", path, errno);
  return absl::OkStatus();
}

absl::Status Session::FinishOutput(bool has_succeeded) {
  const std::string& name = options_.output.empty() ? "standard output" : options_.output;
  if (output_status_.ok() && std::fflush(out_) != 0)
    output_status_ = internal::ErrnoStatus("write", name, errno);
  if (new_output_.empty()) return output_status_;
  if (has_succeeded && output_status_.ok()) output_status_ = internal::SyncNewFile(out_, name);
  std::fclose(std::exchange(out_, nullptr));
  if (!has_succeeded || !output_status_.ok()) {
    std::remove(new_output_.c_str());
    return output_status_;
  }
  if (std::rename(new_output_.c_str(), internal::LinkTargetOf(options_.output).c_str()) != 0)
    return internal::ErrnoStatus("rename to", options_.output, errno);
  return absl::OkStatus();
}

void Session::Print(std::string_view text) {
  if (!output_status_.ok()) return;
  if (out_ == nullptr) output_status_ = OpenOutput();
  if (!output_status_.ok()) return;
  if (std::fwrite(text.data(), 1, text.size(), out_) != text.size()) {
    output_status_ = internal::ErrnoStatus(
        "write", options_.output.empty() ? "standard output" : options_.output, errno);
  }
}

absl::Status Session::Flush() {
  const std::string& name = options_.output.empty() ? "standard output" : options_.output;
  if (output_status_.ok() && out_ != nullptr && std::fflush(out_) != 0)
    output_status_ = internal::ErrnoStatus("write", name, errno);
  return output_status_;
}

void Session::Note(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

absl::Status Session::Finish(bool has_succeeded) {
  absl::Status ended;
  if (database_.has_value()) {
    ended = Within("--trace", StopTrace());
    const absl::Status closed = database_->Close();
    if (ended.ok()) ended = closed;
  } else if (has_succeeded && !options_.trace.empty()) {
    ended = internal::FailedPrecondition(
        "--trace: this verb does not open the database of --db, so nothing was recorded");
  }
  if (has_succeeded) Print("");  // creates the file of -o even if the result is empty
  const absl::Status written = out_ == nullptr
                                   ? output_status_
                                   : FinishOutput((has_succeeded && ended.ok()) || keeps_output_);
  return ended.ok() ? written : ended;
}

}  // namespace stele::cli
