// tests/support/db_mixed_load.h: a load of concurrent writers, scanners and point readers on one
// table. It ends when the writers have written their rows.
//
// How:       4 writers overwrite and add rows of several families. 8 scanners read the table
//            repeatedly: forward, in reverse, newest versions only, or one family only. 3 readers
//            read single rows; half of their reads find no row. Flushes and compactions run when
//            they are due. Each read checks that all cells of a row are from one write.
// Threads:   Call Run once.
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
    uint64_t rows_first = 60'000;    // rows written before the concurrent load starts
    uint64_t rows_written = 40'000;  // rows written by each writer
    uint64_t row_count = 120'000;    // number of distinct rows
    int writers = 4;
    int scanners = 8;
    int point_readers = 2;
    bool holds_snapshot = true;
    bool compacts = true;  // compact the whole table during the load
  };
  MixedLoad(Database database, const Options& options)
      : database_(std::move(database)), options_(options) {}

  // Runs the load and calls `look` repeatedly while it runs. A wrong result fails the test.
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
