// LevelDB with the settings that its documentation advises for such workloads. LevelDB cannot drop
// old versions.
#include <fmt/format.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <memory>
#include <span>

#include "kv_cells.h"
#include "workloads.h"

namespace stele_compare {
namespace {

constexpr uint64_t kBulkBatchBytes = 1 << 20;
// LevelDB does not report whether its background thread is idle. It counts as idle when the process
// used less than this CPU time during this period.
constexpr std::chrono::milliseconds kQuietTime{100};
constexpr double kQuietCpuSeconds = 0.002;

absl::Status StatusOf(const leveldb::Status& status) {
  return status.ok() ? absl::OkStatus() : absl::InternalError("leveldb: " + status.ToString());
}
leveldb::Slice LevelSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

using LevelCursor = SliceCursor<leveldb::Iterator>;

class LeveldbEngine {
 public:
  static constexpr bool kHasFamilies = false;

  absl::Status Open(const OpenSettings& settings) {
    if (settings.replaces_versions) place_ = TimestampPlace::kValue;
    cache_.reset(leveldb::NewLRUCache(settings.cache_bytes));
    bloom_.reset(leveldb::NewBloomFilterPolicy(10));
    leveldb::Options options;
    options.create_if_missing = true;
    options.compression = leveldb::kSnappyCompression;
    options.block_size = 16 << 10;
    options.block_cache = cache_.get();
    options.filter_policy = bloom_.get();
    options.write_buffer_size = settings.write_buffer_bytes;
    options.max_file_size = 32 << 20;
    options.max_open_files = 20000;
    options.reuse_logs = settings.keeps_replayed_log;
    leveldb::DB* database = nullptr;
    const leveldb::Status opened = leveldb::DB::Open(options, settings.directory, &database);
    database_.reset(database);
    return StatusOf(opened);
  }

  absl::Status Write(const RowData& row, bool sync) {
    leveldb::WriteBatch batch;
    AddRow(row, &batch);
    leveldb::WriteOptions options;
    options.sync = sync;
    return StatusOf(database_->Write(options, &batch));
  }

  absl::Status Increment(std::string_view row_key) {
    const std::string key = CounterKey(row_key);
    stored_.clear();
    const leveldb::Status got = database_->Get(leveldb::ReadOptions(), LevelSlice(key), &stored_);
    if (!got.ok() && !got.IsNotFound()) return StatusOf(got);
    if (!IncrementKvCounter(stored_, &counter_))
      return absl::InternalError("leveldb: not a counter");
    return StatusOf(database_->Put(leveldb::WriteOptions(), LevelSlice(key), LevelSlice(counter_)));
  }

  absl::Status WriteMany(std::span<const RowData> rows) {
    leveldb::WriteBatch batch;
    for (const RowData& row : rows) AddRow(row, &batch);
    return StatusOf(database_->Write(leveldb::WriteOptions(), &batch));
  }

  absl::StatusOr<bool> CheckAndWrite(const RowData& row) {
    const CellData& cell = row.cells.front();
    const std::string key = ColumnKey(row.row_key, {cell.family, cell.qualifier});
    const leveldb::Status got = database_->Get(leveldb::ReadOptions(), LevelSlice(key), &stored_);
    if (!got.ok() && !got.IsNotFound()) return StatusOf(got);
    const absl::Status written = Write(row, /*sync=*/false);
    if (!written.ok()) return written;
    return got.ok();
  }

  absl::Status DeleteRow(std::string_view row_key, std::span<const ColumnName> columns) {
    leveldb::WriteBatch batch;
    for (const ColumnName& column : columns) batch.Delete(ColumnKey(row_key, column));
    return StatusOf(database_->Write(leveldb::WriteOptions(), &batch));
  }

  // In batches of 1 MiB. Only the last one is synced.
  absl::Status DeleteRows(const std::string& start, const std::string& end) {
    std::string start_key;
    std::string end_key;
    AppendRowPrefix(&start_key, start);
    AppendRowPrefix(&end_key, end);
    leveldb::ReadOptions reads;
    reads.fill_cache = false;
    const std::unique_ptr<leveldb::Iterator> iterator(database_->NewIterator(reads));
    leveldb::WriteBatch batch;
    for (iterator->Seek(start_key); iterator->Valid() && iterator->key().compare(end_key) < 0;
         iterator->Next()) {
      batch.Delete(iterator->key());
      if (batch.ApproximateSize() < kBulkBatchBytes) continue;
      const leveldb::Status written = database_->Write(leveldb::WriteOptions(), &batch);
      if (!written.ok()) return StatusOf(written);
      batch.Clear();
    }
    if (!iterator->status().ok()) return StatusOf(iterator->status());
    leveldb::WriteOptions last;
    last.sync = true;
    return StatusOf(database_->Write(last, &batch));
  }

  absl::Status BulkAdd(const RowData& row) {
    AddRow(row, &bulk_batch_);
    return bulk_batch_.ApproximateSize() < kBulkBatchBytes ? absl::OkStatus() : WriteBulkBatch();
  }
  absl::Status BulkFinish() {
    const absl::Status written = WriteBulkBatch();
    if (written.ok()) Flush();
    return written;
  }

  absl::Status Settle() {
    Flush();
    double cpu_seconds = CpuSeconds();
    for (;;) {
      std::this_thread::sleep_for(kQuietTime);
      const double cpu_seconds_now = CpuSeconds();
      if (cpu_seconds_now - cpu_seconds < kQuietCpuSeconds) return absl::OkStatus();
      cpu_seconds = cpu_seconds_now;
    }
  }
  absl::Status Compact() {
    database_->CompactRange(nullptr, nullptr);
    return absl::OkStatus();
  }
  absl::Status Close() {
    database_ = nullptr;
    return absl::OkStatus();
  }
  std::string note() const { return ""; }

  class Reader {
   public:
    explicit Reader(LeveldbEngine* engine)
        : database_(*engine->database_), place_(engine->place_) {}

    absl::Status Read(std::string_view row_key, bool latest_only, Tally* tally) {
      const std::unique_ptr<leveldb::Iterator> iterator(
          database_.NewIterator(leveldb::ReadOptions()));
      prefix_.clear();
      AppendRowPrefix(&prefix_, row_key);
      LevelCursor cursor(iterator.get());
      return Verdict(ReadKvRow(cursor, prefix_, place_, latest_only, tally), *iterator);
    }
    // LevelDB has no call for several keys. One iterator serves all rows.
    absl::Status ReadMany(std::span<const std::string> row_keys, std::span<const ColumnName>,
                          Tally* tally) {
      const std::unique_ptr<leveldb::Iterator> iterator(
          database_.NewIterator(leveldb::ReadOptions()));
      LevelCursor cursor(iterator.get());
      for (const std::string& row_key : row_keys) {
        prefix_.clear();
        AppendRowPrefix(&prefix_, row_key);
        const bool is_ours = ReadKvRow(cursor, prefix_, place_, /*latest_only=*/false, tally);
        const absl::Status status = Verdict(is_ours, *iterator);
        if (!status.ok()) return status;
      }
      return absl::OkStatus();
    }
    absl::Status Run(const Scan& scan, Tally* tally) {
      leveldb::ReadOptions options;
      options.fill_cache = scan.fills_cache;
      const std::unique_ptr<leveldb::Iterator> iterator(database_.NewIterator(options));
      LevelCursor cursor(iterator.get());
      return Verdict(ScanKv(cursor, scan, place_, tally), *iterator);
    }

   private:
    static absl::Status Verdict(bool is_ours, const leveldb::Iterator& iterator) {
      return is_ours ? StatusOf(iterator.status())
                     : absl::InternalError("leveldb: not a cell's key");
    }

    leveldb::DB& database_;
    const TimestampPlace place_;
    std::string prefix_;
  };

 private:
  void AddRow(const RowData& row, leveldb::WriteBatch* batch) const {
    PutCells(row, place_, [batch](std::string_view key, std::string_view value) {
      batch->Put(LevelSlice(key), LevelSlice(value));
      return true;
    });
  }
  absl::Status WriteBulkBatch() {
    const leveldb::Status written = database_->Write(leveldb::WriteOptions(), &bulk_batch_);
    bulk_batch_.Clear();
    return StatusOf(written);
  }
  // Compacting an empty range only flushes the memtable.
  void Flush() {
    const leveldb::Slice behind_all("\xff\xff");
    database_->CompactRange(&behind_all, &behind_all);
  }

  TimestampPlace place_ = TimestampPlace::kKey;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> bloom_;
  std::unique_ptr<leveldb::DB> database_;
  leveldb::WriteBatch bulk_batch_;
  std::string stored_;   // the old value of an increment or a check
  std::string counter_;  // its new value
};

}  // namespace

Contender LeveldbContender() {
  return {.name = "leveldb",
          .version = fmt::format("{}.{}", leveldb::kMajorVersion, leveldb::kMinorVersion),
          .settings =
              "snappy, 16 KiB blocks, bloom 10 bits, cache 1 GiB, write buffer 64 MiB, files of 32 "
              "MiB, 20000 open files; bulk by batches "
              "of 1 MiB; versions are never dropped; ranges deleted by batches of 1 MiB, the last "
              "synced; mget by one iterator; bulk and delete by a WriteBatch of the cells; "
              "recover: write buffer 512 MiB, reuse_logs",
          .run = &RunWorkload<LeveldbEngine>};
}

}  // namespace stele_compare
