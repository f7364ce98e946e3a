#include "remote/client/bulk_writer.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "model/access.h"
#include "remote/wire/mutation_translation.h"
#include "remote/wire/timestamps.h"

namespace stele::internal {

namespace wire = ::google::bigtable::v2;

namespace {

// Codes with which a server rejects a request without applying any of it.
bool IsRefusal(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::FAILED_PRECONDITION:
      return true;
    default:
      return false;
  }
}

}  // namespace

void SetToken(const std::string& token, wire::Idempotency* idempotency) {
  if (token.empty()) return;
  idempotency->set_token(token);
  // Uses the system's clock, whatever clock gives timestamps to cells, since the server compares it
  // with its own.
  *idempotency->mutable_start_time() = WireNow();
}

std::string EntryToken(const std::string& token, size_t index) {
  return fmt::format("{}#{}", token, index);
}

std::vector<FailedMutation> BulkWriter::Apply(std::span<const RowMutation> mutations,
                                              const WriteOptions& options) {
  verdicts_.assign(mutations.size(), absl::OkStatus());
  options_ = options;
  now_micros_ = CutToGranularity(connection_.NowMicros(), schema_.granularity);
  for (size_t begin = 0; begin < mutations.size();) {
    std::vector<Entry> entries;
    begin = Collect(mutations, begin, &entries);
    if (!entries.empty()) Send(std::move(entries), /*table_is_known=*/false);
  }
  std::vector<FailedMutation> failed;
  for (size_t i = 0; i < verdicts_.size(); ++i) {
    if (!verdicts_[i].ok()) failed.push_back({.index = i, .status = std::move(verdicts_[i])});
  }
  return failed;
}

size_t BulkWriter::Collect(std::span<const RowMutation> mutations, size_t begin,
                           std::vector<Entry>* entries) {
  std::set<std::string_view> row_keys;
  size_t bytes = 0;
  size_t changes = 0;
  size_t i = begin;
  for (; i < mutations.size(); ++i) {
    const RowMutation& mutation = mutations[i];
    if (absl::Status status = CheckForm(mutation.row_key(), mutation, schema_); !status.ok()) {
      verdicts_[i] = std::move(status);
      continue;
    }
    changes += mutation.count();
    bytes += mutation.row_key().size() + Access::EncodedOps(mutation).size();
    if (!entries->empty() && (changes > kBulkRequestChanges || bytes > kBulkRequestBytes)) break;
    if (!row_keys.insert(mutation.row_key()).second) break;
    Entry entry{.index = i,
                .is_idempotent = IsIdempotent(mutation),
                .has_token = !options_.idempotency_token.empty(),
                .begin = connection_.waiter().Now()};
    entry.message.set_row_key(mutation.row_key());
    AddToWire(mutation, now_micros_, entry.message.mutable_mutations());
    if (entry.has_token)
      SetToken(EntryToken(options_.idempotency_token, i), entry.message.mutable_idempotency());
    entries->push_back(std::move(entry));
  }
  return i;
}

void BulkWriter::Send(std::vector<Entry> entries, bool table_is_known) {
  RemoteCall call(&connection_, "MutateRows", options_.deadline, options_.stop);
  if (const absl::Status ended = call.Ended(); !ended.ok()) {
    for (const Entry& entry : entries) Settle(entry, ended);
    return;
  }
  while (true) {
    const size_t count = entries.size();
    const grpc::Status status = TryOnce(&call, &entries);
    if (entries.empty()) return;
    if (count > entries.size()) call.Progress();
    if (IsRefusal(status)) return SendHalves(std::move(entries), table_is_known);
    const absl::Status pause = call.PauseAfter(status, /*repeatable=*/true);
    if (pause.ok()) continue;
    for (const Entry& entry : entries) Settle(entry, pause);
    return;
  }
}

grpc::Status BulkWriter::TryOnce(RemoteCall* call, std::vector<Entry>* entries) {
  wire::MutateRowsRequest request;
  request.set_table_name(table_name_);
  request.set_app_profile_id(connection_.location().app_profile);
  for (const Entry& entry : *entries) *request.add_entries() = entry.message;
  Attempt attempt(*call, "table_name=" + table_name_, call->RepeatableAttempt(kBulkAttempt));
  const auto stream = connection_.data().MutateRows(attempt.context(), request);
  // The results of the entries; nullopt: none yet, so the status of the whole call applies.
  std::vector<std::optional<grpc::Status>> answers(entries->size());
  wire::MutateRowsResponse message;
  while (stream->Read(&message)) {
    connection_.NoteResponse();
    for (const wire::MutateRowsResponse::Entry& answer : message.entries()) {
      if (answer.index() < 0 || static_cast<size_t>(answer.index()) >= answers.size()) continue;
      answers[static_cast<size_t>(answer.index())] = grpc::Status(
          static_cast<grpc::StatusCode>(answer.status().code()), answer.status().message());
    }
  }
  grpc::Status whole = stream->Finish();
  if (whole.ok())
    whole = grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server returned no result for it");
  // A call that fails after results for some entries did not reject the whole request. Entries
  // without a result may have been applied.
  const bool has_verdicts = std::any_of(answers.begin(), answers.end(),
                                        [](const auto& answer) { return answer.has_value(); });
  const bool refused = IsRefusal(whole) && !has_verdicts && entries->size() > 1;
  grpc::Status reason = whole;
  std::vector<Entry> left;
  for (size_t i = 0; i < answers.size(); ++i) {
    Entry& entry = (*entries)[i];
    const grpc::Status& answer = answers[i].has_value() ? *answers[i] : whole;
    if (answer.ok()) continue;
    if ((IsTransient(answer) && IsRepeatable(entry)) || refused) {
      reason = answer;
      left.push_back(std::move(entry));
    } else {
      Settle(entry, call->Failure(answer));
    }
  }
  *entries = std::move(left);
  return reason;
}

void BulkWriter::SendHalves(std::vector<Entry> entries, bool table_is_known) {
  if (!table_is_known && IsTableGone()) {
    for (const Entry& entry : entries) Settle(entry, NotFound("Table not found: {}", table_name_));
    return;
  }
  const auto middle = entries.begin() + static_cast<ptrdiff_t>(entries.size() / 2);
  std::vector<Entry> second(std::make_move_iterator(middle),
                            std::make_move_iterator(entries.end()));
  entries.erase(middle, entries.end());
  if (!entries.empty()) Send(std::move(entries), /*table_is_known=*/true);
  Send(std::move(second), /*table_is_known=*/true);
}

bool BulkWriter::IsRepeatable(const Entry& entry) const {
  return entry.is_idempotent ||
         (entry.has_token && connection_.waiter().Now() < entry.begin + kTokenRepeat);
}

bool BulkWriter::IsTableGone() const {
  google::bigtable::admin::v2::GetTableRequest request;
  request.set_name(table_name_);
  request.set_view(google::bigtable::admin::v2::Table::NAME_ONLY);
  google::bigtable::admin::v2::Table response;
  const RemoteCall call(&connection_, "GetTable");
  Attempt attempt(call, "name=" + table_name_, call.RepeatableAttempt(kAdminAttempt));
  return connection_.admin().GetTable(attempt.context(), request, &response).error_code() ==
         grpc::StatusCode::NOT_FOUND;
}

}  // namespace stele::internal
