#include "lab/staging/row_files.h"

#include <functional>
#include <memory>
#include <utility>

#include "base/status.h"
#include "lab/input/line_reader.h"
#include "lab/staging/row_line.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kLineBytesMax = size_t{64} << 20;
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
  STELE_ASSIGN_OR_RETURN(auto file, InputFile::OpenSequential(path));
  LineReader reader(std::move(file), kLineBytesMax, 0);
  InputLine line;
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, reader.Next(&line));
    if (!any) return absl::OkStatus();
    if (line.text.empty()) continue;
    const absl::Status added =
        line.is_too_long ? internal::InvalidArgument("a line has more than {} bytes", kLineBytesMax)
                         : add(line.text);
    if (!added.ok())
      return internal::WithContext(added,
                                   fmt::format("{}:{}", reader.file().shown_path(), line.number));
  }
}

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
  return ForEachLine(path, [&](std::string_view line) -> absl::Status {
    StagedRow row;
    STELE_RETURN_IF_ERROR(ParseRowLine(line, &row));
    for (const std::string& family : row.families) STELE_RETURN_IF_ERROR(table->AddFamily(family));
    return table->Add(std::move(row.row), row.bytes);
  });
}

}  // namespace stele::internal::lab
