#include "lab/template/template.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "lab/values/near_name.h"

namespace stele::internal::lab {
namespace {

using FunctionKind = TemplateFunction::Kind;

absl::Status WrongTemplate(size_t offset, std::string_view what) {
  return InvalidArgument("the template, byte {}: {}", offset + 1, what);
}

void AddLiteral(std::string_view text, std::vector<Template::Piece>* pieces) {
  if (pieces->empty() || pieces->back().is_field) pieces->emplace_back();
  pieces->back().text += text;
}

absl::Status TooLarge() {
  return InvalidArgument("the text has more than {} bytes", kTemplateTextBytesMax);
}

// A template may repeat a field, so its text may be much longer than the record.
absl::Status AppendText(std::string_view text, std::string* out) {
  if (text.size() > kTemplateTextBytesMax - std::min(kTemplateTextBytesMax, out->size()))
    return TooLarge();
  out->append(text);
  return absl::OkStatus();
}

absl::Status InField(const absl::Status& status, std::string_view field) {
  return WithContext(status, fmt::format("field \"{}\"", Printable(field)));
}

}  // namespace

absl::StatusOr<Template> Template::Parse(std::string_view text) {
  Template result;
  result.text_ = text;
  size_t i = 0;
  while (i < text.size()) {
    const size_t brace = std::min(text.find_first_of("{}", i), text.size());
    if (brace > i) AddLiteral(text.substr(i, brace - i), &result.pieces_);
    i = brace;
    if (i == text.size()) break;
    if (text.substr(i, 2) == "{{" || text.substr(i, 2) == "}}") {
      AddLiteral(text.substr(i, 1), &result.pieces_);
      i += 2;
      continue;
    }
    if (text[i] == '}') return WrongTemplate(i, "} without {; }} is a brace");
    const size_t end = text.find_first_of("{}", i + 1);
    if (end == std::string_view::npos || text[end] == '{')
      return WrongTemplate(i, "{ without }; {{ is a brace");
    const absl::Status added = result.Add(text.substr(i + 1, end - i - 1));
    if (!added.ok()) return WrongTemplate(i, ToStd(added.message()));
    i = end + 1;
  }
  return result;
}

// Adds the field between two braces.
absl::Status Template::Add(std::string_view spelled) {
  Piece field{.is_field = true};
  size_t begin = 0;
  while (true) {
    size_t end = std::min(spelled.find('|', begin), spelled.size());
    // escape:| has the separator of functions as its delimiter.
    if (spelled.substr(begin, end - begin) == "escape:")
      end = std::min(spelled.find('|', end + 1), spelled.size());
    const std::string_view part = spelled.substr(begin, end - begin);
    if (begin == 0) {
      if (part.empty()) return InvalidArgument("a field without a name");
      field.text = part;
    } else {
      STELE_ASSIGN_OR_RETURN(TemplateFunction function, ParseTemplateFunction(part));
      if (function.kind == FunctionKind::kJson && !field.functions.empty())
        return InvalidArgument("json must be the first function");
      field.functions.push_back(std::move(function));
    }
    if (end == spelled.size()) break;
    begin = end + 1;
  }
  pieces_.push_back(std::move(field));
  return absl::OkStatus();
}

absl::StatusOr<bool> Template::ExpandField(const Piece& field, const FieldSource& record,
                                           std::string* out) {
  if (field.functions.empty()) {
    const std::optional<std::string_view> text = record.Text(field.text);
    if (text.has_value()) STELE_RETURN_IF_ERROR(AppendText(*text, out));
    return text.has_value();
  }
  std::optional<std::string> value;
  if (field.functions[0].kind == FunctionKind::kJson) {
    value = record.Json(field.text);
    if (value.has_value() && value->size() > kTemplateTextBytesMax)
      return InField(TooLarge(), field.text);
  } else if (const auto text = record.Text(field.text)) {
    value.emplace(*text);
  }
  for (const TemplateFunction& function : field.functions) {
    if (function.kind == FunctionKind::kOr) {
      if (!value.has_value() || value->empty()) value = function.text;
    } else if (value.has_value()) {
      auto applied = Apply(function, *value);
      if (!applied.ok()) return InField(applied.status(), field.text);
      value = *std::move(applied);
    }
  }
  if (!value.has_value()) return false;
  if (!out->empty() || value->size() > kTemplateTextBytesMax) {
    STELE_RETURN_IF_ERROR(AppendText(*value, out));
  } else {
    *out = *std::move(value);
  }
  return true;
}

absl::StatusOr<bool> Template::Expand(const FieldSource& record, std::string* out) const {
  for (const Piece& piece : pieces_) {
    if (!piece.is_field) {
      out->append(piece.text);
      continue;
    }
    STELE_ASSIGN_OR_RETURN(const bool is_present, ExpandField(piece, record, out));
    if (!is_present) return false;
  }
  return true;
}

absl::StatusOr<std::string> Template::Text(const FieldSource& record) const {
  std::string text;
  for (const Piece& piece : pieces_) {
    if (!piece.is_field) {
      text += piece.text;
      continue;
    }
    STELE_ASSIGN_OR_RETURN(const std::string field, FieldText(piece, record));
    STELE_RETURN_IF_ERROR(AppendText(field, &text));
  }
  return text;
}

absl::StatusOr<std::string> Template::FieldText(const Piece& field, const FieldSource& record) {
  std::string text;
  STELE_ASSIGN_OR_RETURN(const bool is_present, ExpandField(field, record, &text));
  if (is_present) return text;
  const std::string near = NearName(field.text, record.Names());
  if (!near.empty())
    return InField(
        InvalidArgument("absent; did you mean \"{}\"? If not, {{field|or:TEXT}} gives a text",
                        Printable(near)),
        field.text);
  return InField(InvalidArgument("absent; {{field|or:TEXT}} gives a text then"), field.text);
}

bool Template::has_fields() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.is_field; });
}

void Template::AddFieldsTo(std::set<std::string, std::less<>>* fields) const {
  for (const Piece& piece : pieces_) {
    if (piece.is_field) fields->insert(piece.text);
  }
}

}  // namespace stele::internal::lab
