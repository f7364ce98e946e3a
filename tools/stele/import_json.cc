#include "import_json.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "row_text.h"

namespace stele::cli {
namespace {

// The bytes of the member NAME, or of NAME_base64.
class TextMember {
 public:
  explicit TextMember(std::string_view name) : name_(name) {}

  // Returns true if `member` is one of the two names. `text` is null for a value that is no string.
  bool Take(std::string_view member, std::string* text) {
    if (!member.starts_with(name_)) return false;
    const std::string_view ending = member.substr(name_.size());
    if (!ending.empty() && ending != "_base64") return false;
    (ending.empty() ? has_plain_ : has_encoded_) = true;
    is_text_ = text != nullptr;
    if (is_text_) text_ = std::move(*text);
    return true;
  }
  // Moves the bytes to `out`, and forgets the member.
  absl::Status Finish(std::string* out) {
    const TextMember member = std::exchange(*this, TextMember(name_));
    if (member.has_plain_ == member.has_encoded_) {
      return internal::InvalidArgument("\"{}\" or \"{}_base64\" is required, but not both", name_,
                                       name_);
    }
    if (!member.is_text_) return internal::InvalidArgument("\"{}\" is not a string", name_);
    if (member.has_plain_) {
      *out = std::move(member.text_);
      return absl::OkStatus();
    }
    STELE_ASSIGN_OR_RETURN(*out, DecodeBase64(member.text_));
    return absl::OkStatus();
  }

 private:
  std::string_view name_;
  bool has_plain_ = false;
  bool has_encoded_ = false;
  bool is_text_ = false;
  std::string text_;
};

// The events of nlohmann's parser. A function that returns false ends the parse.
class RowEvents {
 public:
  explicit RowEvents(ImportRow* row) : row_(*row) {}

  bool null() { return AddValue(nullptr, std::nullopt); }
  bool boolean(bool) { return AddValue(nullptr, std::nullopt); }
  bool number_integer(int64_t number) { return AddValue(nullptr, number); }
  bool number_unsigned(uint64_t number) {
    const bool fits = number <= uint64_t{std::numeric_limits<int64_t>::max()};
    return AddValue(nullptr, fits ? std::optional(static_cast<int64_t>(number)) : std::nullopt);
  }
  bool number_float(double, const std::string&) { return AddValue(nullptr, std::nullopt); }
  bool string(std::string& text) { return AddValue(&text, std::nullopt); }
  bool binary(Json::binary_t&) { return AddValue(nullptr, std::nullopt); }
  bool key(std::string& name) {
    if (ignored_depth_ == 0) member_ = std::move(name);
    return true;
  }
  bool start_object(size_t) {
    if (ignored_depth_ == 0 && place_ == Place::kDocument) {
      place_ = Place::kRow;
      return true;
    }
    if (ignored_depth_ == 0 && place_ == Place::kCells) {
      place_ = Place::kCell;
      return true;
    }
    return IgnoreNested();
  }
  bool start_array(size_t) {
    if (ignored_depth_ > 0 || place_ != Place::kRow || member_ != "cells") return IgnoreNested();
    place_ = Place::kCells;
    has_cells_ = true;
    row_.cells.clear();
    return true;
  }
  bool end_object() {
    if (ignored_depth_ > 0) {
      --ignored_depth_;
      return true;
    }
    if (place_ == Place::kCell) {
      place_ = Place::kCells;
      return FinishCell();
    }
    place_ = Place::kDocument;
    return FinishRow();
  }
  bool end_array() {
    if (ignored_depth_ > 0) {
      --ignored_depth_;
    } else {
      place_ = Place::kRow;
    }
    return true;
  }
  template <typename Error>
  bool parse_error(size_t, const std::string&, const Error&) {
    return Fail(internal::InvalidArgument("not a JSON object"));
  }

  const absl::Status& status() const { return status_; }

 private:
  // What the parser is in.
  enum class Place { kDocument, kRow, kCells, kCell };

  bool Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }

  // An object or an array where the row has none. An ignored member may have any value.
  bool IgnoreNested() {
    if (ignored_depth_ == 0 && !AddValue(nullptr, std::nullopt)) return false;
    ++ignored_depth_;
    return true;
  }

  // A value: a string, a whole number, or another one.
  bool AddValue(std::string* text, std::optional<int64_t> number) {
    if (ignored_depth_ > 0) return true;
    switch (place_) {
      case Place::kDocument:
        return Fail(internal::InvalidArgument("not a JSON object"));
      case Place::kRow:
        if (member_ == "cells") return Fail(internal::InvalidArgument("\"cells\" is not an array"));
        row_key_.Take(member_, text);
        return true;
      case Place::kCells:
        return Fail(internal::InvalidArgument("a cell is not an object"));
      case Place::kCell:
        break;
    }
    const bool is_taken =
        family_.Take(member_, text) || qualifier_.Take(member_, text) || value_.Take(member_, text);
    if (is_taken || member_ != "timestamp") return true;
    if (!number.has_value())
      return Fail(internal::InvalidArgument("\"timestamp\" is not a whole number of microseconds"));
    timestamp_ = Timestamp::FromMicros(*number);
    return true;
  }

  bool FinishCell() {
    if (row_.cells.size() == kImportCellsMax)
      return Fail(internal::InvalidArgument("more than {} cells in one row", kImportCellsMax));
    ImportCell& cell = row_.cells.emplace_back();
    absl::Status status = family_.Finish(&cell.family);
    if (status.ok()) status = qualifier_.Finish(&cell.qualifier);
    if (status.ok()) status = value_.Finish(&cell.value);
    cell.timestamp = std::exchange(timestamp_, std::nullopt);
    return status.ok() || Fail(std::move(status));
  }

  bool FinishRow() {
    absl::Status status = row_key_.Finish(&row_.row_key);
    if (status.ok() && !has_cells_) status = internal::InvalidArgument("\"cells\" is not an array");
    return status.ok() || Fail(std::move(status));
  }

  ImportRow& row_;
  Place place_ = Place::kDocument;
  size_t ignored_depth_ = 0;  // objects and arrays in members that are ignored
  std::string member_;        // the name of the member that is parsed
  bool has_cells_ = false;
  TextMember row_key_{"row"};
  TextMember family_{"family"};
  TextMember qualifier_{"qualifier"};
  TextMember value_{"value"};
  std::optional<Timestamp> timestamp_;
  absl::Status status_;
};

}  // namespace

absl::Status ParseRowJson(std::string_view line, ImportRow* row) {
  row->cells.clear();
  RowEvents events(row);
  const bool is_parsed = Json::sax_parse(line, &events);
  if (is_parsed || !events.status().ok()) return events.status();
  return internal::InvalidArgument("not a JSON object");
}

}  // namespace stele::cli
