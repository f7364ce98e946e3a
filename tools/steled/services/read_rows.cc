#include "steled/services/read_rows.h"

#include <optional>
#include <utility>

#include "steled/rpc/message_writer.h"

namespace stele::server {

using internal::CellChunkView;

namespace {

// The size of a message's buffer before the number of rows is known; a guess.
constexpr size_t kFirstBytes = 1024;

}  // namespace

bool RowChunker::Add(const RowView& row) {
  const std::span<const CellView> cells = row.cells();
  for (; next_cell_ < cells.size(); ++next_cell_) {
    const bool is_last = row.is_last_piece() && next_cell_ + 1 == cells.size();
    if (!AddCell(row.row_key(), cells[next_cell_], is_last)) return false;
  }
  next_cell_ = 0;
  return true;
}

CellChunkView RowChunker::FirstChunk(std::string_view row_key, const CellView& cell) const {
  CellChunkView chunk{.timestamp_micros = cell.timestamp().micros(), .labels = cell.labels()};
  if (!in_row_) chunk.row_key = row_key;
  if (!in_row_ || cell.family() != family_) chunk.family_name = cell.family();
  if (chunk.family_name.has_value() || cell.qualifier() != qualifier_)
    chunk.qualifier = cell.qualifier();
  return chunk;
}

bool RowChunker::AddCell(std::string_view row_key, const CellView& cell, bool is_last) {
  for (bool is_whole = false; !is_whole;) {
    CellChunkView chunk = value_offset_ == 0 ? FirstChunk(row_key, cell) : CellChunkView{};
    chunk.value = cell.value().substr(value_offset_, kValueChunkBytes);
    is_whole = value_offset_ + chunk.value.size() == cell.value().size();
    if (!is_whole) chunk.value_size = static_cast<uint32_t>(cell.value().size());
    chunk.commit_row = is_last && is_whole;
    if (!AddChunk(chunk)) return false;
    in_row_ = !chunk.commit_row;
    if (chunk.family_name.has_value()) family_ = *chunk.family_name;
    if (chunk.qualifier.has_value()) qualifier_ = *chunk.qualifier;
    value_offset_ += chunk.value.size();
  }
  value_offset_ = 0;
  return true;
}

bool RowChunker::AddChunk(const CellChunkView& chunk) {
  const size_t chunk_bytes = BytesInResponse(chunk);
  if (framed_.size() + chunk_bytes > kMessageBytes && !Flush()) return false;
  const size_t most = spans_ ? kMessageBytes : kPrefixBytes + message_bytes_max_;
  if (framed_.size() + chunk_bytes > most && framed_.size() > kPrefixBytes) {
    spans_ = true;
    if (!SendAll(/*is_last=*/false)) return false;
  }
  if (framed_.size() == kPrefixBytes && framed_.capacity() < kFirstBytes) {
    framed_.reserve(kFirstBytes);
  }
  AppendChunk(chunk, &framed_);
  if (!chunk.commit_row) return true;
  rows_end_ = framed_.size();
  spans_ = false;
  return true;
}

bool RowChunker::Flush() {
  if (!has_rows()) return true;
  std::string next(kPrefixBytes, '\0');
  // Most messages after a full one are full.
  if (framed_.size() > kMessageBytes / 2) next.reserve(kMessageBytes);
  next.append(framed_, rows_end_);
  framed_.resize(std::exchange(rows_end_, kPrefixBytes));
  return sink_(std::exchange(framed_, std::move(next)), /*is_last=*/false);
}

bool RowChunker::SendScanned(std::string_view row_key) {
  google::bigtable::v2::ReadRowsResponse message;
  message.set_last_scanned_row_key(row_key.data(), row_key.size());
  return SendMessage(message, /*is_last=*/false);
}

bool RowChunker::SendMessage(const google::bigtable::v2::ReadRowsResponse& message, bool is_last) {
  std::optional<std::string> framed = Framed(message);
  return framed.has_value() && sink_(*std::move(framed), is_last);
}

bool RowChunker::SendAll(bool is_last) {
  if (framed_.size() == kPrefixBytes) return true;
  rows_end_ = kPrefixBytes;
  return sink_(std::exchange(framed_, std::string(kPrefixBytes, '\0')), is_last);
}

bool RowChunker::Finish(const ReadStats& stats, bool full_stats, int64_t elapsed_nanos) {
  const bool is_taken = SendAll(/*is_last=*/!full_stats);
  if (!full_stats) return is_taken;
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
  return SendMessage(last, /*is_last=*/true);
}

}  // namespace stele::server
