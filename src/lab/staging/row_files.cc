#include "lab/staging/row_files.h"

#include <functional>
#include <memory>
#include <utility>

#include "base/status.h"
#include "lab/dynamodb/json_document.h"
#include "lab/input/line_reader.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr size_t kLineBytesMax = size_t{64} << 20;
constexpr size_t kJsonDepthMax = 16;
constexpr size_t kCellBytes = 64;  // the overhead of a change in memory

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

absl::StatusOr<std::string> UnescapedLine(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
    } else if (text.substr(i).starts_with("\\\\")) {
      bytes += '\\';
      ++i;
    } else if (i + 3 < text.size() && text[i + 1] == 'x' && HexDigit(text[i + 2]) >= 0 &&
               HexDigit(text[i + 3]) >= 0) {
      bytes += static_cast<char>(HexDigit(text[i + 2]) * 16 + HexDigit(text[i + 3]));
      i += 3;
    } else {
      return internal::InvalidArgument("byte {}: write a byte as \\xNN and a backslash as \\\\", i);
    }
  }
  return bytes;
}

// Calls `add` for each line that is not empty.
absl::Status ForEachLine(const std::string& path,
                         const std::function<absl::Status(std::string_view)>& add) {
  STELE_ASSIGN_OR_RETURN(
      auto file, path == "-" ? InputFile::OpenStandardInput() : InputFile::Open(path, false));
  LineReader reader(std::move(file), kLineBytesMax, simdjson::SIMDJSON_PADDING);
  InputLine line;
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, reader.Next(&line));
    if (!any) return absl::OkStatus();
    if (line.text.empty()) continue;
    const absl::Status added =
        line.is_too_long ? internal::InvalidArgument("a line has more than {} bytes", kLineBytesMax)
                         : add(line.text);
    if (!added.ok())
      return internal::WithContext(added, fmt::format("{}:{}", reader.file().path(), line.number));
  }
}

// The bytes under `name` or, as base64, under NAME_base64.
absl::Status GetBytes(const object& json, std::string_view name, std::string* out) {
  std::string_view text;
  out->clear();
  if (json[name].get(text) == simdjson::SUCCESS) {
    *out = text;
    return absl::OkStatus();
  }
  if (json[std::string(name) + "_base64"].get(text) == simdjson::SUCCESS &&
      AppendDecodedBase64(text, out))
    return absl::OkStatus();
  return internal::InvalidArgument("\"{}\" or \"{}_base64\" is required", name, name);
}

class RowLines {
 public:
  explicit RowLines(StagedTable* table) : table_(*table) {}

  absl::Status Add(std::string_view line) {
    element document;
    STELE_RETURN_IF_ERROR(parser_.Parse(line, &document));
    object row;
    array cells;
    if (document.get(row) != simdjson::SUCCESS || row["cells"].get(cells) != simdjson::SUCCESS)
      return internal::InvalidArgument("not an object with \"row\" and an array \"cells\"");
    STELE_RETURN_IF_ERROR(GetBytes(row, "row", &row_key_));
    RowMutation mutation(row_key_);
    size_t bytes = row_key_.size();
    for (const element cell : cells) STELE_RETURN_IF_ERROR(AddCell(cell, &mutation, &bytes));
    if (mutation.count() == 0) return internal::InvalidArgument("the row has no cell");
    return table_.Add(std::move(mutation), bytes);
  }

 private:
  absl::Status AddCell(const element& json, RowMutation* mutation, size_t* bytes) {
    object cell;
    if (json.get(cell) != simdjson::SUCCESS)
      return internal::InvalidArgument("a cell is not an object");
    STELE_RETURN_IF_ERROR(GetBytes(cell, "family", &family_));
    STELE_RETURN_IF_ERROR(GetBytes(cell, "qualifier", &qualifier_));
    STELE_RETURN_IF_ERROR(GetBytes(cell, "value", &value_));
    int64_t micros = 0;
    element timestamp;
    if (cell["timestamp"].get(timestamp) == simdjson::SUCCESS &&
        (timestamp.get(micros) != simdjson::SUCCESS || micros < 0))
      return internal::InvalidArgument("\"timestamp\" is not a number of microseconds");
    STELE_RETURN_IF_ERROR(table_.AddFamily(family_));
    mutation->SetCell(family_, qualifier_, Timestamp::FromMicros(micros), value_);
    *bytes += qualifier_.size() + value_.size() + kCellBytes;
    return absl::OkStatus();
  }

  StagedTable& table_;
  JsonParser parser_{kJsonDepthMax};
  std::string row_key_;
  std::string family_;
  std::string qualifier_;
  std::string value_;
};

}  // namespace

absl::Status StageKeys(const std::string& path, StagedTable* table) {
  STELE_RETURN_IF_ERROR(table->AddFamily("f"));
  return ForEachLine(path, [&](std::string_view line) -> absl::Status {
    STELE_ASSIGN_OR_RETURN(std::string row_key, UnescapedLine(line));
    const size_t bytes = row_key.size() + kCellBytes;
    RowMutation row(std::move(row_key));
    row.SetCell("f", "q", Timestamp(), "v");
    return table->Add(std::move(row), bytes);
  });
}

absl::Status StageRows(const std::string& path, StagedTable* table) {
  RowLines rows(table);
  return ForEachLine(path, [&](std::string_view line) { return rows.Add(line); });
}

}  // namespace stele::internal::lab
