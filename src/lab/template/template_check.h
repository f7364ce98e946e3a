// template/template_check.h: finds templates that can never give a text, or never a number.
//
// Some functions return texts of a known form: `day` returns 8 digits. The checks apply the
// functions that follow to a few such texts. If all of them fail, each text of a record fails too.
//
// Used by:   the parser of designs, for templates and for the values of families of numbers.
// Errors:    InvalidArgument that names the field and the function.
// Threads:   pure functions.
#pragma once

#include "absl/status/status.h"
#include "lab/template/template.h"

namespace stele::internal::lab {

// Returns an error if a function fails for each text that the functions before it return, or for
// the text of an `or` before it.
absl::Status CheckFunctions(const Template& text);

// Returns an error if bucket_time has another unit than its digits: its buckets would have another
// width. The digits are those of the last function before it that makes digits of a time.
absl::Status CheckUnits(const Template& text);

// Returns an error if no text of the template is a whole number of 64 bits, or if that of an `or`
// is none.
absl::Status CheckIsNumber(const Template& text);

}  // namespace stele::internal::lab
