// Stele through its native API. A row is a row, and a commit is a RowMutation. Projections and
// "latest only" are filters.
#include <fmt/format.h>
#include <stele/stele.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "workloads.h"

namespace stele_compare {
namespace {

// Stele has one memory budget for cache, memtables and pins. It gets the sum of the other engines'
// cache and write buffers. For the workloads from the page cache, the budget limits the block cache
// to the requested size. The block cache gets at most seven eighths of the charged memory, which is
// the budget less a quarter of it or 16 MiB, whichever is less
// (docs/decisions/0017-one-memory-budget.md).
constexpr uint64_t kSmallCacheBytes = uint64_t{64} << 20;

uint64_t BudgetOf(const OpenSettings& settings) {
  if (settings.cache_bytes <= kSmallCacheBytes) {
    const uint64_t charged_bytes = settings.cache_bytes / 7 * 8;
    return charged_bytes + std::min(charged_bytes / 3, uint64_t{16} << 20);
  }
  return settings.cache_bytes +
         settings.write_buffer_bytes * static_cast<uint64_t>(settings.write_buffer_count);
}

stele::RowMutation MutationOf(const RowData& row) {
  stele::RowMutation mutation{std::string(row.row_key)};
  for (const CellData& cell : row.cells) {
    mutation.SetCell(cell.family, cell.qualifier,
                     stele::Timestamp::FromMicros(cell.timestamp_micros), cell.value);
  }
  return mutation;
}

// Adds the cells of a Row or a RowView to the tally.
template <typename Row>
void Take(const Row& row, Tally* tally) {
  tally->Row(row.row_key());
  for (const auto& cell : row.cells())
    tally->Cell(cell.family(), cell.qualifier(), cell.timestamp().micros(), cell.value());
}

stele::RowRange RangeOf(const Scan& scan) {
  if (!scan.row_prefix.empty()) return stele::RowRange::Prefix(std::string(scan.row_prefix));
  if (scan.start.empty()) return stele::RowRange::All();
  return scan.is_reverse ? stele::RowRange::EndingAt(std::string(scan.start))
                         : stele::RowRange::StartingAt(std::string(scan.start));
}

class SteleEngine {
 public:
  static constexpr bool kHasFamilies = true;

  absl::Status Open(const OpenSettings& settings) {
    absl::StatusOr<stele::Database> database = stele::Database::Open(
        settings.directory, {.memory_budget_bytes = BudgetOf(settings), .background_threads = 2});
    if (!database.ok()) return database.status();
    database_ = *std::move(database);
    for (int i = 0; i < settings.table_count; ++i) {
      absl::StatusOr<stele::Table> table = OpenTable(fmt::format("t{}", i), settings);
      if (!table.ok()) return table.status();
      tables_.push_back(*std::move(table));
    }
    return absl::OkStatus();
  }

  absl::Status Write(const RowData& row, bool sync) {
    return TableOf(row.row_key)
        .Apply(MutationOf(row),
               {.durability = sync ? stele::Durability::kDisk : stele::Durability::kProcess});
  }

  absl::Status Increment(std::string_view row_key) {
    return TableOf(row_key).ReadModifyWriteRow(row_key, {&increment_, 1}).status();
  }

  absl::Status WriteMany(std::span<const RowData> rows) {
    std::vector<stele::RowMutation> mutations;
    mutations.reserve(rows.size());
    for (const RowData& row : rows) mutations.push_back(MutationOf(row));
    const std::vector<stele::FailedMutation> failed = tables_.front().BulkApply(mutations);
    return failed.empty() ? absl::OkStatus() : failed.front().status;
  }

  absl::StatusOr<bool> CheckAndWrite(const RowData& row) {
    const CellData& cell = row.cells.front();
    const stele::RowMutation mutation = MutationOf(row);
    const absl::StatusOr<stele::MutationBranch> branch =
        TableOf(row.row_key)
            .CheckAndMutateRow(
                row.row_key,
                stele::Filter::Column(std::string(cell.family), std::string(cell.qualifier)),
                mutation, mutation);
    if (!branch.ok()) return branch.status();
    return *branch == stele::MutationBranch::kPredicateMatched;
  }

  absl::Status DeleteRow(std::string_view row_key, std::span<const ColumnName>) {
    return TableOf(row_key).Apply(stele::RowMutation(std::string(row_key)).DeleteFromRow());
  }

  absl::Status DeleteRows(const std::string& start, const std::string& end) {
    return tables_.front().DropRowRange(stele::RowRange::RightOpen(start, end));
  }

  absl::Status BulkAdd(const RowData& row) {
    if (bulk_load_ == nullptr)
      bulk_load_ = std::make_unique<stele::BulkLoad>(tables_.front().NewBulkLoad());
    return bulk_load_->Add(MutationOf(row));
  }
  absl::Status BulkFinish() {
    return bulk_load_ == nullptr ? absl::OkStatus() : bulk_load_->Finish();
  }

  absl::Status Settle() {
    for (stele::Table& table : tables_) {
      const absl::Status flushed = table.Flush();
      if (!flushed.ok()) return flushed;
    }
    return database_.WaitForIdle();
  }
  absl::Status Compact() { return tables_.front().Compact(); }
  absl::Status Close() { return database_.Close(); }
  std::string note() const { return ""; }

  class Reader {
   public:
    explicit Reader(SteleEngine* engine) : engine_(*engine) {}

    absl::Status Read(std::string_view row_key, bool latest_only, Tally* tally) {
      const auto take = [tally](const stele::RowView& row) { Take(row, tally); };
      return engine_.TableOf(row_key)
          .VisitRow(row_key, take, latest_only ? latest_ : all_)
          .status();
    }

    absl::Status ReadMany(std::span<const std::string> row_keys, std::span<const ColumnName>,
                          Tally* tally) {
      const auto rows = engine_.tables_.front().ReadMany(row_keys);
      if (!rows.ok()) return rows.status();
      for (const std::optional<stele::Row>& row : *rows) {
        if (row.has_value()) Take(*row, tally);
      }
      return absl::OkStatus();
    }

    absl::Status Run(const Scan& scan, Tally* tally) {
      stele::Filter filter;
      if (scan.latest_only) filter = latest_;
      if (!scan.family.empty())
        filter = stele::Filter::Column(std::string(scan.family), std::string(scan.qualifier));
      if (!scan.value_start.empty())
        filter = stele::Filter::ValueRegex(std::string(scan.value_start) + ".*");
      stele::RowReader reader =
          engine_.tables_.front().ReadRows(RangeOf(scan), filter,
                                           {.limit = static_cast<int64_t>(scan.row_limit),
                                            .reverse = scan.is_reverse,
                                            .fill_cache = scan.fills_cache});
      while (reader.Next()) Take(reader.row(), tally);
      return reader.status();
    }

   private:
    SteleEngine& engine_;
    const stele::Filter all_;
    const stele::Filter latest_ = stele::Filter::Latest(1);
  };

 private:
  absl::StatusOr<stele::Table> OpenTable(const std::string& name, const OpenSettings& settings) {
    absl::StatusOr<stele::Table> table = database_.OpenTable(name);
    if (!absl::IsNotFound(table.status())) return table;
    const stele::GcRule rule =
        settings.keeps_one_version ? stele::GcRule::MaxNumVersions(1) : stele::GcRule::None();
    return database_.CreateTable(name, stele::Schema().AddFamily("0", rule).AddFamily("1", rule));
  }
  stele::Table& TableOf(std::string_view row_key) {
    return tables_.size() == 1 ? tables_.front()
                               : tables_[stele::cli::Fnv1a(row_key) % tables_.size()];
  }

  stele::Database database_;
  std::vector<stele::Table> tables_;
  const stele::ReadModifyWriteRule increment_ = stele::ReadModifyWriteRule::IncrementAmount(
      std::string(kCounterFamily), std::string(kCounterQualifier), 1);
  std::unique_ptr<stele::BulkLoad> bulk_load_;  // null: not started
};

}  // namespace

Contender SteleContender() {
  return {.name = "stele",
          .version = STELE_COMPARE_VERSION,
          .settings = fmt::format("memory_budget_bytes = the others' cache + write buffers ({} "
                                  "MiB; where the cache is small, what leaves that to Stele's), "
                                  "kBalanced compression, background_threads 2; recover: the rows "
                                  "in 4 tables, so that none is flushed",
                                  BudgetOf(OpenSettings()) >> 20),
          .run = &RunWorkload<SteleEngine>};
}

}  // namespace stele_compare
