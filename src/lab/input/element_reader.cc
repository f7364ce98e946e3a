#include "lab/input/element_reader.h"

#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kElementReadBytes = size_t{256} << 10;

bool IsSpace(int c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

ElementReader::ElementReader(std::unique_ptr<InputFile> file, size_t element_bytes_max,
                             size_t padding_bytes)
    : file_(std::move(file)),
      element_bytes_max_(element_bytes_max),
      padding_bytes_(padding_bytes),
      buffer_(kElementReadBytes, '\0') {}

absl::Status ElementReader::Wrong(std::string_view expected) const {
  return InvalidArgument(
      "{}:{}: {} is expected: this is neither DynamoDB JSON nor the output of "
      "scan, query or a batch of requests; for plain JSON, use stele load with a design",
      file_->shown_path(), line_, expected);
}

absl::StatusOr<int> ElementReader::Peek() {
  if (begin_ == end_) {
    STELE_ASSIGN_OR_RETURN(end_, file_->Read(buffer_.data(), buffer_.size()));
    begin_ = 0;
    if (end_ == 0) return -1;
  }
  return static_cast<unsigned char>(buffer_[begin_]);
}

void ElementReader::Consume() {
  if (buffer_[begin_++] == '\n') ++line_;
}

absl::StatusOr<int> ElementReader::PeekToken() {
  while (true) {
    STELE_ASSIGN_OR_RETURN(const int c, Peek());
    if (!IsSpace(c)) return c;
    Consume();
  }
}

absl::Status ElementReader::Expect(char expected) {
  STELE_ASSIGN_OR_RETURN(const int c, PeekToken());
  if (c != static_cast<unsigned char>(expected)) return Wrong(fmt::format("'{}'", expected));
  Consume();
  return absl::OkStatus();
}

void ElementReader::Append(char c, std::string* out) {
  if (out->size() < element_bytes_max_) {
    out->push_back(c);
  } else {
    is_too_long_ = true;
  }
}

absl::Status ElementReader::ConsumeString(std::string* out) {
  bool is_escaped = false;
  for (bool is_first = true;; is_first = false) {
    STELE_ASSIGN_OR_RETURN(const int c, Peek());
    if (c < 0) return Wrong("the end of a string");
    Append(static_cast<char>(c), out);
    Consume();
    if (c == '"' && !is_escaped && !is_first) return absl::OkStatus();
    is_escaped = c == '\\' && !is_escaped;
  }
}

absl::Status ElementReader::ConsumeValue(std::string* out) {
  int64_t depth = 0;
  while (true) {
    STELE_ASSIGN_OR_RETURN(const int c, Peek());
    const bool ends_scalar = depth == 0 && (c == ',' || c == '}' || c == ']' || IsSpace(c));
    if (ends_scalar && !out->empty()) return absl::OkStatus();
    if (c < 0 || ends_scalar) return Wrong("a value");
    if (c == '"') {
      STELE_RETURN_IF_ERROR(ConsumeString(out));
    } else {
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      Append(static_cast<char>(c), out);
      Consume();
    }
    if (depth == 0 && (c == '"' || c == '}' || c == ']')) return absl::OkStatus();
  }
}

// "NAME":VALUE. The elements of an array are left for ConsumeElement().
absl::Status ElementReader::ConsumeMember() {
  STELE_ASSIGN_OR_RETURN(int c, PeekToken());
  if (c != '"') return Wrong("the name of a member");
  member_.clear();
  STELE_RETURN_IF_ERROR(ConsumeString(&member_));
  member_ = member_.substr(1, member_.size() - 2);
  STELE_RETURN_IF_ERROR(Expect(':'));
  STELE_ASSIGN_OR_RETURN(c, PeekToken());
  if (c == '[') {
    Consume();
    has_arrays_ = true;
    place_ = Place::kFirstElement;
    return absl::OkStatus();
  }
  std::string value;
  place_ = Place::kAfterMember;
  STELE_RETURN_IF_ERROR(ConsumeValue(&value));
  const bool is_next_page = member_ == "NextToken" || member_ == "LastEvaluatedKey";
  has_more_ = has_more_ || (is_next_page && value != "null");
  return absl::OkStatus();
}

absl::Status ElementReader::ConsumeElement() {
  STELE_ASSIGN_OR_RETURN(const int c, PeekToken());
  if (c != '{') return Wrong("an object");
  element_line_ = line_;
  is_too_long_ = false;
  text_.clear();
  STELE_RETURN_IF_ERROR(ConsumeValue(&text_));
  text_bytes_ = text_.size();
  text_.append(padding_bytes_, '\0');
  place_ = Place::kAfterElement;
  return absl::OkStatus();
}

absl::StatusOr<bool> ElementReader::Next() {
  while (true) {
    STELE_ASSIGN_OR_RETURN(const int c, PeekToken());
    const bool is_first = place_ == Place::kFirstMember || place_ == Place::kFirstElement;
    switch (place_) {
      case Place::kDocument:
        if (c < 0) return false;
        if (c == 0xef) {  // a byte order mark
          for (const char byte : {'\xef', '\xbb', '\xbf'}) STELE_RETURN_IF_ERROR(Expect(byte));
        }
        STELE_RETURN_IF_ERROR(Expect('{'));
        place_ = Place::kFirstMember;
        has_arrays_ = has_more_ = false;
        break;
      case Place::kFirstMember:
      case Place::kAfterMember:
        if (c == '}') {
          if (!has_arrays_) return Wrong("an array of items before the end of the document");
          Consume();
          place_ = Place::kDocument;
          ++documents_;
          if (has_more_) ++documents_with_more_;
          break;
        }
        if (!is_first) STELE_RETURN_IF_ERROR(Expect(','));
        STELE_RETURN_IF_ERROR(ConsumeMember());
        break;
      case Place::kFirstElement:
      case Place::kAfterElement:
        if (c == ']') {
          Consume();
          place_ = Place::kAfterMember;
          break;
        }
        if (!is_first) STELE_RETURN_IF_ERROR(Expect(','));
        STELE_RETURN_IF_ERROR(ConsumeElement());
        return true;
    }
  }
}

}  // namespace stele::internal::lab
