// stele/mutation.h: builders for row mutations, batches and read-modify-write rules.
//
// Errors:    builders never fail. The call that applies an invalid mutation returns the error and
//            applies none of its changes.
// Threads:   values; thread-compatible.
// Source:    google.bigtable.v2.Mutation, ReadModifyWriteRule, MutateRowsResponse.Entry,
//            SampleRowKeysResponse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/timestamp.h"

namespace stele {
namespace internal {
struct Access;
class TableBackend;
}  // namespace internal
inline namespace v0 {

class Table;

// An ordered list of changes to one row, which is applied atomically:
//   RowMutation("row").DeleteFromFamily("cf").SetCell("cf", "q", "value")
// A change overrides the changes before it. A delete removes earlier cells only, never a cell that
// a later change sets.
//
// Owns all its bytes. A moved-from mutation may only be assigned to or destroyed.
//
// Errors when applied:
//   InvalidArgument  the row key is empty or too long; there is no change; a limit of the table is
//                    exceeded (see TableLimits); a timestamp is negative or does not match the
//                    table's granularity; or a change does not match the family's ValueType
//   NotFound         a family does not exist
class RowMutation {
 public:
  // Constructs a mutation without changes. The row key may be "" in a branch of CheckAndMutateRow.
  explicit RowMutation(std::string row_key = "") : row_key_(std::move(row_key)) {}

  // The key of the row that the mutation changes.
  const std::string& row_key() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return row_key_; }

  // Sets a cell. Replaces the cell with the same column and timestamp. Without a timestamp, the
  // cell gets the database clock's time at the start of the call, rounded down to the table's
  // granularity. All such cells of one call get the same timestamp.
  RowMutation& SetCell(std::string_view family, std::string_view qualifier, std::string_view value);
  RowMutation& SetCell(std::string_view family, std::string_view qualifier, Timestamp timestamp,
                       std::string_view value);

  // The next three fold a value into a cell of an aggregate family without reading it. A repeated
  // call counts twice; WriteOptions.idempotency_token prevents that. A delete removes all earlier
  // additions.

  // Folds a number into a cell of type kInt64Sum, kInt64Min or kInt64Max.
  RowMutation& AddToCell(std::string_view family, std::string_view qualifier, Timestamp timestamp,
                         int64_t value);
  // Adds an item to a cell of type kHll.
  RowMutation& AddToCell(std::string_view family, std::string_view qualifier, Timestamp timestamp,
                         std::string_view item);
  // Merges a state into a cell. `state` is a value read from a cell of the same type: eight bytes
  // big-endian, or an HLL sketch. An empty state changes nothing.
  RowMutation& MergeToCell(std::string_view family, std::string_view qualifier, Timestamp timestamp,
                           std::string_view state);

  // Deletes all versions of a column.
  RowMutation& DeleteFromColumn(std::string_view family, std::string_view qualifier);
  // Deletes the versions of a column whose timestamp is in `range`, which must not be empty.
  RowMutation& DeleteFromColumn(std::string_view family, std::string_view qualifier,
                                TimestampRange range);
  // Deletes all cells of a family.
  RowMutation& DeleteFromFamily(std::string_view family);
  // Deletes all cells of the row.
  RowMutation& DeleteFromRow();

  // Reserves memory for `count` more changes whose family names, qualifiers and values have `bytes`
  // bytes in total.
  RowMutation& Reserve(size_t count, size_t bytes);

  // Number of changes added so far.
  size_t count() const { return count_; }
  // The bytes of the row key and of all changes: names, qualifiers, values, and 32 bytes for each
  // change. For callers that limit their batches.
  size_t byte_count() const { return row_key_.size() + ops_.size(); }

 private:
  friend struct internal::Access;

  std::string row_key_;
  std::string ops_;  // the changes, encoded
  size_t count_ = 0;
  bool deletes_ranges_ = false;  // a change deletes a range of a column's versions
};

// An ordered list of mutations to rows of one or more tables of one database, which
// Database::Apply applies atomically. A row may occur more than once. An empty batch is valid.
//
// Errors when applied: InvalidArgument for a table of another database, or for more than 256 MiB;
// FailedPrecondition for an empty Table handle; and those of RowMutation.
class WriteBatch {
 public:
  // Adds a mutation of `table`. The batch keeps the database open.
  WriteBatch& Add(const Table& table, RowMutation mutation);

  // Number of mutations added so far.
  size_t size() const { return entries_.size(); }

 private:
  friend struct internal::Access;

  struct Entry {
    std::shared_ptr<internal::TableBackend> table;  // null if the Table handle was empty
    RowMutation mutation;
  };

  std::vector<Entry> entries_;
};

// One step of Table::ReadModifyWriteRow. It changes the newest cell of a column of a kBytes family;
// another family is InvalidArgument.
class [[nodiscard]] ReadModifyWriteRule {
 public:
  enum class Kind : uint8_t { kAppendValue, kIncrementAmount };

  // Appends to the value. A column without a cell counts as the empty value.
  static ReadModifyWriteRule AppendValue(std::string family, std::string qualifier,
                                         std::string value);
  // Adds to a value of eight bytes big-endian (see EncodeInt64). Overflow wraps around. A column
  // without a cell counts as 0. FailedPrecondition if the value has another length.
  static ReadModifyWriteRule IncrementAmount(std::string family, std::string qualifier,
                                             int64_t amount);

  // What the rule does.
  Kind kind() const { return kind_; }
  // The column that the rule changes.
  const std::string& family() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return family_; }
  const std::string& qualifier() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return qualifier_; }
  // The bytes to append. Empty for an increment.
  const std::string& value() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return value_; }
  // The number to add. 0 for an append.
  int64_t amount() const { return amount_; }

 private:
  ReadModifyWriteRule(Kind kind, std::string family, std::string qualifier, std::string value,
                      int64_t amount)
      : kind_(kind),
        family_(std::move(family)),
        qualifier_(std::move(qualifier)),
        value_(std::move(value)),
        amount_(amount) {}

  Kind kind_;
  std::string family_;
  std::string qualifier_;
  std::string value_;
  int64_t amount_;
};

// The branch that CheckAndMutateRow applied.
enum class MutationBranch : uint8_t { kPredicateMatched, kPredicateNotMatched };

// An entry of BulkApply that was not applied, and why. `index` is its position in the given span.
struct [[nodiscard]] FailedMutation {
  size_t index = 0;
  absl::Status status = {};
};

// A sample of Table::SampleRowKeys: a row key, which need not exist, and the approximate number of
// bytes from the start of the sampled range to this key.
struct RowKeySample {
  std::string row_key = {};
  uint64_t offset_bytes = 0;

  friend bool operator==(const RowKeySample&, const RowKeySample&) = default;
};

}  // namespace v0
}  // namespace stele
