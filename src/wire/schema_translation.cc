#include "wire/schema_translation.h"

#include <algorithm>
#include <utility>

#include "wire/field_errors.h"
#include "wire/gc_rule_translation.h"

namespace stele::internal {

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

// The one cluster that every instance has.
constexpr char kClusterId[] = "local";
// What a request may ask for at once; each costs a place in the schema, which every open reads.
constexpr int kSplitsMax = 1'000;
constexpr std::string_view kInt64Input = "int64";
constexpr std::string_view kStringInput = "string";

absl::StatusOr<ValueType> ToValueType(const admin_wire::Type& type) {
  using Aggregate = admin_wire::Type::Aggregate;
  switch (type.kind_case()) {
    case admin_wire::Type::KIND_NOT_SET:
    case admin_wire::Type::kBytesType:
      return ValueType::kBytes;
    case admin_wire::Type::kAggregateType:
      break;
    default:
      return Unimplemented("A value_type that is neither bytes nor an aggregate is not offered");
  }
  const Aggregate& aggregate = type.aggregate_type();
  if (aggregate.aggregator_case() == Aggregate::kHllppUniqueCount) {
    STELE_RETURN_IF_ERROR(HllInputText(type).status());
    return ValueType::kHll;
  }
  if (aggregate.input_type().kind_case() != admin_wire::Type::kInt64Type) {
    return InField(InvalidArgument("Sum, min and max take input_type int64"), "value_type.aggregate_type");
  }
  if (aggregate.input_type().int64_type().encoding().has_ordered_code_bytes()) {
    return Unimplemented("The int64 encoding ordered_code_bytes is not offered");
  }
  switch (aggregate.aggregator_case()) {
    case Aggregate::kSum:
      return ValueType::kInt64Sum;
    case Aggregate::kMin:
      return ValueType::kInt64Min;
    case Aggregate::kMax:
      return ValueType::kInt64Max;
    default:
      return InField(InvalidArgument("An aggregate needs an aggregator that this server knows"), "value_type.aggregate_type");
  }
}

void FillInt64(admin_wire::Type* type) { type->mutable_int64_type()->mutable_encoding()->mutable_big_endian_bytes(); }

void FillHllInput(HllInput input, admin_wire::Type* type) {
  if (input == HllInput::kBytes) type->mutable_bytes_type()->mutable_encoding()->mutable_raw();
  if (input == HllInput::kInt64) FillInt64(type);
  if (input == HllInput::kString) type->mutable_string_type();
}

std::string_view PropertyOf(const Schema& schema, std::string_view property_key) {
  const auto property = schema.properties().find(property_key);
  return property == schema.properties().end() ? std::string_view() : std::string_view(property->second);
}

HllInput HllInputOf(const Schema& schema, std::string_view family) {
  const std::string_view text = PropertyOf(schema, HllInputProperty(family));
  if (text == kInt64Input) return HllInput::kInt64;
  return text == kStringInput ? HllInput::kString : HllInput::kBytes;
}

// A property that says what an hll family's items are, and says it well.
bool IsHllInput(const Schema& schema, std::string_view property_key, std::string_view value) {
  if (value != kInt64Input && value != kStringInput && !value.empty()) return false;
  return std::any_of(schema.families().begin(), schema.families().end(), [&](const FamilySchema& family) {
    return family.value_type == ValueType::kHll && HllInputProperty(family.name) == property_key;
  });
}

// Families of bytes show no type, as those of a table that never named one.
void FillValueType(ValueType value_type, HllInput input, admin_wire::ColumnFamily* family) {
  if (value_type == ValueType::kBytes) return;
  auto* const aggregate = family->mutable_value_type()->mutable_aggregate_type();
  if (value_type == ValueType::kHll) {
    FillHllInput(input, aggregate->mutable_input_type());
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

absl::StatusOr<FamilySchema> ToFamily(const std::string& name, const admin_wire::ColumnFamily& family) {
  STELE_ASSIGN_OR_RETURN(GcRule gc, ToGcRule(family.gc_rule()));
  STELE_ASSIGN_OR_RETURN(const ValueType value_type, ToValueType(family.value_type()));
  return FamilySchema{.name = name, .gc = std::move(gc), .value_type = value_type};
}

admin_wire::ColumnFamily ToWireFamily(const FamilySchema& family, HllInput input = HllInput::kBytes) {
  admin_wire::ColumnFamily result;
  *result.mutable_gc_rule() = ToWireGcRule(family.gc);
  FillValueType(family.value_type, input, &result);
  return result;
}

absl::Status CheckSettings(const admin_wire::Table& table) {
  if (table.has_change_stream_config()) return Unimplemented("change_stream_config is not offered");
  if (table.has_automated_backup_policy()) return Unimplemented("automated_backup_policy is not offered");
  if (table.has_tiered_storage_config()) return Unimplemented("tiered_storage_config is not offered");
  if (table.has_row_key_schema()) return Unimplemented("row_key_schema is not offered");
  return absl::OkStatus();
}

// An update says what it is about: the rule where it names nothing.
absl::StatusOr<FamilyChange> ToUpdate(const admin_wire::ModifyColumnFamiliesRequest::Modification& modification, const Schema& schema) {
  bool names_gc = modification.update_mask().paths().empty();
  bool names_type = names_gc && modification.update().has_value_type();
  for (const std::string& path : modification.update_mask().paths()) {
    if (path == "gc_rule") {
      names_gc = true;
    } else if (path == "value_type") {
      names_type = true;
    } else {
      return InField(InvalidArgument("\"{}\" cannot be updated", path), "update_mask");
    }
  }
  const FamilySchema* const family = schema.family(modification.id());
  if (names_type && family != nullptr) {
    STELE_ASSIGN_OR_RETURN(const ValueType value_type, ToValueType(modification.update().value_type()));
    const bool is_hll = value_type == ValueType::kHll;
    STELE_ASSIGN_OR_RETURN(const std::string input, is_hll ? HllInputText(modification.update().value_type()) : std::string());
    const bool is_same = value_type == family->value_type && (!is_hll || input == PropertyOf(schema, HllInputProperty(family->name)));
    if (!is_same) return InvalidArgument("Immutable fields 'value_type.aggregate_type' cannot be updated");
  }
  if (!names_gc) return FamilyChange::Update(modification.id(), family != nullptr ? family->gc : GcRule::None());
  STELE_ASSIGN_OR_RETURN(GcRule gc, ToGcRule(modification.update().gc_rule()));
  return FamilyChange::Update(modification.id(), std::move(gc));
}

}  // namespace

bool IsProtected(const Schema& schema) {
  const auto property = schema.properties().find(kDeletionProtection);
  return property != schema.properties().end() && property->second == ProtectionText(true);
}

std::string ProtectionText(bool is_protected) { return is_protected ? "true" : "false"; }

std::string HllInputProperty(std::string_view family) { return fmt::format("hll_input.{}", family); }

absl::StatusOr<std::string> HllInputText(const admin_wire::Type& value_type) {
  const admin_wire::Type& input = value_type.aggregate_type().input_type();
  switch (input.kind_case()) {
    case admin_wire::Type::KIND_NOT_SET:
    case admin_wire::Type::kBytesType:
      return std::string();
    case admin_wire::Type::kInt64Type:
      if (input.int64_type().encoding().has_ordered_code_bytes()) break;
      return std::string(kInt64Input);
    case admin_wire::Type::kStringType:
      return std::string(kStringInput);
    default:
      break;
  }
  return Unimplemented("hllpp_unique_count takes bytes, int64 in big_endian_bytes or string here");
}

TableTraits TraitsOf(const Schema& schema) {
  TableTraits traits{.granularity = schema.granularity(), .limits = schema.limits()};
  std::map<std::string, HllInput, std::less<>> families;
  for (const FamilySchema& family : schema.families()) {
    if (family.value_type == ValueType::kHll) families.emplace(family.name, HllInputOf(schema, family.name));
  }
  if (!families.empty()) traits.hll_families = std::make_shared<const std::map<std::string, HllInput, std::less<>>>(std::move(families));
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
      return InField(InvalidArgument("Unknown timestamp granularity {}", static_cast<int>(table.granularity())), "granularity");
  }
  for (const auto& [name, wire_family] : table.column_families()) {
    STELE_ASSIGN_OR_RETURN(FamilySchema family, ToFamily(name, wire_family));
    if (family.value_type == ValueType::kHll) {
      STELE_ASSIGN_OR_RETURN(std::string input, HllInputText(wire_family.value_type()));
      if (!input.empty()) schema.SetProperty(HllInputProperty(name), std::move(input));
    }
    schema.AddFamily(std::move(family));
  }
  if (request.initial_splits_size() > kSplitsMax) {
    return InField(InvalidArgument("{} splits are more than the limit of {}", request.initial_splits_size(), kSplitsMax), "initial_splits");
  }
  for (const admin_wire::CreateTableRequest::Split& split : request.initial_splits()) {
    if (split.key().empty()) return InField(InvalidArgument("Row keys must be non-empty"), "initial_splits");
    schema.AddSplit(split.key());
  }
  if (table.deletion_protection()) schema.SetProperty(std::string(kDeletionProtection), ProtectionText(true));
  return schema;
}

absl::StatusOr<FamilyChange> ToFamilyChange(const admin_wire::ModifyColumnFamiliesRequest::Modification& modification,
                                            const Schema& schema) {
  switch (modification.mod_case()) {
    case admin_wire::ModifyColumnFamiliesRequest::Modification::kCreate: {
      STELE_ASSIGN_OR_RETURN(FamilySchema family, ToFamily(modification.id(), modification.create()));
      return FamilyChange::Create(std::move(family));
    }
    case admin_wire::ModifyColumnFamiliesRequest::Modification::kUpdate:
      return ToUpdate(modification, schema);
    case admin_wire::ModifyColumnFamiliesRequest::Modification::kDrop:
      if (!modification.drop()) return InField(InvalidArgument("must be true"), "drop");
      return FamilyChange::Drop(modification.id());
    case admin_wire::ModifyColumnFamiliesRequest::Modification::MOD_NOT_SET:
      break;
  }
  return InvalidArgument("No modification is set for family \"{}\"", modification.id());
}

admin_wire::Table ToWireTable(std::string_view wire_name, const Schema& schema, admin_wire::Table::View view) {
  admin_wire::Table table;
  table.set_name(std::string(wire_name));
  const bool is_full = view == admin_wire::Table::FULL;
  if (is_full || view == admin_wire::Table::REPLICATION_VIEW || view == admin_wire::Table::ENCRYPTION_VIEW) {
    (*table.mutable_cluster_states())[kClusterId].set_replication_state(admin_wire::Table::ClusterState::READY);
  }
  if (!is_full && view != admin_wire::Table::SCHEMA_VIEW && view != admin_wire::Table::VIEW_UNSPECIFIED) return table;
  for (const FamilySchema& family : schema.families()) {
    (*table.mutable_column_families())[family.name] = ToWireFamily(family, HllInputOf(schema, family.name));
  }
  table.set_granularity(schema.granularity() == TimestampGranularity::kMillis ? admin_wire::Table::MILLIS : admin_wire::Table::MICROS);
  table.set_deletion_protection(IsProtected(schema));
  return table;
}

absl::StatusOr<Schema> ToSchema(const admin_wire::Table& table) {
  Schema schema;
  if (table.granularity() == admin_wire::Table::MICROS) schema.SetGranularity(TimestampGranularity::kMicros);
  for (const auto& [name, wire_family] : table.column_families()) {
    absl::StatusOr<FamilySchema> family = ToFamily(name, wire_family);
    if (!family.ok()) return WithContext(family.status(), fmt::format("family \"{}\"", Printable(name)));
    if (family->value_type == ValueType::kHll) {
      STELE_ASSIGN_OR_RETURN(std::string input, HllInputText(wire_family.value_type()));
      if (!input.empty()) schema.SetProperty(HllInputProperty(name), std::move(input));
    }
    schema.AddFamily(*std::move(family));
  }
  if (table.deletion_protection()) schema.SetProperty(std::string(kDeletionProtection), ProtectionText(true));
  return schema;
}

absl::StatusOr<admin_wire::CreateTableRequest> ToWireCreation(const Schema& schema) {
  if (schema.limits() != Limits()) return Unimplemented("limits of a table cannot be set on a server: it has its own");
  admin_wire::CreateTableRequest request;
  for (const auto& [name, value] : schema.properties()) {
    if (name == kDeletionProtection || IsHllInput(schema, name, value)) continue;
    return Unimplemented("property \"{}\": a server keeps \"{}\" and \"{}\" alone", Printable(name), kDeletionProtection,
                         HllInputProperty("FAMILY"));
  }
  admin_wire::Table& table = *request.mutable_table();
  const bool is_millis = schema.granularity() == TimestampGranularity::kMillis;
  table.set_granularity(is_millis ? admin_wire::Table::MILLIS : admin_wire::Table::MICROS);
  table.set_deletion_protection(IsProtected(schema));
  for (const FamilySchema& family : schema.families()) {
    (*table.mutable_column_families())[family.name] = ToWireFamily(family, HllInputOf(schema, family.name));
  }
  for (const std::string& split : schema.splits()) request.add_initial_splits()->set_key(split);
  return request;
}

admin_wire::ModifyColumnFamiliesRequest::Modification ToWireChange(const FamilyChange& change) {
  admin_wire::ModifyColumnFamiliesRequest::Modification modification;
  modification.set_id(change.name());
  switch (change.kind()) {
    case FamilyChange::Kind::kCreate:
      *modification.mutable_create() = ToWireFamily(change.family());
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
