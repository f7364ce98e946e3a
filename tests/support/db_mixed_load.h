// support/db_mixed_load.h: writers, scanners, readers of single rows and a held snapshot, all at once on one table, for as long as the
// writers have rows to write.
//
// How:       4 writers overwrite and add rows of a few families; 8 scanners go over the table forward, in reverse, for the newest
//            versions or one family, again and again; 3 read single rows and miss half of the time; flushes and compactions come as
//            they are due. What is read is checked: a row's cells are all of one write.
// Threads:   Run is called once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/random.h"
#include "stele/stele.h"

namespace stele::internal {

class MixedLoad {
 public:
  struct Options {
    uint64_t rows_first = 60'000;    // written before the rest begins
    uint64_t rows_written = 40'000;  // by each writer
    uint64_t row_count = 120'000;    // rows there can be
    int writers = 4;
    int scanners = 8;
    int point_readers = 2;
    bool holds_snapshot = true;
    bool compacts = true;  // all of the table, in between
  };
  MixedLoad(Database database, const Options& options) : database_(std::move(database)), options_(options) {}

  // `look` is called again and again meanwhile. Fails the test where something is wrong.
  void Run(const std::function<void(const char* phase)>& look);

 private:
  void WriteRow(uint64_t row, uint64_t round);
  void Write(int writer);
  void Scan(int scanner);
  void ReadRows(int reader);
  void ReadSomeRow(Random* random);
  uint64_t ReadAll(const Filter& filter, const ReadOptions& options);

  Database database_;
  const Options options_;
  Table table_;
  std::atomic<int> writing_{0};
  std::atomic<bool> done_{false};
};

}  // namespace stele::internal
