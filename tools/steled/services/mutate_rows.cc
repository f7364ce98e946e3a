#include "steled/services/mutate_rows.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "model/access.h"
#include "steled/base/errors.h"
#include "steled/rpc/method_table.h"
#include "steled/rpc/status.h"
#include "steled/services/row_errors.h"

namespace stele::server {

using internal::ToRowMutation;

namespace wire = ::google::bigtable::v2;

namespace {

constexpr size_t kChangesMax = internal::PlainEntries::kCountMax;
constexpr size_t kResponseBytes = size_t{256} << 10;
// The memory of an entry of a plain request, as parsed and as a mutation with a token and a status,
// and of a cell, as parsed and as a change. Those of their strings are not included.
constexpr size_t kEntryBytes = 256;
constexpr size_t kCellBytes = 128;
// The limits for entries that are applied together, as a few of the engine's batches. After each
// such chunk, checks whether the client still waits.
constexpr size_t kChunkEntries = 16'384;
constexpr size_t kChunkBytes = size_t{4} << 20;

absl::Status AddEntry(const wire::MutateRowsRequest::Entry& entry, const TableTraits& traits,
                      EntryList* out) {
  STELED_ASSIGN_OR_RETURN(RowMutation mutation,
                          ToRowMutation(entry.row_key(), entry.mutations(), traits));
  STELED_ASSIGN_OR_RETURN(std::string token, TokenOf(entry.idempotency()));
  out->mutations.push_back(std::move(mutation));
  out->tokens.push_back(std::move(token));
  return absl::OkStatus();
}

// Checks the request as a whole, before its entries.
absl::Status CheckCounts(size_t entry_count, size_t change_count) {
  if (entry_count == 0) return InvalidArgument("No mutations provided");
  if (change_count <= kChangesMax) return absl::OkStatus();
  return InvalidArgument("More than {} mutations are not allowed in one request", kChangesMax);
}

absl::Status InEntry(const absl::Status& status, size_t index) {
  return InField(InElement(status, index), "Entry list");
}

// Returns the end of the entries from `begin` on that are applied together. They have no tokens.
size_t EndOfChunk(const EntryList& entries, size_t begin) {
  size_t end = begin;
  size_t bytes = 0;
  while (end < entries.mutations.size() && entries.tokens[end].empty() &&
         end - begin < kChunkEntries && bytes < kChunkBytes) {
    bytes += internal::Access::EncodedOps(entries.mutations[end++]).size();
  }
  return end;
}

void SetEntryStatus(size_t index, const absl::Status& status, std::string_view row_key,
                    std::string_view table_name, wire::MutateRowsResponse::Entry* entry) {
  entry->set_index(static_cast<int64_t>(index));
  google::rpc::Status* const to = entry->mutable_status();
  to->Clear();
  if (status.ok()) return;
  const absl::Status translated = WithBigtableText(status, row_key, table_name);
  to->set_code(translated.raw_code());
  to->set_message(ReadableText(translated));
}

}  // namespace

absl::StatusOr<std::string> TokenOf(const wire::Idempotency& idempotency) {
  const int64_t now_micros =
      idempotency.has_start_time() ? Timestamp::From(std::chrono::system_clock::now()).micros() : 0;
  return internal::ToToken(idempotency, now_micros);
}

absl::StatusOr<EntryList> ToEntries(const wire::MutateRowsRequest& request,
                                    const TableTraits& traits) {
  size_t change_count = 0;
  for (const wire::MutateRowsRequest::Entry& entry : request.entries())
    change_count += static_cast<size_t>(entry.mutations_size());
  STELED_RETURN_IF_ERROR(CheckCounts(static_cast<size_t>(request.entries_size()), change_count));
  EntryList entries;
  entries.mutations.reserve(static_cast<size_t>(request.entries_size()));
  entries.tokens.reserve(static_cast<size_t>(request.entries_size()));
  for (int i = 0; i < request.entries_size(); ++i) {
    const absl::Status status = AddEntry(request.entries(i), traits, &entries);
    if (!status.ok()) return InEntry(status, static_cast<size_t>(i));
  }
  return entries;
}

absl::Status ChargePlain(size_t request_bytes, const internal::PlainEntries& plain, Call* call) {
  if (request_bytes < kCountedBytes) return absl::OkStatus();
  return ChargeCopy(
      request_bytes + plain.entries.size() * kEntryBytes + plain.cells.size() * kCellBytes, call);
}

absl::Status MutateRowsMessage::Read(std::string bytes, Call* call) {
  bytes_ = std::move(bytes);
  is_plain_ = internal::ReadPlainEntries(bytes_, &plain_);
  if (is_plain_) return ChargePlain(bytes_.size(), plain_, call);
  plain_ = {};
  const absl::Status parsed = ParseRequest(bytes_, call, &request_);
  bytes_ = {};  // so that a large request is not in memory twice
  return parsed;
}

absl::StatusOr<EntryList> MutateRowsMessage::ToEntries(const TableTraits& traits) const {
  if (!is_plain_) return server::ToEntries(request_, traits);
  STELED_RETURN_IF_ERROR(CheckCounts(plain_.entries.size(), plain_.cells.size()));
  EntryList entries;
  entries.mutations.reserve(plain_.entries.size());
  entries.tokens.resize(plain_.entries.size());
  for (size_t i = 0; i < plain_.entries.size(); ++i) {
    absl::StatusOr<RowMutation> mutation =
        ToRowMutation(plain_.entries[i].row_key, plain_.CellsOf(plain_.entries[i]), traits);
    if (!mutation.ok()) return InEntry(mutation.status(), i);
    entries.mutations.push_back(*std::move(mutation));
  }
  return entries;
}

std::vector<absl::Status> ApplyEntries(Table* table, const EntryList& entries,
                                       const WriteOptions& options,
                                       const std::function<absl::Status()>& check) {
  std::vector<absl::Status> statuses(entries.mutations.size());
  for (size_t begin = 0; begin < statuses.size();) {
    if (absl::Status status = check(); !status.ok()) {
      std::fill(statuses.begin() + static_cast<ptrdiff_t>(begin), statuses.end(),
                std::move(status));
      break;
    }
    if (!entries.tokens[begin].empty()) {
      WriteOptions alone = options;
      alone.idempotency_token = entries.tokens[begin];
      statuses[begin] = table->Apply(entries.mutations[begin], std::move(alone));
      ++begin;
      continue;
    }
    const size_t end = EndOfChunk(entries, begin);
    const std::span<const RowMutation> together =
        std::span(entries.mutations).subspan(begin, end - begin);
    for (FailedMutation& failed : table->BulkApply(together, options))
      statuses[begin + failed.index] = std::move(failed.status);
    begin = end;
  }
  for (absl::Status& status : statuses) {
    if (absl::IsCancelled(status)) status = check();
  }
  return statuses;
}

std::string EntryStatuses::NextMessage(size_t prefix_bytes, bool* is_last) {
  // Concatenated messages with one entry each are one message with all entries.
  wire::MutateRowsResponse one;
  wire::MutateRowsResponse::Entry* const entry = one.add_entries();
  std::string message(prefix_bytes, '\0');
  while (next_ < statuses_.size() && message.size() < kResponseBytes) {
    SetEntryStatus(next_, statuses_[next_], entries_.mutations[next_].row_key(), table_name_,
                   entry);
    one.AppendToString(&message);
    ++next_;
  }
  *is_last = next_ >= statuses_.size();
  return message;
}

}  // namespace stele::server
