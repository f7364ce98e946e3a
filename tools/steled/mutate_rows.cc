#include "mutate_rows.h"

#include <span>
#include <utility>

#include "errors.h"
#include "status.h"

namespace stele::server {

using internal::ToRowMutation;
using internal::ToToken;

namespace wire = ::google::bigtable::v2;

namespace {

constexpr int kChangesMax = 100'000;
constexpr size_t kResponseBytes = size_t{256} << 10;

absl::Status AddEntry(const wire::MutateRowsRequest::Entry& entry, const TableTraits& traits, EntryList* out) {
  STELED_ASSIGN_OR_RETURN(RowMutation mutation, ToRowMutation(entry.row_key(), entry.mutations(), traits));
  STELED_ASSIGN_OR_RETURN(std::string token, ToToken(entry.idempotency()));
  out->mutations.push_back(std::move(mutation));
  out->tokens.push_back(std::move(token));
  return absl::OkStatus();
}

// An entry that goes by itself: it has a token of its own, or nothing to change.
bool IsAlone(const EntryList& entries, size_t index) { return !entries.tokens[index].empty() || entries.mutations[index].count() == 0; }

}  // namespace

absl::StatusOr<EntryList> ToEntries(const wire::MutateRowsRequest& request, const TableTraits& traits) {
  if (request.entries().empty()) return InvalidArgument("No mutations provided");
  int64_t change_count = 0;
  for (const wire::MutateRowsRequest::Entry& entry : request.entries()) change_count += entry.mutations_size();
  if (change_count > kChangesMax) return InvalidArgument("{} mutations, at most {} are allowed in one request", change_count, kChangesMax);
  EntryList entries;
  entries.mutations.reserve(static_cast<size_t>(request.entries_size()));
  entries.tokens.reserve(static_cast<size_t>(request.entries_size()));
  for (int i = 0; i < request.entries_size(); ++i) {
    const absl::Status status = AddEntry(request.entries(i), traits, &entries);
    if (!status.ok()) return InField(InElement(status, static_cast<size_t>(i)), "Entry list");
  }
  return entries;
}

std::vector<absl::Status> ApplyEntries(Table* table, const EntryList& entries) {
  std::vector<absl::Status> verdicts(entries.mutations.size());
  for (size_t begin = 0; begin < verdicts.size();) {
    if (IsAlone(entries, begin)) {
      const RowMutation& mutation = entries.mutations[begin];
      if (mutation.count() > 0) verdicts[begin] = table->Apply(mutation, {.idempotency_token = entries.tokens[begin]});
      ++begin;
      continue;
    }
    size_t end = begin + 1;
    while (end < verdicts.size() && !IsAlone(entries, end)) ++end;
    const std::span<const RowMutation> together = std::span(entries.mutations).subspan(begin, end - begin);
    for (FailedMutation& failed : table->BulkApply(together)) verdicts[begin + failed.index] = std::move(failed.status);
    begin = end;
  }
  return verdicts;
}

void SendVerdicts(const wire::MutateRowsRequest& request, const std::vector<absl::Status>& verdicts,
                  const std::function<bool(const wire::MutateRowsResponse& message, bool is_last)>& send) {
  wire::MutateRowsResponse message;
  size_t bytes = 0;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const absl::Status status = OfRow(verdicts[i], request.entries(static_cast<int>(i)).row_key(), request.table_name());
    wire::MutateRowsResponse::Entry* const entry = message.add_entries();
    entry->set_index(static_cast<int64_t>(i));
    entry->mutable_status()->set_code(status.raw_code());
    if (!status.ok()) entry->mutable_status()->set_message(ReadableText(status));
    bytes += 32 + entry->status().message().size();
    const bool is_last = i + 1 == verdicts.size();
    if (bytes < kResponseBytes && !is_last) continue;
    if (!send(message, is_last)) return;
    message.Clear();
    bytes = 0;
  }
}

}  // namespace stele::server
