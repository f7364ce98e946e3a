#include <algorithm>
#include <utility>

#include "base/status.h"
#include "keys/field_code.h"
#include "keys/ordered_code.h"
#include "keys/utf8.h"
#include "stele/keys.h"

namespace stele {
inline namespace v0 {
namespace keys {
namespace {

using Field = RowKeySchema::Field;
using KeyEncoding = RowKeySchema::KeyEncoding;

constexpr size_t kDelimiterBytesMax = 50;

absl::Status CheckFields(const std::vector<Field>& fields) {
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& name = fields[i].name;
    if (name.empty()) return internal::InvalidArgument("field {} has no name", i + 1);
    if (name == "_key" || name == "_timestamp" || internal::FirstNotUtf8(name).has_value()) {
      return internal::InvalidArgument("\"{}\" is not allowed as the name of a field",
                                       internal::Printable(name));
    }
    for (size_t k = 0; k < i; ++k) {
      if (fields[k].name == name)
        return internal::InvalidArgument("two fields have the name \"{}\"",
                                         internal::Printable(name));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDelimiter(KeyEncoding encoding, std::string_view delimiter) {
  if (encoding != KeyEncoding::kDelimited) {
    return delimiter.empty()
               ? absl::OkStatus()
               : internal::InvalidArgument("only the encoding \"delimited\" has a delimiter");
  }
  if (delimiter.empty() || delimiter.size() > kDelimiterBytesMax ||
      internal::FirstNotUtf8(delimiter).has_value()) {
    return internal::InvalidArgument("the delimiter \"{}\" is not 1 to {} bytes of UTF-8",
                                     internal::Printable(delimiter), kDelimiterBytesMax);
  }
  return absl::OkStatus();
}

// Keys of the encoding "delimited" must sort in the order of the fields, so all bytes of a field
// must be above the delimiter's first byte.
absl::Status CheckDelimitedField(const Field& field, std::string_view bytes,
                                 std::string_view delimiter) {
  const auto limit = static_cast<unsigned char>(delimiter[0]);
  for (const char c : bytes) {
    if (static_cast<unsigned char>(c) > limit) continue;
    return internal::InvalidArgument(
        "field \"{}\" contains \"{}\", which is not greater than the first byte of the delimiter "
        "\"{}\"; use the encoding ordered_code",
        internal::Printable(field.name), internal::Printable(std::string_view(&c, 1)),
        internal::Printable(delimiter));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> EncodeFields(const RowKeySchema& schema,
                                                      std::span<const Value> values) {
  std::vector<std::string> encoded;
  for (size_t i = 0; i < values.size(); ++i) {
    const Field& field = schema.fields()[i];
    STELE_ASSIGN_OR_RETURN(std::string bytes, internal::EncodeField(field, values[i]));
    if (schema.encoding() == KeyEncoding::kDelimited)
      STELE_RETURN_IF_ERROR(CheckDelimitedField(field, bytes, schema.delimiter()));
    encoded.push_back(std::move(bytes));
  }
  return encoded;
}

std::string JoinDelimited(const std::vector<std::string>& fields, const std::string& delimiter) {
  if (fields.empty()) return delimiter;
  std::string row_key = fields[0];
  for (size_t i = 1; i < fields.size(); ++i) row_key.append(delimiter).append(fields[i]);
  return row_key;
}

std::string JoinFields(const RowKeySchema& schema, std::vector<std::string> fields) {
  if (schema.encoding() == KeyEncoding::kDelimited)
    return JoinDelimited(fields, schema.delimiter());
  if (schema.encoding() == KeyEncoding::kSingleton) return fields[0];
  while (!fields.empty() && fields.back().empty()) fields.pop_back();
  return fields.empty() ? internal::JoinOrdered({""}) : internal::JoinOrdered(fields);
}

absl::Status CheckKeyLength(std::string_view row_key, uint64_t row_key_bytes_max) {
  if (row_key.empty()) return internal::InvalidArgument("the row key would be empty");
  if (row_key.size() <= row_key_bytes_max) return absl::OkStatus();
  return internal::InvalidArgument("the row key would have {} bytes, and at most {} are allowed",
                                   row_key.size(), row_key_bytes_max);
}

absl::StatusOr<std::vector<internal::OrderedField>> SplitDelimited(const RowKeySchema& schema,
                                                                   std::string_view row_key) {
  std::vector<internal::OrderedField> fields;
  if (schema.fields().empty() && row_key == schema.delimiter()) return fields;
  size_t offset = 0;
  for (const std::string_view part : Split(row_key, schema.delimiter())) {
    if (fields.size() == schema.fields().size()) {
      return internal::InvalidArgument("byte {}: the key has more than the {} fields of the schema",
                                       offset, schema.fields().size());
    }
    const absl::Status checked =
        CheckDelimitedField(schema.fields()[fields.size()], part, schema.delimiter());
    if (!checked.ok()) return internal::WithContext(checked, fmt::format("byte {}", offset));
    fields.push_back({.bytes = std::string(part), .offset = offset});
    offset += part.size() + schema.delimiter().size();
  }
  if (fields.size() < schema.fields().size()) {
    return internal::InvalidArgument("byte {}: the key ends after {} of {} fields", row_key.size(),
                                     fields.size(), schema.fields().size());
  }
  return fields;
}

absl::StatusOr<std::vector<internal::OrderedField>> SplitFields(const RowKeySchema& schema,
                                                                std::string_view row_key) {
  if (row_key.empty()) return internal::InvalidArgument("the key is empty");
  switch (schema.encoding()) {
    case KeyEncoding::kSingleton:
      return std::vector<internal::OrderedField>{{.bytes = std::string(row_key), .offset = 0}};
    case KeyEncoding::kDelimited:
      return SplitDelimited(schema, row_key);
    case KeyEncoding::kOrderedCode:
      break;
  }
  STELE_ASSIGN_OR_RETURN(auto fields, internal::SplitOrdered(row_key));
  if (fields.size() > schema.fields().size()) {
    return internal::InvalidArgument("byte {}: the key has more than the {} fields of the schema",
                                     fields[schema.fields().size()].offset, schema.fields().size());
  }
  fields.resize(schema.fields().size(), {.bytes = "", .offset = row_key.size()});
  return fields;
}

}  // namespace

absl::StatusOr<RowKeySchema> RowKeySchema::Create(KeyEncoding encoding, std::vector<Field> fields,
                                                  std::string delimiter) {
  STELE_RETURN_IF_ERROR(CheckFields(fields));
  STELE_RETURN_IF_ERROR(CheckDelimiter(encoding, delimiter));
  if (encoding == KeyEncoding::kSingleton && fields.size() != 1) {
    return internal::InvalidArgument("the encoding \"singleton\" needs exactly one field, not {}",
                                     fields.size());
  }
  RowKeySchema schema;
  schema.encoding_ = encoding;
  schema.fields_ = std::move(fields);
  schema.delimiter_ = std::move(delimiter);
  return schema;
}

absl::StatusOr<std::string> RowKeySchema::Encode(std::span<const Value> values,
                                                 uint64_t row_key_bytes_max) const {
  if (values.size() != fields_.size()) {
    return internal::InvalidArgument("{} values were given for {} fields", values.size(),
                                     fields_.size());
  }
  STELE_ASSIGN_OR_RETURN(std::vector<std::string> encoded, EncodeFields(*this, values));
  std::string row_key = JoinFields(*this, std::move(encoded));
  STELE_RETURN_IF_ERROR(CheckKeyLength(row_key, row_key_bytes_max));
  return row_key;
}

absl::StatusOr<std::vector<Value>> RowKeySchema::Decode(std::string_view row_key) const {
  STELE_ASSIGN_OR_RETURN(const auto fields, SplitFields(*this, row_key));
  std::vector<Value> values;
  for (size_t i = 0; i < fields.size(); ++i) {
    auto value = internal::DecodeField(fields_[i], fields[i].bytes);
    if (!value.ok())
      return internal::WithContext(value.status(), fmt::format("byte {}", fields[i].offset));
    values.push_back(*std::move(value));
  }
  return values;
}

absl::StatusOr<std::string> RowKeySchema::EncodePrefix(std::span<const Value> values) const {
  if (values.size() > fields_.size()) {
    return internal::InvalidArgument("{} values were given for {} fields", values.size(),
                                     fields_.size());
  }
  if (values.size() == fields_.size()) return Encode(values, std::numeric_limits<uint64_t>::max());
  STELE_ASSIGN_OR_RETURN(std::vector<std::string> encoded, EncodeFields(*this, values));
  if (encoded.empty()) return std::string();
  if (encoding_ == KeyEncoding::kDelimited) return JoinDelimited(encoded, delimiter_) + delimiter_;
  return internal::JoinOrdered(encoded).append(internal::OrderedSeparator());
}

}  // namespace keys
}  // namespace v0
}  // namespace stele
