#include "support/cell_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

#include "base/hll.h"
#include "support/cell_naive_fold.h"

namespace stele::internal {
namespace {

constexpr int64_t kTimestampMax = std::numeric_limits<int64_t>::max();

[[noreturn]] void Refuse(std::string_view line) {
  fmt::print(stderr, "not a line of cell text: {}\n", line);
  std::abort();
}

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.#/").find(c) != std::string_view::npos;
}

std::string Escape(std::string_view bytes, bool is_value) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    const bool inner_blank = c == ' ' && i != 0 && i + 1 != bytes.size();
    const bool printable = is_value && c != '\\' && ((c > 0x20 && c < 0x7f) || inner_blank);
    if (IsPlain(c) || printable) {
      out.push_back(c);
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string Unescape(std::string_view text, std::string_view line) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out.push_back(text[i]);
      continue;
    }
    unsigned byte = 0;
    if (i + 3 >= text.size() || text[i + 1] != 'x') Refuse(line);
    if (std::from_chars(&text[i] + 2, &text[i] + 4, byte, 16).ptr != &text[i] + 4) Refuse(line);
    out.push_back(static_cast<char>(byte));
    i += 3;
  }
  return out;
}

int64_t ParseTimestamp(std::string_view text, std::string_view line) {
  if (text == "max") return kTimestampMax;
  int64_t timestamp = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), timestamp);
  if (error != std::errc() || end != text.data() + text.size()) Refuse(line);
  return timestamp;
}

std::string PrintTimestamp(int64_t timestamp) {
  return timestamp == kTimestampMax ? "max" : fmt::format("{}", timestamp);
}

std::string_view TakeWord(std::string_view* rest) {
  rest->remove_prefix(std::min(rest->find_first_not_of(' '), rest->size()));
  const std::string_view word = rest->substr(0, rest->find(' '));
  rest->remove_prefix(word.size());
  return word;
}

void ParseRange(std::string_view range, std::string_view line, OwnedCell* cell) {
  const size_t comma = range.find(',');
  if (range.size() < 3 || range.front() != '[' || range.back() != ']' || comma == range.npos)
    Refuse(line);
  cell->range_start = ParseTimestamp(range.substr(1, comma - 1), line);
  cell->timestamp = ParseTimestamp(range.substr(comma + 1, range.size() - comma - 2), line);
}

void ParseDelta(std::string_view what, std::string_view rest, std::string_view line,
                OwnedCell* cell) {
  const std::string_view words[] = {"sum", "min", "max", "hll"};
  const auto* word = std::find(std::begin(words), std::end(words), what);
  if (word == std::end(words)) Refuse(line);
  cell->kind = static_cast<CellKind>(static_cast<int>(CellKind::kSum) + (word - std::begin(words)));
  if (cell->kind == CellKind::kHll) {
    std::vector<std::string> items;
    for (std::string_view item = TakeWord(&rest); !item.empty(); item = TakeWord(&rest))
      items.emplace_back(item);
    cell->value = NaiveSketch(items);
    return;
  }
  const std::string_view number = TakeWord(&rest);
  int64_t parsed = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), parsed).ptr !=
      number.data() + number.size())
    Refuse(line);
  cell->value = NaiveNumber(parsed);
}

std::string PrintDelta(const Cell& cell) {
  if (cell.kind == CellKind::kHll)
    return fmt::format("hll of about {:.0f}", EstimateHll(cell.value).value_or(-1));
  const std::string_view words[] = {"sum", "min", "max"};
  return fmt::format("{} {}", words[static_cast<int>(cell.kind) - static_cast<int>(CellKind::kSum)],
                     NaiveNumberOf(cell.value));
}

CellLine ParseLine(std::string_view line, const FamilyList& families) {
  std::string_view rest = line;
  CellLine parsed;
  parsed.row_key = Unescape(TakeWord(&rest), line);
  const std::string_view column = TakeWord(&rest);
  if (column == "DELETE") {
    parsed.cell.kind = CellKind::kDeleteRow;
    return parsed;
  }
  const size_t colon = column.find(':');
  const auto family = families.IndexOfName(column.substr(0, colon));
  if (!family.has_value()) Refuse(line);
  parsed.cell.family = *family;
  const std::string_view verb = TakeWord(&rest);
  if (colon == column.npos) {
    if (verb != "DELETE") Refuse(line);
    parsed.cell.kind = CellKind::kDeleteFamily;
    return parsed;
  }
  parsed.cell.qualifier = Unescape(column.substr(colon + 1), line);
  if (verb == "DELETE") {
    parsed.cell.kind = CellKind::kDeleteRange;
    ParseRange(TakeWord(&rest), line, &parsed.cell);
    return parsed;
  }
  if (verb.empty() || verb.front() != '@') Refuse(line);
  parsed.cell.timestamp = ParseTimestamp(verb.substr(1), line);
  const std::string_view what = TakeWord(&rest);
  if (what != "=") {
    ParseDelta(what, rest, line, &parsed.cell);
    return parsed;
  }
  rest.remove_prefix(std::min<size_t>(1, rest.size()));
  parsed.cell.value = Unescape(rest, line);
  return parsed;
}

}  // namespace

const FamilyList& TestFamilies() {
  static const FamilyList families({{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}});
  return families;
}

std::vector<CellLine> ParseCellLines(std::string_view text, const FamilyList& families) {
  std::vector<CellLine> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.empty() && line.front() != '#') lines.push_back(ParseLine(line, families));
  }
  return lines;
}

OwnedRows ParseRows(std::string_view text, const FamilyList& families) {
  std::map<std::string, std::vector<OwnedCell>> sorted;
  for (CellLine& line : ParseCellLines(text, families))
    sorted[line.row_key].push_back(std::move(line.cell));
  OwnedRows rows;
  for (auto& [row_key, cells] : sorted) {
    std::sort(cells.begin(), cells.end(), [](const OwnedCell& a, const OwnedCell& b) {
      return CompareCells(a.View(), b.View()) < 0;
    });
    rows.push_back({row_key, std::move(cells)});
  }
  return rows;
}

std::string PrintCell(std::string_view row_key, const Cell& cell, const FamilyList& families) {
  const std::string row = Escape(row_key, false);
  if (cell.kind == CellKind::kDeleteRow) return fmt::format("{} DELETE", row);
  const std::string& family = families[cell.family].name;
  if (cell.kind == CellKind::kDeleteFamily) return fmt::format("{} {} DELETE", row, family);
  const std::string column = fmt::format("{} {}:{}", row, family, Escape(cell.qualifier, false));
  if (cell.kind == CellKind::kDeleteRange) {
    return fmt::format("{} DELETE [{},{}]", column, PrintTimestamp(cell.range_start),
                       PrintTimestamp(cell.timestamp));
  }
  if (cell.is_delta())
    return fmt::format("{} @{} {}", column, PrintTimestamp(cell.timestamp), PrintDelta(cell));
  const std::string value = Escape(cell.value, true);
  return fmt::format("{} @{} ={}{}", column, PrintTimestamp(cell.timestamp),
                     value.empty() ? "" : " ", value);
}

std::string PrintRows(const OwnedRows& rows, const FamilyList& families) {
  std::string text;
  for (const OwnedRow& row : rows) {
    for (const OwnedCell& cell : row.cells)
      text += PrintCell(row.row_key, cell.View(), families) + "\n";
  }
  return text;
}

std::string PrintAll(CellCursor* cursor, const FamilyList& families) {
  return PrintRows(ReadAll(cursor), families);
}

}  // namespace stele::internal
