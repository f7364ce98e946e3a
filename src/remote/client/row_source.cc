#include "remote/client/row_source.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "remote/wire/row_set_translation.h"

namespace stele::internal {

namespace wire = ::google::bigtable::v2;

namespace {

// The size of the keys and ranges in one request.
constexpr size_t kRequestedBytes = size_t{256} << 10;
constexpr size_t kRangeOverheadBytes = 16;

// Removes the ranges that are too much for one request, and returns them: the last ones in the
// order of reading.
std::vector<KeyRange> SplitOffLater(std::vector<KeyRange>* ranges, bool reversed) {
  size_t count = 0;
  size_t bytes = 0;
  const auto in_order = [&](size_t i) -> const KeyRange& {
    return reversed ? (*ranges)[ranges->size() - 1 - i] : (*ranges)[i];
  };
  while (count < ranges->size() && bytes < kRequestedBytes) {
    bytes += in_order(count).start.size() + in_order(count).end.size() + kRangeOverheadBytes;
    ++count;
  }
  std::vector<KeyRange> later;
  if (count == ranges->size()) return later;
  const auto cut = reversed ? ranges->end() - static_cast<ptrdiff_t>(count)
                            : ranges->begin() + static_cast<ptrdiff_t>(count);
  if (reversed) {
    later.assign(std::make_move_iterator(ranges->begin()), std::make_move_iterator(cut));
    ranges->erase(ranges->begin(), cut);
  } else {
    later.assign(std::make_move_iterator(cut), std::make_move_iterator(ranges->end()));
    ranges->erase(cut, ranges->end());
  }
  return later;
}

}  // namespace

std::vector<KeyRange> RowsAfter(std::vector<KeyRange> ranges, const std::string& last,
                                bool reversed) {
  if (last.empty()) return ranges;
  const KeyRange rest = reversed ? KeyRange{"", last, false} : KeyRange{last + '\0', "", true};
  for (KeyRange& range : ranges) range = Intersect(range, rest);
  std::erase_if(ranges, [](const KeyRange& range) { return range.IsEmpty(); });
  return ranges;
}

RemoteRowSource::RemoteRowSource(std::shared_ptr<const RemoteConnection> connection,
                                 Request request, const ReadOptions& options)
    : connection_(std::move(connection)),
      request_(std::move(request)),
      reversed_(options.reverse),
      rows_left_(options.limit),
      on_progress_(options.on_progress),
      call_(connection_.get(), "ReadRows", options.deadline, options.stop),
      merger_(options.reverse, options.row_piece_bytes),
      ranges_(request_.ranges) {}

bool RemoteRowSource::Fail(absl::Status status) {
  stream_.reset();
  is_over_ = true;
  status_ = std::move(status);
  return false;
}

bool RemoteRowSource::Next() {
  // The consumer's time since the last row does not count as the server's.
  call_.Progress();
  while (!is_over_) {
    if (absl::Status status = call_.Ended(); !status.ok()) return Fail(std::move(status));
    if (!stream_.has_value() && !BeginStream()) return false;
    if (TakeFromMessage()) return true;
    if (is_over_ || !ReadMessage()) return false;
  }
  return false;
}

bool RemoteRowSource::BeginStream() {
  if (absl::Status status = merger_.BeginStream(); !status.ok()) return Fail(std::move(status));
  ranges_ = RowsAfter(std::move(ranges_), merger_.last_row_key(), reversed_);
  later_ = SplitOffLater(&ranges_, reversed_);
  if (ranges_.empty()) {
    is_over_ = true;
    return false;
  }
  wire::ReadRowsRequest request;
  request.set_table_name(request_.table_name);
  request.set_app_profile_id(connection_->location().app_profile);
  *request.mutable_filter() = request_.filter;
  request.set_rows_limit(rows_left_);
  request.set_reversed(reversed_);
  for (const KeyRange& range : ranges_) AddToWire(range, request.mutable_rows());
  stream_.emplace(call_, request);
  return true;
}

bool RemoteRowSource::TakeFromMessage() {
  while (next_chunk_ < message_.chunks_size()) {
    absl::StatusOr<bool> shown = merger_.Add(message_.mutable_chunks(next_chunk_++));
    if (!shown.ok()) return Fail(std::move(shown).status());
    if (!*shown) continue;
    stats_.cells_returned += row().cells().size();
    if (!row().is_last_piece()) return true;
    ++stats_.rows_returned;
    // Rows beyond the limit are not read.
    if (rows_left_ > 0 && --rows_left_ == 0) {
      stream_.reset();
      is_over_ = true;
    }
    return true;
  }
  return false;
}

bool RemoteRowSource::ReadMessage() {
  next_chunk_ = 0;
  if (!stream_->Read(&message_)) {
    message_.Clear();
    return FinishStream();
  }
  connection_->NoteResponse();
  if (message_.last_scanned_row_key().empty()) return true;
  if (absl::Status status = merger_.SkipTo(message_.last_scanned_row_key()); !status.ok())
    return Fail(std::move(status));
  call_.Progress();
  if (on_progress_ != nullptr) on_progress_(message_.last_scanned_row_key());
  return true;
}

bool RemoteRowSource::FinishStream() {
  const grpc::Status finished = stream_->Finish();
  stream_.reset();
  if (finished.ok()) {
    if (absl::Status status = merger_.EndStream(); !status.ok()) return Fail(std::move(status));
    connection_->NoteResponse();
    call_.Progress();
    ranges_ = std::move(later_);
    later_.clear();
    return true;
  }
  if (absl::Status status = call_.PauseAfter(finished, /*repeatable=*/true); !status.ok())
    return Fail(std::move(status));
  // Combines both parts again; ranges that were read are removed when the next stream begins.
  ranges_.insert(reversed_ ? ranges_.begin() : ranges_.end(), later_.begin(), later_.end());
  later_.clear();
  return true;
}

}  // namespace stele::internal
