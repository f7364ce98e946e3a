// design/query_request.h: turns a query of a design and a record into the reads that it makes.
//
// Errors:    InvalidArgument that names the query, the member and the field.
// Threads:   pure functions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/design/design_model.h"
#include "lab/template/field_source.h"
#include "lab/template/filter_template.h"
#include "stele/lab/design.h"

namespace stele::internal::lab {

// Returns the requests of a query for a record: one, or one for each bucket.
// Errors: also a query that writes.
absl::StatusOr<std::vector<stele::lab::ReadRequest>> RequestsOf(const DesignTable& table,
                                                                const DesignQuery& query,
                                                                const FieldSource& record);

// Returns the fields that a query uses, with the bucket.
std::set<std::string, std::less<>> FieldsOf(const DesignRead& read);

// Returns the filter of a query for the text of its fields. Errors: also of Filter::Parse.
absl::StatusOr<Filter> FilterOf(const DesignRead& read, const FilterFieldText& field_text);

}  // namespace stele::internal::lab
