#include "lab/input/line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kLineReadBytes = size_t{256} << 10;
constexpr size_t kShownBytes = 64;

}  // namespace

LineReader::LineReader(std::unique_ptr<InputFile> file, size_t line_bytes_max, size_t padding_bytes)
    : file_(std::move(file)),
      line_bytes_max_(line_bytes_max),
      padding_bytes_(padding_bytes),
      buffer_(2 * kLineReadBytes + padding_bytes, '\0') {}

absl::StatusOr<bool> LineReader::ReadMore() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const size_t beside_bytes = kLineReadBytes + padding_bytes_;
  // Doubles, but not beyond the longest line.
  if (buffer_.size() < end_ + beside_bytes)
    buffer_.resize(std::max(end_, std::min(2 * end_, line_bytes_max_)) + beside_bytes);
  STELE_ASSIGN_OR_RETURN(const size_t bytes, file_->Read(buffer_.data() + end_, kLineReadBytes));
  end_ += bytes;
  return bytes > 0;
}

absl::Status LineReader::SkipLine() {
  while (true) {
    const char* const start = buffer_.data() + begin_;
    const void* const newline = std::memchr(start, '\n', end_ - begin_);
    if (newline != nullptr) {
      begin_ += static_cast<size_t>(static_cast<const char*>(newline) - start) + 1;
      return absl::OkStatus();
    }
    begin_ = end_;
    STELE_ASSIGN_OR_RETURN(const bool any, ReadMore());
    if (!any) return absl::OkStatus();
  }
}

absl::StatusOr<bool> LineReader::Next(InputLine* line) {
  size_t searched = 0;
  while (true) {
    const char* const start = buffer_.data() + begin_;
    const void* const newline = std::memchr(start + searched, '\n', end_ - begin_ - searched);
    const bool found = newline != nullptr;
    size_t bytes =
        found ? static_cast<size_t>(static_cast<const char*>(newline) - start) : end_ - begin_;
    if (bytes > line_bytes_max_) {
      *line = {.number = ++line_number_, .is_too_long = true};
      shown_.assign(start, std::min(bytes, kShownBytes));
      line->text = shown_;
      STELE_RETURN_IF_ERROR(SkipLine());
      return true;
    }
    if (!found) {
      searched = bytes;
      STELE_ASSIGN_OR_RETURN(const bool any, ReadMore());
      if (any) continue;
      if (bytes == 0) return false;
    }
    begin_ += bytes + (found ? 1 : 0);
    // ReadMore() may have moved the bytes of a last line without a newline.
    const char* const text = buffer_.data() + begin_ - bytes - (found ? 1 : 0);
    const bool had_return = bytes > 0 && text[bytes - 1] == '\r';
    if (had_return) --bytes;
    *line = {.text = std::string_view(text, bytes),
             .number = ++line_number_,
             .had_return = had_return,
             .has_newline = found};
    if (line_number_ == 1 && line->text.starts_with(kByteOrderMark))
      line->text.remove_prefix(kByteOrderMark.size());
    return true;
  }
}

}  // namespace stele::internal::lab
