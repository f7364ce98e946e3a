// records/delimited_records.h: the records of CSV and TSV files.
//
// Format:    CSV is that of RFC 4180: a field may be in double quotes, and then have commas, line
//            breaks and doubled quotes. TSV has no quotes. The first record has the names of the
//            fields, unless they are given. Bytes need not be UTF-8. An empty field is absent.
// Errors:    InvalidArgument for a wrong header, and for a bad record: another number of fields
//            than names; a quote in a field without quotes; text after the closing quote; a quote
//            that is not closed; a TSV record that is too long. ResourceExhausted, for the whole
//            input: a record with more than kRecordFieldsMax fields; a CSV record that is too long.
// Threads:   confined to one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/input/line_reader.h"
#include "lab/records/record_reader.h"

namespace stele::internal::lab {

inline constexpr size_t kRecordFieldsMax = 1'000'000;

class DelimitedRecords : public RecordReader, private FieldSource {
 public:
  // `delimiter` is ',' for CSV and '\t' for TSV. `names` empty: the first record has the names.
  static absl::StatusOr<std::unique_ptr<DelimitedRecords>> Open(const std::string& path,
                                                                char delimiter,
                                                                std::vector<std::string> names);

  absl::StatusOr<bool> Next() override;
  const absl::Status& status() const override { return status_; }
  const FieldSource& fields() const override { return *this; }
  absl::StatusOr<RecordFields> AllFields() const override;
  const std::vector<std::string>* header() const override { return &header_; }
  std::string_view text() const override { return text_; }
  uint64_t line_number() const override { return line_number_; }
  uint64_t stored_bytes() const override { return lines_->file().stored_bytes(); }
  uint64_t checksum() const override { return lines_->file().checksum(); }

 private:
  // A field in text_, or, if it had quotes, in unquoted_.
  struct Span {
    size_t begin;
    size_t bytes;
    bool is_unquoted;
  };

  DelimitedRecords(std::unique_ptr<LineReader> lines, char delimiter)
      : lines_(std::move(lines)), delimiter_(delimiter) {}

  // The error for a CSV record that is too long. It ends the input: the record may continue in
  // later lines, which must not be read as records.
  absl::Status TooLong() const;
  std::optional<std::string_view> Text(std::string_view field) const override;
  std::optional<std::string> Json(std::string_view field) const override;
  std::vector<std::string> Names() const override;

  absl::Status SetNames(std::vector<std::string> names);
  // Reads one record, and divides it.
  absl::StatusOr<bool> Read();
  absl::Status Divide();
  absl::Status ConsumeQuoted(size_t* offset);
  // Appends the next line of the file to the record. Returns false at the end of the file.
  absl::StatusOr<bool> AppendLine();
  std::string_view FieldAt(size_t index) const;

  const std::unique_ptr<LineReader> lines_;
  const char delimiter_;
  std::vector<std::string> header_;
  bool are_names_given_ = false;
  std::vector<std::pair<std::string, size_t>> places_;  // of the names, sorted
  std::string_view text_;
  std::string record_;  // a record of several lines
  std::string unquoted_;
  std::vector<Span> spans_;
  bool had_return_ = false;  // a carriage return was after text_
  uint64_t line_number_ = 0;
  absl::Status status_;
};

}  // namespace stele::internal::lab
