#include "lab/template/template_inverse.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/values/time_text.h"
#include "stele/keys.h"

namespace stele::internal::lab {
namespace {

using FunctionKind = TemplateFunction::Kind;

constexpr int kLossOfHour = 1;
constexpr int kLossOfDay = 2;
constexpr int kLossOfMonth = 3;
constexpr int64_t kLargestDate = 99'999'999;

// The value of a field that one of its occurrences in the text determines.
struct Inverse {
  enum class Outcome : uint8_t { kFound, kUnknown, kImpossible };
  Outcome outcome = Outcome::kFound;
  FoundField field = {};
};

std::optional<int64_t> DigitsOf(std::string_view text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || text[0] == '-' || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string WithoutZeros(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  return std::string(first == std::string_view::npos ? "0" : digits.substr(first));
}

std::string Reversed(std::string_view text) { return std::string(text.rbegin(), text.rend()); }

// yyyymmdd, with an hour after it if there is one.
std::string TimeOfDigits(std::string_view digits) {
  std::string text =
      fmt::format("{}-{}-{}", digits.substr(0, 4), digits.substr(4, 2), digits.substr(6, 2));
  if (digits.size() > 8) text += fmt::format("T{}:00:00Z", digits.substr(8));
  return text;
}

// Returns a text that the function turns into `text`, or nothing.
std::optional<std::string> InverseOf(const TemplateFunction& function, std::string_view text,
                                     int* loss) {
  switch (function.kind) {
    case FunctionKind::kPad:
      return WithoutZeros(text);
    case FunctionKind::kReverseDigits:
      return function.number > 0 ? WithoutZeros(Reversed(text)) : Reversed(text);
    case FunctionKind::kReverseTimestamp: {
      const auto number = DigitsOf(text);
      if (!number.has_value()) return std::nullopt;
      return fmt::format("{}", std::numeric_limits<int64_t>::max() - *number);
    }
    case FunctionKind::kReverseDate: {
      const auto number = DigitsOf(text);
      if (!number.has_value() || *number > kLargestDate) return std::nullopt;
      return fmt::format("{:08}", kLargestDate - *number);
    }
    case FunctionKind::kReverseDomain: {
      auto host = keys::ReverseDomain(text);
      return host.ok() ? std::optional(*std::move(host)) : std::nullopt;
    }
    case FunctionKind::kEscape: {
      auto parts = keys::SplitEscaped(text, function.text);
      if (!parts.ok() || parts->size() != 1) return std::nullopt;
      return std::move((*parts)[0]);
    }
    case FunctionKind::kHour:
      *loss = std::max(*loss, kLossOfHour);
      return text.size() == 10 ? std::optional(TimeOfDigits(text)) : std::nullopt;
    case FunctionKind::kDay:
      *loss = std::max(*loss, kLossOfDay);
      return text.size() == 8 ? std::optional(TimeOfDigits(text)) : std::nullopt;
    case FunctionKind::kMonth:
      *loss = std::max(*loss, kLossOfMonth);
      return text.size() == 6 ? std::optional(TimeOfDigits(std::string(text) + "01"))
                              : std::nullopt;
    case FunctionKind::kIsoDay:
      *loss = std::max(*loss, kLossOfDay);
      return std::string(text);
    default:
      return std::string(text);
  }
}

bool HasNoInverse(const TemplateFunction& function) {
  return function.kind == FunctionKind::kJson || function.kind == FunctionKind::kSubstring ||
         function.kind == FunctionKind::kSalt || function.kind == FunctionKind::kBucketTime;
}

// True if the field is absent, and one of its `or` gave the text.
bool IsFromOr(const Template::Piece& field, std::string_view text) {
  for (size_t i = 0; i < field.functions.size(); ++i) {
    if (field.functions[i].kind != FunctionKind::kOr) continue;
    absl::StatusOr<std::string> value = field.functions[i].text;
    for (size_t k = i + 1; k < field.functions.size() && value.ok(); ++k)
      value = Apply(field.functions[k], *value);
    return value.ok() && *value == text;  // a later `or` has no effect then
  }
  return false;
}

Inverse InverseOfField(const Template::Piece& field, std::string_view text) {
  if (IsFromOr(field, text)) return {};
  if (std::any_of(field.functions.begin(), field.functions.end(), HasNoInverse))
    return {.outcome = Inverse::Outcome::kUnknown};
  Inverse inverse{.field = {.text = std::string(text)}};
  for (auto function = field.functions.rbegin(); function != field.functions.rend(); ++function) {
    auto before = InverseOf(*function, *inverse.field.text, &inverse.field.loss);
    if (!before.has_value()) return {.outcome = Inverse::Outcome::kImpossible};
    inverse.field.text = *std::move(before);
  }
  return inverse;
}

// The number of bytes that the field always has. 0: it varies.
size_t BytesOf(const Template::Piece& field, const InverseOptions& options) {
  if (field.text == options.fixed_field) return options.fixed_bytes;
  if (field.functions.empty()) return 0;
  const TemplateFunction& last = field.functions.back();
  switch (last.kind) {
    case FunctionKind::kPad:
    case FunctionKind::kReverseDigits:
      return static_cast<size_t>(last.number);
    case FunctionKind::kSalt:
      return fmt::formatted_size("{}", last.number - 1);
    case FunctionKind::kReverseTimestamp:
      return 19;
    case FunctionKind::kHour:
    case FunctionKind::kIsoDay:
      return 10;
    case FunctionKind::kDay:
    case FunctionKind::kReverseDate:
      return 8;
    case FunctionKind::kMonth:
      return 6;
    default:
      return 0;
  }
}

bool Merge(const std::string& name, Inverse inverse, FoundFields* found) {
  if (inverse.outcome != Inverse::Outcome::kFound)
    return inverse.outcome == Inverse::Outcome::kUnknown;
  const auto [place, is_new] = found->try_emplace(name, inverse.field);
  FoundField& before = place->second;
  if (is_new || before.text == inverse.field.text) {
    before.loss = std::min(before.loss, inverse.field.loss);
    return true;
  }
  if (before.loss == inverse.field.loss) return false;
  if (inverse.field.loss < before.loss) before = std::move(inverse.field);
  return true;
}

}  // namespace

bool FindFields(const Template& pattern, std::string_view text, const InverseOptions& options,
                FoundFields* found) {
  const std::vector<Template::Piece>& pieces = pattern.pieces();
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool is_last = i + 1 == pieces.size();
    size_t bytes = pieces[i].text.size();
    if (!pieces[i].is_field) {
      if (!text.starts_with(pieces[i].text)) return false;
      text.remove_prefix(bytes);
      continue;
    }
    bytes = BytesOf(pieces[i], options);
    if (bytes == 0 && !is_last && pieces[i + 1].is_field) return false;  // no end
    if (bytes == 0) bytes = is_last ? text.size() : text.find(pieces[i + 1].text);
    if (bytes > text.size()) return false;
    const std::string_view value = text.substr(0, bytes);
    const bool may_have_delimiter =
        options.delimiter.empty() || (is_last && options.last_has_delimiter);
    if (!may_have_delimiter && value.find(options.delimiter) != std::string_view::npos)
      return false;
    if (!Merge(pieces[i].text, InverseOfField(pieces[i], value), found)) return false;
    text.remove_prefix(bytes);
  }
  return text.empty();
}

}  // namespace stele::internal::lab
