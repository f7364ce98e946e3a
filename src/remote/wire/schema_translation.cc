#include "remote/wire/schema_translation.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "remote/wire/field_errors.h"
#include "remote/wire/gc_rule_translation.h"

namespace stele::internal {

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

// The limit for splits in one request; each takes space in the schema, which every open reads.
constexpr int kSplitsMax = 1'000;
// Values of a TypeProperty.
constexpr std::string_view kInt64Text = "int64";
constexpr std::string_view kStringText = "string";

absl::StatusOr<std::string> HllInputText(const admin_wire::Type& value_type) {
  const admin_wire::Type& input = value_type.aggregate_type().input_type();
  switch (input.kind_case()) {
    case admin_wire::Type::KIND_NOT_SET:
    case admin_wire::Type::kBytesType:
      return std::string();
    case admin_wire::Type::kInt64Type:
      if (input.int64_type().encoding().has_ordered_code_bytes()) break;
      return std::string(kInt64Text);
    case admin_wire::Type::kStringType:
      return std::string(kStringText);
    default:
      break;
  }
  return Unimplemented("hllpp_unique_count supports bytes, int64 in big_endian_bytes, and string");
}

absl::StatusOr<ValueType> ToValueType(const admin_wire::Type& type) {
  using Aggregate = admin_wire::Type::Aggregate;
  switch (type.kind_case()) {
    case admin_wire::Type::KIND_NOT_SET:
    case admin_wire::Type::kBytesType:
      return ValueType::kBytes;
    case admin_wire::Type::kStringType:
      if (type.string_type().encoding().encoding_case() !=
          admin_wire::Type::String::Encoding::ENCODING_NOT_SET)
        return ValueType::kBytes;
      return InField(InvalidArgument("A string needs a supported encoding: utf8_bytes"),
                     "value_type.string_type");
    case admin_wire::Type::kAggregateType:
      break;
    default:
      return Unimplemented(
          "A value_type other than bytes, a string and an aggregate is not supported");
  }
  const Aggregate& aggregate = type.aggregate_type();
  if (aggregate.aggregator_case() == Aggregate::kHllppUniqueCount) {
    STELE_RETURN_IF_ERROR(HllInputText(type).status());
    return ValueType::kHll;
  }
  if (aggregate.input_type().kind_case() != admin_wire::Type::kInt64Type) {
    return InField(InvalidArgument("Sum, min and max need input_type int64"),
                   "value_type.aggregate_type");
  }
  if (aggregate.input_type().int64_type().encoding().has_ordered_code_bytes()) {
    return Unimplemented("The int64 encoding ordered_code_bytes is not supported");
  }
  switch (aggregate.aggregator_case()) {
    case Aggregate::kSum:
      return ValueType::kInt64Sum;
    case Aggregate::kMin:
      return ValueType::kInt64Min;
    case Aggregate::kMax:
      return ValueType::kInt64Max;
    default:
      return InField(InvalidArgument("An aggregate needs a supported aggregator"),
                     "value_type.aggregate_type");
  }
}

void FillInt64(admin_wire::Type* type) {
  type->mutable_int64_type()->mutable_encoding()->mutable_big_endian_bytes();
}

std::string_view PropertyOf(const Schema& schema, std::string_view property_key) {
  const auto property = schema.properties().find(property_key);
  return property == schema.properties().end() ? std::string_view()
                                               : std::string_view(property->second);
}

TypedFamily Typed(const Schema& schema, const FamilySchema& family) {
  return {.schema = family, .type_text = std::string(PropertyOf(schema, TypeProperty(family)))};
}

HllInput HllInputOf(const TypedFamily& family) {
  if (family.type_text == kInt64Text) return HllInput::kInt64;
  return family.type_text == kStringText ? HllInput::kString : HllInput::kBytes;
}

// True for a valid property that describes a family's type.
bool IsTypeProperty(const Schema& schema, std::string_view property_key, std::string_view value) {
  return std::any_of(schema.families().begin(), schema.families().end(),
                     [&](const FamilySchema& family) {
                       if (TypeProperty(family) != property_key) return false;
                       return value.empty() || value == kStringText ||
                              (value == kInt64Text && family.value_type == ValueType::kHll);
                     });
}

void FillHllInput(HllInput input, admin_wire::Type* type) {
  if (input == HllInput::kBytes) type->mutable_bytes_type()->mutable_encoding()->mutable_raw();
  if (input == HllInput::kInt64) FillInt64(type);
  if (input == HllInput::kString) type->mutable_string_type();
}

// Families of bytes have no type in the message, like those of a table that never set one.
void FillValueType(const TypedFamily& typed, admin_wire::ColumnFamily* family) {
  const ValueType value_type = typed.schema.value_type;
  if (value_type == ValueType::kBytes) {
    if (typed.type_text == kStringText)
      family->mutable_value_type()->mutable_string_type()->mutable_encoding()->mutable_utf8_bytes();
    return;
  }
  auto* const aggregate = family->mutable_value_type()->mutable_aggregate_type();
  if (value_type == ValueType::kHll) {
    FillHllInput(HllInputOf(typed), aggregate->mutable_input_type());
    aggregate->mutable_state_type()->mutable_bytes_type()->mutable_encoding()->mutable_raw();
    aggregate->mutable_hllpp_unique_count();
    return;
  }
  FillInt64(aggregate->mutable_input_type());
  FillInt64(aggregate->mutable_state_type());
  if (value_type == ValueType::kInt64Sum) aggregate->mutable_sum();
  if (value_type == ValueType::kInt64Min) aggregate->mutable_min();
  if (value_type == ValueType::kInt64Max) aggregate->mutable_max();
}

// The value of the TypeProperty for a family of that type.
absl::StatusOr<std::string> TypeText(const admin_wire::Type& type) {
  if (type.has_string_type()) return std::string(kStringText);
  return type.aggregate_type().has_hllpp_unique_count() ? HllInputText(type) : std::string();
}

absl::StatusOr<TypedFamily> ToFamily(const std::string& name,
                                     const admin_wire::ColumnFamily& family) {
  STELE_ASSIGN_OR_RETURN(GcRule gc, ToGcRule(family.gc_rule()));
  STELE_ASSIGN_OR_RETURN(const ValueType value_type, ToValueType(family.value_type()));
  STELE_ASSIGN_OR_RETURN(std::string type_text, TypeText(family.value_type()));
  return TypedFamily{.schema = {.name = name, .gc = std::move(gc), .value_type = value_type},
                     .type_text = std::move(type_text)};
}

void AddTo(Schema* schema, TypedFamily family) {
  if (!family.type_text.empty())
    schema->SetProperty(TypeProperty(family.schema), std::move(family.type_text));
  schema->AddFamily(std::move(family.schema));
}

admin_wire::ColumnFamily ToWireFamily(const TypedFamily& family) {
  admin_wire::ColumnFamily result;
  *result.mutable_gc_rule() = ToWireGcRule(family.schema.gc);
  FillValueType(family, &result);
  return result;
}

absl::Status CheckSettings(const admin_wire::Table& table) {
  if (table.has_change_stream_config())
    return Unimplemented("change_stream_config is not supported");
  if (table.has_tiered_storage_config())
    return Unimplemented("tiered_storage_config is not supported");
  if (table.has_row_key_schema()) return Unimplemented("row_key_schema is not supported");
  return absl::OkStatus();
}

// The description of bytes may change; a type that affects values may not.
absl::Status UpdateType(const admin_wire::Type& type, TypedFamily* family) {
  STELE_ASSIGN_OR_RETURN(const ValueType value_type, ToValueType(type));
  STELE_ASSIGN_OR_RETURN(std::string type_text, TypeText(type));
  const bool is_same = value_type == family->schema.value_type &&
                       (value_type == ValueType::kBytes || type_text == family->type_text);
  if (!is_same)
    return InvalidArgument("Immutable fields 'value_type.aggregate_type' cannot be updated");
  family->type_text = std::move(type_text);
  return absl::OkStatus();
}

// An update names the fields that it changes. Without a field mask it changes the rule, and a type
// in the message is only checked.
absl::StatusOr<std::optional<FamilyChange>> ToUpdate(
    const admin_wire::ModifyColumnFamiliesRequest::Modification& modification,
    TypedFamily* family) {
  const admin_wire::ColumnFamily& update = modification.update();
  bool names_gc = modification.update_mask().paths().empty();
  bool names_type = false;
  if (names_gc && update.has_value_type()) {
    TypedFamily looked_at = *family;
    STELE_RETURN_IF_ERROR(UpdateType(update.value_type(), &looked_at));
  }
  for (const std::string& path : modification.update_mask().paths()) {
    if (path == "gc_rule") {
      names_gc = true;
    } else if (path == "value_type") {
      names_type = true;
    } else {
      return InField(InvalidArgument("\"{}\" cannot be updated", path), "update_mask");
    }
  }
  if (names_type) STELE_RETURN_IF_ERROR(UpdateType(update.value_type(), family));
  if (!names_gc) return std::nullopt;
  STELE_ASSIGN_OR_RETURN(family->schema.gc, ToGcRule(update.gc_rule()));
  return FamilyChange::Update(modification.id(), family->schema.gc);
}

}  // namespace

absl::StatusOr<std::string> BackupPolicyText(const admin_wire::AutomatedBackupPolicy& policy) {
  constexpr int64_t kDay = 86'400;
  constexpr int64_t kRetentionMinDays = 3;
  constexpr int64_t kRetentionMaxDays = 90;
  const google::protobuf::Duration& retention = policy.retention_period();
  if (retention.nanos() != 0 || retention.seconds() < kRetentionMinDays * kDay ||
      retention.seconds() > kRetentionMaxDays * kDay) {
    return InField(InvalidArgument("must be from {} to {} days, in whole seconds",
                                   kRetentionMinDays, kRetentionMaxDays),
                   "automated_backup_policy.retention_period");
  }
  const google::protobuf::Duration& frequency = policy.frequency();
  const bool is_daily =
      !policy.has_frequency() || (frequency.seconds() == kDay && frequency.nanos() == 0);
  if (!is_daily)
    return InField(InvalidArgument("must be 24 hours"), "automated_backup_policy.frequency");
  return fmt::format("{} {}", retention.seconds(), kDay);
}

std::optional<admin_wire::AutomatedBackupPolicy> BackupPolicyOf(const Schema& schema) {
  const auto property = schema.properties().find(kAutomatedBackupPolicy);
  if (property == schema.properties().end()) return std::nullopt;
  const char* const end = property->second.data() + property->second.size();
  int64_t retention = 0;
  int64_t frequency = 0;
  const std::from_chars_result first = std::from_chars(property->second.data(), end, retention);
  if (first.ec != std::errc() || first.ptr == end) return std::nullopt;
  const std::from_chars_result second = std::from_chars(first.ptr + 1, end, frequency);
  if (second.ec != std::errc() || retention <= 0 || frequency <= 0) return std::nullopt;
  admin_wire::AutomatedBackupPolicy policy;
  policy.mutable_retention_period()->set_seconds(retention);
  policy.mutable_frequency()->set_seconds(frequency);
  return policy;
}

bool IsProtected(const Schema& schema) {
  const auto property = schema.properties().find(kDeletionProtection);
  return property != schema.properties().end() && property->second == ProtectionText(true);
}

std::string ProtectionText(bool is_protected) { return is_protected ? "true" : "false"; }

std::string TypeProperty(const FamilySchema& family) {
  switch (family.value_type) {
    case ValueType::kBytes:
      return fmt::format("value_type.{}", family.name);
    case ValueType::kHll:
      return fmt::format("hll_input.{}", family.name);
    default:
      return std::string();
  }
}

TypedFamilies FamiliesOf(const Schema& schema) {
  TypedFamilies families;
  for (const FamilySchema& family : schema.families())
    families.emplace(family.name, Typed(schema, family));
  return families;
}

TableTraits TraitsOf(const Schema& schema) {
  TableTraits traits{.granularity = schema.granularity(), .limits = schema.limits()};
  std::map<std::string, HllInput, std::less<>> families;
  for (const FamilySchema& family : schema.families()) {
    if (family.value_type == ValueType::kHll)
      families.emplace(family.name, HllInputOf(Typed(schema, family)));
  }
  if (!families.empty())
    traits.hll_families =
        std::make_shared<const std::map<std::string, HllInput, std::less<>>>(std::move(families));
  return traits;
}

absl::StatusOr<Schema> ToSchema(const admin_wire::CreateTableRequest& request) {
  const admin_wire::Table& table = request.table();
  STELE_RETURN_IF_ERROR(CheckSettings(table));
  Schema schema;
  switch (table.granularity()) {
    case admin_wire::Table::TIMESTAMP_GRANULARITY_UNSPECIFIED:
    case admin_wire::Table::MILLIS:
      break;
    case admin_wire::Table::MICROS:
      schema.SetGranularity(TimestampGranularity::kMicros);
      break;
    default:
      return InField(InvalidArgument("Unknown timestamp granularity {}",
                                     static_cast<int>(table.granularity())),
                     "granularity");
  }
  for (const auto& [name, wire_family] : table.column_families()) {
    STELE_ASSIGN_OR_RETURN(TypedFamily family, ToFamily(name, wire_family));
    AddTo(&schema, std::move(family));
  }
  if (request.initial_splits_size() > kSplitsMax) {
    return InField(InvalidArgument("{} splits exceed the limit of {}",
                                   request.initial_splits_size(), kSplitsMax),
                   "initial_splits");
  }
  for (const admin_wire::CreateTableRequest::Split& split : request.initial_splits()) {
    if (split.key().empty())
      return InField(InvalidArgument("Row keys must be non-empty"), "initial_splits");
    schema.AddSplit(split.key());
  }
  if (table.deletion_protection())
    schema.SetProperty(std::string(kDeletionProtection), ProtectionText(true));
  if (table.has_automated_backup_policy()) {
    STELE_ASSIGN_OR_RETURN(std::string policy, BackupPolicyText(table.automated_backup_policy()));
    schema.SetProperty(std::string(kAutomatedBackupPolicy), std::move(policy));
  }
  return schema;
}

absl::StatusOr<std::optional<FamilyChange>> ToFamilyChange(
    const admin_wire::ModifyColumnFamiliesRequest::Modification& modification,
    TypedFamilies* families) {
  using Modification = admin_wire::ModifyColumnFamiliesRequest::Modification;
  const std::string& name = modification.id();
  if (modification.mod_case() == Modification::MOD_NOT_SET)
    return InvalidArgument("No modification is set for family \"{}\"", name);
  const auto found = families->find(name);
  if (modification.has_create()) {
    STELE_ASSIGN_OR_RETURN(TypedFamily family, ToFamily(name, modification.create()));
    if (found != families->end()) return AlreadyExists("Column family already exists: {}", name);
    FamilySchema schema = family.schema;
    families->emplace(name, std::move(family));
    return FamilyChange::Create(std::move(schema));
  }
  if (modification.mod_case() == Modification::kDrop && !modification.drop())
    return InField(InvalidArgument("must be true"), "drop");
  if (found == families->end()) return NotFound("Column family not found: {}", name);
  if (modification.has_update()) return ToUpdate(modification, &found->second);
  families->erase(found);
  return FamilyChange::Drop(name);
}

admin_wire::Table ToWireTable(std::string_view wire_name, const Schema& schema,
                              admin_wire::Table::View view) {
  admin_wire::Table table;
  table.set_name(std::string(wire_name));
  const bool is_full = view == admin_wire::Table::FULL;
  if (!is_full && view != admin_wire::Table::SCHEMA_VIEW &&
      view != admin_wire::Table::VIEW_UNSPECIFIED)
    return table;
  for (const FamilySchema& family : schema.families()) {
    (*table.mutable_column_families())[family.name] = ToWireFamily(Typed(schema, family));
  }
  table.set_granularity(schema.granularity() == TimestampGranularity::kMillis
                            ? admin_wire::Table::MILLIS
                            : admin_wire::Table::MICROS);
  table.set_deletion_protection(IsProtected(schema));
  if (std::optional<admin_wire::AutomatedBackupPolicy> policy = BackupPolicyOf(schema);
      policy.has_value()) {
    *table.mutable_automated_backup_policy() = *std::move(policy);
  }
  return table;
}

absl::StatusOr<Schema> ToSchema(const admin_wire::Table& table) {
  Schema schema;
  if (table.granularity() == admin_wire::Table::MICROS)
    schema.SetGranularity(TimestampGranularity::kMicros);
  for (const auto& [name, wire_family] : table.column_families()) {
    absl::StatusOr<TypedFamily> family = ToFamily(name, wire_family);
    if (!family.ok())
      return WithContext(family.status(), fmt::format("family \"{}\"", Printable(name)));
    AddTo(&schema, *std::move(family));
  }
  if (table.deletion_protection())
    schema.SetProperty(std::string(kDeletionProtection), ProtectionText(true));
  return schema;
}

absl::StatusOr<admin_wire::CreateTableRequest> ToWireCreation(const Schema& schema) {
  if (schema.limits() != TableLimits())
    return Unimplemented("limits of a table cannot be set on a server: it has fixed limits");
  admin_wire::CreateTableRequest request;
  for (const auto& [name, value] : schema.properties()) {
    // A copy has separate backups, so a policy stays with its table. Empty properties have no
    // meaning.
    if (name == kAutomatedBackupPolicy || value.empty()) continue;
    if (name == kDeletionProtection || IsTypeProperty(schema, name, value)) continue;
    return Unimplemented(
        "property \"{}\": a server stores only \"{}\" and the properties of its families' types",
        Printable(name), kDeletionProtection);
  }
  admin_wire::Table& table = *request.mutable_table();
  const bool is_millis = schema.granularity() == TimestampGranularity::kMillis;
  table.set_granularity(is_millis ? admin_wire::Table::MILLIS : admin_wire::Table::MICROS);
  table.set_deletion_protection(IsProtected(schema));
  for (const FamilySchema& family : schema.families()) {
    (*table.mutable_column_families())[family.name] = ToWireFamily(Typed(schema, family));
  }
  for (const std::string& split : schema.splits()) request.add_initial_splits()->set_key(split);
  return request;
}

admin_wire::ModifyColumnFamiliesRequest::Modification ToWireChange(const FamilyChange& change) {
  admin_wire::ModifyColumnFamiliesRequest::Modification modification;
  modification.set_id(change.name());
  switch (change.kind()) {
    case FamilyChange::Kind::kCreate:
      *modification.mutable_create() = ToWireFamily({.schema = change.family(), .type_text = ""});
      break;
    case FamilyChange::Kind::kUpdate:
      *modification.mutable_update()->mutable_gc_rule() = ToWireGcRule(change.family().gc);
      modification.mutable_update_mask()->add_paths("gc_rule");
      break;
    case FamilyChange::Kind::kDrop:
      modification.set_drop(true);
      break;
  }
  return modification;
}

}  // namespace stele::internal
