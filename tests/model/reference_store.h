// model/reference_store.h: the data model written naively, to hold the engine against. It shares no code with src/: std::map, copies, and
// the rules word by word.
//
// Certainty: what a family's rule condemned before the rule was changed may be there or not (a compaction may have come between): such a
//            version is marked, and ranks below it become intervals. An answer is held against `must` and `may`.
// Source:    docs/data-model.md; engine rules 4, 8, 9, 10, 14 and 16.
// Threads:   thread-compatible; copyable (a copy is a snapshot).
#pragma once

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

// A value, and what it replaced: where the newer one may be gone because its version was condemned, the older may still be stored.
struct ReferenceValue {
  std::string bytes;
  std::shared_ptr<const ReferenceValue> replaced = nullptr;
  // Of an aggregate, whose `bytes` are what all deltas come to. The unsure ones were added while the version was condemned, or before a
  // time when it may have been: each of them may be gone.
  std::string aggregate = {};
  std::vector<std::string> sure = {};
  std::vector<std::string> unsure = {};

  bool operator==(const ReferenceValue& other) const {
    return bytes == other.bytes && aggregate == other.aggregate && sure == other.sure && unsure == other.unsure;
  }
};
using ReferenceValuePointer = std::shared_ptr<const ReferenceValue>;

struct ReferenceCell {
  std::string family;
  std::string qualifier;
  int64_t timestamp = 0;
  ReferenceValuePointer value;
  bool is_there = true;  // false: an answer may leave it out, or show a replaced value, or a part of its deltas
  std::string label = {};

  // There is one answer.
  bool certain() const { return is_there && value->unsure.empty(); }

  bool SamePlace(const ReferenceCell& other) const {
    return timestamp == other.timestamp && qualifier == other.qualifier && family == other.family && label == other.label;
  }
  bool operator==(const ReferenceCell& other) const { return SamePlace(other) && value->bytes == other.value->bytes; }
};
using ReferenceRow = std::vector<ReferenceCell>;

class ReferenceStore {
 public:
  struct Version {
    ReferenceValuePointer value;
    bool may_be_absent = false;
    bool operator==(const Version& other) const { return may_be_absent == other.may_be_absent && *value == *other.value; }
  };
  using Column = std::map<int64_t, Version, std::greater<>>;             // newest first
  using RowData = std::map<std::string, std::map<std::string, Column>>;  // by family and qualifier; nothing empty stays
  struct Table {
    bool micros = false;
    std::map<std::string, Term> families;  // their rules
    std::vector<std::string> order;        // of families in a row
    // Puts cells of one row in the order of families, and keeps the order in each.
    void PutInOrder(ReferenceRow* row) const;
    std::map<std::string, std::string> types;  // of those that hold aggregates
    std::map<std::string, RowData> rows;
  };

  struct TokenUse {
    int64_t used_at = 0;
    std::string answer;  // "matched" or "unmatched" of a cam, "row" of a rmw, else ""
    Term write;          // what was applied: of a rmw, the row that it answered
    bool operator==(const TokenUse&) const = default;
  };
  using Token = std::map<int64_t, TokenUse>;  // by entry

  // Is a token still, that was used then?
  static bool IsRemembered(int64_t used_at, int64_t now);

  std::map<std::string, Table> tables;
  std::map<std::string, Token> tokens;
  int64_t now = 0;

  // Carries out a writing operation, or refuses it and changes nothing. Answers the codes that are right; kOk alone when it was done.
  std::vector<absl::StatusCode> Apply(const Term& operation);

  // The codes that are right for a row of a load whose last row taken was `last` (none: nullptr).
  std::vector<absl::StatusCode> JudgeLoaded(const Term& row, const std::string* last) const;

  // The codes that are right for a row of a write.
  std::vector<absl::StatusCode> Judge(const Term& row) const;
  // Is something wrong with it whatever the table's families are?
  bool HasWrongForm(const Term& row) const;

  // A row as a read with apply_gc sees it, or everything that is stored; in the order of the answer.
  static ReferenceRow Read(const Table& table, const RowData& row, int64_t now, bool apply_gc);
  // Does a GC rule condemn a version of this rank and timestamp?
  static bool Condemns(const Term& rule, int64_t rank, int64_t timestamp, int64_t now);
  static bool CountsVersions(const Term& rule);

 private:
  std::vector<absl::StatusCode> ApplyUnder(const Term& operation);
  std::vector<absl::StatusCode> Create(const Term& operation);
  std::vector<absl::StatusCode> ChangeFamilies(const Term& operation);
  std::vector<absl::StatusCode> DropRange(const Term& operation);
  std::vector<absl::StatusCode> Load(const Term& operation);
  std::vector<absl::StatusCode> Write(const Term& operation);
  void SealRanges(const Term& row);
  void Change(Table& table, RowData& row, const Term& change);
  static void Add(const std::string& aggregate, const std::string& delta, Version* version);
  void Settle(const Term& rule, Column& column) const;
};

// The bytes that a merge folds in.
std::string StateOf(const Term& state);
// Whether a range, or a set of keys and ranges, holds the key. Empty bounds are unbounded.
bool RangeContains(const Term& range, std::string_view row_key);
bool RangeIsInverted(const Term& range);
// What the filter leaves of a row.
ReferenceRow Filtered(const Term& filter, std::string_view row_key, const ReferenceRow& row);
// What it may leave: one answer for each way in which its samples may decide.
std::vector<ReferenceRow> FilteredInAnyWay(const Term& filter, std::string_view row_key, const ReferenceRow& row);
// By place, and cells of one place, as interleaves make them, in one order: theirs is not defined.
ReferenceRow InOneOrder(ReferenceRow row);
bool FilterIsValid(const Term& filter, bool micros);

}  // namespace stele::internal
