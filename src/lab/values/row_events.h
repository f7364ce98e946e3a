// values/row_events.h: parses a row as `stele export` writes it: a line of JSON.
//
// Format:    {"row":..,"cells":[{"family":..,"qualifier":..,"timestamp":..,"value":..},...]}. Each
//            text may also be base64 under NAME_base64. Other members are ignored.
// Errors:    InvalidArgument without the position.
// Memory:    three times the longest text, and what the sink keeps. There is no tree of values, so
//            a line with many small values does not need more.
// Threads:   pure functions.
// Rule:      it is only a header, because `stele import` exists without stele::lab.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "stele/timestamp.h"

namespace stele::internal::lab {

// The most changes that a table may accept in one write (stele/schema.h).
inline constexpr size_t kRowLineCellsMax = 1'000'000;

struct RowLineCell {
  std::string family = {};
  std::string qualifier = {};
  std::optional<Timestamp> timestamp = {};
  std::string value = {};
};

inline absl::Status NotARow() {
  return InvalidArgument("not a JSON object as \"stele export\" writes it");
}

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
  // Moves the bytes to `out`, and forgets the member. `decode` is that of the sink.
  template <typename Decode>
  absl::Status Finish(const Decode& decode, std::string* out) {
    TextMember member = std::exchange(*this, TextMember(name_));
    if (member.has_plain_ == member.has_encoded_)
      return InvalidArgument("\"{}\" or \"{}_base64\" is required, but not both", name_, name_);
    if (!member.is_text_) return InvalidArgument("\"{}\" is not a string", name_);
    if (member.has_encoded_) return decode(member.text_, out);
    *out = std::move(member.text_);
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
template <typename Sink>
class RowEvents {
 public:
  RowEvents(Sink* sink, std::string* row_key) : sink_(*sink), row_key_(*row_key) {}

  bool null() { return AddValue(nullptr, std::nullopt); }
  bool boolean(bool) { return AddValue(nullptr, std::nullopt); }
  bool number_integer(int64_t number) { return AddValue(nullptr, number); }
  bool number_unsigned(uint64_t number) {
    const bool fits = number <= uint64_t{std::numeric_limits<int64_t>::max()};
    return AddValue(nullptr, fits ? std::optional(static_cast<int64_t>(number)) : std::nullopt);
  }
  bool number_float(double, const std::string&) { return AddValue(nullptr, std::nullopt); }
  bool string(std::string& text) { return AddValue(&text, std::nullopt); }
  bool binary(nlohmann::json::binary_t&) { return AddValue(nullptr, std::nullopt); }
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
    sink_.Clear();
    cell_count_ = 0;
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
    return Fail(NotARow());
  }

  const absl::Status& status() const { return status_; }

 private:
  // The innermost object or array in which the parser is.
  enum class Place { kDocument, kRow, kCells, kCell };

  bool Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }

  // Begins to skip an object or an array that a row does not have. Only an ignored member may have
  // one.
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
        return Fail(NotARow());
      case Place::kRow:
        if (member_ == "cells") return Fail(InvalidArgument("\"cells\" is not an array"));
        key_.Take(member_, text);
        return true;
      case Place::kCells:
        return Fail(InvalidArgument("a cell is not an object"));
      case Place::kCell:
        break;
    }
    const bool is_taken =
        family_.Take(member_, text) || qualifier_.Take(member_, text) || value_.Take(member_, text);
    if (is_taken || member_ != "timestamp") return true;
    if (!number.has_value())
      return Fail(InvalidArgument("\"timestamp\" is not a whole number of microseconds"));
    timestamp_ = Timestamp::FromMicros(*number);
    return true;
  }

  bool FinishCell() {
    if (cell_count_++ == kRowLineCellsMax)
      return Fail(InvalidArgument("more than {} cells in one row", kRowLineCellsMax));
    RowLineCell cell;
    absl::Status status = family_.Finish(Sink::DecodeBase64, &cell.family);
    if (status.ok()) status = qualifier_.Finish(Sink::DecodeBase64, &cell.qualifier);
    if (status.ok()) status = value_.Finish(Sink::DecodeBase64, &cell.value);
    cell.timestamp = std::exchange(timestamp_, std::nullopt);
    if (status.ok()) status = sink_.Add(std::move(cell));
    return status.ok() || Fail(std::move(status));
  }

  bool FinishRow() {
    absl::Status status = key_.Finish(Sink::DecodeBase64, &row_key_);
    if (status.ok() && !has_cells_) status = InvalidArgument("\"cells\" is not an array");
    return status.ok() || Fail(std::move(status));
  }

  Sink& sink_;
  std::string& row_key_;
  Place place_ = Place::kDocument;
  size_t ignored_depth_ = 0;  // objects and arrays in members that are ignored
  std::string member_;        // the name of the member that is parsed
  bool has_cells_ = false;
  size_t cell_count_ = 0;
  TextMember key_{"row"};
  TextMember family_{"family"};
  TextMember qualifier_{"qualifier"};
  TextMember value_{"value"};
  std::optional<Timestamp> timestamp_;
  absl::Status status_;
};

// Parses a line. The sink gets the cells in their order, also those before an error:
//   static absl::Status DecodeBase64(std::string_view text, std::string* out);
//   void Clear();                         an array of cells begins; earlier cells do not count
//   absl::Status Add(RowLineCell cell);   an error ends the parse
template <typename Sink>
absl::Status ReadRowLine(std::string_view line, Sink* sink, std::string* row_key) {
  RowEvents<Sink> events(sink, row_key);
  const bool is_parsed = nlohmann::json::sax_parse(line, &events);
  return is_parsed || !events.status().ok() ? events.status() : NotARow();
}

}  // namespace stele::internal::lab
