// stele/schema.h: what a table is made of: its families, their rules, and what holds for the whole table.
//
// Errors:    builders never fail; a wrong schema is InvalidArgument of CreateTable or ModifyColumnFamilies.
// Threads:   values, thread-compatible.
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

namespace stele {
inline namespace v0 {

// What a family's cells hold. kBytes: whatever is set. The others are aggregates: AddToCell and MergeToCell fold into the cell of one
// (row, family, qualifier, timestamp), SetCell is refused. Sum, min and max hold eight bytes big-endian (EncodeInt64); kHll holds a
// sketch that counts distinct items (HyperLogLog, docs/format/hll.md). A sum wraps around. Retention counts cells as they read, folded.
// Fixed when the family is created.
enum class ValueType : uint8_t { kBytes, kInt64Sum, kInt64Min, kInt64Max, kHll };

// How SSTables are compressed. kNone: not at all. kFast: lz4. kBalanced (default): lz4 while a file is young, zstd once it has settled.
enum class Compression : uint8_t { kNone, kFast, kBalanced };

// Which timestamps a table takes. kMillis (default, as in Bigtable): multiples of 1000 microseconds. kMicros: any. Fixed at CreateTable.
enum class TimestampGranularity : uint8_t { kMillis, kMicros };

// One column family. `name` is 1 to 64 of [-_.a-zA-Z0-9].
struct FamilySchema {
  std::string name = {};
  GcRule gc = GcRule::None();
  ValueType value_type = ValueType::kBytes;

  friend bool operator==(const FamilySchema&, const FamilySchema&) = default;
};

// What a table accepts; beyond a limit a write is InvalidArgument. The defaults are Bigtable's. The greatest values allowed are
// 65,535 bytes for row keys and qualifiers, 256 MiB for values and mutations, and 1,000,000 changes a mutation.
struct Limits {
  uint64_t row_key_bytes = 4096;
  uint64_t qualifier_bytes = 16384;
  uint64_t value_bytes = uint64_t{100} << 20;
  // All bytes of one RowMutation. Never checked against the stored row: a row may grow without bound, and ReadRows streams it.
  uint64_t row_bytes = uint64_t{256} << 20;
  // Changes in one RowMutation.
  uint64_t mutations = 100'000;

  friend bool operator==(const Limits&, const Limits&) = default;
};

// A table's schema, built by chaining:
//   Schema().AddFamily("cf", GcRule::MaxNumVersions(3)).AddFamily("plain").AddSplit("m")
class Schema {
 public:
  // A name added twice is InvalidArgument at use.
  Schema& AddFamily(std::string name, GcRule gc = GcRule::None());
  Schema& AddFamily(FamilySchema family);
  Schema& SetGranularity(TimestampGranularity granularity);
  Schema& SetCompression(Compression compression);
  // A boundary between two initial tablets: rows below `row_key` and rows from it on are kept apart from the start. A repeated boundary
  // counts once; an empty one is InvalidArgument at use.
  Schema& AddSplit(std::string row_key);
  // A text kept with the table, of no meaning to the engine. The last value of a key holds; an empty value is a value, too. Keys have
  // 1 to 256 bytes, values at most 64 KiB.
  Schema& SetProperty(std::string key, std::string value);
  Schema& SetLimits(Limits limits);

  // Sorted by name, whatever the order in which they were added. A row shows them in the order of their creation, those of one call by
  // name.
  const std::vector<FamilySchema>& families() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return families_; }
  // The family of that name, or nullptr.
  const FamilySchema* family(std::string_view name) const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  TimestampGranularity granularity() const { return granularity_; }
  Compression compression() const { return compression_; }
  // Sorted, each once.
  const std::vector<std::string>& splits() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return splits_; }
  const std::map<std::string, std::string, std::less<>>& properties() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return properties_; }
  const Limits& limits() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return limits_; }

  friend bool operator==(const Schema&, const Schema&) = default;

 private:
  std::vector<FamilySchema> families_;
  std::vector<std::string> splits_;
  std::map<std::string, std::string, std::less<>> properties_;
  Limits limits_;
  TimestampGranularity granularity_ = TimestampGranularity::kMillis;
  Compression compression_ = Compression::kBalanced;
};

// One step of Table::ModifyColumnFamilies. Steps are taken in order and all together or not at all.
class FamilyChange {
 public:
  enum class Kind : uint8_t { kCreate, kUpdate, kDrop };

  // AlreadyExists if there is such a family.
  static FamilyChange Create(FamilySchema family);
  // Gives a family another rule; NotFound if there is none of that name. A looser rule may bring back versions that the old one had
  // condemned and no compaction had dropped yet.
  static FamilyChange Update(std::string name, GcRule gc);
  // Removes a family with all its cells, for good: a family created later under the same name starts empty. NotFound if there is none.
  static FamilyChange Drop(std::string name);

  Kind kind() const { return kind_; }
  const std::string& name() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return family_.name; }
  // kCreate: all of it; kUpdate: name and gc; kDrop: the name.
  const FamilySchema& family() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return family_; }

 private:
  FamilyChange(Kind kind, FamilySchema family) : kind_(kind), family_(std::move(family)) {}

  Kind kind_;
  FamilySchema family_;
};

}  // namespace v0
}  // namespace stele
