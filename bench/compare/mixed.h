// bench/compare/mixed.h: runs a mixed workload: threads that read, scan and write rows in random
// order, as YCSB's core workloads do.
//
// Rows:      chosen with YCSB's zipfian distribution (0.99), scattered, or from the newest row.
//            New rows have numbers far above those of the other workloads.
// Same work: one thread does the same operations on every engine, and the data read is compared.
//            The order of several threads varies, so their data is not compared.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "bench/random.h"
#include "contender.h"
#include "measure.h"
#include "scan.h"
#include "tally.h"
#include "workload_list.h"

namespace stele_compare {

constexpr uint64_t kMixedOperations = 1'000'000;  // all threads together
constexpr uint64_t kMixedScans = 100'000;
constexpr uint64_t kMixedScanRows = 100;

template <typename Engine>
class MixedRunner {
 public:
  // `rows`: the rows that were loaded.
  MixedRunner(Engine* engine, const WorkloadRun& run, uint64_t rows)
      : engine_(*engine),
        run_(run),
        mixture_(run.workload->mixture),
        rows_(rows),
        position_(static_cast<uint64_t>(run.workload - Workloads().data()) + 1),
        row_count_(rows) {}

  absl::Status Run(Figure* figure) {
    const auto thread_count = static_cast<size_t>(run_.workload->thread_count);
    const uint64_t all =
        std::min(mixture_.scan_percent > 0 ? kMixedScans : kMixedOperations, 10 * rows_);
    const uint64_t operations = std::max<uint64_t>(1, all / thread_count);
    std::vector<std::unique_ptr<Client>> clients;
    for (size_t i = 0; i < thread_count; ++i)
      clients.push_back(std::make_unique<Client>(&engine_, run_, rows_, i, operations));
    const Meter meter;
    std::vector<std::thread> threads;
    for (const std::unique_ptr<Client>& client : clients) {
      threads.emplace_back([this, client = client.get(), operations] {
        for (uint64_t i = 0; i < operations && client->status.ok(); ++i) Operate(client);
      });
    }
    for (std::thread& thread : threads) thread.join();
    figure->seconds = meter.Seconds();
    figure->operation_count = operations * thread_count;
    figure->value = static_cast<double>(figure->operation_count) / figure->seconds;
    const absl::Status settled = engine_.Settle();
    figure->settle_seconds = meter.Seconds() - figure->seconds;
    meter.Read(run_.settings.directory, figure);
    const absl::Status summed = SumUp(clients, figure);
    return summed.ok() ? settled : summed;
  }

 private:
  struct Client {
    Client(Engine* engine, const WorkloadRun& run, uint64_t rows, size_t index, uint64_t operations)
        : random(run.seed * 1000 + index),
          chooser({.kind = run.workload->mixture.prefers_newest
                               ? stele::cli::Distribution::Kind::kLatest
                               : stele::cli::Distribution::Kind::kZipfian},
                  rows, 0),
          maker(*run.pool, DataSet::kYcsb),
          reader(engine),
          latencies(operations) {}

    stele::cli::BenchRandom random;
    stele::cli::RowChooser chooser;
    RowMaker maker;
    typename Engine::Reader reader;
    Latencies latencies;
    Tally tally;
    uint64_t expected_rows_min = 0;  // the least number of rows that reads and scans must find
    uint64_t user_bytes = 0;
    absl::Status status;
  };

  void Operate(Client* client) {
    const uint64_t row = IndexOf(client->chooser.Next(&client->random, row_count_.load()));
    const auto chance = static_cast<int>(client->random.Below(100));
    const Clock::time_point start = Clock::now();
    if (chance < mixture_.read_percent) {
      Read(client, row);
    } else if (chance < mixture_.read_percent + mixture_.scan_percent) {
      ScanRows(client, row);
    } else if (chance < mixture_.read_percent + mixture_.scan_percent + mixture_.update_percent) {
      Update(client, row);
    } else if (mixture_.insert_percent > 0) {
      Insert(client);
    } else {
      Read(client, row);
      if (client->status.ok()) Update(client, row);
    }
    client->latencies.Add(Clock::now() - start);
  }

  void Read(Client* client, uint64_t row) {
    ++client->expected_rows_min;
    client->status = client->reader.Read(RowKeyOf(row), /*latest_only=*/false, &client->tally);
  }

  void ScanRows(Client* client, uint64_t row) {
    ++client->expected_rows_min;
    const std::string start = RowKeyOf(row);
    const Scan scan = {
        .start = start, .row_limit = 1 + client->random.Below(kMixedScanRows), .fills_cache = true};
    client->status = client->reader.Run(scan, &client->tally);
  }

  void Update(Client* client, uint64_t row) {
    Write(client, client->maker.MakeOneCell(row, NextOverwrite(), client->random.Next()));
  }

  // Readers may choose a row only after it was written.
  void Insert(Client* client) {
    const uint64_t number = insert_count_.fetch_add(1);
    Write(client, client->maker.Make(IndexOf(rows_ + number), NextOverwrite()));
    if (!client->status.ok()) has_failed_ = true;
    uint64_t expected = rows_ + number;
    while (!has_failed_ && !row_count_.compare_exchange_weak(expected, rows_ + number + 1)) {
      expected = rows_ + number;
      std::this_thread::yield();
    }
  }

  void Write(Client* client, const RowData& row) {
    client->user_bytes += UserBytes(row);
    client->status = engine_.Write(row, /*sync=*/false);
  }

  // This workload's new rows have far greater numbers than those of other workloads.
  uint64_t IndexOf(uint64_t number) const {
    return number < rows_ ? number : rows_ * 10 * position_ + number;
  }
  // Later workloads write later timestamps.
  uint64_t NextOverwrite() { return (position_ << 32) + write_count_.fetch_add(1); }

  absl::Status SumUp(const std::vector<std::unique_ptr<Client>>& clients, Figure* figure) const {
    for (const std::unique_ptr<Client>& client : clients) {
      if (!client->status.ok()) return client->status;
      if (client->tally.rows() < client->expected_rows_min)
        return absl::InternalError("found " + std::to_string(client->tally.rows()) + " rows, not " +
                                   std::to_string(client->expected_rows_min));
      figure->user_bytes += client->user_bytes;
      if (client != clients.front()) clients.front()->latencies.Append(client->latencies);
    }
    clients.front()->latencies.Read(figure);
    if (clients.size() > 1) return absl::OkStatus();
    clients.front()->tally.Finish();
    figure->hash = clients.front()->tally.hash();
    figure->cell_count = clients.front()->tally.cells();
    return absl::OkStatus();
  }

  Engine& engine_;
  const WorkloadRun& run_;
  const Mixture& mixture_;
  const uint64_t rows_;
  const uint64_t position_;          // of the workload in the list, from 1 on
  std::atomic<uint64_t> row_count_;  // rows that may be read
  std::atomic<uint64_t> insert_count_ = 0;
  std::atomic<bool> has_failed_ = false;  // an insert
  std::atomic<uint64_t> write_count_ = 0;
};

}  // namespace stele_compare
