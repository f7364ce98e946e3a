// stele/keys.h: builds and parses row keys: joined fields, padded and reversed numbers, reversed
// domains, salted keys, and typed fields that sort in their order.
//
// stele/stele.h does not include this header. `stele key` has the same functions.
// Errors:    InvalidArgument for wrong input, unless a call states more.
// Threads:   pure functions and values; SaltedReader is confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/filter.h"
#include "stele/options.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/row.h"
#include "stele/row_set.h"
#include "stele/schema.h"
#include "stele/table.h"
#include "stele/timestamp.h"

namespace stele {
inline namespace v0 {
namespace keys {

// ---- fields in one key ----

// Joins the parts with the delimiter: {"phone", "4c41"} becomes "phone#4c41".
// Errors: no part; an empty delimiter; parts that Split() would not return from the result, because
// they contain the delimiter, or form another one with it, such as "a-" with the delimiter "--".
// The inverse is Split().
[[nodiscard]] absl::StatusOr<std::string> Join(std::span<const std::string_view> parts,
                                               std::string_view delimiter = "#");
// Joins parts that may contain the delimiter. In a part, '%' and every byte of the delimiter become
// '%' and two upper-case hex digits. The inverse is SplitEscaped().
// Errors: no part; a delimiter that is empty or contains '%' or an upper-case hex digit.
[[nodiscard]] absl::StatusOr<std::string> JoinEscaped(std::span<const std::string_view> parts,
                                                      std::string_view delimiter = "#");
// Splits at every delimiter. An empty key has one empty part. An empty delimiter splits nothing.
// The parts are views of `row_key`.
[[nodiscard]] std::vector<std::string_view> Split(
    std::string_view row_key ABSL_ATTRIBUTE_LIFETIME_BOUND, std::string_view delimiter = "#");
// Splits a key into the parts that were passed to JoinEscaped(). Errors: a key that JoinEscaped()
// cannot return; a delimiter that JoinEscaped() rejects.
[[nodiscard]] absl::StatusOr<std::vector<std::string>> SplitEscaped(
    std::string_view row_key, std::string_view delimiter = "#");

// ---- numbers and times as text that sorts ----

// Pads a decimal number with zeros to `width` digits: Pad("0042", 6) is "000042". `width` is 1 to
// 4096. Errors: no digit; another character; more than `width` digits without leading zeros.
[[nodiscard]] absl::StatusOr<std::string> Pad(std::string_view digits, int width);
[[nodiscard]] absl::StatusOr<std::string> Pad(uint64_t number, int width);

// Return 9223372036854775807 minus a number, in 19 digits, so that the newest time sorts first.
// ReverseTimestamp takes the microseconds of `time`. ReverseMillis takes any number, by convention
// milliseconds.
// Errors: a negative number.
[[nodiscard]] absl::StatusOr<std::string> ReverseTimestamp(Timestamp time);
[[nodiscard]] absl::StatusOr<std::string> ReverseMillis(int64_t millis);

// Returns 99999999 minus yyyymmdd in 8 digits. The text form is yyyymmdd or yyyy-mm-dd.
// Errors: a date that does not exist; a year outside 0 to 9999.
[[nodiscard]] absl::StatusOr<std::string> ReverseDate(std::chrono::year_month_day date);
[[nodiscard]] absl::StatusOr<std::string> ReverseDate(std::string_view date);

// Reverses decimal digits, so that successive numbers are far apart. Applies Pad() first if `width`
// is not 0. Errors: as for Pad().
[[nodiscard]] absl::StatusOr<std::string> ReverseDigits(std::string_view digits, int width = 0);

// The unit of a number that is a time since the epoch.
enum class TimeUnit : uint8_t { kSeconds, kMillis, kMicros };
// Rounds a time in `unit` down to a multiple of `width`. Errors: a width that is below 1 us or not
// a whole number of units; a result below the smallest int64.
[[nodiscard]] absl::StatusOr<int64_t> BucketTime(int64_t time, std::chrono::microseconds width,
                                                 TimeUnit unit = TimeUnit::kMillis);

// ---- host names ----

// Reverses the labels of a host name and converts them to ASCII lower case: "Maps.google.com"
// becomes "com.google.maps". Removes one dot at the end. Text from the first ':' or '/' on is kept
// unchanged. IPv4 addresses and "[...]" are unchanged.
// Errors: an empty label; a URL with a scheme, such as "https://...".
[[nodiscard]] absl::StatusOr<std::string> ReverseDomain(std::string_view host);

// ---- salted keys ----

// Returns the bucket of the key `bytes` as a decimal number. It is padded with zeros to as many
// digits as `buckets` - 1 has. A salted row key is the bucket, a delimiter and the key: "4#user1".
// `buckets` is 2 to 1000. The bucket is (h ^ (h >> 32)) mod `buckets`, where h is the 64-bit FNV-1a
// hash of `bytes`.
[[nodiscard]] absl::StatusOr<std::string> SaltBucket(std::string_view bytes, int buckets);
// Returns the ranges that contain the salted keys of `range`: one for each bucket, in order.
[[nodiscard]] absl::StatusOr<std::vector<RowRange>> SaltedRanges(const RowRange& range, int buckets,
                                                                 std::string_view delimiter = "#");
// Returns the smallest key that is greater than every key with this prefix: removes 0xff bytes at
// the end and adds 1 to the last byte. Nullopt if no byte is left.
[[nodiscard]] std::optional<std::string> PrefixEnd(std::string_view prefix);

// Reads a table with salted keys as if its keys had no bucket: one scan per bucket, merged by key.
//
//   keys::SaltedReader reader(table, RowRange::Prefix("user1"), 16);
//   while (reader.Next()) Use(reader.row());
//   if (!reader.status().ok()) ...
//
// The constructor starts the scans one after the other, each at its own commit. Set
// options.snapshot to read one state of the table. options.reverse and options.limit apply to the
// merged rows.
// Lifetime: move-only. Keeps the database open. row() is valid until the next Next().
class SaltedReader {
 public:
  // `range` is a range of keys without buckets. Wrong arguments are reported by status().
  SaltedReader(const Table& table, const RowRange& range, int buckets,
               std::string_view delimiter = "#", const Filter& filter = {},
               const ReadOptions& options = {});
  SaltedReader(SaltedReader&&) noexcept;
  SaltedReader& operator=(SaltedReader&&) noexcept;
  ~SaltedReader();

  // Advances to the next row, or to the next piece of a large row. Returns false at the end and on
  // an error, and in each later call.
  bool Next();
  // The current row. Its key has no bucket and no delimiter.
  const RowView& row() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // OK, or the first error of a scan.
  [[nodiscard]] absl::Status status() const;

 private:
  class Merge;
  std::unique_ptr<Merge> merge_;
};

// ---- typed fields ----

// The value of a field: std::string for kString and kBytes, int64_t for kInt64, Timestamp for
// kTimestamp.
using Value = std::variant<std::string, int64_t, Timestamp>;

// A row key schema: typed fields that are encoded as one row key. The keys sort by the first field,
// then by the second, and so on. It is Bigtable's Table.row_key_schema.
class RowKeySchema {
 public:
  enum class FieldType : uint8_t { kString, kBytes, kInt64, kTimestamp };
  // The encoding of a number, or of the microseconds of a time:
  //   kOrderedCode  1 to 10 bytes
  //   kBigEndian    8 bytes. Negative numbers are an error
  enum class NumberEncoding : uint8_t { kOrderedCode, kBigEndian };
  // How fields form a key:
  //   kOrderedCode  fields are separated by 00 01, and 00 in a field is written as 00 ff
  //   kDelimited    fields are separated by a delimiter. No field contains a byte that is less than
  //                 or equal to the delimiter's first byte
  //   kSingleton    the key is the only field
  enum class KeyEncoding : uint8_t { kOrderedCode, kDelimited, kSingleton };

  struct Field {
    std::string name = {};
    FieldType type = FieldType::kString;
    NumberEncoding encoding = NumberEncoding::kOrderedCode;  // of numbers and times
    // In a design file (docs/lab/designs.md): the template of the value. Otherwise "".
    std::string from = {};

    friend bool operator==(const Field&, const Field&) = default;
  };

  // Constructs a schema of ordered code without fields.
  RowKeySchema() = default;
  // Constructs a schema. `delimiter` is for kDelimited. Errors:
  //   a field name that is empty, repeated, not UTF-8, "_key" or "_timestamp"
  //   a delimiter that is not 1 to 50 bytes of UTF-8, or any delimiter without kDelimited
  //   kSingleton with no field or several
  [[nodiscard]] static absl::StatusOr<RowKeySchema> Create(KeyEncoding encoding,
                                                           std::vector<Field> fields,
                                                           std::string delimiter = "");
  // Parses the JSON form:
  //   {"encoding":"ordered_code","fields":[{"name":"id","type":"string"},
  //    {"name":"code","type":"int64","encoding":"big_endian","from":"{code}"}]}
  // or an object whose member "row_key_schema" is such an object. Errors state the position.
  [[nodiscard]] static absl::StatusOr<RowKeySchema> Parse(std::string_view json);

  KeyEncoding encoding() const { return encoding_; }
  const std::string& delimiter() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return delimiter_; }
  const std::vector<Field>& fields() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return fields_; }

  // Encodes one value per field, in their order.
  // Errors: a wrong number or type of values; a string that is not UTF-8; a value that the encoding
  // does not allow; a key that is empty or longer than `row_key_bytes_max`.
  [[nodiscard]] absl::StatusOr<std::string> Encode(
      std::span<const Value> values,
      uint64_t row_key_bytes_max = TableLimits().row_key_bytes) const;
  // The inverse of Encode(). Accepts only keys that Encode() produces. Errors state the position.
  [[nodiscard]] absl::StatusOr<std::vector<Value>> Decode(std::string_view row_key) const;
  // Encodes values of the first fields, and the separator if more fields follow. Keys that have
  // these values begin with the result. Exception: in ordered code, a key whose other fields are
  // all empty ends before the separator. Read it with ReadRow.
  // Errors: more values than fields; a wrong type of a value, or a value that Encode() rejects. The
  // length is not checked.
  [[nodiscard]] absl::StatusOr<std::string> EncodePrefix(std::span<const Value> values) const;

  // Returns the JSON form on one line. Parse() is its inverse.
  std::string ToString() const;

  friend bool operator==(const RowKeySchema&, const RowKeySchema&) = default;

 private:
  KeyEncoding encoding_ = KeyEncoding::kOrderedCode;
  std::string delimiter_;
  std::vector<Field> fields_;
};

}  // namespace keys
}  // namespace v0
}  // namespace stele
