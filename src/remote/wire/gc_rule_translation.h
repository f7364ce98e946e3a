// remote/wire/gc_rule_translation.h: converts GC rules between the protocol buffers and the
// library's types.
//
// Errors:    InvalidArgument for an invalid duration; the library checks the rest.
// Threads:   pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "remote/wire/table.pb.h"
#include "stele/gc_rule.h"

namespace stele::internal {

absl::StatusOr<GcRule> ToGcRule(const google::bigtable::admin::v2::GcRule& rule);

// A rule that keeps everything becomes the message without any field.
google::bigtable::admin::v2::GcRule ToWireGcRule(const GcRule& rule);

}  // namespace stele::internal
