// wire/gc_rule_translation.h: garbage collection rules, from the wire's form to the library's and back.
//
// Errors:    InvalidArgument for an age that is none; what a rule says is judged by the library.
// Threads:   pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "stele/gc_rule.h"
#include "wire/table.pb.h"

namespace stele::internal {

absl::StatusOr<GcRule> ToGcRule(const google::bigtable::admin::v2::GcRule& rule);

// A rule that keeps everything is the message in which nothing is set.
google::bigtable::admin::v2::GcRule ToWireGcRule(const GcRule& rule);

}  // namespace stele::internal
