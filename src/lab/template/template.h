// template/template.h: text with fields of a record: "{country}#{id|pad:8}".
//
//   {field}         the text of the field
//   {field|f|g:arg} the same after functions, from left to right; see template_function.h
//   {{ and }}       braces
//
// Errors:    InvalidArgument, with the byte for a wrong template, and with the field for a record.
//            Also a text of more than kTemplateTextBytesMax bytes, even between two functions.
// Threads:   values; thread-compatible.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/template/field_source.h"
#include "lab/template/template_function.h"

namespace stele::internal::lab {

class Template {
 public:
  // A literal text, or a field with its functions.
  struct Piece {
    bool is_field = false;
    std::string text = {};  // the literal, or the name of the field
    std::vector<TemplateFunction> functions = {};

    friend bool operator==(const Piece&, const Piece&) = default;
  };

  // Constructs the empty text.
  Template() = default;
  static absl::StatusOr<Template> Parse(std::string_view text);

  // Appends the text for a record to `out`. Returns false if a field without `or` is absent; `out`
  // then has the texts before it.
  absl::StatusOr<bool> Expand(const FieldSource& record, std::string* out) const;
  // Returns the text for a record. An absent field is an error.
  absl::StatusOr<std::string> Text(const FieldSource& record) const;
  // The same for one field of pieces().
  static absl::StatusOr<std::string> FieldText(const Piece& field, const FieldSource& record);

  bool has_fields() const;
  void AddFieldsTo(std::set<std::string, std::less<>>* fields) const;
  const std::vector<Piece>& pieces() const { return pieces_; }
  // The text that was parsed.
  const std::string& text() const { return text_; }

 private:
  absl::Status Add(std::string_view spelled);
  static absl::StatusOr<bool> ExpandField(const Piece& field, const FieldSource& record,
                                          std::string* out);

  std::string text_;
  std::vector<Piece> pieces_;
};

}  // namespace stele::internal::lab
