#include "lab/template/filter_template.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// True for digits with at most one point between them.
bool IsPlainNumber(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) return false;
  return std::count(text.begin(), text.end(), '.') <= 1 &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_digit(c) || c == '.'; });
}

// Returns the byte of two digits, and 0 for wrong ones: the filter is then wrong as a whole.
char ByteOfHex(std::string_view digits) {
  unsigned char byte = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  return static_cast<char>(byte);
}

// Returns a regex that matches exactly these bytes.
std::string QuotedForRegex(std::string_view bytes) {
  std::string regex;
  for (const char c : bytes) {
    if (c == '\0') {
      regex += "\\x00";
      continue;
    }
    if (!IsWordByte(c) && static_cast<unsigned char>(c) < 0x80) regex += '\\';
    regex += c;
  }
  return regex;
}

// Returns the bytes as they are written between the quotes of a string of a filter.
std::string EscapedForString(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (c == '"' || c == '\\') {
      text.append(1, '\\').append(1, c);
    } else if (c >= 0x20 && c < 0x7f) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

// Scans the text of a filter. Tracks whether the current place is in a string, and of which kind.
class FilterScanner {
 public:
  void Consume(std::string_view literal) {
    for (const char c : literal) Consume(c);
  }

  // Appends the text of a field at this place.
  absl::Status AppendField(std::string_view text, std::string* out) const {
    if (!in_string_) {
      if (!IsPlainNumber(text))
        return InvalidArgument("\"{}\" is not a number, and stands outside of a string",
                               Printable(text));
      out->append(text);
      return absl::OkStatus();
    }
    if (escape_bytes_ > 0 || (in_regex() && after_backslash_))
      return InvalidArgument("a field after a backslash");
    if (in_regex() && in_quotation_) return InvalidArgument("a field after \\Q; leave out the \\Q");
    out->append(EscapedForString(in_regex() ? QuotedForRegex(text) : text));
    return absl::OkStatus();
  }

 private:
  bool in_regex() const { return word_.ends_with("_regex"); }

  void Consume(char c) {
    if (in_string_) return ConsumeInString(c);
    if (c == '"') {
      in_string_ = true;
      after_backslash_ = in_quotation_ = false;
    } else if (IsWordByte(c)) {
      if (!in_word_) word_.clear();
      word_ += c;
    }
    in_word_ = IsWordByte(c);
  }

  // `escape_bytes_` is the number of bytes that follow in the current escape: one for \n, and three
  // for \xNN.
  void ConsumeInString(char c) {
    if (escape_bytes_ == 0) {
      if (c == '"') {
        in_string_ = false;
      } else if (c == '\\') {
        escape_bytes_ = 1;
        hex_.clear();
      } else {
        ConsumeRegexByte(c);
      }
      return;
    }
    --escape_bytes_;
    if (hex_.empty() && c != 'x') return ConsumeRegexByte(c);
    hex_ += c;
    if (hex_ == "x") escape_bytes_ = 2;
    if (escape_bytes_ == 0) ConsumeRegexByte(ByteOfHex(std::string_view(hex_).substr(1)));
  }

  // \Q begins a quotation, which ends with \E.
  void ConsumeRegexByte(char c) {
    if (after_backslash_ && (c == 'Q' || c == 'E')) in_quotation_ = c == 'Q';
    after_backslash_ = c == '\\' && !after_backslash_;
  }

  bool in_string_ = false;
  bool in_word_ = false;
  std::string word_ = {};  // the last word outside of strings
  int escape_bytes_ = 0;
  std::string hex_ = {};  // of an escape \xNN, from the x on
  bool after_backslash_ = false;
  bool in_quotation_ = false;
};

}  // namespace

absl::StatusOr<std::string> FilterText(const Template& filter, const FilterFieldText& field_text) {
  std::string text;
  FilterScanner scanner;
  for (const Template::Piece& piece : filter.pieces()) {
    if (!piece.is_field) {
      scanner.Consume(piece.text);
      text += piece.text;
      continue;
    }
    STELE_ASSIGN_OR_RETURN(const std::string field, field_text(piece));
    const absl::Status appended = scanner.AppendField(field, &text);
    if (!appended.ok())
      return WithContext(appended, fmt::format("field \"{}\"", Printable(piece.text)));
  }
  return text;
}

}  // namespace stele::internal::lab
