// server/workload.h: what is sent to the servers, and what they have to answer.
//
// Rows and values are those of bench/compare/data.h. Every table is made anew for its round and filled by the calls that are timed, with
// timestamps that the client says, so that all servers hold the same and can be held against each other.
//
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/data.h"
#include "compare/tally.h"

namespace stele_load {

enum class Kind : uint8_t {
  kMutateRows,      // all rows, a hundred a call; it fills the table that the next three use
  kScan,            // all rows, each connection its part of them
  kReadRow,         // a row by its key, at random
  kCheckAndMutate,  // a cell is set where it is not, and deleted where it is: a lock
  kMutateRow,       // a row of five cells a call, in random order, into an empty table
};

struct Workload {
  Kind kind = Kind::kScan;
  std::string_view name;
  std::string_view unit;
  double goal = 0;  // times the emulator's rate
};

// In the order in which they run.
std::span<const Workload> Workloads();

// A method by its path, as "/google.bigtable.v2.Bigtable/MutateRow", and whether it answers with a stream.
struct Method {
  const char* path = "";
  bool is_streaming = false;
};
const Method& MethodOf(Kind kind);
bool IsRead(Kind kind);

// One run: `connections` share out the rows among each other.
struct Run {
  Kind kind = Kind::kScan;
  std::string table;  // by its full name
  uint64_t rows = 0;
  uint64_t connections = 1;
  uint64_t seed = 0;  // which rows, in what order
};

// What one connection sends, and how many rows or calls all of it counts for.
struct Script {
  std::vector<std::string> requests;  // each a message behind its prefix
  uint64_t operation_count = 0;
};
Script ScriptOf(const Run& run, uint64_t connection, stele_compare::RowMaker* maker);

// What a run read.
class Reading {
 public:
  explicit Reading(Kind kind) : kind_(kind) {}
  // Adds the answer of a call, as Connection gives it; "" or what is wrong with it.
  std::string Take(std::string_view answer);
  // After the last.
  void Finish() { tally_.Finish(); }

  const stele_compare::Tally& tally() const { return tally_; }
  uint64_t hash() const { return stele_compare::Mix(tally_.hash() ^ matched_hash_); }

 private:
  std::string TakeMessage(std::string_view bytes);
  std::string TakeRows(std::string_view bytes);

  const Kind kind_;
  stele_compare::Tally tally_;
  uint64_t matched_hash_ = 0;
  // Of the cell that the next chunk belongs to.
  std::string family_;
  std::string qualifier_;
  std::string value_;
  int64_t timestamp_micros_ = 0;
  bool in_row_ = false;
  bool in_value_ = false;
};

// The whole table in one request.
std::string WholeTable(const std::string& table);

}  // namespace stele_load
