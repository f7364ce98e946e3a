// steled/state/update_mask.h: applies the field mask of an update, and generates etags.
//
// Errors:    InvalidArgument for an empty mask, or for fields that cannot be updated.
// Threads:   pure functions.
#pragma once

#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/util/field_mask_util.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "steled/base/errors.h"

namespace stele::server {

// Each path must be one of `fields`, or a part of one.
inline absl::Status CheckUpdateMask(const google::protobuf::FieldMask& mask,
                                    std::span<const std::string_view> fields) {
  if (mask.paths().empty()) return InvalidArgument("update_mask must not be empty");
  for (const std::string& path : mask.paths()) {
    const std::string_view field = std::string_view(path).substr(0, path.find('.'));
    if (std::find(fields.begin(), fields.end(), field) == fields.end()) {
      return InField(InvalidArgument("\"{}\" cannot be updated", path), "update_mask");
    }
  }
  return absl::OkStatus();
}

// Makes the fields in the mask equal to those in `from`, also if they are not set there.
inline void MergeByMask(const google::protobuf::Message& from,
                        const google::protobuf::FieldMask& mask, google::protobuf::Message* to) {
  google::protobuf::util::FieldMaskUtil::MergeOptions options;
  options.set_replace_message_fields(true);
  options.set_replace_repeated_fields(true);
  google::protobuf::util::FieldMaskUtil::MergeMessageTo(from, mask, options, to);
}

// Etags count changes.
inline std::string NextEtag(const std::string& etag) {
  return std::to_string(std::strtoull(etag.c_str(), nullptr, 10) + 1);
}

}  // namespace stele::server
