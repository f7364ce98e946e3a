// template/template_inverse.h: finds the fields from which a template made a text.
//
//   exact         a field without functions, or with or, pad, rev_ts, rev_date, rev_digits,
//                 rev_domain, lower, upper, trim, escape, seconds, millis, micros. The number of
//                 zeros, the case and white space are those of the text
//   with a loss   hour, day, iso_day and month give the first moment of that time
//   not found     json, sub, salt, bucket_time. Another occurrence of the field may give it
//
// A text may have several sets of fields. So the caller must expand the template with the fields,
// and compare.
// Threads:   pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lab/template/template.h"

namespace stele::internal::lab {

struct FoundField {
  std::optional<std::string> text;  // not set: the field is absent, and `or` gave the text
  int loss = 0;                     // 0: the text is exact; larger: more of it is lost
};
using FoundFields = std::map<std::string, FoundField, std::less<>>;

struct InverseOptions {
  std::string_view delimiter = {};    // no field contains it; "": none
  bool last_has_delimiter = false;    // the last field of the template may contain it
  std::string_view fixed_field = {};  // a field that always has the same length
  size_t fixed_bytes = 0;             // the length of that field
};

// Adds the fields to `found`. A field that was found before stays, or becomes the one with the
// smaller loss. Returns false if the text does not fit the template or the fields found before;
// `found` is then unspecified.
bool FindFields(const Template& pattern, std::string_view text, const InverseOptions& options,
                FoundFields* found);

}  // namespace stele::internal::lab
