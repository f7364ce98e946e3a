// tools/stele/read.cc: the verbs read, lookup and count.
#include <chrono>
#include <optional>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "columns.h"
#include "command.h"
#include "key.h"
#include "listing.h"
#include "progress.h"
#include "row_text.h"
#include "stele/keys.h"

namespace stele::cli {
namespace {

struct ReadRequest {
  RowSet rows;
  Filter filter;
  ReadOptions options;
  int64_t limit = -1;  // rows; -1: no limit
  bool with_values = true;
  bool with_stats = false;
  bool decodes_keys = false;
  bool is_lookup = false;  // of one row: the text shows a missing row as an empty one, as cbt does

  std::string_view what() const { return is_lookup ? "Reading row" : "Reading rows"; }
};

constexpr char kRowKeySchemaProperty[] = "row_key_schema";

// Removes --decode-keys from the arguments. Returns true if it was there.
bool ConsumeDecodeKeys(std::vector<std::string>* args) {
  return std::erase(*args, "--decode-keys") > 0;
}

absl::StatusOr<keys::RowKeySchema> KeySchemaOf(const Table& table) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  const auto property = schema.properties().find(kRowKeySchemaProperty);
  if (property == schema.properties().end()) {
    return internal::FailedPrecondition(
        "the table has no row key schema (property {}): leave out --decode-keys",
        kRowKeySchemaProperty);
  }
  auto parsed = keys::RowKeySchema::Parse(property->second);
  return parsed.ok() ? parsed : Within(kRowKeySchemaProperty, parsed.status());
}

// Chains rows, versions and columns in cbt's order, and then the filter of filter=.
absl::StatusOr<Filter> ParseFilter(const KeyValues& values) {
  std::vector<Filter> chain;
  if (const auto text = Find(values, "regex")) chain.push_back(Filter::RowKeyRegex(*text));
  if (const auto text = Find(values, "cells-per-column")) {
    STELE_ASSIGN_OR_RETURN(const int64_t count, ParseNumber("number of cells per column", *text));
    if (count < 1 || count > INT32_MAX)
      return UsageError(
          fmt::format("Bad number of cells per column \"{}\": must be at least 1", *text));
    chain.push_back(Filter::Latest(static_cast<int>(count)));
  }
  if (const auto text = Find(values, "columns")) {
    STELE_ASSIGN_OR_RETURN(Filter columns, ParseColumns(*text));
    chain.push_back(std::move(columns));
  }
  if (const auto text = Find(values, "filter")) {
    STELE_ASSIGN_OR_RETURN(Filter filter, Filter::Parse(*text));
    chain.push_back(std::move(filter));
  }
  if (chain.empty()) return Filter::PassAll();
  return chain.size() == 1 ? chain[0] : Filter::Chain(std::move(chain));
}

absl::Status ParseCommon(const KeyValues& values, ReadRequest& request) {
  for (const std::string_view key : {"authorized-view", "format-file"}) {
    if (values.find(key) != values.end()) return NotOffered(fmt::format("{}=", key));
  }
  STELE_ASSIGN_OR_RETURN(request.filter, ParseFilter(values));
  if (const auto text = Find(values, "keys-only")) {
    STELE_ASSIGN_OR_RETURN(const bool keys_only, ParseBool("keys-only", *text));
    request.with_values = !keys_only;
  }
  if (const auto text = Find(values, "include-stats")) {
    if (*text != "full")
      return UsageError(fmt::format(
          "Bad include-stats value: \"{}\" is not one of the supported stats views.", *text));
    request.with_stats = true;
  }
  return absl::OkStatus();
}

// Prints rows as they arrive, so that a scan of any size needs little memory.
class RowPrinter {
 public:
  // `key_schema`: prints the fields of each key; null: does not.
  RowPrinter(Session& session, const ReadRequest& request, const keys::RowKeySchema* key_schema)
      : session_(session), request_(request), key_schema_(key_schema) {
    if (format() == Format::kJson) session_.Print("[");
    if (format() == Format::kCsv)
      session_.Print(CsvLine({"row", "family", "qualifier", "timestamp", "value"}));
  }

  uint64_t row_count() const { return row_count_; }

  // Prints a row or a partial row.
  void Add(const RowView& row) {
    if (!in_row_) BeginRow(row.row_key());
    for (const CellView& cell : row.cells()) AddCell(row.row_key(), cell);
    if (row.is_last_piece()) EndRow();
  }

  void End() {
    if (format() == Format::kJson) session_.Print(row_count_ == 0 ? "]\n" : "\n]\n");
  }

 private:
  Format format() const { return session_.options().format; }
  bool is_json() const { return format() == Format::kJson || format() == Format::kJsonl; }

  void BeginRow(std::string_view row_key) {
    in_row_ = true;
    ++row_count_;
    if (is_json()) {
      json_ = Json::object();
      SetBytes(json_, "row", row_key);
      if (key_schema_ != nullptr) {
        const auto values = key_schema_->Decode(row_key);
        json_["fields"] = values.ok() ? DecodedJson(*key_schema_, *values) : Json();
      }
      json_["cells"] = Json::array();
    } else if (format() != Format::kCsv) {
      session_.Print(RowHead(row_key));
      if (key_schema_ != nullptr) session_.Print(FieldsLine(row_key));
    }
  }

  std::string FieldsLine(std::string_view row_key) const {
    const auto values = key_schema_->Decode(row_key);
    if (values.ok()) return fmt::format("  {}\n", DecodedText(*key_schema_, *values));
    return fmt::format("  not a key of the schema: {}\n",
                       internal::ToStd(values.status().message()));
  }

  void AddCell(std::string_view row_key, const CellView& cell) {
    if (is_json()) {
      json_["cells"].push_back(CellJson(cell, request_.with_values));
    } else if (format() == Format::kCsv) {
      session_.Print(
          CsvLine({std::string(row_key), std::string(cell.family()), std::string(cell.qualifier()),
                   fmt::format("{}", cell.timestamp().micros()),
                   request_.with_values ? std::string(cell.value()) : std::string()}));
    } else {
      session_.Print(CellText(cell, request_.with_values));
    }
  }

  void EndRow() {
    in_row_ = false;
    if (format() == Format::kJson)
      session_.Print(fmt::format("{}\n  {}", row_count_ == 1 ? "" : ",", JsonText(json_)));
    if (format() == Format::kJsonl) session_.Print(JsonText(json_) + "\n");
    if (format() == Format::kText || format() == Format::kTable) session_.Print("\n");
  }

  Session& session_;
  const ReadRequest& request_;
  const keys::RowKeySchema* const key_schema_;
  Json json_;
  uint64_t row_count_ = 0;
  bool in_row_ = false;
};

// The statistics of a read, as cbt prints them. What a server examined is unknown.
std::string SummaryText(const ReadStats& stats, std::chrono::milliseconds elapsed) {
  const auto seen = [&](uint64_t count) {
    return stats.is_work_known ? fmt::format("{}", count) : "unknown";
  };
  return fmt::format(
      "Summary Stats\n====================\nrows_seen_count: {}\nrows_returned_count: "
      "{}\ncells_seen_count: {}\n"
      "cells_returned_count: {}\nfrontend_server_latency: {}ms\n\n",
      seen(stats.rows_seen), stats.rows_returned, seen(stats.cells_seen), stats.cells_returned,
      elapsed.count());
}

absl::Status PrintRows(Session& session, const std::string& table_name,
                       const ReadRequest& request) {
  auto table = session.OpenTable(Session::Access::kRead, table_name);
  if (!table.ok()) return Within(request.what(), table.status());
  std::optional<keys::RowKeySchema> key_schema;
  if (request.decodes_keys) {
    STELE_ASSIGN_OR_RETURN(key_schema, KeySchemaOf(*table));
  }
  const auto start = std::chrono::steady_clock::now();
  RowReader reader = table->ReadRows(request.rows, request.filter, request.options);
  RowPrinter printer(session, request, key_schema.has_value() ? &*key_schema : nullptr);
  bool in_counted_row = false;
  while (request.limit < 0 || in_counted_row ||
         static_cast<int64_t>(printer.row_count()) < request.limit) {
    if (!reader.Next()) break;
    printer.Add(reader.row());
    in_counted_row = !reader.row().is_last_piece();
  }
  STELE_RETURN_IF_ERROR(Within(request.what(), reader.status()));
  if (request.is_lookup && printer.row_count() == 0 && session.options().format == Format::kText)
    session.Print(RowHead("") + "\n");
  printer.End();
  if (!request.with_stats) return absl::OkStatus();
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  const std::string summary = SummaryText(reader.stats(), elapsed);
  if (session.options().format == Format::kText || session.options().format == Format::kTable) {
    session.Print(summary);
  } else {
    session.Note(summary);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunRead(Session& session, const std::vector<std::string>& words) {
  std::vector<std::string> args = words;
  ReadRequest request;
  request.decodes_keys = ConsumeDecodeKeys(&args);
  if (args.empty()) return WrongUsage("read");
  STELE_ASSIGN_OR_RETURN(
      const KeyValues values,
      ParseKeyValues(std::span(args).subspan(1),
                     {"authorized-view", "start", "end", "prefix", "regex", "reversed", "columns",
                      "count", "filter", "cells-per-column", "app-profile", "format-file",
                      "keys-only", "include-stats"}));
  STELE_RETURN_IF_ERROR(ParseCommon(values, request));
  STELE_ASSIGN_OR_RETURN(RowRange range, ParseRange(values));
  request.rows = RowSet(std::move(range));
  if (const auto text = Find(values, "reversed")) {
    STELE_ASSIGN_OR_RETURN(request.options.reverse, ParseBool("reversed", *text));
  }
  if (const auto text = Find(values, "count")) {
    STELE_ASSIGN_OR_RETURN(request.limit, ParseNumber("count", *text));
    if (request.limit < 0)
      return UsageError(fmt::format("Bad count \"{}\": must not be negative", *text));
  }
  return PrintRows(session, args[0], request);
}

absl::Status RunLookup(Session& session, const std::vector<std::string>& words) {
  std::vector<std::string> args = words;
  ReadRequest request;
  request.decodes_keys = ConsumeDecodeKeys(&args);
  if (args.size() < 2) return WrongUsage("lookup");
  STELE_ASSIGN_OR_RETURN(
      const KeyValues values,
      ParseKeyValues(std::span(args).subspan(2),
                     {"authorized-view", "columns", "cells-per-column", "app-profile", "filter",
                      "format-file", "keys-only", "include-stats"}));
  STELE_RETURN_IF_ERROR(ParseCommon(values, request));
  STELE_ASSIGN_OR_RETURN(const std::string row_key, ParseKey(args[1]));
  request.rows = RowSet().Append(row_key);
  request.is_lookup = true;
  return PrintRows(session, args[0], request);
}

absl::Status RunCount(Session& session, const std::vector<std::string>& args) {
  if (args.empty()) return WrongUsage("count");
  STELE_ASSIGN_OR_RETURN(const KeyValues values,
                         ParseKeyValues(std::span(args).subspan(1), {"prefix"}));
  STELE_ASSIGN_OR_RETURN(RowRange range, ParseRange(values));
  auto table = session.OpenTable(Session::Access::kRead, args[0]);
  if (!table.ok()) return Within("Reading rows", table.status());
  RowReader reader =
      table->ReadRows(std::move(range), Filter::CellsRowLimit(1), ReadOptions{.fill_cache = false});
  Progress progress("counting", "rows", 0);
  uint64_t count = 0;
  while (reader.Next()) {
    if (reader.row().is_last_piece()) progress.Set(++count);
  }
  progress.End();
  STELE_RETURN_IF_ERROR(Within("Reading rows", reader.status()));
  const Listing listing{.names = {"count"}, .records = {{count}}};
  const Format format = session.options().format;
  session.Print(format == Format::kText ? fmt::format("{}\n", count)
                                        : ListingText(listing, format));
  return absl::OkStatus();
}

}  // namespace stele::cli
