#include "csv_reader.h"

#include <cerrno>
#include <string_view>

#include "base/status.h"

namespace stele::cli {
namespace {

// The byte order mark that spreadsheets write at the start of a file.
constexpr std::string_view kMark = "\xef\xbb\xbf";
constexpr std::string_view kLargeRecord =
    "a record of more than 512 MiB; look for a missing \" from this line on";

}  // namespace

int CsvReader::Get() {
  const int c = start_.empty() ? std::getc(file_) : static_cast<unsigned char>(start_.front());
  if (!start_.empty()) start_.erase(0, 1);
  if (c != EOF) ++bytes_read_;
  if (c == '\n') ++line_;
  return c;
}

void CsvReader::SkipMark() {
  for (int c = 0; start_.size() < kMark.size() && kMark.starts_with(start_);) {
    c = std::getc(file_);
    if (c == EOF) return;
    start_ += static_cast<char>(c);
  }
  if (start_ == kMark) start_.clear();
}

bool CsvReader::IsUtf16() const { return start_ == "\xff" || start_ == "\xfe"; }

absl::Status CsvReader::WrongAt(uint64_t line, std::string_view what) const {
  return internal::InvalidArgument("{}:{}: {}", name_, line, what);
}

// Reads a field after its opening quote. Returns the character that ended the field: the separator,
// '\n' or EOF.
absl::StatusOr<int> CsvReader::ReadQuoted(std::string& field) {
  while (true) {
    int c = Get();
    if (c == EOF)
      return Wrong("a quoted field is not closed; look for a missing \" from this line on");
    if (c != '"') {
      if (IsTooLarge()) return Wrong(kLargeRecord);
      field += static_cast<char>(c);
      continue;
    }
    c = Get();
    if (c == '"') {
      field += '"';
      continue;
    }
    if (c == '\r') c = Get();
    if (EndsField(c)) return c;
    return Wrong(
        "text after the closing quote of a field; write \"\" for a quote inside a quoted field");
  }
}

absl::StatusOr<int> CsvReader::ReadField(int first, std::string& field) {
  if (first == '"') return ReadQuoted(field);
  int c = first;
  while (!EndsField(c)) {
    if (c == '"')
      return Wrong(
          "a quote inside a field without quotes; quote the whole field and double the quote");
    if (IsTooLarge()) return Wrong(kLargeRecord);
    field += static_cast<char>(c);
    c = Get();
  }
  if (c != separator_ && field.ends_with('\r')) field.pop_back();
  return c;
}

absl::StatusOr<bool> CsvReader::Next(std::vector<std::string>& fields) {
  if (record_line_ == 0) {
    SkipMark();
    record_line_ = line_;
    if (IsUtf16()) return Wrong("the file is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)");
  }
  int c = 0;
  do {
    record_line_ = line_;
    record_begin_bytes_ = bytes_read_;
    c = Get();
    if (c == '\r') {
      // A carriage return is allowed only before a line feed.
      c = Get();
      if (c != '\n' && c != EOF) return Wrong("a carriage return without a line feed");
    }
  } while (c == '\n');
  if (c == EOF) {
    if (std::ferror(file_) != 0) return internal::ErrnoStatus("read", name_, errno);
    return false;
  }
  fields.clear();
  while (true) {
    STELE_ASSIGN_OR_RETURN(c, ReadField(c, fields.emplace_back()));
    if (c == EOF || c != separator_) break;
    if (fields.size() == kFieldsMax) return Wrong(fmt::format("more than {} fields", kFieldsMax));
    c = Get();
  }
  if (std::ferror(file_) != 0) return internal::ErrnoStatus("read", name_, errno);
  if (field_count_ == 0) field_count_ = fields.size();
  if (fields.size() != field_count_) {
    return Wrong(fmt::format("wrong number of fields: {}; the first line has {}", fields.size(),
                             field_count_));
  }
  return true;
}

}  // namespace stele::cli
