// bench/server/workload.h: the requests to the servers, and the checks of their responses.
//
// Rows and values are those of bench/compare/data.h. Every round creates every table again, and the
// timed calls fill it. The client sets the timestamps, so that all servers store the same data and
// can be compared.
//
// Threads:   Pure functions.
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
  kMutateRows,      // all rows, a hundred per call; it fills the table for the next three
  kScan,            // all rows; each connection reads its part
  kReadRow,         // a row by its key, in random order
  kCheckAndMutate,  // a lock: sets a cell if it is absent, and deletes it if it is present
  kMutateRow,       // a row of five cells per call, in random order, into an empty table
  kPing,            // a call that does nothing: the cost of the transport
};

struct Workload {
  Kind kind = Kind::kScan;
  std::string_view name;
  std::string_view timed;  // the timed part, in one line for --help
  std::string_view unit;
  double goal = 0;  // as a multiple of the emulator's rate
};

// In execution order.
std::span<const Workload> Workloads();

// A method: its path, such as "/google.bigtable.v2.Bigtable/MutateRow", and whether its response is
// a stream.
struct Method {
  const char* path = "";
  bool is_streaming = false;
};
const Method& MethodOf(Kind kind);
bool IsRead(Kind kind);

// One run. `connections` connections share the rows.
struct Run {
  Kind kind = Kind::kScan;
  std::string instance;  // full names
  std::string table;
  uint64_t rows = 0;
  uint64_t connections = 1;
  uint64_t seed = 0;  // selects the rows and their order
};

// The requests of one connection, and the number of rows or calls they count for.
struct Script {
  std::vector<std::string> requests;  // each is a message with its prefix
  uint64_t operation_count = 0;
};
Script ScriptOf(const Run& run, uint64_t connection, stele_compare::RowMaker* maker);

// Checks and counts the responses of a run.
class Reading {
 public:
  explicit Reading(Kind kind) : kind_(kind) {}
  // Adds the response of a call, as Connection returns it. Returns "" or the fault.
  std::string Take(std::string_view answer);
  // Call after the last response.
  void Finish() { tally_.Finish(); }

  const stele_compare::Tally& tally() const { return tally_; }
  uint64_t hash() const { return stele_compare::Mix(tally_.hash() ^ matched_hash_); }

 private:
  std::string TakeMessage(std::string_view bytes);
  std::string TakeRows(std::string_view bytes);

  const Kind kind_;
  stele_compare::Tally tally_;
  uint64_t matched_hash_ = 0;
  // The cell that the next chunk belongs to.
  std::string family_;
  std::string qualifier_;
  std::string value_;
  int64_t timestamp_micros_ = 0;
  bool in_row_ = false;
  bool in_value_ = false;
};

// Returns one request for the whole table.
std::string WholeTable(const std::string& table);

}  // namespace stele_load
