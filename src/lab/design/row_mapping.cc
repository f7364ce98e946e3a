#include "lab/design/row_mapping.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/status.h"
#include "lab/values/time_text.h"

namespace stele::internal::lab {
namespace {

using KeyFieldType = keys::RowKeySchema::FieldType;

constexpr int64_t kMicrosPerMilli = 1000;

std::optional<int64_t> Int64Of(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsText(const keys::RowKeySchema::Field& field) {
  return field.type == KeyFieldType::kString || field.type == KeyFieldType::kBytes;
}

absl::StatusOr<keys::Value> KeyValueOf(const keys::RowKeySchema::Field& field, std::string text) {
  if (IsText(field)) return keys::Value(std::move(text));
  std::optional<int64_t> number = Int64Of(text);
  if (field.type == KeyFieldType::kTimestamp && !number.has_value()) number = ParseTime(text);
  if (!number.has_value()) {
    return InvalidArgument("key field {}: \"{}\" is not {}", field.name, Printable(text),
                           field.type == KeyFieldType::kInt64
                               ? "a whole number of 64 bits"
                               : "a time: RFC 3339 or digits of microseconds");
  }
  if (field.type == KeyFieldType::kInt64) return keys::Value(*number);
  return keys::Value(Timestamp::FromMicros(*number));
}

absl::StatusOr<Timestamp> MapTimestamp(const DesignTable& table, const Template& timestamp,
                                       const FieldSource& record) {
  STELE_ASSIGN_OR_RETURN(const std::string text, timestamp.Text(record));
  const std::optional<int64_t> micros = Int64Of(text);
  if (!micros.has_value() || *micros < 0)
    return InvalidArgument("\"{}\" is not a number of microseconds: {{field|micros}} makes one",
                           Printable(text));
  if (table.schema.granularity() == TimestampGranularity::kMillis &&
      *micros % kMicrosPerMilli != 0) {
    return InvalidArgument("{} is not a multiple of 1000: granularity: micros keeps it", *micros);
  }
  return Timestamp::FromMicros(*micros);
}

bool AddsNumbers(ValueType type) {
  return type == ValueType::kInt64Sum || type == ValueType::kInt64Min ||
         type == ValueType::kInt64Max;
}

// Returns false if a field of the cell is absent.
absl::StatusOr<bool> MapCell(const DesignTable& table, const FieldSource& record,
                             MappedCell* cell) {
  STELE_ASSIGN_OR_RETURN(const bool has_qualifier,
                         cell->design->qualifier.Expand(record, &cell->qualifier));
  if (!has_qualifier) return false;
  STELE_ASSIGN_OR_RETURN(const bool has_value, cell->design->value.Expand(record, &cell->value));
  if (!has_value) return false;
  const TableLimits& limits = table.schema.limits();
  if (cell->qualifier.size() > limits.qualifier_bytes)
    return InvalidArgument("the qualifier has {} bytes, at most {}", cell->qualifier.size(),
                           limits.qualifier_bytes);
  if (cell->value.size() > limits.value_bytes)
    return InvalidArgument("the value has {} bytes, at most {}", cell->value.size(),
                           limits.value_bytes);
  if (!AddsNumbers(table.schema.family(cell->design->family)->value_type)) return true;
  const std::optional<int64_t> number = Int64Of(cell->value);
  if (!number.has_value())
    return InvalidArgument("\"{}\" is not a whole number of 64 bits", Printable(cell->value));
  cell->number = *number;
  return true;
}

uint64_t CellBytes(const MappedCell& cell) {
  return cell.design->family.size() + cell.qualifier.size() + cell.value.size();
}

// Two cells of one row with different values would leave only the last one.
absl::Status CheckRepeated(const DesignTable& table, const MappedRow& row) {
  const MappedCell& last = row.cells.back();
  if (table.schema.family(last.design->family)->value_type != ValueType::kBytes)
    return absl::OkStatus();
  const auto repeated = std::find_if(row.cells.begin(), row.cells.end() - 1, [&](const auto& cell) {
    return cell.qualifier == last.qualifier && cell.design->family == last.design->family &&
           cell.value != last.value;
  });
  if (repeated == row.cells.end() - 1) return absl::OkStatus();
  return InvalidArgument("the record has two values for it");
}

// Checks the row after each cell, so that it never has much more memory than the limit.
absl::Status CheckRowSize(const DesignTable& table, size_t cells, uint64_t bytes) {
  const TableLimits& limits = table.schema.limits();
  if (cells > limits.mutations)
    return InvalidArgument("the row has more than {} cells", limits.mutations);
  if (bytes > limits.row_bytes)
    return InvalidArgument("the row has more than {} bytes", limits.row_bytes);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> MapKey(const DesignTable& table, const FieldSource& record) {
  const uint64_t bytes_max = table.schema.limits().row_key_bytes;
  if (table.key.schema.has_value()) {
    std::vector<keys::Value> values;
    uint64_t bytes = 0;
    for (size_t i = 0; i < table.key.from.size(); ++i) {
      const keys::RowKeySchema::Field& field = table.key.schema->fields()[i];
      STELE_ASSIGN_OR_RETURN(std::string text, table.key.from[i].Text(record));
      // No encoding makes a text shorter. The key would need several copies of it.
      if (IsText(field)) bytes += text.size();
      if (bytes > bytes_max)
        return InvalidArgument("the row key has more than {} bytes", bytes_max);
      STELE_ASSIGN_OR_RETURN(keys::Value value, KeyValueOf(field, std::move(text)));
      values.push_back(std::move(value));
    }
    return table.key.schema->Encode(values, bytes_max);
  }
  STELE_ASSIGN_OR_RETURN(std::string row_key, table.key.text.Text(record));
  if (row_key.empty()) return InvalidArgument("the row key is empty");
  if (row_key.size() > bytes_max)
    return InvalidArgument("the row key has {} bytes, at most {}", row_key.size(), bytes_max);
  return row_key;
}

bool Selects(const DesignRow& row, const FieldSource& record) {
  return std::all_of(row.when.begin(), row.when.end(), [&](const auto& condition) {
    return record.Text(condition.first) == condition.second;
  });
}

absl::StatusOr<MappedRow> MapRow(const DesignTable& table, const DesignRow& row,
                                 const FieldSource& record, Timestamp time, uint64_t value_bytes) {
  MappedRow mapped{.design = &row};
  auto row_key = MapKey(table, record);
  if (!row_key.ok()) return WithContext(row_key.status(), "key");
  mapped.row_key = *std::move(row_key);
  mapped.timestamp = time;
  if (row.timestamp.has_value()) {
    const auto timestamp = MapTimestamp(table, *row.timestamp, record);
    if (!timestamp.ok()) return WithContext(timestamp.status(), "timestamp");
    mapped.timestamp = *timestamp;
  }
  uint64_t bytes = mapped.row_key.size();
  for (const DesignCell& cell : row.cells) {
    mapped.cells.push_back({.design = &cell});
    const auto is_present = MapCell(table, record, &mapped.cells.back());
    absl::Status status = is_present.status();
    if (status.ok() && *is_present) status = CheckRepeated(table, mapped);
    if (!status.ok()) {
      return WithContext(status,
                         fmt::format("cell {}:{}", cell.family, Printable(cell.qualifier.text())));
    }
    if (!*is_present) {
      mapped.cells.pop_back();
      continue;
    }
    bytes += CellBytes(mapped.cells.back());
    STELE_RETURN_IF_ERROR(CheckRowSize(table, mapped.cells.size(), bytes));
    value_bytes += mapped.cells.back().value.size();
    if (value_bytes > kRecordValueBytesMax) {
      return InvalidArgument("the rows of the record have more than {} bytes",
                             kRecordValueBytesMax);
    }
  }
  return mapped;
}

uint64_t LogicalBytes(const DesignTable& table, const MappedRow& row) {
  uint64_t bytes = row.row_key.size();
  for (const MappedCell& cell : row.cells) {
    const std::string& family = cell.design->family;
    const ValueType type = table.schema.family(family)->value_type;
    const bool is_text = type == ValueType::kBytes || type == ValueType::kHll;
    bytes += family.size() + cell.qualifier.size();
    bytes += is_text ? cell.value.size() : sizeof(cell.number);
  }
  return bytes;
}

void AddTo(const DesignTable& table, MappedRow row, RowMutation* mutation) {
  uint64_t bytes = 0;
  for (const MappedCell& cell : row.cells) bytes += CellBytes(cell);
  mutation->Reserve(row.cells.size(), bytes);
  for (MappedCell& cell : row.cells) {
    const std::string& family = cell.design->family;
    const ValueType type = table.schema.family(family)->value_type;
    if (type == ValueType::kBytes) {
      mutation->SetCell(family, cell.qualifier, row.timestamp, cell.value);
    } else if (type == ValueType::kHll) {
      mutation->AddToCell(family, cell.qualifier, row.timestamp, std::string_view(cell.value));
    } else {
      mutation->AddToCell(family, cell.qualifier, row.timestamp, cell.number);
    }
    cell.value = std::string();  // frees it before the next one is copied
  }
}

absl::StatusOr<RowMutation> MapRecord(const DesignTable& table, std::string_view input,
                                      const FieldSource& record, Timestamp time) {
  RowMutation mutation;
  bool is_read = false;
  for (const DesignRow& row : table.rows) {
    if (row.input != input) continue;
    is_read = true;
    if (!Selects(row, record)) continue;
    STELE_ASSIGN_OR_RETURN(MappedRow mapped, MapRow(table, row, record, time));
    if (mutation.row_key().empty()) mutation = RowMutation(mapped.row_key);
    AddTo(table, std::move(mapped), &mutation);
  }
  if (is_read) return mutation;
  return InvalidArgument("the table {} reads no input \"{}\"", Printable(table.name),
                         Printable(input));
}

}  // namespace stele::internal::lab
