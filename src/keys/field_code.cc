#include "keys/field_code.h"

#include "base/status.h"
#include "keys/ordered_code.h"
#include "keys/utf8.h"

namespace stele::internal {
namespace {

using Field = keys::RowKeySchema::Field;
using FieldType = keys::RowKeySchema::FieldType;
using NumberEncoding = keys::RowKeySchema::NumberEncoding;

constexpr size_t kBigEndianBytes = 8;

absl::Status CheckUtf8(const Field& field, std::string_view bytes) {
  const auto wrong = FirstNotUtf8(bytes);
  if (!wrong.has_value()) return absl::OkStatus();
  return InvalidArgument("field \"{}\": byte {} of \"{}\" is not UTF-8; use the type bytes",
                         Printable(field.name), *wrong, Printable(bytes));
}

absl::StatusOr<std::string> EncodeNumber(const Field& field, int64_t number) {
  std::string bytes;
  if (field.encoding == NumberEncoding::kOrderedCode) {
    AppendOrderedInt64(number, &bytes);
    return bytes;
  }
  if (number < 0) {
    return InvalidArgument("field \"{}\": {} is negative; use the encoding ordered_code",
                           Printable(field.name), number);
  }
  return EncodeInt64(number);
}

absl::StatusOr<int64_t> DecodeNumber(const Field& field, std::string_view bytes) {
  if (bytes.empty()) return InvalidArgument("field \"{}\" is missing", Printable(field.name));
  if (field.encoding == NumberEncoding::kOrderedCode) {
    auto number = ParseOrderedInt64(bytes);
    if (number.ok()) return number;
    return WithContext(number.status(), fmt::format("field \"{}\"", Printable(field.name)));
  }
  uint64_t number = 0;
  for (const char c : bytes.substr(0, kBigEndianBytes))
    number = number << 8 | static_cast<unsigned char>(c);
  if (bytes.size() != kBigEndianBytes || number >> 63 != 0) {
    return InvalidArgument("field \"{}\": \"{}\" is not a number from 0 on in 8 bytes",
                           Printable(field.name), Printable(bytes));
  }
  return static_cast<int64_t>(number);
}

}  // namespace

std::string_view FieldTypeName(FieldType type) {
  switch (type) {
    case FieldType::kString:
      return "string";
    case FieldType::kBytes:
      return "bytes";
    case FieldType::kInt64:
      return "int64";
    case FieldType::kTimestamp:
      break;
  }
  return "timestamp";
}

absl::StatusOr<std::string> EncodeField(const Field& field, const keys::Value& value) {
  const auto* const text = std::get_if<std::string>(&value);
  const auto* const number = std::get_if<int64_t>(&value);
  const auto* const time = std::get_if<Timestamp>(&value);
  if (field.type == FieldType::kInt64 && number != nullptr) return EncodeNumber(field, *number);
  if (field.type == FieldType::kTimestamp && time != nullptr)
    return EncodeNumber(field, time->micros());
  if (field.type == FieldType::kBytes && text != nullptr) return *text;
  if (field.type == FieldType::kString && text != nullptr) {
    STELE_RETURN_IF_ERROR(CheckUtf8(field, *text));
    return *text;
  }
  return InvalidArgument("field \"{}\" has the type {}, and its value has another one",
                         Printable(field.name), FieldTypeName(field.type));
}

absl::StatusOr<keys::Value> DecodeField(const Field& field, std::string_view bytes) {
  if (field.type == FieldType::kString) STELE_RETURN_IF_ERROR(CheckUtf8(field, bytes));
  if (field.type == FieldType::kString || field.type == FieldType::kBytes)
    return keys::Value(std::string(bytes));
  STELE_ASSIGN_OR_RETURN(const int64_t number, DecodeNumber(field, bytes));
  if (field.type == FieldType::kInt64) return keys::Value(number);
  return keys::Value(Timestamp::FromMicros(number));
}

}  // namespace stele::internal
