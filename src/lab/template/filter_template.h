// template/filter_template.h: a template of a filter in the text form of stele/filter.h. The text
// of a field is always data: it never changes the structure of the filter.
//
//   in a string              '"', '\\' and bytes that are not printable ASCII are escaped
//   in a string of *_regex   the text is also quoted, so that the regex matches exactly the text
//   outside of strings       only a number is accepted: latest({count})
//
// Errors:    InvalidArgument: a text outside of strings that is no number; a field after a
//            backslash, or after \Q in a regex, where it could not be quoted.
// Threads:   pure functions.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "lab/template/template.h"

namespace stele::internal::lab {

// Returns the text of a field: Template::FieldText with a record, or any text for a check.
using FilterFieldText = std::function<absl::StatusOr<std::string>(const Template::Piece& field)>;

// Returns the text of the filter, which Filter::Parse accepts if the template is right.
absl::StatusOr<std::string> FilterText(const Template& filter, const FilterFieldText& field_text);

}  // namespace stele::internal::lab
