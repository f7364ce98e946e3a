// Runs the vectors of tests/data/keys: one line of input is one call, one line of output its result
// or its error.
#include <gtest/gtest.h>

#include "base/status.h"
#include "stele/keys.h"
#include "support/base_text_cases.h"

namespace stele::keys {
namespace {

using internal::TextCase;

// Reads \xNN and "\\". '' is no byte.
std::string Unescape(std::string_view text) {
  std::string bytes;
  if (text == "''") return bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
    } else if (text.substr(i, 2) == "\\x") {
      bytes += static_cast<char>(std::stoi(std::string(text.substr(i + 2, 2)), nullptr, 16));
      i += 3;
    } else {
      bytes += '\\';
      ++i;
    }
  }
  return bytes;
}

std::string Line(const absl::StatusOr<std::string>& result) {
  if (!result.ok())
    return "error: " + std::string(internal::ToStd(result.status().message())) + "\n";
  return "'" + internal::Printable(*result, 4096) + "'\n";
}

absl::StatusOr<std::string> Text(const absl::StatusOr<int64_t>& number) {
  if (!number.ok()) return number.status();
  return std::to_string(*number);
}

std::string DelimiterOf(const TextCase& test) {
  return test.has("delimiter") ? Unescape(test.value("delimiter")) : "#";
}

std::string RunJoin(const TextCase& test) {
  std::string out;
  for (const std::string& line : test.input) {
    std::vector<std::string> parts;
    for (const std::string_view part : Split(line, " ")) parts.push_back(Unescape(part));
    const std::vector<std::string_view> views(parts.begin(), parts.end());
    const std::string delimiter = DelimiterOf(test);
    const auto joined = test.has("escape") ? JoinEscaped(views, delimiter) : Join(views, delimiter);
    out += Line(joined);
    if (!joined.ok()) continue;
    // The inverse returns the parts.
    if (test.has("escape")) {
      EXPECT_EQ(SplitEscaped(*joined, delimiter).value(), parts);
    } else {
      EXPECT_EQ(Split(*joined, delimiter), views);
    }
  }
  return out;
}

std::string RunSplit(const TextCase& test) {
  std::string out;
  for (const std::string& line : test.input) {
    const std::string row_key = Unescape(line);
    std::vector<std::string> parts;
    if (test.has("escape")) {
      const auto split = SplitEscaped(row_key, DelimiterOf(test));
      if (!split.ok()) out += Line(split.status());
      if (split.ok()) parts = *split;
    } else {
      for (const std::string_view part : Split(row_key, DelimiterOf(test)))
        parts.emplace_back(part);
    }
    for (const std::string& part : parts) out += Line(part);
  }
  return out;
}

TimeUnit UnitOf(const TextCase& test) {
  if (test.value("unit") == "s") return TimeUnit::kSeconds;
  return test.value("unit") == "us" ? TimeUnit::kMicros : TimeUnit::kMillis;
}

absl::StatusOr<std::string> Call(const TextCase& test, const std::string& text) {
  const int width = test.has("width") ? static_cast<int>(test.number("width")) : 0;
  if (test.command == "pad") return Pad(text, width);
  if (test.command == "rev_ts") return ReverseMillis(std::stoll(text));
  if (test.command == "rev_date") return ReverseDate(text);
  if (test.command == "rev_digits") return ReverseDigits(text, width);
  if (test.command == "rev_domain") return ReverseDomain(text);
  if (test.command == "salt") return SaltBucket(text, static_cast<int>(test.number("buckets")));
  if (test.command == "prefix_end") return PrefixEnd(text).value_or("");
  if (test.command == "bucket_time") {
    const std::chrono::microseconds step(test.number("micros"));
    return Text(BucketTime(std::stoll(text), step, UnitOf(test)));
  }
  return absl::UnimplementedError(internal::ToAbsl(test.command));
}

TEST(KeyCasesTest, Vectors) {
  internal::RunTextCases("keys/functions.txt", [](const TextCase& test) -> std::string {
    if (test.command == "join") return RunJoin(test);
    if (test.command == "split") return RunSplit(test);
    std::string out;
    for (const std::string& line : test.input) out += Line(Call(test, Unescape(line)));
    return out;
  });
}

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex.empty() ? "''" : hex;
}

std::string Bytes(std::string_view hex) {
  std::string bytes;
  if (hex == "''") return bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

Value ValueOf(RowKeySchema::FieldType type, const std::string& text) {
  if (type == RowKeySchema::FieldType::kInt64) return std::stoll(text);
  if (type == RowKeySchema::FieldType::kTimestamp) return Timestamp::FromMicros(std::stoll(text));
  return Unescape(text);
}

std::string TextOf(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* time = std::get_if<Timestamp>(&value)) return std::to_string(time->micros());
  const std::string& bytes = std::get<std::string>(value);
  return bytes.empty() ? "''" : internal::Printable(bytes);
}

// The first line is the schema. The others are values, or hexadecimal keys for `decode`.
std::string RunSchema(const TextCase& test) {
  const auto schema = RowKeySchema::Parse(test.input[0]);
  if (!schema.ok()) return Line(schema.status());
  EXPECT_EQ(RowKeySchema::Parse(schema->ToString()).value(), *schema);
  if (test.command == "schema") return schema->ToString() + "\n";
  std::string out;
  for (const std::string& line : std::span(test.input).subspan(1)) {
    absl::StatusOr<std::string> row_key;
    if (test.command != "decode") {
      std::vector<Value> values;
      for (const std::string_view word : Split(line, " ")) {
        if (line == "()") break;
        values.push_back(ValueOf(schema->fields().at(values.size()).type, std::string(word)));
      }
      row_key = test.command == "prefix" ? schema->EncodePrefix(values) : schema->Encode(values);
      out += row_key.ok() ? Hex(*row_key) + "\n" : Line(row_key);
      if (test.command != "encode" || !row_key.ok()) continue;
      EXPECT_EQ(schema->Decode(*row_key).value(), values);
      continue;
    }
    row_key = Bytes(line);
    const auto values = schema->Decode(*row_key);
    if (!values.ok()) out += Line(values.status());
    if (!values.ok()) continue;
    EXPECT_EQ(schema->Encode(*values).value(), *row_key);
    out += "(";
    for (const Value& value : *values) out += (out.back() == '(' ? "" : " ") + TextOf(value);
    out += ")\n";
  }
  return out;
}

TEST(KeyCasesTest, RowKeySchemas) { internal::RunTextCases("keys/row_key_schema.txt", RunSchema); }

}  // namespace
}  // namespace stele::keys
