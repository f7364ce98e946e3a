// design/row_mapping.h: maps a record to the row that a design describes.
//
// Errors:    InvalidArgument with the error in the record. A record is mapped as a whole or not at
//            all.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/design/design_model.h"
#include "lab/template/field_source.h"
#include "stele/mutation.h"
#include "stele/timestamp.h"

namespace stele::internal::lab {

struct MappedCell {
  const DesignCell* design = nullptr;
  std::string qualifier = {};
  std::string value = {};
  int64_t number = 0;  // the value, in a family that adds numbers
};

struct MappedRow {
  const DesignRow* design = nullptr;
  std::string row_key = {};
  Timestamp timestamp = {};
  std::vector<MappedCell> cells = {};
};

// The limit for the bytes of all values that one record becomes, in all tables.
inline constexpr uint64_t kRecordValueBytesMax = uint64_t{256} << 20;

// Returns the row key of a record.
absl::StatusOr<std::string> MapKey(const DesignTable& table, const FieldSource& record);

// True if the record has the values of `row.when`.
bool Selects(const DesignRow& row, const FieldSource& record);

// Maps a record by one entry of the table's rows. `time` is the timestamp of cells if the entry has
// none. The row has no cells if the fields of all cells are absent. `value_bytes`: the bytes of the
// values that the record has already become. With those of this row, they must not exceed
// kRecordValueBytesMax.
absl::StatusOr<MappedRow> MapRow(const DesignTable& table, const DesignRow& row,
                                 const FieldSource& record, Timestamp time,
                                 uint64_t value_bytes = 0);

// Returns the bytes of the row key, and of family, qualifier and value of each cell. A number
// has 8.
uint64_t LogicalBytes(const DesignTable& table, const MappedRow& row);

// Adds the changes that write the row. They go into one row, the row of the key. Frees each value
// after it was added.
void AddTo(const DesignTable& table, MappedRow row, RowMutation* mutation);

// Maps a record by all entries for this input. The row has no changes if none of them selects the
// record. Errors: also an input that the table does not read.
absl::StatusOr<RowMutation> MapRecord(const DesignTable& table, std::string_view input,
                                      const FieldSource& record, Timestamp time);

}  // namespace stele::internal::lab
