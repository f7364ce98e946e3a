// RocksDB with the settings of an expert user. The report prints each of them.
#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kv_cells.h"
#include "workloads.h"

namespace stele_compare {
namespace {

constexpr uint64_t kSstFileBytes = uint64_t{64} << 20;

absl::Status StatusOf(const rocksdb::Status& status) {
  return status.ok() ? absl::OkStatus() : absl::InternalError("rocksdb: " + status.ToString());
}
std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice RocksSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

// Extracts the row of a cell's key, with its end mark. The bloom filters are over this prefix.
class RowPrefix : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "stele_compare.RowPrefix"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), EscapedBytes(ViewOf(key))};
  }
  bool InDomain(const rocksdb::Slice& key) const override {
    return EscapedBytes(ViewOf(key)) != std::string_view::npos;
  }
};

// Keeps the first version of each column in a flush or compaction, which is the newest version of
// its input.
class KeepOneVersion : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "stele_compare.KeepOneVersion"; }
  bool Filter(int, const rocksdb::Slice& key, const rocksdb::Slice&, std::string*,
              bool*) const override {
    const std::string_view column = ViewOf(key).substr(0, key.size() - kTimestampBytes);
    if (column == column_) return true;
    column_.assign(column);
    return false;
  }

 private:
  mutable std::string column_;  // safe, because each compaction makes its own filter
};

class KeepOneVersionFactory : public rocksdb::CompactionFilterFactory {
 public:
  const char* Name() const override { return "stele_compare.KeepOneVersionFactory"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<KeepOneVersion>();
  }
  bool ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const override {
    return reason == rocksdb::TableFileCreationReason::kFlush ||
           reason == rocksdb::TableFileCreationReason::kCompaction;
  }
};

rocksdb::Options OptionsOf(const OpenSettings& settings) {
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 16 << 10;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  table.whole_key_filtering = false;
  table.cache_index_and_filter_blocks = false;
  table.block_cache = rocksdb::NewLRUCache(settings.cache_bytes);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor = std::make_shared<RowPrefix>();
  options.memtable_prefix_bloom_size_ratio = 0.05;
  options.compression = rocksdb::kLZ4Compression;
  options.bottommost_compression = rocksdb::kZSTD;
  options.write_buffer_size = settings.write_buffer_bytes;
  options.max_write_buffer_number = settings.write_buffer_count;
  options.max_background_jobs = 2;
  options.level_compaction_dynamic_level_bytes = true;
  options.max_bytes_for_level_base = uint64_t{256} << 20;
  options.target_file_size_base = kSstFileBytes;
  options.bytes_per_sync = 1 << 20;
  options.recycle_log_file_num = 3;
  options.avoid_flush_during_recovery = settings.keeps_replayed_log;
  if (settings.keeps_one_version && !settings.replaces_versions)
    options.compaction_filter_factory = std::make_shared<KeepOneVersionFactory>();
  return options;
}

using RocksCursor = SliceCursor<rocksdb::Iterator>;

class RocksdbEngine {
 public:
  static constexpr bool kHasFamilies = false;

  absl::Status Open(const OpenSettings& settings) {
    settings_ = settings;
    options_ = OptionsOf(settings);
    rocksdb::DB* database = nullptr;
    const rocksdb::Status opened = rocksdb::DB::Open(options_, settings.directory, &database);
    database_.reset(database);
    return StatusOf(opened);
  }

  absl::Status Write(const RowData& row, bool sync) {
    rocksdb::WriteBatch batch;
    const absl::Status put = PutRow(row, &batch);
    if (!put.ok()) return put;
    rocksdb::WriteOptions options;
    options.sync = sync;
    return StatusOf(database_->Write(options, &batch));
  }

  absl::Status Increment(std::string_view row_key) {
    const std::string key = CounterKey(row_key);
    rocksdb::PinnableSlice stored;
    const rocksdb::Status got = database_->Get(
        rocksdb::ReadOptions(), database_->DefaultColumnFamily(), RocksSlice(key), &stored);
    if (!got.ok() && !got.IsNotFound()) return StatusOf(got);
    if (!IncrementKvCounter(ViewOf(stored), &counter_))
      return absl::InternalError("rocksdb: not a counter");
    return StatusOf(database_->Put(rocksdb::WriteOptions(), RocksSlice(key), RocksSlice(counter_)));
  }

  absl::Status WriteMany(std::span<const RowData> rows) {
    rocksdb::WriteBatch batch;
    for (const RowData& row : rows) {
      const absl::Status put = PutRow(row, &batch);
      if (!put.ok()) return put;
    }
    return StatusOf(database_->Write(rocksdb::WriteOptions(), &batch));
  }

  absl::StatusOr<bool> CheckAndWrite(const RowData& row) {
    const CellData& cell = row.cells.front();
    const std::string key = ColumnKey(row.row_key, {cell.family, cell.qualifier});
    rocksdb::PinnableSlice stored;
    const rocksdb::Status got = database_->Get(
        rocksdb::ReadOptions(), database_->DefaultColumnFamily(), RocksSlice(key), &stored);
    if (!got.ok() && !got.IsNotFound()) return StatusOf(got);
    const absl::Status written = Write(row, /*sync=*/false);
    if (!written.ok()) return written;
    return got.ok();
  }

  absl::Status DeleteRow(std::string_view row_key, std::span<const ColumnName> columns) {
    rocksdb::WriteBatch batch;
    for (const ColumnName& column : columns) {
      const rocksdb::Status added = batch.Delete(ColumnKey(row_key, column));
      if (!added.ok()) return StatusOf(added);
    }
    return StatusOf(database_->Write(rocksdb::WriteOptions(), &batch));
  }

  absl::Status DeleteRows(const std::string& start, const std::string& end) {
    std::string start_key;
    std::string end_key;
    AppendRowPrefix(&start_key, start);
    AppendRowPrefix(&end_key, end);
    rocksdb::WriteOptions options;
    options.sync = true;
    return StatusOf(database_->DeleteRange(options, database_->DefaultColumnFamily(),
                                           RocksSlice(start_key), RocksSlice(end_key)));
  }

  absl::Status BulkAdd(const RowData& row) {
    if (writer_ == nullptr || writer_->FileSize() >= kSstFileBytes) {
      const absl::Status begun = BeginFile();
      if (!begun.ok()) return begun;
    }
    return PutRow(row, writer_.get());
  }

  absl::Status BulkFinish() {
    if (writer_ == nullptr) return absl::OkStatus();
    const rocksdb::Status finished = writer_->Finish();
    if (!finished.ok()) return StatusOf(finished);
    writer_ = nullptr;
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    return StatusOf(database_->IngestExternalFile(files_, ingest));
  }

  absl::Status Settle() {
    const rocksdb::Status flushed = database_->Flush(rocksdb::FlushOptions());
    if (!flushed.ok()) return StatusOf(flushed);
    // This release has no call that waits for compactions.
    while (IsBusy()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return absl::OkStatus();
  }

  absl::Status Compact() {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    return StatusOf(database_->CompactRange(options, nullptr, nullptr));
  }
  absl::Status Close() {
    writer_ = nullptr;
    return database_ == nullptr ? absl::OkStatus() : StatusOf(database_->Close());
  }
  std::string note() const { return ""; }

  class Reader {
   public:
    explicit Reader(RocksdbEngine* engine)
        : database_(*engine->database_), place_(engine->place()) {}

    // All reads share one iterator, because a refresh is cheaper than a new iterator.
    absl::Status Read(std::string_view row_key, bool latest_only, Tally* tally) {
      rocksdb::ReadOptions options;
      options.prefix_same_as_start = true;
      const absl::Status ready = Renew(options, &row_iterator_);
      if (!ready.ok()) return ready;
      prefix_.clear();
      AppendRowPrefix(&prefix_, row_key);
      RocksCursor cursor(row_iterator_.get());
      return Verdict(ReadKvRow(cursor, prefix_, place_, latest_only, tally), *row_iterator_);
    }

    // One MultiGet of all columns of all rows.
    absl::Status ReadMany(std::span<const std::string> row_keys,
                          std::span<const ColumnName> columns, Tally* tally) {
      const size_t count = row_keys.size() * columns.size();
      std::vector<std::string> keys;
      keys.reserve(count);
      for (const std::string& row_key : row_keys) {
        for (const ColumnName& column : columns) keys.push_back(ColumnKey(row_key, column));
      }
      const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
      std::vector<rocksdb::PinnableSlice> values(count);
      std::vector<rocksdb::Status> statuses(count);
      database_.MultiGet(rocksdb::ReadOptions(), database_.DefaultColumnFamily(), count,
                         slices.data(), values.data(), statuses.data());
      bool is_counted = false;  // the row
      for (size_t i = 0; i < count; ++i) {
        if (i % columns.size() == 0) is_counted = false;
        if (statuses[i].IsNotFound()) continue;
        if (!statuses[i].ok()) return StatusOf(statuses[i]);
        if (!is_counted) tally->Row(row_keys[i / columns.size()]);
        is_counted = true;
        if (!CountKvValue(columns[i % columns.size()], ViewOf(values[i]), tally))
          return absl::InternalError("rocksdb: not a cell's value");
      }
      return absl::OkStatus();
    }

    absl::Status Run(const Scan& scan, Tally* tally) {
      rocksdb::ReadOptions options;
      options.total_order_seek = true;
      if (scan.IsShort()) {
        const absl::Status ready = Renew(options, &short_iterator_);
        if (!ready.ok()) return ready;
        RocksCursor cursor(short_iterator_.get());
        return Verdict(ScanKv(cursor, scan, place_, tally), *short_iterator_);
      }
      options.fill_cache = scan.fills_cache;
      if (!scan.fills_cache) options.readahead_size = 2 << 20;
      const std::unique_ptr<rocksdb::Iterator> iterator(database_.NewIterator(options));
      RocksCursor cursor(iterator.get());
      return Verdict(ScanKv(cursor, scan, place_, tally), *iterator);
    }

   private:
    absl::Status Renew(const rocksdb::ReadOptions& options,
                       std::unique_ptr<rocksdb::Iterator>* iterator) {
      if (*iterator != nullptr) return StatusOf((*iterator)->Refresh());
      iterator->reset(database_.NewIterator(options));
      return absl::OkStatus();
    }
    static absl::Status Verdict(bool is_ours, const rocksdb::Iterator& iterator) {
      return is_ours ? StatusOf(iterator.status())
                     : absl::InternalError("rocksdb: not a cell's key");
    }

    rocksdb::DB& database_;
    const TimestampPlace place_;
    std::unique_ptr<rocksdb::Iterator> row_iterator_;
    std::unique_ptr<rocksdb::Iterator> short_iterator_;
    std::string prefix_;
  };

 private:
  TimestampPlace place() const {
    return settings_.replaces_versions ? TimestampPlace::kValue : TimestampPlace::kKey;
  }
  template <typename Target>
  absl::Status PutRow(const RowData& row, Target* target) const {
    rocksdb::Status status;
    PutCells(row, place(), [&](std::string_view key, std::string_view value) {
      status = target->Put(RocksSlice(key), RocksSlice(value));
      return status.ok();
    });
    return StatusOf(status);
  }
  absl::Status BeginFile() {
    if (writer_ != nullptr) {
      const rocksdb::Status finished = writer_->Finish();
      if (!finished.ok()) return StatusOf(finished);
    }
    rocksdb::Options options = options_;
    options.compression = rocksdb::kZSTD;
    options.compression_opts.parallel_threads = 2;
    writer_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), options);
    files_.push_back(fmt::format("{}/bulk-{}.sst", settings_.directory, files_.size()));
    return StatusOf(writer_->Open(files_.back()));
  }

  bool IsBusy() const {
    constexpr std::array<const char*, 5> kCounts = {
        "rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending",
        "rocksdb.num-running-compactions", "rocksdb.compaction-pending",
        "rocksdb.num-immutable-mem-table"};
    for (const char* name : kCounts) {
      uint64_t count = 0;
      if (database_->GetIntProperty(name, &count) && count > 0) return true;
    }
    return false;
  }

  OpenSettings settings_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> database_;
  std::unique_ptr<rocksdb::SstFileWriter> writer_;
  std::vector<std::string> files_;
  std::string counter_;  // the new value of an increment
};

}  // namespace

Contender RocksdbContender() {
  return {
      .name = "rocksdb",
      .version = fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH),
      .settings =
          "lz4, bottommost zstd, 16 KiB blocks, xxh3, bloom 10 bits and memtable bloom 5% over "
          "the row, cache 1 GiB (LRU), index and "
          "filters outside it, write buffers 3 x 64 MiB, 2 background jobs, dynamic level "
          "bytes, bytes_per_sync 1 MiB, 3 recycled "
          "logs; iterators reused; full scans read ahead 2 MiB past the cache; bulk by "
          "SstFileWriter (2 threads) and ingestion; "
          "versions by a compaction filter, at flush too; ranges deleted by a synced DeleteRange; "
          "mget by MultiGet of the cells, bulk and delete by a WriteBatch of the cells; "
          "recover: write buffers of 512 MiB, avoid_flush_during_recovery",
      .run = &RunWorkload<RocksdbEngine>};
}

}  // namespace stele_compare
