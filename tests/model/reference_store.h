// tests/model/reference_store.h: a naive implementation of the data model, the reference for the
// engine. It shares no code with src/. It uses std::map and copies, and follows the rules
// literally.
//
// Certainty: Versions that were garbage before a family's rule changed, or before the clock went
//            back, may be present or absent, because a compaction may have removed them. Such a
//            version is marked, and the ordinals of older versions become intervals. A read must
//            return every certain cell, and may return uncertain ones.
// Source:    docs/guide/data-model.md; engine rules 4, 7 to 10, 14 and 16.
// Threads:   Thread-compatible. A copy is a snapshot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/operation.h"

namespace stele::internal {

// A value and the value it replaced. If the newer one may be absent because its version was
// garbage, the older one may still be stored.
struct ReferenceValue {
  std::string bytes;
  std::shared_ptr<const ReferenceValue> replaced = nullptr;
  // For an aggregate, `bytes` is the aggregate of all deltas. An unsure delta was added while the
  // version was garbage, or before a time when it may have been garbage. Each unsure delta may be
  // absent.
  std::string aggregate = {};
  std::vector<std::string> sure = {};
  std::vector<std::string> unsure = {};

  bool operator==(const ReferenceValue& other) const {
    return bytes == other.bytes && aggregate == other.aggregate && sure == other.sure &&
           unsure == other.unsure;
  }
};
using ReferenceValuePointer = std::shared_ptr<const ReferenceValue>;

struct ReferenceCell {
  std::string family;
  std::string qualifier;
  int64_t timestamp = 0;
  ReferenceValuePointer value;
  // False: a read may omit the cell, or return a replaced value or a part of its deltas.
  bool is_there = true;
  std::string label = {};

  // Returns whether exactly one value is correct.
  bool certain() const { return is_there && value->unsure.empty(); }

  bool SamePlace(const ReferenceCell& other) const {
    return timestamp == other.timestamp && qualifier == other.qualifier && family == other.family &&
           label == other.label;
  }
  bool operator==(const ReferenceCell& other) const {
    return SamePlace(other) && value->bytes == other.value->bytes;
  }
};
using ReferenceRow = std::vector<ReferenceCell>;

class ReferenceStore {
 public:
  struct Version {
    ReferenceValuePointer value;
    bool may_be_absent = false;
    bool operator==(const Version& other) const {
      return may_be_absent == other.may_be_absent && *value == *other.value;
    }
  };
  using Column = std::map<int64_t, Version, std::greater<>>;  // newest first
  // By family and qualifier; no empty entries.
  using RowData = std::map<std::string, std::map<std::string, Column>>;
  struct Table {
    bool micros = false;
    std::map<std::string, Term> families;  // name -> rule
    std::vector<std::string> order;        // the families' order in a row
    // Sorts the cells of a row by family, and keeps the order within each family.
    void PutInOrder(ReferenceRow* row) const;
    std::map<std::string, std::string> types;  // name -> type, for aggregate families
    std::map<std::string, RowData> rows;
  };

  struct TokenUse {
    int64_t used_at = 0;
    std::string result;  // "matched" or "unmatched" for a cam, "row" for a rmw, else ""
    Term write;          // the write that was applied; for a rmw, the row it returned
    bool operator==(const TokenUse&) const = default;
  };
  using Token = std::map<int64_t, TokenUse>;  // by entry

  // Returns whether a token used at that time is still remembered.
  static bool IsRemembered(int64_t used_at, int64_t now);

  std::map<std::string, Table> tables;
  std::map<std::string, Token> tokens;
  int64_t now = 0;
  int64_t mark = 0;  // the greatest time from which the clock went back
  // The time of commits, at which GC fences and the ages of tokens are judged.
  int64_t commit_time() const { return std::max(now, mark); }

  // Applies a writing operation, or rejects it and changes nothing. Returns the codes that are
  // correct; only kOk if it was applied.
  std::vector<absl::StatusCode> Apply(const Term& operation);

  // Returns the correct codes for a row of a load. `last` is the last accepted row; nullptr: none.
  std::vector<absl::StatusCode> JudgeLoaded(const Term& row, const std::string* last) const;

  // Returns the correct codes for a row of a write.
  std::vector<absl::StatusCode> Judge(const Term& row) const;
  // Returns whether the row is invalid for every set of families.
  bool HasWrongForm(const Term& row) const;

  // Returns the row as a read with apply_gc sees it, or all its stored cells, in the order of a
  // read.
  static ReferenceRow Read(const Table& table, const RowData& row, int64_t now, bool apply_gc);
  // Returns whether the GC rule makes a version with this ordinal and timestamp garbage.
  static bool Collects(const Term& rule, int64_t ordinal, int64_t timestamp, int64_t now);
  static bool CountsVersions(const Term& rule);

 private:
  std::vector<absl::StatusCode> ApplyUnder(const Term& operation);
  std::vector<absl::StatusCode> Create(const Term& operation);
  std::vector<absl::StatusCode> ChangeFamilies(const Term& operation);
  std::vector<absl::StatusCode> DropRange(const Term& operation);
  std::vector<absl::StatusCode> Load(const Term& operation);
  std::vector<absl::StatusCode> Write(const Term& operation);
  void FenceRanges(const Term& row);
  void Change(Table& table, RowData& row, const Term& change);
  static void Add(const std::string& aggregate, const std::string& delta, Version* version);
  static void Settle(const Term& rule, Column& column, int64_t time);
  void MoveClock(int64_t step);
};

// Returns the bytes that a merge adds to the aggregate.
std::string StateOf(const Term& state);
// Returns whether a range, or a set of keys and ranges, contains the key. An empty bound is open.
bool RangeContains(const Term& range, std::string_view row_key);
bool RangeIsInverted(const Term& range);
// Returns the cells that the filter passes.
ReferenceRow Filtered(const Term& filter, std::string_view row_key, const ReferenceRow& row);
// Returns every possible result: one for each outcome of the filter's samples.
std::vector<ReferenceRow> FilteredInAnyWay(const Term& filter, std::string_view row_key,
                                           const ReferenceRow& row);
// Sorts by position. Cells at one position, which interleaves make, have no defined order; they get
// a fixed one.
ReferenceRow InOneOrder(ReferenceRow row);
bool FilterIsValid(const Term& filter, bool micros);

}  // namespace stele::internal
