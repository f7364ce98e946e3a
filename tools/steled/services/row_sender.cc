#include "steled/services/row_sender.h"

#include <string>
#include <utility>

#include "absl/strings/escaping.h"

namespace stele::server {

RowSender::RowSender(RowChunker::Sink sink, bool sends_last_scanned_key, TimePoint now,
                     size_t message_bytes_max)
    : chunker_(
          [this, sink = std::move(sink)](std::string framed, bool is_last) {
            was_sent_ = true;
            return sink(std::move(framed), is_last);
          },
          message_bytes_max),
      sends_last_scanned_key_(sends_last_scanned_key),
      sent_(now) {}

bool RowSender::Add(const RowView& row, TimePoint now) {
  const bool is_added = chunker_.Add(row);
  if (is_added && !was_sent_ && IsDue(now)) chunker_.Flush();
  if (std::exchange(was_sent_, false)) sent_ = now;
  return is_added;
}

void RowSender::OnProgress(std::string_view scanned_through, TimePoint now) {
  if (!IsDue(now)) return;
  if (chunker_.has_rows()) {
    chunker_.Flush();
  } else if (sends_last_scanned_key_ && !scanned_through.empty() && !chunker_.in_row()) {
    chunker_.SendScanned(scanned_through);
  }
  if (std::exchange(was_sent_, false)) sent_ = now;
}

bool RowSender::Finish(const ReadStats& stats, bool full_stats, std::chrono::nanoseconds elapsed) {
  return chunker_.Finish(stats, full_stats, elapsed.count());
}

bool SupportsLastScannedKey(std::string_view features) {
  if (features.empty()) return false;
  // Clients use both alphabets of base64.
  std::string bytes;
  const absl::string_view text(features.data(), features.size());
  google::bigtable::v2::FeatureFlags flags;
  if (!absl::WebSafeBase64Unescape(text, &bytes) && !absl::Base64Unescape(text, &bytes))
    return false;
  return flags.ParseFromString(bytes) && flags.last_scanned_row_responses();
}

}  // namespace stele::server
