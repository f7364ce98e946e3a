#include "model/operation.h"

#include <cstdlib>

namespace stele::internal {
namespace {

constexpr int kDepthMax = 40;
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.:+-*").find(c) != std::string_view::npos;
}

void AppendTerm(const Term& term, std::string* out) {
  if (term.name.empty()) out->push_back('%');
  for (const char c : term.name) {
    if (IsPlain(c)) {
      out->push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      *out += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  if (term.arguments.empty()) return;
  char separator = '(';
  for (const Term& argument : term.arguments) {
    out->push_back(separator);
    AppendTerm(argument, out);
    separator = ',';
  }
  out->push_back(')');
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool ParseAll(Term* term) { return ParseOne(term, 0) && text_.empty(); }

 private:
  bool ParseOne(Term* term, int depth) {
    if (depth > kDepthMax || !ParseName(&term->name)) return false;
    if (!Take('(')) return true;
    do {
      if (!ParseOne(&term->arguments.emplace_back(), depth + 1)) return false;
    } while (Take(','));
    return Take(')');
  }

  bool ParseName(std::string* name) {
    const size_t length_before = text_.size();
    while (!text_.empty()) {
      if (IsPlain(text_.front())) {
        name->push_back(text_.front());
        text_.remove_prefix(1);
        continue;
      }
      if (text_.front() != '%') break;
      const size_t high = text_.size() > 1 ? kHexDigits.find(text_[1]) : std::string_view::npos;
      const size_t low = text_.size() > 2 ? kHexDigits.find(text_[2]) : std::string_view::npos;
      const bool is_byte = high != std::string_view::npos && low != std::string_view::npos;
      if (is_byte) name->push_back(static_cast<char>(high << 4 | low));
      text_.remove_prefix(is_byte ? 3 : 1);
    }
    return text_.size() != length_before;
  }

  bool Take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string_view text_;
};

}  // namespace

int64_t Term::ToNumber() const { return std::strtoll(name.c_str(), nullptr, 10); }
int64_t Term::Number(size_t index) const { return arguments[index].ToNumber(); }

std::string ToText(const Term& term) {
  std::string text;
  AppendTerm(term, &text);
  return text;
}

std::string ToText(const History& history) {
  std::string text;
  for (const Term& operation : history) {
    AppendTerm(operation, &text);
    text.push_back('\n');
  }
  return text;
}

std::optional<Term> ParseTerm(std::string_view text) {
  Term term;
  if (!Parser(text).ParseAll(&term)) return std::nullopt;
  return term;
}

std::optional<History> ParseHistory(std::string_view text) {
  History history;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    std::optional<Term> operation = ParseTerm(line);
    if (!operation) return std::nullopt;
    history.push_back(*std::move(operation));
  }
  return history;
}

std::string ExpandValue(const Term& value) {
  if (value.name.starts_with('=')) return value.name.substr(1);
  const size_t colon = value.name.find(':');
  const auto bytes = static_cast<size_t>(value.ToNumber());
  uint64_t state =
      colon == std::string::npos ? 0 : std::strtoull(value.name.c_str() + colon + 1, nullptr, 10);
  std::string expanded(bytes, '\0');
  // Repeats each byte four times, so that values are compressible.
  for (size_t i = 0; i < bytes; ++i) {
    if (i % 4 == 0) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    expanded[i] = static_cast<char>(state >> 56);
  }
  return expanded;
}

}  // namespace stele::internal
