#include "lab/template/template_check.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "stele/keys.h"

namespace stele::internal::lab {
namespace {

using Kind = TemplateFunction::Kind;

constexpr std::string_view kTimes[] = {"1970-01-01T00:00:01Z", "2020-05-01T12:30:00Z",
                                       "9999-12-31T23:59:59Z"};
constexpr std::string_view kNumbers[] = {"0", "1", "1588336200", "1588336200000",
                                         "1588336200000000"};
constexpr std::string_view kDates[] = {"19700101", "20200501"};

bool IsNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Texts for a function whose results have the same form for all records. None: their form depends
// on the record, as that of pad and rev_digits does.
std::vector<std::string> SamplesFor(Kind kind) {
  switch (kind) {
    case Kind::kSeconds:
    case Kind::kMillis:
    case Kind::kMicros:
    case Kind::kDay:
    case Kind::kHour:
    case Kind::kMonth:
    case Kind::kIsoDay:
      return {std::begin(kTimes), std::end(kTimes)};
    case Kind::kReverseTimestamp:
      return {std::begin(kNumbers), std::end(kNumbers)};
    case Kind::kReverseDate:
      return {std::begin(kDates), std::end(kDates)};
    default:
      return {};
  }
}

std::vector<std::string> Applied(const TemplateFunction& function,
                                 const std::vector<std::string>& texts) {
  std::vector<std::string> results;
  for (const std::string& text : texts) {
    auto result = Apply(function, text);
    if (result.ok()) results.push_back(*std::move(result));
  }
  return results;
}

// The unit of the digits of a time after a function, if `unit` is that before it.
std::optional<keys::TimeUnit> UnitAfter(const TemplateFunction& function,
                                        std::optional<keys::TimeUnit> unit) {
  switch (function.kind) {
    case Kind::kSeconds:
      return keys::TimeUnit::kSeconds;
    case Kind::kMillis:
      return keys::TimeUnit::kMillis;
    case Kind::kMicros:
      return keys::TimeUnit::kMicros;
    case Kind::kBucketTime:
      return static_cast<keys::TimeUnit>(function.length);
    case Kind::kOr:
    case Kind::kPad:
    case Kind::kTrim:
    case Kind::kLower:
    case Kind::kUpper:
      return unit;  // the same number
    default:
      return std::nullopt;
  }
}

absl::Status CheckUnitsOf(const Template::Piece& field) {
  std::optional<keys::TimeUnit> unit;
  for (const TemplateFunction& function : field.functions) {
    if (function.kind == Kind::kBucketTime && unit.has_value() &&
        function.length != static_cast<int64_t>(*unit)) {
      constexpr std::string_view kUnits[] = {"s", "ms", "us"};
      return InvalidArgument(
          "field \"{1}\": the digits before bucket_time are in {0}: write bucket_time:WIDTH:{0}",
          kUnits[static_cast<size_t>(*unit)], Printable(field.text));
    }
    unit = UnitAfter(function, unit);
  }
  return absl::OkStatus();
}

// The texts that a field may have.
struct FieldTexts {
  std::vector<std::string> samples;        // none: any text
  std::optional<std::string> alternative;  // that of `or`, for a record without the field
};

absl::StatusOr<FieldTexts> TextsOf(const Template::Piece& field) {
  FieldTexts texts;
  for (const TemplateFunction& function : field.functions) {
    if (function.kind == Kind::kOr) {
      if (!texts.alternative.has_value() || texts.alternative->empty())
        texts.alternative = function.text;
      continue;
    }
    const std::string field_name = fmt::format("field \"{}\"", Printable(field.text));
    if (texts.alternative.has_value()) {
      auto applied = Apply(function, *texts.alternative);
      if (!applied.ok()) return WithContext(applied.status(), field_name + ": the text of or");
      texts.alternative = *std::move(applied);
    }
    const bool has_samples = !texts.samples.empty();
    const std::vector<std::string> before =
        has_samples ? std::exchange(texts.samples, {}) : SamplesFor(function.kind);
    texts.samples = Applied(function, before);
    if (!has_samples || !texts.samples.empty()) continue;
    const absl::Status failed = Apply(function, before.back()).status();
    return WithContext(failed,
                       field_name + ": a function fails for each text of the one before it");
  }
  return texts;
}

// True if literal text may be a part of a number. `is_first`: at its beginning.
bool MayBeInNumber(std::string_view text, bool is_first) {
  if (is_first && text.starts_with('-')) text.remove_prefix(1);
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

absl::Status NotNumber(std::string_view text) {
  return InvalidArgument("\"{}\" is not a whole number of 64 bits", Printable(text));
}

}  // namespace

absl::Status CheckFunctions(const Template& text) {
  for (const Template::Piece& piece : text.pieces())
    if (piece.is_field) STELE_RETURN_IF_ERROR(TextsOf(piece).status());
  return absl::OkStatus();
}

absl::Status CheckUnits(const Template& text) {
  for (const Template::Piece& piece : text.pieces())
    if (piece.is_field) STELE_RETURN_IF_ERROR(CheckUnitsOf(piece));
  return absl::OkStatus();
}

absl::Status CheckIsNumber(const Template& text) {
  const std::vector<Template::Piece>& pieces = text.pieces();
  if (!text.has_fields()) {
    const std::string constant = pieces.empty() ? "" : pieces[0].text;
    return IsNumber(constant) ? absl::OkStatus() : NotNumber(constant);
  }
  for (const Template::Piece& piece : pieces) {
    const bool is_first = &piece == &pieces.front();
    if (!piece.is_field && !MayBeInNumber(piece.text, is_first)) return NotNumber(text.text());
  }
  if (pieces.size() > 1) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(const FieldTexts texts, TextsOf(pieces[0]));
  if (texts.alternative.has_value() && !IsNumber(*texts.alternative))
    return NotNumber(*texts.alternative);
  for (const std::string& sample : texts.samples)
    if (IsNumber(sample)) return absl::OkStatus();
  return texts.samples.empty() ? absl::OkStatus() : NotNumber(texts.samples.back());
}

}  // namespace stele::internal::lab
