#include "session.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/cord.h"
#include "base/status.h"
#include "location.h"

namespace stele::cli {
namespace {

constexpr char kUsageMark[] = "stele/usage";

}  // namespace

absl::Status UsageError(std::string_view text) {
  absl::Status status = internal::InvalidArgument("{}", text);
  status.SetPayload(kUsageMark, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) { return status.GetPayload(kUsageMark).has_value(); }

absl::Status NotOffered(std::string_view what) {
  return internal::Unimplemented("{} is not implemented", what);
}

absl::Status Within(std::string_view context, const absl::Status& status) {
  return status.ok() ? status : internal::WithContext(status, context);
}

absl::StatusOr<Format> ParseFormat(std::string_view text) {
  if (text == "table") return Format::kTable;
  if (text == "json") return Format::kJson;
  if (text == "jsonl") return Format::kJsonl;
  if (text == "csv") return Format::kCsv;
  return UsageError(fmt::format("--format must be table, json, jsonl or csv, not \"{}\"", text));
}

absl::StatusOr<Snapshot> SnapshotWhereOffered(const Database& database) {
  auto snapshot = database.GetSnapshot();
  if (snapshot.status().code() == absl::StatusCode::kUnimplemented) return Snapshot();
  return snapshot;
}

Session::~Session() {
  if (out_ != nullptr && out_ != stdout) std::fclose(out_);
}

absl::StatusOr<Database> Session::Open(Access access) {
  if (database_.has_value()) return *database_;
  if (options_.database.empty()) {
    return UsageError("no database given: use --db DIR before the verb, or set STELE_DB");
  }
  DatabaseOptions options;
  options.read_only = access == Access::kRead;
  options.create_if_missing = access == Access::kCreate;
  auto database = OpenLocation(options_.database, options);
  if (!database.ok()) {
    if (database.status().code() == absl::StatusCode::kNotFound) {
      return internal::NotFound(
          "{} contains no database; \"stele --db {} createtable TABLE\" creates one",
          options_.database, options_.database);
    }
    return database.status();
  }
  database_ = *std::move(database);
  return *database_;
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
  out_ = std::fopen(options_.output.c_str(), "wb");
  if (out_ == nullptr) return internal::ErrnoStatus("open", options_.output, errno);
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

void Session::Note(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

absl::Status Session::Finish() {
  const absl::Status closed = database_.has_value() ? database_->Close() : absl::OkStatus();
  Print("");  // creates the file of -o even if the result is empty
  STELE_RETURN_IF_ERROR(closed);
  STELE_RETURN_IF_ERROR(output_status_);
  if (std::fflush(out_) != 0) {
    return internal::ErrnoStatus(
        "write", options_.output.empty() ? "standard output" : options_.output, errno);
  }
  return absl::OkStatus();
}

}  // namespace stele::cli
