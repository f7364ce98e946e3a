// unit/db/bulk_load_fixture.h: a database for the tests of bulk loads.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/status.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_contract.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"
#include "support/model_timestamps.h"

namespace stele::internal {

inline const WriteOptions kLoadOnDisk{.durability = Durability::kDisk};
inline constexpr uint64_t kLoadFileBytes = 4 << 10;

inline RowMutation Cells(std::string row, std::string_view value, int64_t millis = 1) {
  return RowMutation(std::move(row)).SetCell("f", "q", Ms(millis), value);
}

class BulkLoadTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(&files_); }

  void Open(FileSystem* files, bool read_only = false,
            uint64_t memory_budget_bytes = DatabaseOptions().memory_budget_bytes) {
    database_.reset();
    EngineOptions options = SmallEngineOptions(files);
    options.sizes.load_file_bytes = kLoadFileBytes;
    options.database.clock = clock_;
    options.database.read_only = read_only;
    options.database.memory_budget_bytes = memory_budget_bytes;
    options.database.on_event = [this](const DatabaseEvent& event) { events_.push_back(event); };
    database_ = std::make_unique<WorkloadDatabase>(std::move(options), "/db");
    opened_ = database_->Open();
  }
  // Continues from the files that a crash leaves. The old handles have no further effect.
  void Crash(const CrashPolicy& policy) {
    database_.reset();
    image_ = files_.Crash(policy, 1);
    Open(image_.get());
    ASSERT_EQ(opened_, absl::OkStatus());
  }
  Database& database() { return database_->database(); }
  Engine& engine() { return database_->engine(); }
  Table Create(std::string_view name = "t", const GcRule& rule = GcRule::None(),
               std::vector<std::string> splits = {}) {
    Schema schema = Schema().AddFamily("f", rule).AddFamily("g");
    for (std::string& split : splits) schema.AddSplit(std::move(split));
    const absl::StatusOr<Table> table = database().CreateTable(name, schema);
    EXPECT_TRUE(table.ok()) << table.status();
    return table.value_or(Table());
  }
  Table Find(std::string_view name = "t") { return database().OpenTable(name).value_or(Table()); }
  const TableState* State(std::string_view name = "t") {
    return engine().storage().state.view()->version->FindTable(name);
  }
  size_t MemtableCells(std::string_view name = "t") {
    return engine()
        .storage()
        .state.view()
        ->Find(State(name)->definition->id)
        ->memtables.front()
        ->cell_count();
  }
  static size_t CountSstables(FileSystem* files) {
    size_t count = 0;
    for (const std::string& name : files->List("/db").value_or(std::vector<std::string>())) {
      const auto parsed = ParseFileName(name);
      count += parsed && parsed->type == FileType::kSstable ? 1 : 0;
    }
    return count;
  }
  size_t CountSstables() { return CountSstables(&files_); }
  static std::string Text(const Table& table, const ReadOptions& options = {}) {
    return DumpTable(table, options).value_or("unreadable");
  }
  // Adds rows of about 1 KiB, so that a few of them make a file.
  static absl::Status AddRows(BulkLoad& load, int from, int to, char filling = 'v') {
    for (int i = from; i < to; ++i) {
      STELE_RETURN_IF_ERROR(load.Add(
          Cells(fmt::format("row{:03}", i), std::string(1000, filling) + std::to_string(i))));
    }
    return absl::OkStatus();
  }
  static absl::Status LoadOne(Table table, const RowMutation& mutation) {
    BulkLoad load = table.NewBulkLoad();
    STELE_RETURN_IF_ERROR(load.Add(mutation));
    return load.Finish();
  }
  // Calls `act` once, at the next such call on an SSTable.
  void Between(CallKind kind, std::function<void()> act) {
    kind_ = kind;
    act_ = std::move(act);
  }
  bool happened() const { return act_ == nullptr; }

  CrashFileSystem files_;
  std::unique_ptr<CrashFileSystem> image_;
  CallKind kind_ = CallKind::kRead;
  std::function<void()> act_;
  ObservedFileSystem observed_{
      &files_, [this](CallKind kind, const std::string& path) {
        if (act_ == nullptr || kind != kind_ || path.find(".sst") == std::string::npos) return;
        std::exchange(act_, nullptr)();
      }};
  std::shared_ptr<ManualClock> clock_ =
      std::make_shared<ManualClock>(Timestamp::FromMicros(1'000'000'000'123));
  std::vector<DatabaseEvent> events_;
  absl::Status opened_;
  std::unique_ptr<WorkloadDatabase> database_;
};

// The memory of a file being built cannot be reclaimed, so only a limited number of loads may
// build.

}  // namespace stele::internal
