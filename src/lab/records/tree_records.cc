#include "lab/records/tree_records.h"

#include <utility>

#include "base/status.h"
#include "lab/dynamodb/record_file.h"
#include "lab/input/line_reader.h"
#include "lab/records/item_fields.h"
#include "lab/records/json_item.h"

namespace stele::internal::lab {
namespace {

class JsonLineRecords : public RecordReader {
 public:
  explicit JsonLineRecords(std::unique_ptr<InputFile> file)
      : lines_(std::move(file), kTextRecordBytesMax, 0) {}

  absl::StatusOr<bool> Next() override {
    do {
      STELE_ASSIGN_OR_RETURN(const bool any, lines_.Next(&line_));
      if (!any) return false;
    } while (line_.text.find_first_not_of(" \t") == std::string_view::npos);
    status_ = line_.is_too_long
                  ? InvalidArgument("the line has more than {} bytes", kTextRecordBytesMax)
                  : ParseJsonItem(line_.text, &item_);
    return true;
  }
  const absl::Status& status() const override { return status_; }
  const FieldSource& fields() const override { return fields_; }
  absl::StatusOr<RecordFields> AllFields() const override { return fields_.All(); }
  std::string_view text() const override { return line_.text; }
  uint64_t line_number() const override { return line_.number; }
  uint64_t stored_bytes() const override { return lines_.file().stored_bytes(); }
  uint64_t checksum() const override { return lines_.file().checksum(); }

 private:
  LineReader lines_;
  InputLine line_;
  Item item_;
  ItemFields fields_{item_, true};
  absl::Status status_;
};

class ItemRecords : public RecordReader {
 public:
  explicit ItemRecords(std::unique_ptr<RecordFile> file) : file_(std::move(file)) {}

  absl::StatusOr<bool> Next() override {
    STELE_ASSIGN_OR_RETURN(const bool any, file_->Next());
    if (!any) return false;
    status_ = file_->status();
    if (status_.ok() && file_->record().is_change)
      status_ = InvalidArgument("a change of an incremental export, and not an item");
    return true;
  }
  const absl::Status& status() const override { return status_; }
  const FieldSource& fields() const override { return fields_; }
  absl::StatusOr<RecordFields> AllFields() const override { return fields_.All(); }
  std::string_view text() const override { return file_->text(); }
  uint64_t line_number() const override { return file_->line_number(); }
  uint64_t number() const override { return file_->number(); }
  uint64_t stored_bytes() const override { return file_->stored_bytes(); }
  uint64_t checksum() const override { return file_->checksum(); }

 private:
  const std::unique_ptr<RecordFile> file_;
  ItemFields fields_{file_->record().item, false};
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordReader>> OpenJsonLines(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(auto file, InputFile::Open(path, false));
  return std::make_unique<JsonLineRecords>(std::move(file));
}

absl::StatusOr<std::unique_ptr<RecordReader>> OpenItems(const DataFile& file) {
  STELE_ASSIGN_OR_RETURN(auto records, RecordFile::Open(file, /*verifies=*/true));
  return std::make_unique<ItemRecords>(std::move(records));
}

}  // namespace stele::internal::lab
