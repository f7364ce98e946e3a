#include "lab/records/delimited_records.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "lab/mapping/lab_json.h"
#include "lab/template/template_function.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {

absl::StatusOr<std::unique_ptr<DelimitedRecords>> DelimitedRecords::Open(
    const std::string& path, char delimiter, std::vector<std::string> names) {
  STELE_ASSIGN_OR_RETURN(auto input, InputFile::Open(path, false));
  auto lines = std::make_unique<LineReader>(std::move(input), kTextRecordBytesMax, 0);
  std::unique_ptr<DelimitedRecords> records(new DelimitedRecords(std::move(lines), delimiter));
  records->are_names_given_ = !names.empty();
  if (names.empty()) {
    STELE_ASSIGN_OR_RETURN(const bool any, records->Read());
    if (!any) return InvalidArgument("{}: the file has no header line", ShownText(path));
    if (!records->status_.ok())
      return WithContext(records->status_,
                         fmt::format("{}:{}", ShownText(path), records->line_number_));
    for (size_t i = 0; i < records->spans_.size(); ++i) names.emplace_back(records->FieldAt(i));
  }
  const absl::Status set = records->SetNames(std::move(names));
  if (!set.ok()) return WithContext(set, fmt::format("{}:1", ShownText(path)));
  return records;
}

absl::Status DelimitedRecords::SetNames(std::vector<std::string> names) {
  header_ = std::move(names);
  for (size_t i = 0; i < header_.size(); ++i) places_.emplace_back(header_[i], i);
  std::sort(places_.begin(), places_.end());
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].first.empty()) return InvalidArgument("a field of the header has no name");
    if (places_[i].first.find('\r') != std::string::npos)
      return InvalidArgument("a name in the header has a CR: lines must end in LF or CR LF");
    if (i > 0 && places_[i].first == places_[i - 1].first)
      return InvalidArgument("the header has the field \"{}\" twice", Printable(places_[i].first));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> DelimitedRecords::Next() {
  STELE_ASSIGN_OR_RETURN(const bool any, Read());
  if (any && status_.ok() && spans_.size() != places_.size())
    status_ = InvalidArgument("{} fields, but {} {}", spans_.size(),
                              are_names_given_ ? "the design has columns for" : "the header has",
                              places_.size());
  return any;
}

absl::StatusOr<bool> DelimitedRecords::Read() {
  InputLine line;
  do {
    STELE_ASSIGN_OR_RETURN(const bool any, lines_->Next(&line));
    if (!any) return false;
  } while (line.text.empty());
  text_ = line.text;
  had_return_ = line.had_return;
  line_number_ = line.number;
  unquoted_.clear();
  spans_.clear();
  record_.clear();
  status_ = absl::OkStatus();
  if (line.is_too_long) {
    // The record may continue in the next line, in quotes. That line must not be read as a record.
    if (delimiter_ == ',') return TooLong();
    status_ = InvalidArgument("the record has more than {} bytes", kTextRecordBytesMax);
    return true;
  }
  const absl::Status divided = Divide();
  if (!divided.ok() && divided.code() != absl::StatusCode::kInvalidArgument) return divided;
  status_ = divided;
  return true;
}

absl::StatusOr<bool> DelimitedRecords::AppendLine() {
  if (record_.empty()) record_ = text_;
  InputLine line;
  STELE_ASSIGN_OR_RETURN(const bool any, lines_->Next(&line));
  if (!any) return false;
  if (line.is_too_long || record_.size() + line.text.size() > kTextRecordBytesMax) return TooLong();
  record_.append(had_return_ ? "\r\n" : "\n").append(line.text);
  had_return_ = line.had_return;
  text_ = record_;
  return true;
}

absl::Status DelimitedRecords::TooLong() const {
  return ResourceExhausted(
      "{}:{}: the record has more than {} bytes: is a closing quote missing from there on?",
      lines_->file().shown_path(), line_number_, kTextRecordBytesMax);
}

absl::Status DelimitedRecords::Divide() {
  size_t offset = 0;
  while (true) {
    if (spans_.size() == kRecordFieldsMax) {
      return ResourceExhausted("{}:{}: the record has more than {} fields",
                               lines_->file().shown_path(), line_number_, kRecordFieldsMax);
    }
    if (delimiter_ == ',' && offset < text_.size() && text_[offset] == '"') {
      STELE_RETURN_IF_ERROR(ConsumeQuoted(&offset));
    } else {
      const size_t end = std::min(text_.find(delimiter_, offset), text_.size());
      const std::string_view field = text_.substr(offset, end - offset);
      if (delimiter_ == ',' && field.find('"') != std::string_view::npos) {
        return InvalidArgument(
            "field {}: a quote in a field without quotes: write \"...\" with doubled quotes",
            spans_.size() + 1);
      }
      spans_.push_back({.begin = offset, .bytes = field.size(), .is_unquoted = false});
      offset = end;
    }
    if (offset == text_.size()) return absl::OkStatus();
    ++offset;  // the delimiter
  }
}

// Takes a field that begins with a quote, to its closing quote.
absl::Status DelimitedRecords::ConsumeQuoted(size_t* offset) {
  const size_t begin = unquoted_.size();
  size_t i = *offset + 1;
  while (true) {
    const size_t quote = text_.find('"', i);
    if (quote == std::string_view::npos) {
      const size_t seen = text_.size();
      STELE_ASSIGN_OR_RETURN(const bool any, AppendLine());
      if (!any) return InvalidArgument("field {}: the quote is not closed", spans_.size() + 1);
      unquoted_.append(text_.substr(i, seen - i));
      i = seen;
      continue;
    }
    unquoted_.append(text_.substr(i, quote - i));
    if (text_.substr(quote + 1, 1) != "\"") {
      *offset = quote + 1;
      break;
    }
    unquoted_ += '"';
    i = quote + 2;
  }
  if (*offset < text_.size() && text_[*offset] != delimiter_)
    return InvalidArgument("field {}: text after the closing quote", spans_.size() + 1);
  spans_.push_back({.begin = begin, .bytes = unquoted_.size() - begin, .is_unquoted = true});
  return absl::OkStatus();
}

std::string_view DelimitedRecords::FieldAt(size_t index) const {
  const Span& span = spans_[index];
  const std::string_view bytes = span.is_unquoted ? std::string_view(unquoted_) : text_;
  return bytes.substr(span.begin, span.bytes);
}

std::optional<std::string_view> DelimitedRecords::Text(std::string_view field) const {
  const auto place =
      std::lower_bound(places_.begin(), places_.end(), field,
                       [](const auto& each, std::string_view name) { return each.first < name; });
  if (place == places_.end() || place->first != field) return std::nullopt;
  const std::string_view text = FieldAt(place->second);
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

std::vector<std::string> DelimitedRecords::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : places_)
    if (names.size() < kNamesMax) names.push_back(name);
  return names;
}

absl::StatusOr<RecordFields> DelimitedRecords::AllFields() const {
  FieldCollector fields;
  for (const auto& [name, index] : places_) {
    const std::string_view text = FieldAt(index);
    if (!text.empty()) STELE_RETURN_IF_ERROR(fields.Add(name, text));
  }
  return fields.Take();
}

std::optional<std::string> DelimitedRecords::Json(std::string_view field) const {
  const auto text = Text(field);
  if (!text.has_value()) return std::nullopt;
  return JsonString(*text, kTemplateTextBytesMax);
}

}  // namespace stele::internal::lab
