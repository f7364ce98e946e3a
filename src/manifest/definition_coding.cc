#include "manifest/definition_coding.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/status.h"
#include "model/gc_rule_node.h"
#include "model/validate.h"

namespace stele::internal {
namespace {

// Numbers as stored: never those of the enums in memory.
enum RuleTag : uint8_t { kRuleNone = 0, kRuleMaxVersions = 1, kRuleMaxAge = 2, kRuleUnion = 3, kRuleIntersection = 4 };

void AppendRule(std::string* out, const GcRule& rule) {
  const GcRuleNode& node = rule.node();
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

bool ReadRule(ByteReader* in, int depth, GcRule* rule);

bool ReadRules(ByteReader* in, int depth, std::vector<GcRule>* rules) {
  uint64_t count;
  if (depth >= kGcRuleDepthMax || !in->ReadVarint(&count) || count < 2 || count > in->remaining()) return false;
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
      *rule = tag == kRuleUnion ? GcRule::Union(std::move(children)) : GcRule::Intersection(std::move(children));
      return true;
    default:
      return false;
  }
}

bool ReadFamilies(ByteReader* in, Schema* schema, std::vector<FamilyEntry>* entries) {
  uint64_t count;
  if (!in->ReadVarint(&count) || count > in->remaining()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    FamilyEntry entry;
    std::string_view name;
    uint8_t value_type;
    FamilySchema family;
    if (!in->ReadBytes(&name) || !in->ReadVarint32(&entry.id) || !in->ReadByte(&value_type)) return false;
    if (value_type > static_cast<uint8_t>(ValueType::kHll) || !ReadRule(in, 0, &family.gc)) return false;
    if (!in->ReadVarint(&entry.unsealed_through)) return false;
    // Strictly ascending names: in the order they have, and none twice.
    if (!entries->empty() && entries->back().name >= name) return false;
    entry.name = name;
    family.name = name;
    family.value_type = static_cast<ValueType>(value_type);
    schema->AddFamily(std::move(family));
    entries->push_back(std::move(entry));
  }
  return true;
}

bool ReadSplitsAndProperties(ByteReader* in, Schema* schema) {
  uint64_t count;
  std::string_view key;
  std::string_view value;
  if (!in->ReadVarint(&count) || count > in->remaining()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (!in->ReadBytes(&key)) return false;
    if (i > 0 && schema->splits().back() >= key) return false;
    schema->AddSplit(std::string(key));
  }
  if (!in->ReadVarint(&count) || count > in->remaining()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (!in->ReadBytes(&key) || !in->ReadBytes(&value)) return false;
    schema->SetProperty(std::string(key), std::string(value));
  }
  return schema->properties().size() == count;
}

bool ReadTraits(ByteReader* in, Schema* schema) {
  uint8_t granularity;
  uint8_t compression;
  Limits limits;
  if (!in->ReadByte(&granularity) || granularity > static_cast<uint8_t>(TimestampGranularity::kMicros)) return false;
  if (!in->ReadByte(&compression) || compression > static_cast<uint8_t>(Compression::kBalanced)) return false;
  if (!in->ReadVarint(&limits.row_key_bytes) || !in->ReadVarint(&limits.qualifier_bytes) || !in->ReadVarint(&limits.value_bytes))
    return false;
  if (!in->ReadVarint(&limits.row_bytes) || !in->ReadVarint(&limits.mutations)) return false;
  schema->SetGranularity(static_cast<TimestampGranularity>(granularity));
  schema->SetCompression(static_cast<Compression>(compression));
  schema->SetLimits(limits);
  return true;
}

bool HasRepeatedId(const std::vector<FamilyEntry>& families) {
  std::vector<uint32_t> ids;
  for (const FamilyEntry& family : families) ids.push_back(family.id);
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) != ids.end();
}

}  // namespace

void AppendDefinition(std::string* out, const TableDefinition& definition) {
  const Schema& schema = definition.schema;
  AppendBytes(*out, definition.name);
  AppendVarint(*out, definition.epoch);
  out->push_back(static_cast<char>(schema.granularity()));
  out->push_back(static_cast<char>(schema.compression()));
  const Limits& limits = schema.limits();
  for (const uint64_t limit : {limits.row_key_bytes, limits.qualifier_bytes, limits.value_bytes, limits.row_bytes, limits.mutations}) {
    AppendVarint(*out, limit);
  }
  AppendVarint(*out, schema.families().size());
  for (const FamilySchema& family : schema.families()) {
    const std::optional<uint32_t> rank = definition.families.RankOfName(family.name);
    STELE_CHECK(rank.has_value());
    AppendBytes(*out, family.name);
    AppendVarint(*out, definition.families[*rank].id);
    out->push_back(static_cast<char>(family.value_type));
    AppendRule(out, family.gc);
    AppendVarint(*out, definition.families[*rank].unsealed_through);
  }
  AppendVarint(*out, schema.splits().size());
  for (const std::string& split : schema.splits()) AppendBytes(*out, split);
  AppendVarint(*out, schema.properties().size());
  for (const auto& [key, value] : schema.properties()) {
    AppendBytes(*out, key);
    AppendBytes(*out, value);
  }
}

absl::StatusOr<std::shared_ptr<const TableDefinition>> ReadDefinition(uint32_t table_id, ByteReader* in) {
  std::string_view name;
  uint64_t epoch;
  Schema schema;
  std::vector<FamilyEntry> families;
  if (!in->ReadBytes(&name) || !in->ReadVarint(&epoch) || !ReadTraits(in, &schema) || !ReadFamilies(in, &schema, &families) ||
      !ReadSplitsAndProperties(in, &schema)) {
    return InvalidArgument("table {}: the definition does not decode", table_id);
  }
  STELE_RETURN_IF_ERROR(ValidateTableName(name));
  STELE_RETURN_IF_ERROR(ValidateSchema(schema));
  if (HasRepeatedId(families)) return InvalidArgument("table {}: two families have one id", table_id);
  return MakeDefinition(table_id, std::string(name), epoch, schema, families);
}

}  // namespace stele::internal
