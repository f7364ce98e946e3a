// LMDB: one database, no compression. The page cache is its cache. Commits without sync use
// MDB_NOSYNC; like the other engines' logs, they survive a killed process.
#include <fmt/format.h>
#include <lmdb.h>

#include <atomic>
#include <mutex>
#include <span>

#include "kv_cells.h"
#include "workloads.h"

namespace stele_compare {
namespace {

constexpr size_t kMapBytes = size_t{256} << 30;  // only address space
constexpr uint64_t kBulkTransactionCells = 100'000;

absl::Status StatusOf(int code) {
  return code == 0 ? absl::OkStatus()
                   : absl::InternalError(fmt::format("lmdb: {}", mdb_strerror(code)));
}
MDB_val ValOf(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
std::string_view ViewOf(const MDB_val& bytes) {
  return {static_cast<const char*>(bytes.mv_data), bytes.mv_size};
}

class LmdbCursor {
 public:
  explicit LmdbCursor(MDB_cursor* cursor) : cursor_(cursor) {}
  bool Valid() const { return code_ == 0; }
  void Next() { Go(MDB_NEXT); }
  void Prev() { Go(MDB_PREV); }
  void SeekToFirst() { Go(MDB_FIRST); }
  void SeekToLast() { Go(MDB_LAST); }
  void Seek(std::string_view key) {
    key_ = ValOf(key);
    Go(MDB_SET_RANGE);
  }
  std::string_view key() const { return ViewOf(key_); }
  std::string_view value() const { return ViewOf(value_); }
  absl::Status status() const { return code_ == MDB_NOTFOUND ? absl::OkStatus() : StatusOf(code_); }

 private:
  void Go(MDB_cursor_op operation) { code_ = mdb_cursor_get(cursor_, &key_, &value_, operation); }

  MDB_cursor* cursor_;
  MDB_val key_{};
  MDB_val value_{};
  int code_ = MDB_NOTFOUND;
};

class LmdbEngine {
 public:
  static constexpr bool kHasFamilies = false;

  absl::Status Open(const OpenSettings& settings) {
    if (settings.replaces_versions) place_ = TimestampPlace::kValue;
    int code = mdb_env_create(&environment_);
    if (code == 0) code = mdb_env_set_mapsize(environment_, kMapBytes);
    if (code == 0)
      code = mdb_env_open(environment_, settings.directory.c_str(), MDB_NOTLS | MDB_NOSYNC, 0644);
    if (code != 0) return StatusOf(code);
    return InTransaction(
        [this](MDB_txn* transaction) { return mdb_dbi_open(transaction, nullptr, 0, &cells_); });
  }

  absl::Status Write(const RowData& row, bool sync) {
    if (sync && !syncs_) {
      const absl::Status began = BeginSyncing();
      if (!began.ok()) return began;
    }
    return InTransaction([&](MDB_txn* transaction) { return PutRow(transaction, row, 0); });
  }

  absl::Status Increment(std::string_view row_key) {
    const std::string key = CounterKey(row_key);
    return InTransaction([&](MDB_txn* transaction) {
      MDB_val key_bytes = ValOf(key);
      MDB_val stored{};
      const int code = mdb_get(transaction, cells_, &key_bytes, &stored);
      if (code != 0 && code != MDB_NOTFOUND) return code;
      if (!IncrementKvCounter(code == 0 ? ViewOf(stored) : "", &counter_)) return MDB_BAD_VALSIZE;
      MDB_val counter = ValOf(counter_);
      return mdb_put(transaction, cells_, &key_bytes, &counter, 0);
    });
  }

  absl::Status WriteMany(std::span<const RowData> rows) {
    return InTransaction([&](MDB_txn* transaction) {
      int code = 0;
      for (size_t i = 0; i < rows.size() && code == 0; ++i) code = PutRow(transaction, rows[i], 0);
      return code;
    });
  }

  absl::StatusOr<bool> CheckAndWrite(const RowData& row) {
    const CellData& cell = row.cells.front();
    const std::string key = ColumnKey(row.row_key, {cell.family, cell.qualifier});
    bool exists = false;
    const absl::Status status = InTransaction([&](MDB_txn* transaction) {
      MDB_val key_bytes = ValOf(key);
      MDB_val stored{};
      const int code = mdb_get(transaction, cells_, &key_bytes, &stored);
      exists = code == 0;
      return exists || code == MDB_NOTFOUND ? PutRow(transaction, row, 0) : code;
    });
    if (!status.ok()) return status;
    return exists;
  }

  absl::Status DeleteRow(std::string_view row_key, std::span<const ColumnName> columns) {
    return InTransaction([&](MDB_txn* transaction) {
      for (const ColumnName& column : columns) {
        const std::string key = ColumnKey(row_key, column);
        MDB_val key_bytes = ValOf(key);
        const int code = mdb_del(transaction, cells_, &key_bytes, nullptr);
        if (code != 0 && code != MDB_NOTFOUND) return code;
      }
      return 0;
    });
  }

  // In transactions of as many cells as those of a bulk load, and then a sync.
  absl::Status DeleteRows(const std::string& start, const std::string& end) {
    std::string start_key;
    std::string end_key;
    AppendRowPrefix(&start_key, start);
    AppendRowPrefix(&end_key, end);
    bool is_left = true;
    while (is_left) {
      const absl::Status status = InTransaction([&](MDB_txn* transaction) {
        return DeleteCells(transaction, start_key, end_key, &is_left);
      });
      if (!status.ok()) return status;
    }
    return StatusOf(mdb_env_sync(environment_, 1));
  }

  absl::Status BulkAdd(const RowData& row) {
    int code = 0;
    if (bulk_ == nullptr) code = mdb_txn_begin(environment_, nullptr, 0, &bulk_);
    if (code == 0) code = PutRow(bulk_, row, MDB_APPEND);
    bulk_cells_ += row.cells.size();
    if (code != 0 || bulk_cells_ < kBulkTransactionCells) return StatusOf(code);
    return CommitBulk();
  }
  absl::Status BulkFinish() {
    const absl::Status committed = CommitBulk();
    return committed.ok() ? StatusOf(mdb_env_sync(environment_, 1)) : committed;
  }

  absl::Status Settle() { return StatusOf(mdb_env_sync(environment_, 1)); }
  absl::Status Compact() { return absl::OkStatus(); }  // nothing to do: a B+ tree is always sorted
  absl::Status Close() {
    if (bulk_ != nullptr) mdb_txn_abort(bulk_);
    if (environment_ != nullptr) mdb_env_close(environment_);
    return absl::OkStatus();
  }
  std::string note() const { return ""; }

  class Reader {
   public:
    explicit Reader(LmdbEngine* engine) : engine_(*engine) {}
    ~Reader() {
      if (cursor_ != nullptr) mdb_cursor_close(cursor_);
      if (transaction_ != nullptr) mdb_txn_abort(transaction_);
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    absl::Status Read(std::string_view row_key, bool latest_only, Tally* tally) {
      const absl::Status ready = Renew();
      if (!ready.ok()) return ready;
      prefix_.clear();
      AppendRowPrefix(&prefix_, row_key);
      LmdbCursor cursor(cursor_);
      return Verdict(ReadKvRow(cursor, prefix_, engine_.place_, latest_only, tally), cursor);
    }
    // In one transaction.
    absl::Status ReadMany(std::span<const std::string> row_keys, std::span<const ColumnName>,
                          Tally* tally) {
      const absl::Status ready = Renew();
      if (!ready.ok()) return ready;
      LmdbCursor cursor(cursor_);
      for (const std::string& row_key : row_keys) {
        prefix_.clear();
        AppendRowPrefix(&prefix_, row_key);
        const bool is_ours =
            ReadKvRow(cursor, prefix_, engine_.place_, /*latest_only=*/false, tally);
        const absl::Status status = Verdict(is_ours, cursor);
        if (!status.ok()) return status;
      }
      return absl::OkStatus();
    }
    absl::Status Run(const Scan& scan, Tally* tally) {
      const absl::Status ready = Renew();
      if (!ready.ok()) return ready;
      LmdbCursor cursor(cursor_);
      return Verdict(ScanKv(cursor, scan, engine_.place_, tally), cursor);
    }

   private:
    // Moves the reader to the newest state. Transaction and cursor are created once and then
    // renewed.
    absl::Status Renew() {
      if (transaction_ == nullptr) {
        const int code = mdb_txn_begin(engine_.environment_, nullptr, MDB_RDONLY, &transaction_);
        return StatusOf(code == 0 ? mdb_cursor_open(transaction_, engine_.cells_, &cursor_) : code);
      }
      mdb_txn_reset(transaction_);
      const int code = mdb_txn_renew(transaction_);
      return StatusOf(code == 0 ? mdb_cursor_renew(transaction_, cursor_) : code);
    }
    static absl::Status Verdict(bool is_ours, const LmdbCursor& cursor) {
      return is_ours ? cursor.status() : absl::InternalError("lmdb: not a cell's key");
    }

    LmdbEngine& engine_;
    MDB_txn* transaction_ = nullptr;
    MDB_cursor* cursor_ = nullptr;
    std::string prefix_;
  };

 private:
  // Commits what `work` did if it returns 0.
  template <typename Work>
  absl::Status InTransaction(const Work& work) {
    MDB_txn* transaction = nullptr;
    int code = mdb_txn_begin(environment_, nullptr, 0, &transaction);
    if (code != 0) return StatusOf(code);
    code = work(transaction);
    if (code == 0) return StatusOf(mdb_txn_commit(transaction));
    mdb_txn_abort(transaction);
    return StatusOf(code);
  }

  // Called before each synced commit; acts once. From then on the workload only syncs. Several
  // threads may arrive at the same time. None of them has a transaction yet.
  absl::Status BeginSyncing() {
    const std::lock_guard<std::mutex> lock(sync_mutex_);
    if (syncs_) return absl::OkStatus();
    int code = mdb_env_sync(environment_, 1);
    if (code == 0) code = mdb_env_set_flags(environment_, MDB_NOSYNC, 0);
    if (code == 0) syncs_ = true;
    return StatusOf(code);
  }

  // Deletes a transaction's worth of cells. Sets whether there may be more.
  int DeleteCells(MDB_txn* transaction, std::string_view start_key, std::string_view end_key,
                  bool* is_left) {
    MDB_cursor* cursor = nullptr;
    int code = mdb_cursor_open(transaction, cells_, &cursor);
    if (code != 0) return code;
    MDB_val key = ValOf(start_key);
    MDB_val value{};
    code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    uint64_t cells_left = kBulkTransactionCells;
    while (code == 0 && cells_left > 0 && ViewOf(key) < end_key) {
      code = mdb_cursor_del(cursor, 0);
      if (code == 0) code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
      --cells_left;
    }
    mdb_cursor_close(cursor);
    *is_left = cells_left == 0;
    return code == MDB_NOTFOUND ? 0 : code;
  }

  int PutRow(MDB_txn* transaction, const RowData& row, unsigned flags) {
    int code = 0;
    PutCells(row, place_, [&](std::string_view key, std::string_view value) {
      MDB_val key_bytes = ValOf(key);
      MDB_val value_bytes = ValOf(value);
      code = mdb_put(transaction, cells_, &key_bytes, &value_bytes, flags);
      return code == 0;
    });
    return code;
  }
  absl::Status CommitBulk() {
    if (bulk_ == nullptr) return absl::OkStatus();
    const int code = mdb_txn_commit(bulk_);
    bulk_ = nullptr;
    bulk_cells_ = 0;
    return StatusOf(code);
  }

  TimestampPlace place_ = TimestampPlace::kKey;
  MDB_env* environment_ = nullptr;
  MDB_dbi cells_ = 0;
  MDB_txn* bulk_ = nullptr;
  uint64_t bulk_cells_ = 0;
  std::string counter_;  // the new value of an increment
  std::mutex sync_mutex_;
  std::atomic<bool> syncs_ = false;
};

}  // namespace

Contender LmdbContender() {
  return {
      .name = "lmdb",
      .version = fmt::format("{}.{}.{}", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH),
      .settings =
          "MDB_NOTLS, MDB_NOSYNC but for synced commits, no compression, transactions and cursors "
          "renewed; bulk by MDB_APPEND, 100,000 "
          "cells a transaction; versions are never dropped; ranges deleted by cursor, 100,000 "
          "cells a "
          "transaction, then synced; mget, bulk, delete and check-and-mutate in one transaction",
      .run = &RunWorkload<LmdbEngine>};
}

}  // namespace stele_compare
