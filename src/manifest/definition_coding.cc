#include "manifest/definition_coding.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/status.h"
#include "model/access.h"
#include "model/gc_rule_node.h"
#include "model/validate.h"

namespace stele::internal {
namespace {

// The stored numbers. They are independent of the enums in memory.
enum RuleTag : uint8_t {
  kRuleNone = 0,
  kRuleMaxVersions = 1,
  kRuleMaxAge = 2,
  kRuleUnion = 3,
  kRuleIntersection = 4
};

void AppendRule(std::string* out, const GcRule& rule) {
  const GcRuleNode& node = Access::Node(rule);
  using Kind = GcRuleNode::Kind;
  switch (node.kind) {
    case Kind::kNone:
      out->push_back(kRuleNone);
      return;
    case Kind::kMaxVersions:
      out->push_back(kRuleMaxVersions);
      AppendVarint(*out, static_cast<uint32_t>(node.version_count));
      return;
    case Kind::kMaxAge:
      out->push_back(kRuleMaxAge);
      AppendVarint(*out, static_cast<uint64_t>(node.age_micros));
      return;
    case Kind::kUnion:
    case Kind::kIntersection:
      out->push_back(node.kind == Kind::kUnion ? kRuleUnion : kRuleIntersection);
      AppendVarint(*out, node.children.size());
      for (const GcRule& child : node.children) AppendRule(out, child);
      return;
  }
}

// More than the encoded size of any valid family.
constexpr size_t kFamilyBytesMax = 4096;

bool ReadRule(ByteReader* in, int depth, GcRule* rule);

bool ReadRules(ByteReader* in, int depth, std::vector<GcRule>* rules) {
  uint64_t count;
  if (depth >= kGcRuleDepthMax || !in->ReadVarint(&count) || count < 2 || count > in->remaining())
    return false;
  for (uint64_t i = 0; i < count; ++i) {
    GcRule child;
    if (!ReadRule(in, depth + 1, &child)) return false;
    rules->push_back(std::move(child));
  }
  return true;
}

bool ReadRule(ByteReader* in, int depth, GcRule* rule) {
  uint8_t tag;
  uint64_t amount;
  std::vector<GcRule> children;
  if (!in->ReadByte(&tag)) return false;
  switch (tag) {
    case kRuleNone:
      *rule = GcRule::None();
      return true;
    case kRuleMaxVersions:
      if (!in->ReadVarint(&amount) || amount > INT32_MAX) return false;
      *rule = GcRule::MaxNumVersions(static_cast<int>(amount));
      return true;
    case kRuleMaxAge:
      if (!in->ReadVarint(&amount) || amount > INT64_MAX) return false;
      *rule = GcRule::MaxAge(std::chrono::microseconds(static_cast<int64_t>(amount)));
      return true;
    case kRuleUnion:
    case kRuleIntersection:
      if (!ReadRules(in, depth, &children)) return false;
      *rule = tag == kRuleUnion ? GcRule::Union(std::move(children))
                                : GcRule::Intersection(std::move(children));
      return true;
    default:
      return false;
  }
}

bool HasRepeatedId(const std::vector<FamilyEntry>& families) {
  std::vector<uint32_t> ids;
  for (const FamilyEntry& family : families) ids.push_back(family.id);
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) != ids.end();
}

}  // namespace

void AppendDefinitionTraits(std::string* out, const TableDefinition& definition) {
  const Schema& schema = definition.schema;
  AppendBytes(*out, definition.name);
  AppendVarint(*out, definition.epoch);
  out->push_back(static_cast<char>(schema.granularity()));
  out->push_back(static_cast<char>(schema.compression()));
  const TableLimits& limits = schema.limits();
  for (const uint64_t limit : {limits.row_key_bytes, limits.qualifier_bytes, limits.value_bytes,
                               limits.row_bytes, limits.mutations}) {
    AppendVarint(*out, limit);
  }
}

void AppendDefinitionFamily(std::string* out, const TableDefinition& definition,
                            const FamilySchema& family) {
  const std::optional<uint32_t> family_index = definition.families.IndexOfName(family.name);
  STELE_CHECK(family_index.has_value());
  AppendBytes(*out, family.name);
  AppendVarint(*out, definition.families[*family_index].id);
  out->push_back(static_cast<char>(family.value_type));
  AppendRule(out, family.gc);
  AppendVarint(*out, definition.families[*family_index].unfenced_through);
}

bool DefinitionReader::ReadTraits(ByteReader* in) {
  std::string_view name;
  uint8_t granularity;
  uint8_t compression;
  TableLimits limits;
  if (!in->ReadBytes(&name) || !in->ReadVarint(&epoch_)) return false;
  if (!in->ReadByte(&granularity) ||
      granularity > static_cast<uint8_t>(TimestampGranularity::kMicros))
    return false;
  if (!in->ReadByte(&compression) || compression > static_cast<uint8_t>(Compression::kBalanced))
    return false;
  if (!in->ReadVarint(&limits.row_key_bytes) || !in->ReadVarint(&limits.qualifier_bytes) ||
      !in->ReadVarint(&limits.value_bytes))
    return false;
  if (!in->ReadVarint(&limits.row_bytes) || !in->ReadVarint(&limits.mutations)) return false;
  name_ = name;
  schema_.SetGranularity(static_cast<TimestampGranularity>(granularity));
  schema_.SetCompression(static_cast<Compression>(compression));
  schema_.SetLimits(limits);
  return true;
}

bool DefinitionReader::ReadFamily(ByteReader* in) {
  if (in->remaining() > kFamilyBytesMax) return false;
  FamilyEntry entry;
  std::string_view name;
  uint8_t value_type;
  FamilySchema family;
  if (!in->ReadBytes(&name) || !in->ReadVarint32(&entry.id) || !in->ReadByte(&value_type))
    return false;
  if (value_type > static_cast<uint8_t>(ValueType::kHll) || !ReadRule(in, 0, &family.gc))
    return false;
  if (!in->ReadVarint(&entry.unfenced_through)) return false;
  // Names ascend strictly: that is their order in a definition, and none occurs twice.
  if (!families_.empty() && families_.back().name >= name) return false;
  entry.name = name;
  family.name = name;
  family.value_type = static_cast<ValueType>(value_type);
  schema_.AddFamily(std::move(family));
  families_.push_back(std::move(entry));
  return true;
}

bool DefinitionReader::ReadSplit(ByteReader* in) {
  std::string_view row_key;
  if (!in->ReadRaw(in->remaining(), &row_key) || row_key.size() > kRowKeyBytesMax) return false;
  if (!schema_.splits().empty() && schema_.splits().back() >= row_key) return false;
  schema_.AddSplit(std::string(row_key));
  return true;
}

bool DefinitionReader::ReadProperty(ByteReader* in) {
  std::string_view key;
  std::string_view value;
  if (!in->ReadBytes(&key) || !in->ReadRaw(in->remaining(), &value)) return false;
  const size_t count_before = schema_.properties().size();
  schema_.SetProperty(std::string(key), std::string(value));
  return schema_.properties().size() > count_before;  // false if a property occurs twice
}

absl::StatusOr<std::shared_ptr<const TableDefinition>> DefinitionReader::Finish() const {
  STELE_RETURN_IF_ERROR(ValidateTableName(name_));
  STELE_RETURN_IF_ERROR(ValidateSchema(schema_));
  if (HasRepeatedId(families_))
    return InvalidArgument("table {}: two families have the same id", table_id_);
  return MakeDefinition(table_id_, name_, epoch_, schema_, families_);
}

}  // namespace stele::internal
