#include "lab/dynamodb/record_file.h"

#include <utility>

#include "base/status.h"

namespace stele::internal::lab {

RecordFile::RecordFile(const DataFile& file, bool verifies, std::unique_ptr<InputFile> input)
    : file_(file),
      verifies_(verifies),
      lines_(std::move(input), kRecordBytesMax, kRecordPaddingBytes) {}

absl::StatusOr<std::unique_ptr<RecordFile>> RecordFile::Open(const DataFile& file, bool verifies) {
  STELE_ASSIGN_OR_RETURN(auto input, InputFile::Open(file.path, true));
  return std::unique_ptr<RecordFile>(new RecordFile(file, verifies, std::move(input)));
}

absl::StatusOr<bool> RecordFile::Next() {
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, lines_.Next(&line_));
    if (!any) {
      STELE_RETURN_IF_ERROR(CheckEnd());
      return false;
    }
    if (line_.text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ++record_count_;
    status_ = line_.is_too_long
                  ? InvalidArgument("the line has more than {} bytes", kRecordBytesMax)
                  : parser_.ParseLine(line_.text, &record_);
    return true;
  }
}

absl::Status RecordFile::CheckEnd() {
  md5_ = lines_.file().Md5();
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
