#include "steled/services/data_service.h"

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "remote/wire/filter_translation.h"
#include "remote/wire/mutation_translation.h"
#include "remote/wire/names.h"
#include "remote/wire/row_set_translation.h"
#include "steled/base/errors.h"
#include "steled/rpc/answer_stream.h"
#include "steled/rpc/method_table.h"
#include "steled/rpc/no_exceptions.h"
#include "steled/services/mutate_rows.h"
#include "steled/services/read_rows_call.h"
#include "steled/services/row_errors.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {

using internal::CheckRowKey;
using internal::ToChanges;
using internal::ToFilter;
using internal::ToRowMutation;
using internal::ToRowRange;
using internal::ToRowSet;
using internal::ToRules;

namespace wire = ::google::bigtable::v2;

namespace {

using SteadyClock = std::chrono::steady_clock;

// Rejects views, which plain tables do not have.
absl::Status CheckNoView(std::string_view authorized_view,
                         std::string_view materialized_view = {}) {
  if (authorized_view.empty() && materialized_view.empty()) return absl::OkStatus();
  return Unimplemented("Views are not offered; name a table");
}

// Converts the result of CheckAwaited to an entry's status. If the client reads it, the server has
// cancelled the call.
absl::Status OfWrite(const absl::Status& awaited) {
  return absl::IsCancelled(awaited) ? MakeStatus(absl::StatusCode::kUnavailable, "The server ends")
                                    : awaited;
}

// Returns the tag of a client's operations in a trace: the start of its app profile's id.
std::string TagOf(std::string_view app_profile_id) {
  constexpr size_t kTagBytesMax = 32;  // as in ReadOptions
  return std::string(app_profile_id.substr(0, kTagBytesMax));
}

// Returns options that stop a write when no client waits for it any more.
WriteOptions WhileAwaited(const Call* call, std::string tag) {
  return {.stop = call->stop(), .deadline = call->deadline(), .tag = std::move(tag)};
}

// The same for a write that reads its row. What it reads is charged to the call. `refusal` is the
// error of the write if there is no memory for that.
WriteOptions WhileReading(Call* call, std::string tag, absl::Status* refusal) {
  WriteOptions options = WhileAwaited(call, std::move(tag));
  // The engine calls it, so no exception may leave it.
  options.reserve_large_value = [call, refusal](uint64_t bytes) noexcept {
    if (!refusal->ok()) return *refusal;
    *refusal = StatusOfStep([&] {
      return call->Reserve(bytes)
                 ? absl::OkStatus()
                 : Overloaded("Too many bytes of large values are read; try again later");
    });
    return *refusal;
  };
  return options;
}

void FillRow(const Row& row, wire::Row* out) {
  out->set_key(std::string(row.row_key()));
  wire::Family* family = nullptr;
  for (const CellView& cell : row.cells()) {
    if (family == nullptr || family->name() != cell.family()) {
      family = out->add_families();
      family->set_name(std::string(cell.family()));
    }
    // One cell for each column: the result of a ReadModifyWriteRow.
    wire::Column* const column = family->add_columns();
    column->set_qualifier(std::string(cell.qualifier()));
    wire::Cell* const out_cell = column->add_cells();
    out_cell->set_timestamp_micros(cell.timestamp().micros());
    out_cell->set_value(std::string(cell.value()));
  }
}

}  // namespace

template <typename Check>
absl::StatusOr<OpenTable> DataService::FindChecked(std::string_view wire_name,
                                                   std::string_view app_profile_id,
                                                   const Check& check) {
  absl::StatusOr<OpenTable> table = tables_.Find(wire_name);
  if (!table.ok() && !absl::IsNotFound(table.status())) return table.status();
  // Without a table the granularity is unknown, so allow the finest.
  const TableTraits traits =
      table.ok() ? table->traits : TableTraits{.granularity = TimestampGranularity::kMicros};
  STELED_RETURN_IF_ERROR(check(traits));
  if (table.ok() && profile_calls_ != nullptr) profile_calls_->Count(wire_name, app_profile_id);
  return table;
}

void DataService::CountWrite(const OpenTable& table, std::string_view row_key) {
  if (heat_ != nullptr) heat_->CountWrites(table.table.name(), {&row_key, 1});
}

absl::Status DataService::ReadRows(const wire::ReadRowsRequest& request, Call* call) {
  const SteadyClock::time_point begin = SteadyClock::now();
  STELED_RETURN_IF_ERROR(
      CheckNoView(request.authorized_view_name(), request.materialized_view_name()));
  RowSet rows;
  Filter filter;
  const auto check = [&](const TableTraits& traits) -> absl::Status {
    if (request.rows_limit() < 0) return InvalidArgument("rows_limit must not be negative");
    STELED_ASSIGN_OR_RETURN(rows, ToRowSet(request.rows()));
    STELED_ASSIGN_OR_RETURN(filter, ToFilter(request.filter(), traits.granularity));
    return absl::OkStatus();
  };
  STELED_ASSIGN_OR_RETURN(const OpenTable table,
                          FindChecked(request.table_name(), request.app_profile_id(), check));
  ReadRowsCall::Request read{
      .table = table.table,
      .table_name = request.table_name(),
      .tag = TagOf(request.app_profile_id()),
      .rows = std::move(rows),
      .filter = std::move(filter),
      .rows_limit = request.rows_limit(),
      .is_reversed = request.reversed(),
      .has_full_stats = request.request_stats_view() == wire::ReadRowsRequest::REQUEST_STATS_FULL,
      .sends_last_scanned_key = SupportsLastScannedKey(call->metadata(kFeatures)),
      .message_bytes_max = message_bytes_max_};
  ScanCounter counter;
  if (heat_ != nullptr) counter = ScanCounter(heat_, heat_->Find(table.table.name()));
  return std::make_shared<ReadRowsCall>(std::move(read), std::move(counter), begin)->Run(call);
}

absl::Status DataService::SampleRowKeys(const wire::SampleRowKeysRequest& request, Call* call) {
  STELED_RETURN_IF_ERROR(
      CheckNoView(request.authorized_view_name(), request.materialized_view_name()));
  RowRange range;
  const auto check = [&](const TableTraits&) -> absl::Status {
    STELED_ASSIGN_OR_RETURN(range, ToRowRange(request.row_range()));
    return absl::OkStatus();
  };
  STELED_ASSIGN_OR_RETURN(const OpenTable table,
                          FindChecked(request.table_name(), request.app_profile_id(), check));
  const absl::StatusOr<std::vector<RowKeySample>> found = table.table.SampleRowKeys(range);
  if (!found.ok()) return WithBigtableText(found.status(), {}, request.table_name());
  std::deque<RowKeySample> samples(found->begin(), found->end());
  if (samples.size() == 1) {
    // A small table has only a sample for the range's end. Clients expect an existing key, as
    // Bigtable returns.
    RowReader last = table.table.ReadRows(
        range, Filter::Chain({Filter::CellsRowLimit(1), Filter::StripValue()}),
        {.limit = 1, .reverse = true, .stop = call->stop(), .deadline = call->deadline()});
    if (last.Next() && last.row().row_key() != samples.front().row_key) {
      samples.push_front({.row_key = std::string(last.row().row_key()),
                          .offset_bytes = samples.front().offset_bytes});
    }
    STELED_RETURN_IF_ERROR(WithBigtableText(last.status(), {}, request.table_name()));
  }
  if (samples.empty()) return absl::OkStatus();
  // A client that reads slowly keeps them for long.
  size_t held_bytes = 0;
  for (const RowKeySample& sample : samples)
    held_bytes += sizeof(RowKeySample) + sample.row_key.size();
  if (!call->ReserveAnswer(held_bytes))
    return Overloaded("Too many bytes of answers that nobody has read; try again later");
  return std::make_shared<AnswerStream>([samples = std::move(samples)](bool* is_last) mutable {
           wire::SampleRowKeysResponse response;
           response.set_row_key(samples.front().row_key);
           response.set_offset_bytes(static_cast<int64_t>(samples.front().offset_bytes));
           samples.pop_front();
           *is_last = samples.empty();
           return Framed(response).value_or(std::string(kPrefixBytes, '\0'));
         })
      ->Run(call);
}

absl::Status DataService::MutateRow(Call* call) {
  RowWrite write;
  write.options = WhileAwaited(call, "");
  STELED_RETURN_IF_ERROR(ReceiveRowWrite(call, &write));
  const std::string_view row_key = write.mutation.row_key();
  CountWrite(*write.table, row_key);
  const absl::Status applied = write.table->table.Apply(std::move(write.mutation), write.options);
  STELED_RETURN_IF_ERROR(WithBigtableText(applied, row_key, write.table_name));
  return SendResponse(wire::MutateRowResponse(), call);
}

absl::Status DataService::ReceiveRowWrite(Call* call, RowWrite* write) {
  std::string bytes;
  STELED_RETURN_IF_ERROR(ReceiveBytes(call, &bytes));
  if (internal::PlainEntries plain; internal::ReadPlainRow(bytes, &plain)) {
    STELED_RETURN_IF_ERROR(ChargePlain(bytes.size(), plain, call));
    return ConvertPlainRow(plain, write);
  }
  CallArena arena;
  auto* const request = google::protobuf::Arena::CreateMessage<wire::MutateRowRequest>(arena.get());
  STELED_RETURN_IF_ERROR(ParseRequest(bytes, call, request));
  bytes = {};  // so that a large request is not in memory twice
  return ConvertParsedRow(*request, write);
}

absl::Status DataService::ConvertPlainRow(const internal::PlainEntries& request, RowWrite* write) {
  STELED_RETURN_IF_ERROR(CheckNoView(request.authorized_view_name));
  const internal::PlainEntries::Entry& entry = request.entries.front();
  const auto check = [&](const TableTraits& traits) -> absl::Status {
    STELED_ASSIGN_OR_RETURN(write->mutation,
                            ToRowMutation(entry.row_key, request.CellsOf(entry), traits));
    return absl::OkStatus();
  };
  write->table_name = request.table_name;
  write->options.tag = TagOf(request.app_profile_id);
  STELED_ASSIGN_OR_RETURN(write->table,
                          FindChecked(request.table_name, request.app_profile_id, check));
  return absl::OkStatus();
}

absl::Status DataService::ConvertParsedRow(const wire::MutateRowRequest& request, RowWrite* write) {
  STELED_RETURN_IF_ERROR(CheckNoView(request.authorized_view_name()));
  const auto check = [&](const TableTraits& traits) -> absl::Status {
    STELED_ASSIGN_OR_RETURN(write->mutation,
                            ToRowMutation(request.row_key(), request.mutations(), traits));
    STELED_ASSIGN_OR_RETURN(write->options.idempotency_token, TokenOf(request.idempotency()));
    return absl::OkStatus();
  };
  write->table_name = request.table_name();
  write->options.tag = TagOf(request.app_profile_id());
  STELED_ASSIGN_OR_RETURN(write->table,
                          FindChecked(request.table_name(), request.app_profile_id(), check));
  return absl::OkStatus();
}

absl::Status DataService::MutateRows(Call* call) {
  BulkWrite write;
  STELED_RETURN_IF_ERROR(ReceiveBulkWrite(call, &write));
  if (heat_ != nullptr) {
    std::vector<std::string_view> row_keys;
    for (const RowMutation& mutation : write.entries.mutations)
      row_keys.push_back(mutation.row_key());
    heat_->CountWrites(write.table->table.name(), row_keys);
  }
  std::vector<absl::Status> statuses =
      ApplyEntries(&write.table->table, write.entries, WhileAwaited(call, write.tag),
                   [call] { return OfWrite(CheckAwaited(*call)); });
  const auto answer = std::make_shared<EntryStatuses>(
      std::move(write.table_name), std::move(write.entries), std::move(statuses));
  return std::make_shared<AnswerStream>(
             [answer](bool* is_last) { return answer->NextMessage(kPrefixBytes, is_last); })
      ->Run(call);
}

absl::Status DataService::ReceiveBulkWrite(Call* call, BulkWrite* write) {
  std::string bytes;
  STELED_RETURN_IF_ERROR(ReceiveBytes(call, &bytes));
  MutateRowsMessage request;
  STELED_RETURN_IF_ERROR(request.Read(std::move(bytes), call));
  STELED_RETURN_IF_ERROR(CheckNoView(request.authorized_view_name()));
  const auto check = [&](const TableTraits& traits) -> absl::Status {
    STELED_ASSIGN_OR_RETURN(write->entries, request.ToEntries(traits));
    return absl::OkStatus();
  };
  write->table_name = request.table_name();
  write->tag = TagOf(request.app_profile_id());
  STELED_ASSIGN_OR_RETURN(write->table,
                          FindChecked(request.table_name(), request.app_profile_id(), check));
  return absl::OkStatus();
}

absl::Status DataService::CheckAndMutateRow(Call* call) {
  ConditionalWrite write;
  STELED_RETURN_IF_ERROR(ReceiveConditionalWrite(call, &write));
  CountWrite(*write.table, write.row_key);
  absl::Status refusal;
  const absl::StatusOr<MutationBranch> branch = write.table->table.CheckAndMutateRow(
      write.row_key, write.predicate, std::move(write.if_matched), std::move(write.if_not_matched),
      WhileReading(call, write.tag, &refusal));
  STELED_RETURN_IF_ERROR(refusal);
  if (!branch.ok()) return WithBigtableText(branch.status(), write.row_key, write.table_name);
  wire::CheckAndMutateRowResponse response;
  response.set_predicate_matched(*branch == MutationBranch::kPredicateMatched);
  return SendResponse(response, call);
}

absl::Status DataService::ReceiveConditionalWrite(Call* call, ConditionalWrite* write) {
  CallArena arena;
  auto& request =
      *google::protobuf::Arena::CreateMessage<wire::CheckAndMutateRowRequest>(arena.get());
  STELED_RETURN_IF_ERROR(ReceiveRequest(call, MethodTable::kAnyBytes, &request));
  STELED_RETURN_IF_ERROR(CheckNoView(request.authorized_view_name()));
  const auto check = [&](const TableTraits& traits) -> absl::Status {
    STELED_RETURN_IF_ERROR(CheckRowKey(request.row_key(), traits));
    if (request.true_mutations().empty() && request.false_mutations().empty())
      return InvalidArgument("No mutations provided");
    STELED_ASSIGN_OR_RETURN(write->predicate,
                            ToFilter(request.predicate_filter(), traits.granularity));
    STELED_ASSIGN_OR_RETURN(write->if_matched, ToChanges({}, request.true_mutations(), traits));
    STELED_ASSIGN_OR_RETURN(write->if_not_matched,
                            ToChanges({}, request.false_mutations(), traits));
    return absl::OkStatus();
  };
  write->table_name = request.table_name();
  write->row_key = request.row_key();
  write->tag = TagOf(request.app_profile_id());
  STELED_ASSIGN_OR_RETURN(write->table,
                          FindChecked(request.table_name(), request.app_profile_id(), check));
  return profiles_.CheckTransactions(request.table_name(), request.app_profile_id());
}

absl::Status DataService::PingAndWarm(const wire::PingAndWarmRequest& request,
                                      wire::PingAndWarmResponse* /*response*/) {
  return instances_.CheckExists(request.name());
}

absl::Status DataService::ReadModifyWriteRow(Call* call) {
  ReadModifyWrite write;
  STELED_RETURN_IF_ERROR(ReceiveReadModifyWrite(call, &write));
  CountWrite(*write.table, write.row_key);
  wire::ReadModifyWriteRowResponse response;
  {
    absl::Status refusal;
    const absl::StatusOr<Row> row = write.table->table.ReadModifyWriteRow(
        write.row_key, write.rules, WhileReading(call, write.tag, &refusal));
    STELED_RETURN_IF_ERROR(refusal);
    if (!row.ok()) return WithBigtableText(row.status(), write.row_key, write.table_name);
    write.rules.clear();  // they, and the row, may be large
    FillRow(*row, response.mutable_row());
  }
  return SendResponse(response, call);
}

absl::Status DataService::ReceiveReadModifyWrite(Call* call, ReadModifyWrite* write) {
  CallArena arena;
  auto& request =
      *google::protobuf::Arena::CreateMessage<wire::ReadModifyWriteRowRequest>(arena.get());
  STELED_RETURN_IF_ERROR(ReceiveRequest(call, MethodTable::kAnyBytes, &request));
  STELED_RETURN_IF_ERROR(CheckNoView(request.authorized_view_name()));
  const auto check = [&](const TableTraits& traits) -> absl::Status {
    STELED_RETURN_IF_ERROR(CheckRowKey(request.row_key(), traits));
    STELED_ASSIGN_OR_RETURN(write->rules, ToRules(request.rules(), traits));
    return absl::OkStatus();
  };
  write->table_name = request.table_name();
  write->row_key = request.row_key();
  write->tag = TagOf(request.app_profile_id());
  STELED_ASSIGN_OR_RETURN(write->table,
                          FindChecked(request.table_name(), request.app_profile_id(), check));
  return profiles_.CheckTransactions(request.table_name(), request.app_profile_id());
}

}  // namespace stele::server
