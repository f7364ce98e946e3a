#include "lab/records/record_fields.h"

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kFieldsBytesMax = size_t{64} << 20;
constexpr size_t kBytesPerField = 128;

}  // namespace

absl::Status FieldCollector::Add(std::string_view name, std::string_view text) {
  bytes_ += kBytesPerField + name.size() + text.size();
  if (bytes_ > kFieldsBytesMax)
    return InvalidArgument("the fields of the record have more than {} bytes", kFieldsBytesMax);
  fields_.emplace(name, text);
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
