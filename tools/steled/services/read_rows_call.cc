#include "steled/services/read_rows_call.h"

#include "steled/base/errors.h"
#include "steled/rpc/no_exceptions.h"
#include "steled/rpc/status.h"
#include "steled/services/row_errors.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {
namespace {

// A row larger than this reaches the chunker in parts, so that a call needs little memory for any
// row.
constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
// What a read holds is charged above this size.
constexpr size_t kUnchargedBytes = size_t{1} << 20;

std::optional<RowRange> RangeBehind(const RowRange& range, std::string_view last) {
  if (range.end_bound() != RangeBound::kUnbounded && range.end() <= last) return std::nullopt;
  if (range.start_bound() != RangeBound::kUnbounded && range.start() > last) return range;
  return range.end_bound() == RangeBound::kClosed
             ? RowRange::LeftOpen(std::string(last), range.end())
             : RowRange::Open(std::string(last), range.end());
}

std::optional<RowRange> RangeBefore(const RowRange& range, std::string_view last) {
  if (range.start_bound() != RangeBound::kUnbounded && range.start() >= last) return std::nullopt;
  if (range.end_bound() != RangeBound::kUnbounded && range.end() < last) return range;
  return range.start_bound() == RangeBound::kOpen
             ? RowRange::Open(range.start(), std::string(last))
             : RowRange::RightOpen(range.start(), std::string(last));
}

// The first key that the request names.
std::string_view StartOf(const RowSet& rows) {
  if (!rows.row_keys().empty()) return rows.row_keys().front();
  return rows.ranges().empty() ? std::string_view() : rows.ranges().front().start();
}

}  // namespace

RowSet RowsAfter(const RowSet& rows, std::string_view last, bool is_reversed) {
  RowSet left;
  for (const std::string& row_key : rows.row_keys()) {
    if (is_reversed ? row_key < last : row_key > last) left.Append(row_key);
  }
  for (const RowRange& range : rows.ranges()) {
    std::optional<RowRange> rest =
        is_reversed ? RangeBefore(range, last) : RangeBehind(range, last);
    if (rest.has_value()) left.Append(*std::move(rest));
  }
  return left;
}

ReadRowsCall::ReadRowsCall(Request request, ScanCounter counter, SteadyClock::time_point begin)
    : request_(std::move(request)),
      counter_(std::move(counter)),
      begin_(begin),
      sender_([this](std::string framed, bool is_last) { return Take(std::move(framed), is_last); },
              request_.sends_last_scanned_key, begin, request_.message_bytes_max) {}

absl::Status ReadRowsCall::Resume(Call* call) { return Readable(Run(call)); }

absl::Status ReadRowsCall::Run(Call* call) {
  call_ = call;
  while (SendWaiting()) {
    if (waiting_.empty() && is_finished_) return absl::OkStatus();
    is_blocked_ = !waiting_.empty() || (is_blocked_ && !call->CanSend());
    if (is_blocked_) {
      STELED_RETURN_IF_ERROR(Charge(HeldBytes()));
      call->Pause(PauseKind::kForRoom, shared_from_this());
      return absl::OkStatus();
    }
    STELED_RETURN_IF_ERROR(AddRows());
  }
  return MakeStatus(absl::StatusCode::kCancelled, "The client reads no more");
}

size_t ReadRowsCall::HeldBytes() const {
  size_t bytes = sender_.buffered_bytes() + piece_bytes_;
  for (const auto& [framed, is_last] : waiting_) bytes += framed.size();
  return bytes;
}

absl::Status ReadRowsCall::Charge(size_t bytes) {
  if (bytes <= charged_bytes_) return absl::OkStatus();
  if (!call_->ReserveAnswer(bytes - charged_bytes_)) {
    return Overloaded("Too many bytes of answers that nobody has read; try again later");
  }
  charged_bytes_ = bytes;
  return absl::OkStatus();
}

void ReadRowsCall::ReleaseExcess() {
  const size_t held = HeldBytes();
  const size_t needed = held > kUnchargedBytes ? held : 0;
  if (charged_bytes_ <= needed) return;
  call_->ReleaseAnswer(charged_bytes_ - needed);
  charged_bytes_ = needed;
}

// The reader may still hold the previous value of the row: to know whether a piece is the last, it
// reads on.
absl::Status ReadRowsCall::ChargeLargeValue(uint64_t bytes) noexcept {
  if (!refusal_.ok()) return refusal_;
  refusal_ = StatusOfStep([&] {
    return Charge(sender_.buffered_bytes() + std::exchange(large_value_bytes_, bytes) + bytes);
  });
  return refusal_;
}

std::shared_ptr<void> ReadRowsCall::Shrink() {
  if (reader_ == nullptr || sender_.in_row() || is_in_piece_) return nullptr;
  last_row_key_ = std::string(reader_->row().row_key());
  piece_bytes_ = 0;
  AddStats();
  return std::shared_ptr<RowReader>(std::move(reader_));
}

void ReadRowsCall::OpenReader() {
  const bool has_begun = row_count_ > 0;
  const ReadOptions options{
      .limit = request_.rows_limit == 0 ? 0 : request_.rows_limit - row_count_,
      .reverse = request_.is_reversed,
      .row_piece_bytes = kPieceBytes,
      .stop = call_->stop(),
      .deadline = call_->deadline(),
      .on_progress = [this](std::string_view row_key) { OnProgress(row_key); },
      .reserve_large_value = [this](uint64_t bytes) { return ChargeLargeValue(bytes); },
      .tag = request_.tag};
  const RowSet rows =
      has_begun ? RowsAfter(request_.rows, last_row_key_, request_.is_reversed) : request_.rows;
  reader_ = std::make_unique<RowReader>(request_.table.ReadRows(rows, request_.filter, options));
}

void ReadRowsCall::OnProgress(std::string_view scanned_through) noexcept {
  // Progress is not sent to a client that does not read, since it would only occupy memory. After
  // an error a message may be lost, and nothing may follow it.
  if (is_blocked_ || !refusal_.ok()) return;
  refusal_ = StatusOfStep([&] {
    sender_.OnProgress(scanned_through, SteadyClock::now());
    return absl::OkStatus();
  });
}

bool ReadRowsCall::Take(std::string framed, bool is_last) {
  waiting_.emplace_back(std::move(framed), is_last);
  is_blocked_ = !SendWaiting() || !waiting_.empty() || !call_->CanSend();
  // A row of few bytes is added as a whole, so that a pause can close the reader behind it.
  return !is_blocked_ || (waiting_.empty() && piece_bytes_ < kPieceBytes);
}

bool ReadRowsCall::SendWaiting() {
  while (!waiting_.empty() && !is_gone_ && call_->CanSend()) {
    auto [framed, is_last] = std::move(waiting_.front());
    waiting_.pop_front();
    is_gone_ = !call_->Send(std::move(framed), is_last);
  }
  return !is_gone_;
}

bool ReadRowsCall::NextPiece() {
  piece_bytes_ = 0;
  if (!sender_.in_row()) {
    large_value_bytes_ = 0;
    ReleaseExcess();
  }
  if (!reader_->Next() || !refusal_.ok()) return false;
  counter_.OnRow(reader_->row().row_key());
  for (const CellView& cell : reader_->row().cells()) piece_bytes_ += cell.value().size();
  return true;
}

absl::Status ReadRowsCall::AddRows() {
  const bool is_over = request_.rows_limit > 0 && row_count_ >= request_.rows_limit;
  if (reader_ == nullptr && !is_over) OpenReader();
  while (reader_ != nullptr && (is_in_piece_ || NextPiece())) {
    if (HeldBytes() > kUnchargedBytes) STELED_RETURN_IF_ERROR(Charge(HeldBytes()));
    const RowView& row = reader_->row();
    is_in_piece_ = !sender_.Add(row, SteadyClock::now());
    if (!is_in_piece_ && row.is_last_piece()) ++row_count_;
    if (is_blocked_) return absl::OkStatus();
  }
  // The rows before an error are valid. A client resumes after the last row that it got, and
  // discards an incomplete row.
  STELED_RETURN_IF_ERROR(refusal_);
  if (reader_ != nullptr)
    STELED_RETURN_IF_ERROR(WithBigtableText(reader_->status(), {}, request_.table_name));
  if (reader_ != nullptr) AddStats();
  reader_ = nullptr;
  is_finished_ = true;
  counter_.OnEnd(StartOf(request_.rows));
  sender_.Finish(stats_, request_.has_full_stats, SteadyClock::now() - begin_);
  return absl::OkStatus();
}

void ReadRowsCall::AddStats() {
  const ReadStats stats = reader_->stats();
  stats_.rows_seen += stats.rows_seen;
  stats_.rows_returned += stats.rows_returned;
  stats_.cells_seen += stats.cells_seen;
  stats_.cells_returned += stats.cells_returned;
}

}  // namespace stele::server
