#include "import_source.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments.h"
#include "base/status.h"
#include "csv_reader.h"
#include "import_json.h"
#include "row_text.h"

namespace stele::cli {
namespace {

// Between the fields of a row key.
constexpr char kKeyDelimiter = '#';

// The first ten names, in quotes.
std::string TextOfNames(const std::vector<std::string>& names) {
  constexpr size_t kNamesMax = 10;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamesMax); ++i)
    text += (i == 0 ? "" : ", ") + Quoted(names[i]);
  return text + (names.size() > kNamesMax ? ", ..." : "");
}

class CsvSource : public ImportSource {
 public:
  CsvSource(std::FILE* file, std::string name, const CsvLayout& layout)
      : reader_(file, std::move(name), layout.separator), layout_(layout) {}

  absl::Status ReadHead() {
    STELE_RETURN_IF_ERROR(layout_.has_header ? ReadNames() : ReadFamiliesAndNames());
    return CheckColumns();
  }

  absl::StatusOr<bool> Next(ImportRow& row) override {
    STELE_ASSIGN_OR_RETURN(const bool any, reader_.Next(fields_));
    if (!any) return false;
    STELE_RETURN_IF_ERROR(ReadKey(row.row_key));
    row.cells.clear();
    for (const Column& column : columns_) {
      std::string& field = fields_[column.field];
      if (field.empty()) continue;  // no cell, as in cbt
      ImportCell cell{.family = column.family, .qualifier = column.qualifier};
      if (layout_.stamped_values) {
        auto stamped = ParseStampedValue(field);
        if (!stamped.ok()) return Wrong(internal::ToStd(stamped.status().message()));
        cell.value = std::move(stamped->value);
        cell.timestamp = stamped->timestamp;
      } else {
        cell.value = std::move(field);
      }
      row.cells.push_back(std::move(cell));
    }
    return true;
  }

  uint64_t line() const override { return reader_.line(); }
  absl::Status WrongAt(uint64_t line, std::string_view what) const override {
    return reader_.WrongAt(line, what);
  }
  uint64_t bytes_read() const override { return reader_.bytes_read(); }

 private:
  struct Column {
    size_t field;  // its index in a record
    std::string family;
    std::string qualifier;
  };

  absl::Status WrongHead(std::string_view what) const {
    return reader_.Wrong(fmt::format("error parsing headers: {}", what));
  }

  // `first` is the first field of a line that is not as in cbt.
  absl::Status NotAsInCbt(const std::string& first) const {
    const std::string way_out =
        reader_.line() == 1
            ? fmt::format("if the first line names all fields, add --header --key '{}'",
                          internal::Printable(first))
            : "if there is one line of names, add column-family=FAMILY";
    return WrongHead(
        fmt::format("the first column must be empty for column-family and column name rows, for "
                    "example \",info,info\" and \",name,price\" before \"row1,lamp,10\"; {}",
                    way_out));
  }

  // Reads a line of families, unless there is one for all columns, and a line of names.
  absl::Status ReadFamiliesAndNames() {
    std::vector<std::string> families;
    std::vector<std::string> names;
    if (layout_.family.empty()) {
      STELE_ASSIGN_OR_RETURN(const bool any, reader_.Next(families));
      if (!any) return WrongHead("the file is empty");
      if (!families[0].empty()) return NotAsInCbt(families[0]);
    }
    STELE_ASSIGN_OR_RETURN(const bool any, reader_.Next(names));
    if (!any) return WrongHead("there is no line of column names");
    if (!names[0].empty()) return NotAsInCbt(names[0]);
    std::string family = layout_.family;
    for (size_t i = 1; i < names.size(); ++i) {
      if (!families.empty() && !families[i].empty()) family = families[i];
      if (family.empty())
        return WrongHead(fmt::format("column {} has no column family before it", i + 1));
      columns_.push_back({.field = i, .family = family, .qualifier = names[i]});
    }
    key_fields_ = {0};
    return absl::OkStatus();
  }

  // Reads a line that names all fields.
  absl::Status ReadNames() {
    std::vector<std::string> names;
    STELE_ASSIGN_OR_RETURN(const bool any, reader_.Next(names));
    if (!any) return WrongHead("the file is empty");
    STELE_RETURN_IF_ERROR(CheckNames(names));
    STELE_RETURN_IF_ERROR(FindKeyFields(names));
    if (names.size() == key_fields_.size()) {
      return WrongHead(
          fmt::format("the first line has no field besides the row key: {}; is the separator right "
                      "(--separator)?",
                      Quoted(names.back())));
    }
    for (size_t i = 0; i < names.size(); ++i) {
      if (std::find(key_fields_.begin(), key_fields_.end(), i) != key_fields_.end()) continue;
      if (names[i].empty()) return WrongHead(fmt::format("field {} has no name", i + 1));
      columns_.push_back({.field = i, .family = layout_.family, .qualifier = names[i]});
    }
    return absl::OkStatus();
  }

  absl::Status CheckNames(const std::vector<std::string>& names) const {
    std::map<std::string_view, size_t> fields;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].find('\r') != std::string::npos)
        return WrongHead("a carriage return in a name; lines end with a line feed");
      const auto [same, is_new] = fields.emplace(names[i], i + 1);
      if (!is_new)
        return WrongHead(fmt::format("fields {} and {} are both named {}; rename or remove one",
                                     same->second, i + 1, Quoted(names[i])));
    }
    return absl::OkStatus();
  }

  absl::Status FindKeyFields(const std::vector<std::string>& names) {
    if (layout_.key_fields.empty()) key_fields_ = {0};
    for (const std::string& key_field : layout_.key_fields) {
      const auto found = std::find(names.begin(), names.end(), key_field);
      if (found == names.end()) {
        return WrongHead(fmt::format("--key: no field is named {}; the fields are {}",
                                     Quoted(key_field), TextOfNames(names)));
      }
      const auto field = static_cast<size_t>(found - names.begin());
      if (std::find(key_fields_.begin(), key_fields_.end(), field) != key_fields_.end())
        return WrongHead(fmt::format("--key names {} twice", Quoted(key_field)));
      key_fields_.push_back(field);
    }
    return absl::OkStatus();
  }

  // Joins the fields of the key. Two records with different fields have different keys.
  absl::Status ReadKey(std::string& row_key) const {
    row_key = fields_[key_fields_[0]];
    if (key_fields_.size() == 1) return absl::OkStatus();
    row_key.clear();
    for (const size_t field : key_fields_) {
      const std::string& part = fields_[field];
      if (part.empty())
        return Wrong(fmt::format("field {} is empty, and it is a part of the row key", field + 1));
      if (part.find(kKeyDelimiter) != part.npos) {
        return Wrong(fmt::format("field {} contains {}, which separates the parts of the row key",
                                 field + 1, kKeyDelimiter));
      }
      if (!row_key.empty()) row_key += kKeyDelimiter;
      row_key += part;
    }
    return absl::OkStatus();
  }

  // If a column had two values, one would be lost.
  absl::Status CheckColumns() const {
    std::map<std::pair<std::string, std::string>, size_t> fields;
    for (const Column& column : columns_) {
      const auto [same, is_new] =
          fields.emplace(std::pair(column.family, column.qualifier), column.field + 1);
      if (is_new) continue;
      return WrongHead(fmt::format("fields {} and {} are both {}:{}; rename or remove one",
                                   same->second, column.field + 1, column.family,
                                   Quoted(column.qualifier)));
    }
    return absl::OkStatus();
  }

  CsvReader reader_;
  const CsvLayout layout_;
  std::vector<size_t> key_fields_;  // the indexes of the row key's fields, at least one
  std::vector<Column> columns_;     // of the other fields
  std::vector<std::string> fields_;
};

class JsonlSource : public ImportSource {
 public:
  static constexpr size_t kLineBytesMax = size_t{512} << 20;
  static constexpr size_t kLineBytesKept = size_t{1} << 20;

  JsonlSource(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}

  absl::StatusOr<bool> Next(ImportRow& row) override {
    do {
      STELE_ASSIGN_OR_RETURN(const bool any, ReadLine());
      if (!any) return false;
    } while (text_.empty());
    const absl::Status parsed = ParseRowJson(text_, &row);
    // The row may be as large as a long line, which is freed before the row is written.
    if (text_.capacity() > kLineBytesKept) text_ = std::string();
    if (!parsed.ok()) return Wrong(internal::ToStd(parsed.message()));
    return true;
  }

  uint64_t line() const override { return line_; }
  absl::Status WrongAt(uint64_t line, std::string_view what) const override {
    return internal::InvalidArgument("{}:{}: {}", name_, line, what);
  }
  uint64_t bytes_read() const override { return bytes_read_; }

 private:
  absl::StatusOr<bool> ReadLine() {
    text_.clear();
    int c = 0;
    while ((c = std::getc(file_)) != EOF && c != '\n') {
      if (text_.size() == kLineBytesMax) {
        return internal::InvalidArgument("{}:{}: a line of more than {} bytes", name_, line_ + 1,
                                         kLineBytesMax);
      }
      text_ += static_cast<char>(c);
    }
    if (std::ferror(file_) != 0) return internal::ErrnoStatus("read", name_, errno);
    bytes_read_ += text_.size() + 1;
    if (c == EOF && text_.empty()) return false;
    ++line_;
    return true;
  }

  std::FILE* const file_;
  const std::string name_;
  std::string text_;
  uint64_t line_ = 0;
  uint64_t bytes_read_ = 0;
};

// Returns the number in the text, or nothing.
std::optional<int64_t> NumberIn(std::string_view text) {
  const auto number = ParseNumber("number", text);
  return number.ok() ? std::optional(*number) : std::nullopt;
}

absl::Status CheckAdded(ValueType type, const ImportCell& cell) {
  if (type == ValueType::kHll || NumberIn(cell.value).has_value()) return absl::OkStatus();
  return internal::InvalidArgument(
      "{}:{} is an aggregate of numbers, and \"{}\" is not a whole number of 64 bits", cell.family,
      Quoted(cell.qualifier), internal::Printable(cell.value));
}

absl::Status CheckState(ValueType type, const ImportCell& cell) {
  const bool is_state = type == ValueType::kHll
                            ? CellView("", "", {}, cell.value).EstimateCardinality().ok()
                            : CellView("", "", {}, cell.value).AsInt64().ok();
  if (is_state) return absl::OkStatus();
  return internal::InvalidArgument(
      "{}:{} is an aggregate, and \"{}\" is not a state of it: to add values, use aggregates=add",
      cell.family, Quoted(cell.qualifier), internal::Printable(cell.value));
}

absl::Status CheckAggregate(ValueType type, AggregateValues aggregate_values,
                            const ImportCell& cell) {
  if (aggregate_values == AggregateValues::kAdded) return CheckAdded(type, cell);
  STELE_RETURN_IF_ERROR(CheckState(type, cell));
  // A text of eight digits is as long as a state, so a date, for example, could be imported as a
  // huge number without a warning.
  if (aggregate_values == AggregateValues::kStates || type == ValueType::kHll ||
      !NumberIn(cell.value).has_value())
    return absl::OkStatus();
  return internal::InvalidArgument(
      "\"{}\" for {}:{} can be a number or a state of eight bytes: use aggregates=add or "
      "aggregates=state",
      cell.value, cell.family, Quoted(cell.qualifier));
}

}  // namespace

RowMutation MutationOf(const Schema& schema, AggregateValues aggregate_values,
                       const ImportRow& row) {
  RowMutation mutation(row.row_key);
  size_t bytes = 0;
  for (const ImportCell& cell : row.cells)
    bytes += cell.family.size() + cell.qualifier.size() + cell.value.size();
  mutation.Reserve(row.cells.size(), bytes);
  for (const ImportCell& cell : row.cells) {
    const FamilySchema* const family = schema.family(cell.family);
    const ValueType type = family == nullptr ? ValueType::kBytes : family->value_type;
    const Timestamp timestamp = cell.timestamp.value_or(Timestamp());
    if (type != ValueType::kBytes && aggregate_values != AggregateValues::kAdded) {
      mutation.MergeToCell(cell.family, cell.qualifier, timestamp, cell.value);
    } else if (type == ValueType::kHll) {
      mutation.AddToCell(cell.family, cell.qualifier, timestamp, cell.value);
    } else if (type != ValueType::kBytes) {
      mutation.AddToCell(cell.family, cell.qualifier, timestamp, NumberIn(cell.value).value_or(0));
    } else if (cell.timestamp.has_value()) {
      mutation.SetCell(cell.family, cell.qualifier, timestamp, cell.value);
    } else {
      mutation.SetCell(cell.family, cell.qualifier, cell.value);
    }
  }
  return mutation;
}

// Returns an error if two values of a row are one cell: one of them would be lost. Values that are
// added to an aggregate are not.
absl::Status CheckCellsDiffer(const Schema& schema, AggregateValues aggregate_values,
                              const ImportRow& row) {
  const auto place = [](const ImportCell& cell) {
    const int64_t micros = cell.timestamp.value_or(Timestamp::FromMicros(-1)).micros();
    return std::tuple(std::string_view(cell.family), std::string_view(cell.qualifier), micros);
  };
  std::vector<const ImportCell*> cells;
  for (const ImportCell& cell : row.cells) {
    const FamilySchema* const family = schema.family(cell.family);
    const bool is_added = aggregate_values == AggregateValues::kAdded && family != nullptr &&
                          family->value_type != ValueType::kBytes;
    if (!is_added) cells.push_back(&cell);
  }
  const auto by_place = [&](const ImportCell* a, const ImportCell* b) {
    return place(*a) < place(*b);
  };
  std::sort(cells.begin(), cells.end(), by_place);
  const auto twice =
      std::adjacent_find(cells.begin(), cells.end(), [&](const ImportCell* a, const ImportCell* b) {
        return place(*a) == place(*b) && a->value != b->value;
      });
  if (twice == cells.end()) return absl::OkStatus();
  return internal::InvalidArgument(
      "the row has two values for {}:{}{}: give them different timestamps", (*twice)->family,
      Quoted((*twice)->qualifier),
      (*twice)->timestamp.has_value() ? " at one timestamp" : " without a timestamp");
}

absl::StatusOr<std::unique_ptr<ImportSource>> OpenCsvSource(std::FILE* file, std::string name,
                                                            const CsvLayout& layout) {
  const int first = std::getc(file);
  std::ungetc(first, file);
  if (first == '{')
    return internal::InvalidArgument("{}:1: these are JSON lines: add format=jsonl", name);
  auto source = std::make_unique<CsvSource>(file, std::move(name), layout);
  STELE_RETURN_IF_ERROR(source->ReadHead());
  return source;
}

std::unique_ptr<ImportSource> OpenJsonlSource(std::FILE* file, std::string name) {
  return std::make_unique<JsonlSource>(file, std::move(name));
}

absl::Status CheckRow(const Schema& schema, AggregateValues aggregate_values,
                      const ImportRow& row) {
  const TableLimits& limits = schema.limits();
  if (row.row_key.empty()) return internal::InvalidArgument("the row key is empty");
  if (row.row_key.size() > limits.row_key_bytes) {
    return internal::InvalidArgument("the row key has {} bytes; at most {} are allowed",
                                     row.row_key.size(), limits.row_key_bytes);
  }
  if (row.cells.size() > limits.mutations) {
    return internal::InvalidArgument("{} cells in one row; at most {} are allowed in one write",
                                     row.cells.size(), limits.mutations);
  }
  STELE_RETURN_IF_ERROR(CheckCellsDiffer(schema, aggregate_values, row));
  for (const ImportCell& cell : row.cells) {
    const FamilySchema* const family = schema.family(cell.family);
    if (family == nullptr)
      return internal::NotFound("no column family \"{}\" in the table", cell.family);
    if (family->value_type != ValueType::kBytes) {
      STELE_RETURN_IF_ERROR(CheckAggregate(family->value_type, aggregate_values, cell));
    }
    if (cell.qualifier.size() > limits.qualifier_bytes) {
      return internal::InvalidArgument("a qualifier has {} bytes; at most {} are allowed",
                                       cell.qualifier.size(), limits.qualifier_bytes);
    }
    if (cell.value.size() > limits.value_bytes) {
      return internal::InvalidArgument("the value of {}:{} has {} bytes; at most {} are allowed",
                                       cell.family, Quoted(cell.qualifier), cell.value.size(),
                                       limits.value_bytes);
    }
    if (!cell.timestamp.has_value()) continue;
    const int64_t micros = cell.timestamp->micros();
    if (micros < 0 ||
        (schema.granularity() == TimestampGranularity::kMillis && micros % 1000 != 0)) {
      return internal::InvalidArgument(
          "the timestamp {} of {}:{} must be a multiple of 1000 microseconds, and not negative",
          micros, cell.family, Quoted(cell.qualifier));
    }
  }
  return absl::OkStatus();
}

}  // namespace stele::cli
