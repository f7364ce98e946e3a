// stele/schema.h: table schemas: column families, their GC rules, and table-wide settings.
//
// Errors:    builders never fail. CreateTable and ModifyColumnFamilies return InvalidArgument for
//            an invalid schema.
// Threads:   values; thread-compatible.
// Source:    google.bigtable.admin.v2.Table, ColumnFamily.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "stele/gc_rule.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele {
inline namespace v0 {

// The type of the values in a family. Fixed when the family is created.
//
// All types except kBytes are aggregates. AddToCell and MergeToCell fold their input into the cell
// with the same row, family, qualifier and timestamp. SetCell on such a family returns
// InvalidArgument. GC rules and filters see the folded cells.
enum class ValueType : uint8_t {
  kBytes,     // any bytes, written by SetCell
  kInt64Sum,  // sum; 8 bytes big-endian (see EncodeInt64); wraps around on overflow
  kInt64Min,  // minimum; 8 bytes big-endian
  kInt64Max,  // maximum; 8 bytes big-endian
  kHll        // HyperLogLog sketch that counts distinct items; docs/reference/format/hll.md
};

// The compression of a table's SSTables.
enum class Compression : uint8_t {
  kNone,  // not compressed
  kFast,  // lz4
  // Default. lz4 for new data. zstd for bulk loads, and for compactions whose rows have no older
  // data in other SSTables, such as major compactions and the recompression of cold data.
  kBalanced
};

// The timestamps that a table accepts. Fixed at CreateTable.
enum class TimestampGranularity : uint8_t {
  kMillis,  // multiples of 1000 microseconds, as in Bigtable. Default
  kMicros   // any number of microseconds
};

// The schema of one column family.
struct FamilySchema {
  std::string name = {};  // 1 to 64 characters of [-_.a-zA-Z0-9]
  GcRule gc = GcRule::None();
  ValueType value_type = ValueType::kBytes;

  friend bool operator==(const FamilySchema&, const FamilySchema&) = default;
};

// Limits of a table. A write that exceeds one returns InvalidArgument. The defaults are Bigtable's.
struct TableLimits {
  // Length of a row key. 1 to 65,535.
  uint64_t row_key_bytes = 4096;
  // Length of a qualifier. 0 to 65,535.
  uint64_t qualifier_bytes = 16384;
  // Length of a value. 0 to 256 MiB.
  uint64_t value_bytes = uint64_t{100} << 20;
  // Bytes of one RowMutation: its row key, families, qualifiers and values. At least 1, at most
  // 256 MiB. Does not limit the stored row, which may grow without bound; ReadRows streams it.
  uint64_t row_bytes = uint64_t{256} << 20;
  // Number of changes in one RowMutation. 1 to 1,000,000.
  uint64_t mutations = 100'000;

  friend bool operator==(const TableLimits&, const TableLimits&) = default;
};

// The schema of a table, built by chaining:
//   Schema().AddFamily("cf", GcRule::MaxNumVersions(3)).AddFamily("plain").AddSplit("m")
class Schema {
 public:
  // Adds a column family. A schema with two families of one name is invalid.
  Schema& AddFamily(std::string name, GcRule gc = GcRule::None());
  Schema& AddFamily(FamilySchema family);
  // Sets the timestamps that the table accepts. Default: kMillis.
  Schema& SetGranularity(TimestampGranularity granularity);
  // Sets the compression of the table's SSTables. Default: kBalanced.
  Schema& SetCompression(Compression compression);
  // Adds a boundary between two initial tablets: rows before `row_key`, and rows from `row_key` on.
  // Duplicates are ignored. An empty boundary, or one longer than TableLimits.row_key_bytes, is
  // invalid.
  Schema& AddSplit(std::string row_key);
  // Sets a property, which is stored with the table and has no meaning to the engine. Replaces the
  // value of the same key. Keys have 1 to 256 bytes, values at most 64 KiB; a value may be empty.
  Schema& SetProperty(std::string key, std::string value);
  // Sets the limits of writes. Default: those of TableLimits.
  Schema& SetLimits(TableLimits limits);

  // The families, sorted by name. (Rows return families in order of creation; see RowView.)
  const std::vector<FamilySchema>& families() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return families_;
  }
  // The family with this name, or nullptr. Owned by the schema.
  const FamilySchema* family(std::string_view name) const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // The values of the setters above.
  TimestampGranularity granularity() const { return granularity_; }
  Compression compression() const { return compression_; }
  // The boundaries of the initial tablets, sorted, without duplicates.
  const std::vector<std::string>& splits() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return splits_; }
  // The properties by key.
  const std::map<std::string, std::string, std::less<>>& properties() const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return properties_;
  }
  // The limits of writes.
  const TableLimits& limits() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return limits_; }

  friend bool operator==(const Schema&, const Schema&) = default;

 private:
  std::vector<FamilySchema> families_;
  std::vector<std::string> splits_;
  std::map<std::string, std::string, std::less<>> properties_;
  TableLimits limits_;
  TimestampGranularity granularity_ = TimestampGranularity::kMillis;
  Compression compression_ = Compression::kBalanced;
};

// One step of Table::ModifyColumnFamilies, which applies its steps in order and atomically.
class [[nodiscard]] FamilyChange {
 public:
  enum class Kind : uint8_t { kCreate, kUpdate, kDrop };

  // Creates a family. AlreadyExists if the name is in use.
  static FamilyChange Create(FamilySchema family);
  // Replaces the GC rule of a family. NotFound if it does not exist. Under a looser rule, versions
  // that were garbage may become visible again until a compaction has removed them.
  static FamilyChange Update(std::string name, GcRule gc);
  // Deletes a family and all its cells. A family created later with the same name starts empty.
  // NotFound if it does not exist.
  static FamilyChange Drop(std::string name);

  // What the step does.
  Kind kind() const { return kind_; }
  // The family that it creates, updates or drops.
  const std::string& name() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return family_.name; }
  // The fields in use: all for kCreate, name and gc for kUpdate, name for kDrop.
  const FamilySchema& family() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return family_; }

 private:
  FamilyChange(Kind kind, FamilySchema family) : kind_(kind), family_(std::move(family)) {}

  Kind kind_;
  FamilySchema family_;
};

}  // namespace v0
}  // namespace stele
