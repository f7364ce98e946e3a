#include "workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "message.h"
#include "remote/wire/bigtable.pb.h"

namespace stele_load {

namespace wire = ::google::bigtable::v2;
using stele_compare::CellData;
using stele_compare::Mix;
using stele_compare::RowData;
using stele_compare::RowKeyOf;
using stele_compare::RowMaker;

namespace {

constexpr std::array<Workload, 6> kWorkloads = {
    {{Kind::kMutateRows, "MutateRows", "all rows, a hundred per call", "rows/s", 3},
     {Kind::kScan, "scan", "ReadRows of all rows, four times", "rows/s", 3},
     {Kind::kReadRow, "ReadRow", "a row by its key, in random order", "calls/s", 1.5},
     {Kind::kCheckAndMutate, "CheckAndMutate",
      "sets a cell if it is absent, and deletes it if it is present", "calls/s", 1.5},
     {Kind::kMutateRow, "MutateRow", "a row of five cells per call, in random order", "calls/s",
      1.5},
     {Kind::kPing, "PingAndWarm", "a call that does nothing", "calls/s", 1.5}}};
constexpr char kUnreadable[] = "an answer that cannot be read";
constexpr uint64_t kEntriesInCall = 100;
constexpr char kLockFamily[] = "0";
constexpr char kLockQualifier[] = "lock";
constexpr int64_t kLockMicros = 1'700'000'000'000'000;
constexpr uint64_t kRowsOfLock = 50;  // one row in this many has a lock

// The number of single-row calls in a run of this many rows, over all connections: about a second's
// work.
uint64_t CallCount(const Run& run) {
  const uint64_t share = run.connections == 1 ? 20 : 5;
  return std::max<uint64_t>(1, run.rows / share / run.connections);
}

template <typename Changes>
void AddCells(const RowData& row, Changes* changes) {
  for (const CellData& cell : row.cells) {
    auto* const set = changes->add_mutations()->mutable_set_cell();
    set->set_family_name(std::string(cell.family));
    set->set_column_qualifier(std::string(cell.qualifier));
    set->set_timestamp_micros(cell.timestamp_micros);
    set->set_value(std::string(cell.value));
  }
}

// The rows connection, connection + connections, ... in ascending order.
Script MutateRows(const Run& run, uint64_t connection, RowMaker* maker) {
  Script script;
  wire::MutateRowsRequest request;
  request.set_table_name(run.table);
  for (uint64_t row = connection; row < run.rows; row += run.connections) {
    auto* const entry = request.add_entries();
    const RowData& data = maker->Make(row);
    entry->set_row_key(std::string(data.row_key));
    AddCells(data, entry);
    ++script.operation_count;
    if (script.operation_count % kEntriesInCall != 0 && row + run.connections < run.rows) continue;
    script.requests.push_back(Serialised(request));
    request.clear_entries();
  }
  return script;
}

Script Scan(const Run& run, uint64_t connection) {
  const uint64_t begin = run.rows * connection / run.connections;
  const uint64_t end = run.rows * (connection + 1) / run.connections;
  wire::ReadRowsRequest request;
  request.set_table_name(run.table);
  auto* const range = request.mutable_rows()->add_row_ranges();
  range->set_start_key_closed(RowKeyOf(begin));
  range->set_end_key_open(RowKeyOf(end));
  // Repeat the request, so that a run lasts long enough.
  constexpr uint64_t kTimes = 4;
  return {std::vector<std::string>(begin < end ? kTimes : 0, Serialised(request)),
          kTimes * (end - begin)};
}

Script ReadRow(const Run& run, uint64_t connection) {
  Script script;
  wire::ReadRowsRequest request;
  request.set_table_name(run.table);
  request.set_rows_limit(1);
  request.mutable_rows()->add_row_keys();
  for (uint64_t call = 0; call < CallCount(run); ++call) {
    request.mutable_rows()->set_row_keys(
        0, RowKeyOf(Mix((run.seed << 40) + (connection << 32) + call) % run.rows));
    script.requests.push_back(Serialised(request));
  }
  script.operation_count = script.requests.size();
  return script;
}

// Each connection has its own locks, so that each call has one correct response.
Script CheckAndMutate(const Run& run, uint64_t connection) {
  Script script;
  wire::CheckAndMutateRowRequest request;
  request.set_table_name(run.table);
  auto* const chain = request.mutable_predicate_filter()->mutable_chain();
  chain->add_filters()->set_family_name_regex_filter(kLockFamily);
  chain->add_filters()->set_column_qualifier_regex_filter(kLockQualifier);
  auto* const taken = request.add_false_mutations()->mutable_set_cell();
  taken->set_family_name(kLockFamily);
  taken->set_column_qualifier(kLockQualifier);
  taken->set_timestamp_micros(kLockMicros);
  auto* const given_back = request.add_true_mutations()->mutable_delete_from_column();
  given_back->set_family_name(kLockFamily);
  given_back->set_column_qualifier(kLockQualifier);
  const uint64_t lock_count = std::max<uint64_t>(1, run.rows / kRowsOfLock / run.connections);
  for (uint64_t call = 0; call < CallCount(run); ++call) {
    const uint64_t lock = Mix((run.seed << 40) + (connection << 32) + call) % lock_count;
    request.set_row_key(RowKeyOf((lock * run.connections + connection) % run.rows));
    taken->set_value(fmt::format("holder {}", call));
    script.requests.push_back(Serialised(request));
  }
  script.operation_count = script.requests.size();
  return script;
}

Script Ping(const Run& run) {
  wire::PingAndWarmRequest request;
  request.set_name(run.instance);
  const uint64_t calls = CallCount(run);
  return {std::vector<std::string>(calls, Serialised(request)), calls};
}

Script MutateRow(const Run& run, uint64_t connection, RowMaker* maker) {
  Script script;
  const uint64_t count = CallCount(run);
  const std::vector<uint32_t> order = stele_compare::Shuffled(count * run.connections, run.seed);
  for (uint64_t call = 0; call < count; ++call) {
    const RowData& row = maker->Make(order[connection * count + call]);
    wire::MutateRowRequest request;
    request.set_table_name(run.table);
    request.set_row_key(std::string(row.row_key));
    AddCells(row, &request);
    script.requests.push_back(Serialised(request));
  }
  script.operation_count = count;
  return script;
}

template <typename Message>
std::string TakeVerdicts(std::string_view bytes) {
  Message message;
  if (!Parse(bytes, &message)) return kUnreadable;
  for (const auto& entry : message.entries()) {
    if (entry.status().code() != 0)
      return fmt::format("an entry failed: {}", entry.status().message());
  }
  return "";
}

}  // namespace

std::span<const Workload> Workloads() { return kWorkloads; }

const Method& MethodOf(Kind kind) {
  static constexpr Method kMutateRows = {"/google.bigtable.v2.Bigtable/MutateRows", true};
  static constexpr Method kReadRows = {"/google.bigtable.v2.Bigtable/ReadRows", true};
  static constexpr Method kCheckAndMutateRow = {"/google.bigtable.v2.Bigtable/CheckAndMutateRow",
                                                false};
  static constexpr Method kMutateRow = {"/google.bigtable.v2.Bigtable/MutateRow", false};
  static constexpr Method kPing = {"/google.bigtable.v2.Bigtable/PingAndWarm", false};
  switch (kind) {
    case Kind::kMutateRows:
      return kMutateRows;
    case Kind::kScan:
    case Kind::kReadRow:
      return kReadRows;
    case Kind::kCheckAndMutate:
      return kCheckAndMutateRow;
    case Kind::kPing:
      return kPing;
    case Kind::kMutateRow:
      break;
  }
  return kMutateRow;
}

bool IsRead(Kind kind) { return kind == Kind::kScan || kind == Kind::kReadRow; }

Script ScriptOf(const Run& run, uint64_t connection, RowMaker* maker) {
  switch (run.kind) {
    case Kind::kMutateRows:
      return MutateRows(run, connection, maker);
    case Kind::kScan:
      return Scan(run, connection);
    case Kind::kReadRow:
      return ReadRow(run, connection);
    case Kind::kCheckAndMutate:
      return CheckAndMutate(run, connection);
    case Kind::kPing:
      return Ping(run);
    case Kind::kMutateRow:
      break;
  }
  return MutateRow(run, connection, maker);
}

std::string Reading::Take(std::string_view answer) {
  const std::optional<std::vector<std::string_view>> messages = MessagesOf(answer);
  if (!messages.has_value()) return kUnreadable;
  if (!MethodOf(kind_).is_streaming && messages->size() != 1)
    return fmt::format("{} messages in place of one", messages->size());
  for (const std::string_view message : *messages) {
    if (std::string error = TakeMessage(message); !error.empty()) return error;
  }
  return "";
}

std::string Reading::TakeMessage(std::string_view bytes) {
  if (IsRead(kind_)) return TakeRows(bytes);
  if (kind_ == Kind::kMutateRows) return TakeVerdicts<wire::MutateRowsResponse>(bytes);
  if (kind_ == Kind::kCheckAndMutate) {
    wire::CheckAndMutateRowResponse message;
    if (!Parse(bytes, &message)) return kUnreadable;
    matched_hash_ = Mix(matched_hash_ + (message.predicate_matched() ? 2 : 1));
  }
  return "";
}

std::string Reading::TakeRows(std::string_view bytes) {
  wire::ReadRowsResponse message;
  if (!Parse(bytes, &message)) return kUnreadable;
  for (const auto& chunk : message.chunks()) {
    // The emulator sends the row key in every chunk.
    if (!in_row_) tally_.Row(chunk.row_key());
    in_row_ = !chunk.commit_row();
    if (chunk.has_family_name()) family_ = chunk.family_name().value();
    if (chunk.has_qualifier()) qualifier_ = chunk.qualifier().value();
    if (!in_value_) {
      timestamp_micros_ = chunk.timestamp_micros();
      value_.clear();
    }
    value_ += chunk.value();
    in_value_ = chunk.value_size() > 0;
    if (!in_value_) tally_.Cell(family_, qualifier_, timestamp_micros_, value_);
  }
  return "";
}

std::string WholeTable(const std::string& table) {
  wire::ReadRowsRequest request;
  request.set_table_name(table);
  return Serialised(request);
}

}  // namespace stele_load
