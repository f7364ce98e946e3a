#include "model/validate.h"

#include <algorithm>

#include "base/status.h"
#include "model/access.h"
#include "model/gc_rule_node.h"
#include "model/token_use.h"

namespace stele::internal {
namespace {

constexpr size_t kTableIdBytesMax = 50;
constexpr size_t kNameBytesMax = 64;  // families, projects, instances
constexpr size_t kPropertyKeyBytesMax = 256;
constexpr size_t kPropertyValueBytesMax = 64 << 10;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr int kThreadsMax = 64;
constexpr size_t kTokenBytesMin = 8;
constexpr size_t kTagBytesMax = 32;

absl::Status ValidateTag(std::string_view options, const std::string& tag) {
  if (tag.size() <= kTagBytesMax) return absl::OkStatus();
  return InvalidArgument("{}.tag has {} bytes, at most {} are allowed", options, tag.size(),
                         kTagBytesMax);
}

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool IsNameCharacter(char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; }

bool IsTableId(std::string_view id) {
  return !id.empty() && id.size() <= kTableIdBytesMax &&
         (IsAlphanumeric(id.front()) || id.front() == '_') &&
         std::all_of(id.begin(), id.end(), IsNameCharacter);
}

absl::Status CheckLimit(std::string_view name, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return InvalidArgument("schema: limit {} is {}, it must be {} to {}", name, value, least, most);
}

absl::Status ValidateLimits(const TableLimits& limits) {
  STELE_RETURN_IF_ERROR(CheckLimit("row_key_bytes", limits.row_key_bytes, 1, kRowKeyBytesMax));
  STELE_RETURN_IF_ERROR(CheckLimit("qualifier_bytes", limits.qualifier_bytes, 0, 65'535));
  STELE_RETURN_IF_ERROR(CheckLimit("value_bytes", limits.value_bytes, 0, 256 * kMiB));
  STELE_RETURN_IF_ERROR(CheckLimit("row_bytes", limits.row_bytes, 1, 256 * kMiB));
  return CheckLimit("mutations", limits.mutations, 1, 1'000'000);
}

absl::Status ValidateGcRuleNode(const GcRuleNode& node) {
  if (node.kind == GcRuleNode::Kind::kMaxVersions && node.version_count < 1) {
    return InvalidArgument("garbage collection rule: maxversions is {}, it must be at least 1",
                           node.version_count);
  }
  if (node.kind == GcRuleNode::Kind::kMaxAge && node.age_micros < 1'000) {
    return InvalidArgument("garbage collection rule: maxage is {} us, it must be at least 1 ms",
                           node.age_micros);
  }
  for (const GcRule& child : node.children)
    STELE_RETURN_IF_ERROR(ValidateGcRuleNode(Access::Node(child)));
  return absl::OkStatus();
}

}  // namespace

bool IsProjectId(std::string_view id) { return id == kUnsetProjectId || IsInstanceId(id); }

bool IsInstanceId(std::string_view id) {
  return !id.empty() && id.size() <= kNameBytesMax && IsAlphanumeric(id.front()) &&
         std::all_of(id.begin(), id.end(), [](char c) { return IsNameCharacter(c) || c == ':'; });
}

absl::Status ValidateTableName(std::string_view name) {
  std::string_view id = name;
  bool behind_instance = true;
  if (const size_t first = name.find('/'); first != std::string_view::npos) {
    const size_t second = name.find('/', first + 1);
    behind_instance = second != std::string_view::npos && IsProjectId(name.substr(0, first)) &&
                      IsInstanceId(name.substr(first + 1, second - first - 1));
    if (behind_instance) id = name.substr(second + 1);
  }
  if (behind_instance && IsTableId(id)) return absl::OkStatus();
  return InvalidArgument(
      "table name \"{}\": it must be 1 to {} of [-_.a-zA-Z0-9], not beginning with '-' or '.', "
      "optionally behind PROJECT/INSTANCE/",
      Printable(name), kTableIdBytesMax);
}

absl::Status ValidateFamilyName(std::string_view name) {
  if (!name.empty() && name.size() <= kNameBytesMax &&
      std::all_of(name.begin(), name.end(), IsNameCharacter))
    return absl::OkStatus();
  return InvalidArgument("family name \"{}\": it must be 1 to {} of [-_.a-zA-Z0-9]",
                         Printable(name), kNameBytesMax);
}

absl::Status ValidateGcRule(const GcRule& rule) {
  const GcRuleNode& node = Access::Node(rule);
  if (node.depth > kGcRuleDepthMax) {
    return InvalidArgument("garbage collection rule: nested {} deep, at most {} are allowed",
                           node.depth, kGcRuleDepthMax);
  }
  if (node.wire_bytes > kGcRuleWireBytesMax) {
    return InvalidArgument("garbage collection rule: {} bytes as a message, at most {} are allowed",
                           node.wire_bytes, kGcRuleWireBytesMax);
  }
  return ValidateGcRuleNode(node);
}

absl::Status ValidateFamily(const FamilySchema& family) {
  STELE_RETURN_IF_ERROR(ValidateFamilyName(family.name));
  if (family.value_type > ValueType::kHll)
    return InvalidArgument("family \"{}\": no such value type", family.name);
  return WithContext(ValidateGcRule(family.gc), fmt::format("family \"{}\"", family.name));
}

absl::Status ValidateProperty(std::string_view property_key, std::string_view value) {
  if (property_key.empty() || property_key.size() > kPropertyKeyBytesMax) {
    return InvalidArgument("property \"{}\": a key has 1 to {} bytes", Printable(property_key),
                           kPropertyKeyBytesMax);
  }
  if (value.size() > kPropertyValueBytesMax) {
    return InvalidArgument("property \"{}\": the value has {} bytes, at most {} are allowed",
                           Printable(property_key), value.size(), kPropertyValueBytesMax);
  }
  return absl::OkStatus();
}

absl::Status ValidateSchema(const Schema& schema) {
  const FamilySchema* previous = nullptr;
  for (const FamilySchema& family : schema.families()) {
    STELE_RETURN_IF_ERROR(ValidateFamily(family));
    if (previous != nullptr && previous->name == family.name)
      return InvalidArgument("schema: family \"{}\" occurs twice", family.name);
    previous = &family;
  }
  STELE_RETURN_IF_ERROR(ValidateLimits(schema.limits()));
  for (const std::string& split : schema.splits()) {
    if (split.empty() || split.size() > schema.limits().row_key_bytes) {
      return InvalidArgument("schema: split \"{}\" has {} bytes, it must be a row key of 1 to {}",
                             Printable(split), split.size(), schema.limits().row_key_bytes);
    }
  }
  for (const auto& [property_key, value] : schema.properties())
    STELE_RETURN_IF_ERROR(ValidateProperty(property_key, value));
  if (schema.granularity() > TimestampGranularity::kMicros)
    return InvalidArgument("schema: no such timestamp granularity");
  if (schema.compression() > Compression::kBalanced)
    return InvalidArgument("schema: no such compression");
  return absl::OkStatus();
}

absl::Status ValidateFamilyChange(const FamilyChange& change) {
  return ValidateFamily(change.family());
}

absl::Status ValidateRowKey(std::string_view row_key) {
  return row_key.empty() ? InvalidArgument("Row keys must be non-empty") : absl::OkStatus();
}

absl::Status ValidateRowRange(const RowRange& range) {
  const bool bounded =
      range.start_bound() != RangeBound::kUnbounded && range.end_bound() != RangeBound::kUnbounded;
  if (!bounded || range.start() <= range.end()) return absl::OkStatus();
  return InvalidArgument("row range: the start \"{}\" is greater than the end \"{}\"",
                         Printable(range.start()), Printable(range.end()));
}

absl::Status ValidateTimestamp(Timestamp timestamp, TimestampGranularity granularity,
                               std::string_view what) {
  if (timestamp.micros() < 0)
    return InvalidArgument("{}: {} us is negative", what, timestamp.micros());
  if (granularity == TimestampGranularity::kMillis && timestamp.micros() % 1'000 != 0) {
    return InvalidArgument(
        "{}: Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond "
        "granularity), but got {}",
        what, timestamp.micros());
  }
  return absl::OkStatus();
}

absl::Status ValidateTimestampRange(const TimestampRange& range, TimestampGranularity granularity) {
  STELE_RETURN_IF_ERROR(
      ValidateTimestamp(range.start, granularity, "start of the timestamp range"));
  if (!range.end) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(ValidateTimestamp(*range.end, granularity, "end of the timestamp range"));
  if (range.start <= *range.end) return absl::OkStatus();
  return InvalidArgument("timestamp range: the start {} is greater than the end {}",
                         range.start.micros(), range.end->micros());
}

absl::Status ValidateDatabaseOptions(const DatabaseOptions& options) {
  if (options.durability > Durability::kDisk)
    return InvalidArgument("DatabaseOptions.durability: no such durability");
  if (options.memory_budget_bytes < kMiB) {
    return InvalidArgument("DatabaseOptions.memory_budget_bytes is {}, it must be at least {}",
                           options.memory_budget_bytes, kMiB);
  }
  if (options.on_damage > OnDamage::kReadAround)
    return InvalidArgument("DatabaseOptions.on_damage: no such value");
  if (options.on_damage != OnDamage::kRefuse && !options.read_only) {
    return InvalidArgument(
        "DatabaseOptions.on_damage needs read_only: a damaged database is only read; \"stele "
        "salvage\" makes a new one of it");
  }
  if (const stele::MemoryBudget& shared = options.shared_memory_budget;
      !shared.is_empty() && shared.bytes() < 2 * kMiB) {
    return InvalidArgument(
        "DatabaseOptions.shared_memory_budget has {} bytes, it must have at least {}",
        shared.bytes(), 2 * kMiB);
  }
  if (options.background_threads < 1 || options.background_threads > kThreadsMax) {
    return InvalidArgument("DatabaseOptions.background_threads is {}, it must be 1 to {}",
                           options.background_threads, kThreadsMax);
  }
  return absl::OkStatus();
}

absl::Status ValidateReadOptions(const ReadOptions& options) {
  if (options.limit < 0)
    return InvalidArgument("ReadOptions.limit is {}, it must be 0 (no limit) or more",
                           options.limit);
  if (options.row_piece_bytes < 1)
    return InvalidArgument("ReadOptions.row_piece_bytes is 0, it must be at least 1");
  return ValidateTag("ReadOptions", options.tag);
}

absl::Status ValidateWriteOptions(const WriteOptions& options) {
  if (options.durability && *options.durability > Durability::kDisk)
    return InvalidArgument("WriteOptions.durability: no such durability");
  if (!options.idempotency_token.empty() && options.idempotency_token.size() < kTokenBytesMin) {
    return InvalidArgument("WriteOptions.idempotency_token has {} bytes, it must have at least {}",
                           options.idempotency_token.size(), kTokenBytesMin);
  }
  if (options.idempotency_token.size() <= kTokenBytesMax)
    return ValidateTag("WriteOptions", options.tag);
  return InvalidArgument("WriteOptions.idempotency_token has {} bytes, at most {} are allowed",
                         options.idempotency_token.size(), kTokenBytesMax);
}

}  // namespace stele::internal
