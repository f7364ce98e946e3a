#include "listing.h"

#include <algorithm>

#include "fmt/format.h"

namespace stele::cli {
namespace {

constexpr size_t kTabWidth = 8;
constexpr size_t kPadding = 4;
constexpr size_t kLeastWidth = 10;

std::string FieldText(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

std::vector<std::string> FieldTexts(const std::vector<Json>& record) {
  std::vector<std::string> texts;
  texts.reserve(record.size());
  for (const Json& value : record) texts.push_back(FieldText(value));
  return texts;
}

Json RecordJson(const Listing& listing, const std::vector<Json>& record) {
  Json json = Json::object();
  for (size_t i = 0; i < record.size(); ++i) json[listing.names[i]] = record[i];
  return json;
}

}  // namespace

std::string AlignedText(const std::vector<std::vector<std::string>>& lines) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      if (widths.size() <= i) widths.push_back(kLeastWidth);
      widths[i] = std::max(widths[i], line[i].size() + kPadding);
    }
  }
  std::string text;
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      text += line[i];
      if (i + 1 == line.size()) break;
      const size_t tabs = (widths[i] + kTabWidth - 1) / kTabWidth - line[i].size() / kTabWidth;
      text.append(tabs, '\t');
    }
    text += '\n';
  }
  return text;
}

std::string Counted(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string CsvLine(const std::vector<std::string>& fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    const std::string& field = fields[i];
    // Also quote a field with a leading space and a single empty field. Every CSV reader then
    // returns the same text.
    const bool plain = field.find_first_of(",\"\r\n") == std::string::npos &&
                       (field.empty() ? fields.size() > 1 : field[0] != ' ');
    if (plain) {
      line += field;
      continue;
    }
    line += '"';
    for (const char c : field) {
      if (c == '"') line += '"';
      line += c;
    }
    line += '"';
  }
  return line + "\n";
}

std::string ListingText(const Listing& listing, Format format) {
  std::string text;
  switch (format) {
    case Format::kText:
    case Format::kTable: {
      std::vector<std::vector<std::string>> lines = {listing.names, {}};
      for (const std::string& name : listing.names) lines[1].emplace_back(name.size(), '-');
      for (const auto& record : listing.records) lines.push_back(FieldTexts(record));
      return AlignedText(lines);
    }
    case Format::kCsv:
      text = CsvLine(listing.names);
      for (const auto& record : listing.records) text += CsvLine(FieldTexts(record));
      return text;
    case Format::kJsonl:
      for (const auto& record : listing.records) {
        text += JsonText(RecordJson(listing, record)) + "\n";
      }
      return text;
    case Format::kJson: {
      Json all = Json::array();
      for (const auto& record : listing.records) all.push_back(RecordJson(listing, record));
      return JsonText(all, 2) + "\n";
    }
  }
  return text;
}

}  // namespace stele::cli
