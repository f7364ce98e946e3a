// trace/hot_rows.h: finds the rows that are written too often in a minute.
//
// In a minute with more than 65,536 different rows, the counts are estimates that are never too
// small. If an estimate exceeds a limit, the caller adds all operations again, and only the rows
// that may exceed a limit are counted. So every hot row is found, and no other row is reported.
//
// Threads:   confined to one thread. Operations come in the order of time.
// Memory:    at most 20 MiB. After 131,072 hot rows, further ones are not counted. After 65,536
//            rows that exceed the sustained limit in one minute, further ones are not remembered
//            for the next minute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "lab/facts/offenders.h"
#include "lab/trace/space_saving.h"

namespace stele::internal::lab {

class HotRows {
 public:
  // A row is hot if it has more than `minute` writes in one minute, or more than `sustained` in
  // each of three consecutive minutes.
  HotRows(double minute, double sustained) : minute_max_(minute), sustained_max_(sustained) {}

  void Add(int64_t micros, const std::string& row, uint64_t count);

  // True if the results are estimates. Then call Recount(), and Add() for all operations again.
  bool needs_recount() const { return needs_recount_; }
  void Recount();

  const Offenders& rows() const { return rows_; }  // samples are in the order of the trace
  // The most writes of a hot row in one minute.
  uint64_t largest() const { return largest_; }
  // True if no row had more than `minute` writes in one minute.
  bool is_only_sustained() const { return is_only_sustained_; }

 private:
  // In how many consecutive minutes a row has exceeded the sustained limit.
  struct Busy {
    int minutes = 0;
    bool is_exact = true;
  };
  using BusyRows = std::unordered_map<uint64_t, Busy>;

  void StartMinute(int64_t minute);
  SpaceSaving::Estimate Count(uint64_t row, uint64_t count);
  Busy NoteBusy(uint64_t row, bool is_exact);

  const double minute_max_;
  const double sustained_max_;
  int64_t minute_ = -1;
  SpaceSaving counts_{65'536};  // in this minute, by the hash of the row
  BusyRows busy_;               // in this minute
  BusyRows busy_before_;        // in the minute before
  std::unordered_set<uint64_t> hot_;
  Offenders rows_;
  uint64_t largest_ = 0;
  bool is_only_sustained_ = true;
  bool needs_recount_ = false;
  // The rows that are counted again, and their counts.
  std::unordered_set<uint64_t> candidates_;
  std::unordered_map<uint64_t, uint64_t> exact_counts_;
  bool is_recount_ = false;
};

}  // namespace stele::internal::lab
