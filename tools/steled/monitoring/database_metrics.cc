#include "steled/monitoring/database_metrics.h"

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "remote/wire/names.h"
#include "steled/monitoring/metrics.h"

namespace stele::server {

using internal::WireTableName;

namespace {

class DatabaseMetrics final : public prometheus::Collectable {
 public:
  explicit DatabaseMetrics(Database database) : database_(std::move(database)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    const DatabaseStats stats = database_.Stats();
    FamilyBuilder families;
    const auto gauge = [&](const char* name, const char* help, auto value) {
      families.Gauge(name, help, static_cast<double>(value));
    };
    const auto counter = [&](const char* name, const char* help, auto value) {
      families.Counter(name, help, static_cast<double>(value));
    };
    gauge("stele_tables", "Tables of the database", stats.tables);
    gauge("stele_memory_bytes", "All that counts against the memory budget",
          stats.memory.charged_bytes);
    gauge("stele_memtable_bytes", "Of memory: memtables", stats.memory.memtable_bytes);
    gauge("stele_cache_bytes", "Of memory: the cache", stats.memory.block_cache_bytes);
    gauge("stele_reader_bytes", "Of memory: what readers and jobs hold beside the cache",
          stats.memory.reader_bytes);
    gauge("stele_index_bytes", "Of memory: indexes and blooms of open SSTables",
          stats.memory.index_bytes);
    gauge("stele_job_bytes", "Of memory: what flushes and compactions build",
          stats.memory.job_bytes);
    gauge("stele_write_bytes", "Of memory: large batches on their way", stats.memory.write_bytes);
    gauge("stele_pinned_bytes", "Memory and files that only snapshots and readers still need",
          stats.memory.pinned_bytes);
    gauge("stele_log_bytes", "The commit log on disk", stats.disk.log_bytes);
    gauge("stele_files", "SSTables", stats.disk.sstables);
    gauge("stele_disk_bytes", "Bytes of the SSTables", stats.disk.sstable_bytes);
    gauge("stele_token_bytes", "Bytes of the files with idempotency tokens",
          stats.disk.token_bytes);
    gauge("stele_writes_refused", "1 while writes are refused, as on a full disk",
          stats.write_refusal.ok() ? 0 : 1);
    gauge("stele_clock_not_trusted", "1 while ages are not taken from the clock, since it leapt",
          stats.clock.is_trusted ? 0 : 1);
    gauge("stele_background_error", "1 while flushes or compactions fail, or writing has stopped",
          stats.last_background_error.ok() ? 0 : 1);
    counter("stele_commits_total", "Commits", stats.since_open.commits);
    counter("stele_flushes_total", "Memtables that became SSTables", stats.since_open.flushes);
    counter("stele_flushed_bytes_total", "Written by flushes", stats.since_open.bytes_flushed);
    counter("stele_compactions_total", "Compactions that read and wrote",
            stats.compaction.compactions);
    counter("stele_compacted_bytes_total", "Written by compactions",
            stats.compaction.bytes_written);
    counter("stele_loaded_bytes_total", "Written by bulk loads", stats.since_open.bytes_loaded);
    counter("stele_tablet_splits_total", "Tablets that became two", stats.tablets.splits);
    counter("stele_memtable_spills_total", "Memtables written to files because readers held them",
            stats.since_open.memtable_spills);
    return families.Take();
  }

 private:
  const Database database_;
};

// ---- tables ----

struct TableFigures {
  double reads = 0;
  double writes = 0;
  double disk_bytes = 0;
};

class TableMetrics final : public prometheus::Collectable {
 public:
  explicit TableMetrics(OpenTables* tables) : tables_(*tables) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    absl::StatusOr<std::vector<std::string>> names = tables_.List("");
    if (!names.ok()) return {};
    // The server's own tables have no name in the API.
    std::erase_if(*names, [](const std::string& name) { return WireTableName(name).empty(); });
    const std::set<std::string> shown = Choose(*names);
    std::vector<std::pair<std::string, TableFigures>> figures;
    TableFigures other;
    for (const std::string& name : *names) {
      const absl::StatusOr<Table> table = tables_.Open(name);
      const absl::StatusOr<TableStats> stats = table.ok() ? table->Stats() : table.status();
      if (!stats.ok()) continue;  // deleted meanwhile
      TableFigures& into = shown.contains(name)
                               ? figures.emplace_back(WireTableName(name), TableFigures()).second
                               : other;
      into.reads += static_cast<double>(stats->reads);
      into.writes += static_cast<double>(stats->writes);
      into.disk_bytes += static_cast<double>(stats->bytes_on_disk);
    }
    if (names->size() > shown.size()) figures.emplace_back("other", other);
    return Families(figures);
  }

 private:
  // A table keeps its series until it is deleted, since its counters must not change their label.
  std::set<std::string> Choose(const std::vector<std::string>& names) const {
    const std::lock_guard lock(mutex_);
    const std::set<std::string> present(names.begin(), names.end());
    std::erase_if(shown_, [&present](const std::string& name) { return !present.contains(name); });
    for (const std::string& name : names) {
      if (shown_.size() < kTableSeriesMax) shown_.insert(name);
    }
    return shown_;
  }

  static std::vector<prometheus::MetricFamily> Families(
      const std::vector<std::pair<std::string, TableFigures>>& figures) {
    FamilyBuilder families;
    const auto add = [&](const char* name, const char* help, prometheus::MetricType type,
                         double TableFigures::*member) {
      families.AddFamily(name, help, type);
      for (const auto& [table, values] : figures) families.Add({{"table", table}}, values.*member);
    };
    using Type = prometheus::MetricType;
    add("stele_table_reads_total", "Read operations of a table", Type::Counter,
        &TableFigures::reads);
    add("stele_table_writes_total", "Row mutations of a table", Type::Counter,
        &TableFigures::writes);
    add("stele_table_disk_bytes", "Bytes of a table's SSTables", Type::Gauge,
        &TableFigures::disk_bytes);
    return families.Take();
  }

  OpenTables& tables_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> shown_;  // stored names; guarded by mutex_
};

}  // namespace

std::shared_ptr<prometheus::Collectable> NewDatabaseMetrics(Database database) {
  return std::make_shared<DatabaseMetrics>(std::move(database));
}

std::shared_ptr<prometheus::Collectable> NewTableMetrics(OpenTables* tables) {
  return std::make_shared<TableMetrics>(tables);
}

}  // namespace stele::server
