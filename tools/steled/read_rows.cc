#include "read_rows.h"

#include <algorithm>
#include <utility>

namespace stele::server {
namespace {

// Tags, lengths, the timestamp and the length of the value, of a chunk.
constexpr size_t kChunkOverheadBytes = 64;
// Beyond this a cleared message would keep more than it is worth.
constexpr size_t kReusedValueBytes = size_t{16} << 10;

}  // namespace

bool RowChunker::Add(const RowView& row) {
  const std::span<const CellView> cells = row.cells();
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!AddCell(row.row_key(), cells[i], row.is_last_piece() && i + 1 == cells.size())) return false;
  }
  return true;
}

bool RowChunker::AddCell(std::string_view row_key, const CellView& cell, bool is_last) {
  const bool new_family = !in_row_ || cell.family() != family_;
  const bool new_qualifier = new_family || cell.qualifier() != qualifier_;
  size_t head_bytes = kChunkOverheadBytes + (in_row_ ? 0 : row_key.size()) + (new_family ? cell.family().size() : 0) +
                      (new_qualifier ? cell.qualifier().size() : 0);
  for (const std::string& label : cell.labels()) head_bytes += label.size() + 2;
  if (!MakeRoom(head_bytes + std::min(cell.value().size(), kValueChunkBytes))) return false;
  Chunk* const chunk = message_.add_chunks();
  if (!in_row_) chunk->set_row_key(row_key.data(), row_key.size());
  if (new_family) {
    family_ = cell.family();
    chunk->mutable_family_name()->set_value(family_);
  }
  if (new_qualifier) {
    qualifier_ = cell.qualifier();
    chunk->mutable_qualifier()->set_value(qualifier_);
  }
  chunk->set_timestamp_micros(cell.timestamp().micros());
  for (const std::string& label : cell.labels()) chunk->add_labels(label);
  in_row_ = !is_last;
  return AddValue(chunk, head_bytes, cell.value(), is_last);
}

bool RowChunker::AddValue(Chunk* chunk, size_t head_bytes, std::string_view value, bool is_last) {
  const size_t value_bytes = value.size();
  while (true) {
    const std::string_view part = value.substr(0, kValueChunkBytes);
    chunk->set_value(part.data(), part.size());
    message_bytes_ += head_bytes + part.size();
    keeps_large_ = keeps_large_ || part.size() > kReusedValueBytes;
    value.remove_prefix(part.size());
    if (value.empty()) break;
    chunk->set_value_size(static_cast<int32_t>(value_bytes));
    head_bytes = kChunkOverheadBytes;
    if (!MakeRoom(head_bytes + std::min(value.size(), kValueChunkBytes))) return false;
    chunk = message_.add_chunks();
  }
  if (is_last) chunk->set_commit_row(true);
  return true;
}

bool RowChunker::MakeRoom(size_t bytes) { return message_bytes_ + bytes <= kMessageBytes || Flush(); }

bool RowChunker::Flush() { return Send(/*is_last=*/false); }

bool RowChunker::SendScanned(std::string_view row_key) {
  google::bigtable::v2::ReadRowsResponse message;
  message.set_last_scanned_row_key(row_key.data(), row_key.size());
  return sink_(message, /*is_last=*/false);
}

bool RowChunker::Send(bool is_last) {
  if (message_.chunks().empty()) return true;
  const bool taken = sink_(message_, is_last);
  // A message that is cleared keeps its strings' memory for the next one: right for many small cells, but large ones would pile up.
  if (keeps_large_) {
    google::bigtable::v2::ReadRowsResponse fresh;
    message_.Swap(&fresh);
  } else {
    message_.Clear();
  }
  keeps_large_ = false;
  message_bytes_ = 0;
  return taken;
}

bool RowChunker::Finish(const ReadStats& stats, bool full_stats, int64_t elapsed_nanos) {
  if (!Send(/*is_last=*/!full_stats)) return false;
  if (!full_stats) return true;
  google::bigtable::v2::ReadRowsResponse last;
  auto* const view = last.mutable_request_stats()->mutable_full_read_stats_view();
  auto* const iteration = view->mutable_read_iteration_stats();
  iteration->set_rows_seen_count(static_cast<int64_t>(stats.rows_seen));
  iteration->set_rows_returned_count(static_cast<int64_t>(stats.rows_returned));
  iteration->set_cells_seen_count(static_cast<int64_t>(stats.cells_seen));
  iteration->set_cells_returned_count(static_cast<int64_t>(stats.cells_returned));
  auto* const latency = view->mutable_request_latency_stats()->mutable_frontend_server_latency();
  latency->set_seconds(elapsed_nanos / 1'000'000'000);
  latency->set_nanos(static_cast<int32_t>(elapsed_nanos % 1'000'000'000));
  return sink_(last, true);
}

}  // namespace stele::server
