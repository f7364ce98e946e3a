#include "lab/dynamodb/record_file.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {

namespace {

constexpr size_t kBeginningBytes = size_t{64} << 10;
constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::string_view kItemsMember = "Items";  // of the output of scan and query

// Removes white space and, after it, `expected`.
bool ConsumeToken(std::string_view& text, char expected) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

// True if the file begins like a document with an array of items, and not like a line.
absl::StatusOr<bool> HasArrays(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const auto input, InputFile::Open(path, false));
  std::string beginning(kBeginningBytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t bytes, input->Read(beginning.data(), beginning.size()));
  std::string_view text = std::string_view(beginning).substr(0, bytes);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!ConsumeToken(text, '{') || !ConsumeToken(text, '"')) return false;
  const size_t end = std::min(text.find('"'), text.size());
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  for (const std::string_view member : {"Count", "ScannedCount", "ConsumedCapacity"}) {
    if (name == member) return true;
  }
  return ConsumeToken(text, '"') && ConsumeToken(text, ':') && ConsumeToken(text, '[');
}

// The error of reading a data file. The manifest names those of an export.
absl::Status WithAdvice(const DataFile& file, const absl::Status& status) {
  if (file.item_count < 0 || status.code() != absl::StatusCode::kInvalidArgument) return status;
  return InvalidArgument("{}: download the export again", ToStd(status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordFile>> RecordFile::Open(const DataFile& file, bool verifies) {
  bool has_arrays = false;
  if (file.item_count < 0) {  // a file of an export has lines
    STELE_ASSIGN_OR_RETURN(has_arrays, HasArrays(file.path));
  }
  STELE_ASSIGN_OR_RETURN(auto input, InputFile::Open(file.path, true));
  std::unique_ptr<RecordFile> records(new RecordFile(file, verifies));
  if (has_arrays) {
    records->elements_ =
        std::make_unique<ElementReader>(std::move(input), kRecordBytesMax, kRecordPaddingBytes);
  } else {
    records->lines_ =
        std::make_unique<LineReader>(std::move(input), kRecordBytesMax, kRecordPaddingBytes);
  }
  return records;
}

absl::StatusOr<bool> RecordFile::Next() {
  const absl::StatusOr<bool> any = lines_ != nullptr ? NextLine() : NextElement();
  if (!any.ok()) return WithAdvice(file_, any.status());
  if (*any) {
    ++record_count_;
  } else {
    STELE_RETURN_IF_ERROR(CheckEnd());
  }
  return any;
}

absl::StatusOr<bool> RecordFile::NextLine() {
  InputLine line;
  do {
    STELE_ASSIGN_OR_RETURN(const bool any, lines_->Next(&line));
    if (!any) return false;
  } while (line.text.find_first_not_of(kSpaces) == std::string_view::npos);
  text_ = line.text;
  line_number_ = line.number;
  status_ = line.is_too_long ? InvalidArgument("the line has more than {} bytes", kRecordBytesMax)
                             : parser_.ParseLine(text_, &record_);
  return true;
}

absl::StatusOr<bool> RecordFile::NextElement() {
  STELE_ASSIGN_OR_RETURN(const bool any, elements_->Next());
  if (!any) return false;
  text_ = elements_->text();
  line_number_ = elements_->line_number();
  request_table_ = elements_->member() == kItemsMember ? "" : std::string_view(elements_->member());
  status_ = ParseElement();
  return true;
}

absl::Status RecordFile::ParseElement() {
  if (elements_->is_too_long())
    return InvalidArgument("the item has more than {} bytes", kRecordBytesMax);
  if (elements_->member() != kItemsMember) return parser_.ParseRequest(text_, &record_);
  record_.is_change = false;
  record_.has_item = true;
  return parser_.ParseAttributes(text_, &record_.item);
}

absl::Status RecordFile::CheckEnd() {
  md5_ = input().Md5();
  if (verifies_ && !file_.md5.empty() && md5_ != file_.md5) {
    return InvalidArgument(
        "{}: its MD5 is {}, but the manifest states {}: download it again, or use --no-verify",
        file_.name, md5_, Printable(file_.md5));
  }
  if (file_.item_count >= 0 && static_cast<uint64_t>(file_.item_count) != record_count_) {
    return InvalidArgument("{}: has {} items, but the manifest states {}: download it again",
                           file_.name, record_count_, file_.item_count);
  }
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
