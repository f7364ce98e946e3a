// tools/stele/key_schema.cc: key encode and key decode: row keys of typed fields.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "base/status.h"
#include "key.h"
#include "key_bytes.h"
#include "key_text.h"
#include "stele/keys.h"
#ifdef STELE_HAS_LAB
#include "lab/values/shown_text.h"
#include "lab/yaml/key_schema.h"
#endif

namespace stele::cli {
namespace {

using keys::RowKeySchema;
using keys::Value;
using FieldType = RowKeySchema::FieldType;

constexpr size_t kSchemaBytesMax = size_t{1} << 20;

struct CloseSchemaFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

absl::StatusOr<std::string> ReadSchemaFile(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseSchemaFile> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return internal::ErrnoStatus("open", path, errno);
  std::string text(kSchemaBytesMax + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return internal::ErrnoStatus("read", path, errno);
  if (text.size() <= kSchemaBytesMax) return text;
  return internal::InvalidArgument("{} has more than {} bytes and is not a row key schema", path,
                                   kSchemaBytesMax);
}

// JSON is read first: YAML is for people, and lacks a few escapes of JSON.
absl::StatusOr<RowKeySchema> ParseSchemaFile(const std::string& text, const std::string& name) {
  auto schema = RowKeySchema::Parse(text);
  if (schema.ok()) return schema;
#ifdef STELE_HAS_LAB
  return internal::lab::ParseKeySchemaFile(text, internal::lab::ShownText(name));
#else
  return Within(name + " (without stele::lab it must be JSON)", schema.status());
#endif
}

// Reads "id:string,code:int64:ordered_code" as the JSON form of the fields.
absl::StatusOr<Json> FieldsJson(std::string_view text) {
  Json fields = Json::array();
  if (text.empty()) return fields;
  for (const std::string_view field : keys::Split(text, ",")) {
    const std::vector<std::string_view> parts = keys::Split(field, ":");
    if (parts.size() < 2 || parts.size() > 3 || !IsUtf8(field)) {
      return UsageError(fmt::format("--fields: \"{}\" must have the form NAME:TYPE[:ENCODING]",
                                    internal::Printable(field)));
    }
    Json json = {{"name", std::string(parts[0])}, {"type", std::string(parts[1])}};
    if (parts.size() == 3) json["encoding"] = std::string(parts[2]);
    fields.push_back(std::move(json));
  }
  return fields;
}

// Removes the position in the JSON that the flags became: the user does not see that JSON.
std::string_view WithoutPosition(std::string_view message) {
  if (!message.starts_with("row key schema, byte ")) return message;
  return message.substr(message.find(": ") + 2);
}

absl::StatusOr<RowKeySchema> SchemaOf(const Flags& flags) {
  const auto path = flags.Find("schema");
  if (path.has_value() == flags.has("fields"))
    return UsageError("give either --schema FILE or --fields NAME:TYPE,...");
  if (path.has_value()) {
    if (flags.has("encoding") || flags.has("delimiter"))
      return UsageError("--encoding and --delimiter are for --fields; the file has its own");
    STELE_ASSIGN_OR_RETURN(const std::string text, ReadSchemaFile(*path));
    return ParseSchemaFile(text, *path);
  }
  const std::string encoding = flags.Get("encoding", "ordered_code");
  const std::string delimiter = flags.Get("delimiter", encoding == "delimited" ? "#" : "");
  STELE_ASSIGN_OR_RETURN(Json fields, FieldsJson(*flags.Find("fields")));
  if (!IsUtf8(encoding) || !IsUtf8(delimiter))
    return UsageError("--encoding and --delimiter must be UTF-8");
  Json json = {{"encoding", encoding}, {"fields", std::move(fields)}};
  if (!delimiter.empty()) json["delimiter"] = delimiter;
  auto schema = RowKeySchema::Parse(json.dump());
  if (schema.ok()) return schema;
  return UsageError(std::string(WithoutPosition(internal::ToStd(schema.status().message()))));
}

absl::StatusOr<Value> ValueOf(FieldType type, const std::string& text) {
  if (type == FieldType::kTimestamp) {
    STELE_ASSIGN_OR_RETURN(const Timestamp time, ParseTime(text));
    return Value(time);
  }
  if (type == FieldType::kInt64) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
      return internal::InvalidArgument("\"{}\" is not a whole number of 64 bits",
                                       internal::Printable(text));
    return Value(number);
  }
  STELE_ASSIGN_OR_RETURN(std::string bytes, UnescapedKey(text));
  return Value(std::move(bytes));
}

// A missing field is an error for every type: an empty string is a value of its own.
absl::Status MissingFieldError(const RowKeySchema::Field& field) {
  const bool is_text = field.type == FieldType::kString || field.type == FieldType::kBytes;
  return UsageError(fmt::format("the field \"{0}\" is missing: add {0}=VALUE{1}", field.name,
                                is_text ? fmt::format(", or {}= if it is empty", field.name) : ""));
}

// Reads "id=a code=5", in any order.
absl::StatusOr<std::vector<Value>> ValuesOf(const RowKeySchema& schema,
                                            const std::vector<std::string>& words) {
  std::map<std::string, std::string> texts;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      return UsageError(
          fmt::format("\"{}\" must have the form FIELD=VALUE", internal::Printable(word)));
    }
    if (!texts.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      return UsageError(fmt::format("the field \"{}\" is given twice",
                                    internal::Printable(word.substr(0, equals))));
  }
  for (const auto& entry : texts) {
    const auto has_name = [&](const RowKeySchema::Field& field) {
      return field.name == entry.first;
    };
    if (std::none_of(schema.fields().begin(), schema.fields().end(), has_name))
      return UsageError(
          fmt::format("the schema has no field \"{}\"", internal::Printable(entry.first)));
  }
  std::vector<Value> values;
  for (const RowKeySchema::Field& field : schema.fields()) {
    const auto found = texts.find(field.name);
    if (found == texts.end()) return MissingFieldError(field);
    auto value = ValueOf(field.type, found->second);
    if (!value.ok()) return Within(fmt::format("field \"{}\"", field.name), value.status());
    values.push_back(*std::move(value));
  }
  return values;
}

// A string of letters, digits and _-.:/@+ stays as it is. Others are in double quotes.
std::string StringText(std::string_view bytes) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:/@+").find(c) != std::string_view::npos;
  };
  if (!bytes.empty() && std::all_of(bytes.begin(), bytes.end(), is_plain))
    return std::string(bytes);
  std::string text = "\"";
  for (const char c : EscapedKey(bytes)) text.append(c == '"' ? "\\" : "").append(1, c);
  return text + '"';
}

std::string ValueText(const Value& value) {
  if (const auto* const number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* const time = std::get_if<Timestamp>(&value)) return time->ToString();
  return StringText(std::get<std::string>(value));
}

}  // namespace

std::string DecodedText(const RowKeySchema& schema, const std::vector<Value>& values) {
  std::string line;
  for (size_t i = 0; i < values.size(); ++i)
    line += (i == 0 ? "" : " ") + EscapedKey(schema.fields()[i].name) + "=" + ValueText(values[i]);
  return line;
}

Json DecodedJson(const RowKeySchema& schema, const std::vector<Value>& values) {
  Json object = Json::object();
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& name = schema.fields()[i].name;
    if (const auto* const number = std::get_if<int64_t>(&values[i])) {
      object[name] = *number;
    } else if (const auto* const time = std::get_if<Timestamp>(&values[i])) {
      object[name] = time->ToString();
    } else {
      SetBytes(object, name, std::get<std::string>(values[i]));
    }
  }
  return object;
}

absl::Status RunKeyEncode(const KeyRun& run) {
  STELE_ASSIGN_OR_RETURN(const RowKeySchema schema, SchemaOf(run.flags));
  const auto encode = [&](const std::vector<std::string>& words) -> absl::Status {
    STELE_ASSIGN_OR_RETURN(const std::vector<Value> values, ValuesOf(schema, words));
    STELE_ASSIGN_OR_RETURN(const std::string row_key, schema.Encode(values));
    PrintKey(run, row_key);
    return absl::OkStatus();
  };
  if (run.words.size() != 1 || run.words[0] != "-") return encode(run.words);
  return ForEachLine([&](const std::string& line) {
    const std::vector<std::string_view> words = keys::Split(line, "\t");
    return encode({words.begin(), words.end()});
  });
}

absl::Status RunKeyDecode(const KeyRun& run) {
  STELE_ASSIGN_OR_RETURN(const RowKeySchema schema, SchemaOf(run.flags));
  return ForEachKey(
      run, 0, [&](const std::string& row_key) -> absl::StatusOr<std::vector<std::string>> {
        auto values = schema.Decode(row_key);
        if (!values.ok())
          return Within(fmt::format("key \"{}\"", EscapedKey(row_key)), values.status());
        run.session.Print(
            (run.as_json ? JsonText(DecodedJson(schema, *values)) : DecodedText(schema, *values)) +
            "\n");
        return std::vector<std::string>();
      });
}

}  // namespace stele::cli
