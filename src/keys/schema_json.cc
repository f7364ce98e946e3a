#include <optional>
#include <utility>

#include "base/status.h"
#include "keys/field_code.h"
#include "keys/json_scanner.h"
#include "stele/keys.h"

namespace stele {
inline namespace v0 {
namespace keys {
namespace {

using internal::JsonScanner;
using FieldType = RowKeySchema::FieldType;
using KeyEncoding = RowKeySchema::KeyEncoding;
using NumberEncoding = RowKeySchema::NumberEncoding;

constexpr size_t kJsonBytesMax = 1 << 20;

constexpr std::pair<std::string_view, KeyEncoding> kKeyEncodings[] = {
    {"ordered_code", KeyEncoding::kOrderedCode},
    {"delimited", KeyEncoding::kDelimited},
    {"singleton", KeyEncoding::kSingleton}};
constexpr std::pair<std::string_view, NumberEncoding> kNumberEncodings[] = {
    {"ordered_code", NumberEncoding::kOrderedCode}, {"big_endian", NumberEncoding::kBigEndian}};
constexpr std::pair<std::string_view, FieldType> kFieldTypes[] = {
    {"string", FieldType::kString},
    {"bytes", FieldType::kBytes},
    {"int64", FieldType::kInt64},
    {"timestamp", FieldType::kTimestamp}};

// Reads a string that must be one of `names`.
template <typename T, size_t kCount>
absl::StatusOr<T> ReadName(JsonScanner& scanner, std::string_view what,
                           const std::pair<std::string_view, T> (&names)[kCount]) {
  STELE_ASSIGN_OR_RETURN(const std::string text, scanner.String());
  std::string all;
  for (const auto& [name, value] : names) {
    if (name == text) return value;
    all.append(all.empty() ? "" : ", ").append(name);
  }
  return scanner.Error(
      fmt::format("unknown {} \"{}\"; there are {}", what, internal::Printable(text), all));
}

template <typename T, size_t kCount>
std::string_view NameOf(T value, const std::pair<std::string_view, T> (&names)[kCount]) {
  for (const auto& [name, named] : names) {
    if (named == value) return name;
  }
  return names[0].first;
}

absl::StatusOr<RowKeySchema::Field> ReadField(JsonScanner& scanner) {
  RowKeySchema::Field field;
  bool has_type = false;
  bool has_encoding = false;
  STELE_RETURN_IF_ERROR(scanner.Object([&](std::string_view name) -> absl::Status {
    if (name == "name") {
      STELE_ASSIGN_OR_RETURN(field.name, scanner.String());
    } else if (name == "type") {
      STELE_ASSIGN_OR_RETURN(field.type, ReadName(scanner, "type", kFieldTypes));
      has_type = true;
    } else if (name == "encoding") {
      STELE_ASSIGN_OR_RETURN(field.encoding, ReadName(scanner, "encoding", kNumberEncodings));
      has_encoding = true;
    } else if (name == "from") {
      STELE_ASSIGN_OR_RETURN(field.from, scanner.String());
    } else {
      return scanner.Error(
          fmt::format("unknown member \"{}\" of a field", internal::Printable(name)));
    }
    return absl::OkStatus();
  }));
  if (!has_type) return scanner.Error("the field has no type");
  if (has_encoding && (field.type == FieldType::kString || field.type == FieldType::kBytes))
    return scanner.Error("a field of type string or bytes has no encoding");
  return field;
}

absl::StatusOr<RowKeySchema> ReadSchema(JsonScanner& scanner) {
  std::optional<KeyEncoding> encoding;
  std::string delimiter;
  std::vector<RowKeySchema::Field> fields;
  std::optional<RowKeySchema> inner;
  STELE_RETURN_IF_ERROR(scanner.Object([&](std::string_view name) -> absl::Status {
    if (name == "row_key_schema" && !inner.has_value()) {
      STELE_ASSIGN_OR_RETURN(inner, ReadSchema(scanner));
    } else if (name == "encoding") {
      STELE_ASSIGN_OR_RETURN(encoding, ReadName(scanner, "encoding", kKeyEncodings));
    } else if (name == "delimiter") {
      STELE_ASSIGN_OR_RETURN(delimiter, scanner.String());
    } else if (name == "fields") {
      return scanner.Array([&]() -> absl::Status {
        STELE_ASSIGN_OR_RETURN(RowKeySchema::Field field, ReadField(scanner));
        fields.push_back(std::move(field));
        return absl::OkStatus();
      });
    } else {
      return scanner.Error(
          fmt::format("unknown member \"{}\" of a row key schema", internal::Printable(name)));
    }
    return absl::OkStatus();
  }));
  if (inner.has_value()) return *std::move(inner);
  if (!encoding.has_value()) return scanner.Error("the schema has no encoding");
  return RowKeySchema::Create(*encoding, std::move(fields), std::move(delimiter));
}

}  // namespace

absl::StatusOr<RowKeySchema> RowKeySchema::Parse(std::string_view json) {
  if (json.size() > kJsonBytesMax) {
    return internal::InvalidArgument("a row key schema has at most {} bytes, not {}", kJsonBytesMax,
                                     json.size());
  }
  JsonScanner scanner(json, "row key schema");
  STELE_ASSIGN_OR_RETURN(RowKeySchema schema, ReadSchema(scanner));
  STELE_RETURN_IF_ERROR(scanner.ExpectEnd());
  return schema;
}

std::string RowKeySchema::ToString() const {
  std::string json = fmt::format("{{\"encoding\":\"{}\"", NameOf(encoding_, kKeyEncodings));
  if (encoding_ == KeyEncoding::kDelimited)
    json += ",\"delimiter\":" + internal::JsonString(delimiter_);
  json += ",\"fields\":[";
  for (const Field& field : fields_) {
    if (json.back() == '}') json += ',';
    json += "{\"name\":" + internal::JsonString(field.name) +
            fmt::format(",\"type\":\"{}\"", internal::FieldTypeName(field.type));
    if (field.type == FieldType::kInt64 || field.type == FieldType::kTimestamp)
      json += fmt::format(",\"encoding\":\"{}\"", NameOf(field.encoding, kNumberEncodings));
    if (!field.from.empty()) json += ",\"from\":" + internal::JsonString(field.from);
    json += '}';
  }
  return json + "]}";
}

}  // namespace keys
}  // namespace v0
}  // namespace stele
