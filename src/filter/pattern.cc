#include "filter/pattern.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

// The length at which RE2 cuts the least and the greatest string that matches. It is enough to
// separate ranges.
constexpr int kMatchBytes = 64;
// The bytes that have a special meaning in a regex.
constexpr std::string_view kMeaning = "\\.+*?()|[]{}^$";
constexpr std::string_view kAnyButNewline = ".*";
constexpr std::string_view kAny = "\\C*";

std::optional<int> HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  const char lower = static_cast<char>(digit | 0x20);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return std::nullopt;
}

bool IsPunctuation(char byte) {
  return (byte >= '!' && byte <= '/') || (byte >= ':' && byte <= '@') ||
         (byte >= '[' && byte <= '`') || (byte >= '{' && byte <= '~');
}

// Removes an escape from the front of `regex` and returns the byte that it means: a special
// byte, or \x and two digits. Returns nullopt for other escapes, which match more than one byte or
// none.
std::optional<char> TakeEscape(std::string_view* regex) {
  if (regex->size() < 2) return std::nullopt;
  const char byte = (*regex)[1];
  if (IsPunctuation(byte) && byte != '_') {
    regex->remove_prefix(2);
    return byte;
  }
  if (byte != 'x' || regex->size() < 4) return std::nullopt;
  const std::optional<int> high = HexDigit((*regex)[2]);
  const std::optional<int> low = HexDigit((*regex)[3]);
  if (!high || !low) return std::nullopt;
  regex->remove_prefix(4);
  return static_cast<char>(*high << 4 | *low);
}

// Removes the literal text from the front of `regex` and returns it.
std::string TakeText(std::string_view* regex) {
  std::string text;
  while (true) {
    const size_t plain = std::min(regex->find_first_of(kMeaning), regex->size());
    text.append(regex->substr(0, plain));
    regex->remove_prefix(plain);
    if (regex->empty() || regex->front() != '\\') return text;
    const std::optional<char> escaped = TakeEscape(regex);
    if (!escaped) return text;
    text.push_back(*escaped);
  }
}

KeyRange RangeOfPrefix(const std::string& prefix) {
  const std::optional<std::string> end = PrefixSuccessor(prefix);
  return {prefix, end.value_or(""), !end.has_value()};
}

KeyRange RangeOfRe2(const re2::RE2& regex) {
  std::string least;
  std::string greatest;
  if (!regex.PossibleMatchRange(&least, &greatest, kMatchBytes) || greatest.empty())
    return KeyRange::All();
  return {least, greatest + '\0', false};
}

}  // namespace

bool Pattern::SetPlain(std::string_view regex) {
  while (true) {
    texts_.push_back(TakeText(&regex));
    if (regex.empty()) break;
    if (texts_.size() == 1 && (regex == kAnyButNewline || regex == kAny)) {
      form_ = Form::kPrefix;
      rest_ = regex == kAny ? Rest::kAny : Rest::kAnyButNewline;
      return true;
    }
    if (regex.front() != '|') return false;
    regex.remove_prefix(1);
  }
  std::sort(texts_.begin(), texts_.end());
  texts_.erase(std::unique(texts_.begin(), texts_.end()), texts_.end());
  return true;
}

bool Pattern::NeedsRe2(std::string_view regex) { return !Pattern().SetPlain(regex); }

absl::StatusOr<Pattern> Pattern::Compile(std::string_view what, const std::string& regex,
                                         int64_t bytes_max) {
  Pattern pattern;
  if (pattern.SetPlain(regex)) return pattern;
  pattern.texts_.clear();
  pattern.form_ = Form::kRe2;
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(bytes_max);
  pattern.re2_ = std::make_unique<const re2::RE2>(regex, options);
  if (pattern.re2_->ok()) return pattern;
  if (pattern.re2_->error_code() != re2::RE2::ErrorPatternTooLarge) {
    return InvalidArgument("filter: {} \"{}\": {}", what, Printable(regex), pattern.re2_->error());
  }
  return InvalidArgument(
      "filter: {} \"{}\", with {} bytes of memory, its share of the filter's limit: {}", what,
      Printable(regex), bytes_max, pattern.re2_->error());
}

bool Pattern::Matches(std::string_view bytes) const {
  switch (form_) {
    case Form::kTexts:
      return std::binary_search(texts_.begin(), texts_.end(), bytes, std::less<std::string_view>());
    case Form::kPrefix:
      return bytes.starts_with(texts_.front()) &&
             (rest_ == Rest::kAny ||
              bytes.find('\n', texts_.front().size()) == std::string_view::npos);
    case Form::kRe2:
      break;
  }
  return re2::RE2::FullMatch(re2::StringPiece(bytes.data(), bytes.size()), *re2_);
}

std::vector<KeyRange> Pattern::Ranges() const {
  if (form_ == Form::kRe2) return {RangeOfRe2(*re2_)};
  if (form_ == Form::kPrefix) return {RangeOfPrefix(texts_.front())};
  std::vector<KeyRange> ranges;
  ranges.reserve(texts_.size());
  for (const std::string& text : texts_) ranges.push_back(KeyRange::Single(text));
  return ranges;
}

}  // namespace stele::internal
