#include "support/db_workload.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "io/file_names.h"
#include "io/mem_file_system.h"
#include "model/access.h"

namespace stele::internal {
namespace {

using Kind = WorkloadStep::Kind;

constexpr std::array<std::string_view, 14> kKindNames = {
    "create-table", "delete-table", "write", "batch",   "ranged",     "load", "drop-range",
    "add-family",   "drop-family",  "flush", "compact", "checkpoint", "sync", "reopen"};

std::string TableName(int table) { return fmt::format("t{}", table); }
std::string RowKey(Random& random) { return fmt::format("row{:02}", random.Below(24)); }
Timestamp Stamp(Random& random) {
  return Timestamp::FromMicros(static_cast<int64_t>(1 + random.Below(6)) * 1000);
}

std::string Value(Random& random) {
  const size_t bytes = random.OneIn(6) ? 600 + random.Below(3000) : 4 + random.Below(60);
  std::string value(bytes, static_cast<char>('a' + random.Below(26)));
  // Make the value unlike every other value.
  return fmt::format("{:x}-", random.Next()) + value;
}

RowMutation MutationOf(Random& random) {
  RowMutation mutation(RowKey(random));
  const uint64_t changes = 1 + random.Below(4);
  if (random.OneIn(6)) mutation.DeleteFromRow();
  if (random.OneIn(6)) mutation.DeleteFromFamily("f");
  if (random.OneIn(6)) mutation.DeleteFromColumn("g", fmt::format("q{}", random.Below(3)));
  for (uint64_t i = 0; i < changes; ++i) {
    mutation.SetCell(random.OneIn(2) ? "f" : "g", fmt::format("q{}", random.Below(3)),
                     Stamp(random), Value(random));
  }
  return mutation;
}

WriteOptions OptionsOf(const WorkloadStep& step) {
  return {.durability = step.durable ? Durability::kDisk : Durability::kProcess};
}

RowRange RangeOf(Random& random) {
  std::string start = RowKey(random);
  std::string end = RowKey(random);
  if (end < start) std::swap(start, end);
  return random.OneIn(2) ? RowRange::Closed(std::move(start), std::move(end))
                         : RowRange::Prefix("row1");
}

}  // namespace

EngineOptions SmallEngineOptions(FileSystem* file_system) {
  EngineOptions options;
  options.database.clock = std::make_shared<ManualClock>(Timestamp::FromMicros(1'000'000));
  options.sizes = {.memtable_bytes = 16 << 10,
                   .write_memory_bytes = 64 << 10,
                   .cache_bytes = 64 << 10,
                   .log_bytes_max = 64 << 10,
                   .segment_bytes = 16 << 10,
                   .first_segment_bytes = 8 << 10,
                   .row_group_bytes = 1 << 10,
                   .load_file_bytes = 8 << 10};
  options.file_system = file_system;
  options.background_threads = 0;
  return options;
}

absl::StatusOr<std::string> DumpTable(const Table& table, const ReadOptions& options) {
  std::string text;
  RowReader reader = table.ReadRows(RowSet::All(), {}, options);
  std::string last;
  for (const RowView& row : reader) {
    if (!last.empty() && row.row_key() <= last)
      return DataLoss("rows", 0, "row keys do not ascend");
    last = row.row_key();
    for (const CellView& cell : row.cells()) {
      text += fmt::format("{} {}:{}@{}={}\n", row.row_key(), cell.family(), cell.qualifier(),
                          cell.timestamp().micros(), cell.value());
    }
  }
  STELE_RETURN_IF_ERROR(reader.status());
  return text;
}

absl::StatusOr<std::string> DumpDatabase(const Database& database, bool stored) {
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, database.ListTables());
  std::string text;
  for (const std::string& name : names) {
    STELE_ASSIGN_OR_RETURN(const Table table, database.OpenTable(name));
    STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
    text += "table " + name;
    for (const FamilySchema& family : schema.families())
      text += fmt::format(" {}({})", family.name, family.gc.ToString());
    STELE_ASSIGN_OR_RETURN(const std::string rows, DumpTable(table, {.apply_gc = !stored}));
    text += "\n" + rows;
  }
  return text;
}

absl::StatusOr<std::string> ReadWholeFile(FileSystem* file_system, const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                         file_system->Open(path, OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, file->Size());
  std::string text(bytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t read, file->Read(0, text.size(), text.data()));
  text.resize(read);
  return text;
}

absl::StatusOr<std::map<std::string, std::string>> ReadDirectory(FileSystem* file_system,
                                                                 const std::string& directory) {
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, file_system->List(directory));
  std::map<std::string, std::string> files;
  for (const std::string& name : names) {
    STELE_ASSIGN_OR_RETURN(files[name], ReadWholeFile(file_system, JoinPath(directory, name)));
  }
  return files;
}

bool WorkloadStep::IsDurable() const {
  switch (kind) {
    case Kind::kWrite:
    case Kind::kBatch:
    case Kind::kRanged:
      return durable;
    case Kind::kFlush:
    case Kind::kCompact:
    case Kind::kCheckpoint:
    case Kind::kReopen:
      return false;
    default:
      return true;
  }
}

std::string ToText(const WorkloadStep& step) {
  return fmt::format("{}{} t{} {:x}", kKindNames[static_cast<size_t>(step.kind)],
                     step.durable ? "!" : "", step.table, step.salt);
}

std::vector<WorkloadStep> MakeWorkload(uint64_t seed, size_t step_count) {
  constexpr std::array<Kind, 26> kMix = {
      Kind::kWrite,   Kind::kWrite,      Kind::kWrite,       Kind::kWrite,       Kind::kWrite,
      Kind::kWrite,   Kind::kBatch,      Kind::kBatch,       Kind::kBatch,       Kind::kBatch,
      Kind::kRanged,  Kind::kRanged,     Kind::kFlush,       Kind::kFlush,       Kind::kCompact,
      Kind::kCompact, Kind::kDropRange,  Kind::kAddFamily,   Kind::kSync,        Kind::kDropFamily,
      Kind::kReopen,  Kind::kCheckpoint, Kind::kCreateTable, Kind::kDeleteTable, Kind::kLoad,
      Kind::kLoad};
  Random random(seed);
  std::vector<WorkloadStep> steps = {{.kind = Kind::kCreateTable, .table = 0},
                                     {.kind = Kind::kCreateTable, .table = 1}};
  bool has_third = false;
  std::array<bool, 3> has_extra = {};
  while (steps.size() < step_count) {
    WorkloadStep step{.kind = kMix[random.Below(kMix.size())],
                      .table = static_cast<int>(random.Below(has_third ? 3 : 2)),
                      .durable = random.OneIn(3),
                      .salt = random.Next()};
    bool& extra = has_extra[static_cast<size_t>(step.table)];
    if (step.kind == Kind::kCreateTable || step.kind == Kind::kDeleteTable) {
      if (has_third == (step.kind == Kind::kCreateTable)) continue;
      has_third = !has_third;
      has_extra[2] = false;
      step.table = 2;
    } else if (step.kind == Kind::kAddFamily || step.kind == Kind::kDropFamily) {
      if (extra == (step.kind == Kind::kAddFamily)) continue;
      extra = !extra;
    }
    steps.push_back(step);
  }
  return steps;
}

absl::StatusOr<std::vector<std::string>> StatesOf(const std::vector<WorkloadStep>& steps) {
  MemFileSystem files;
  WorkloadDatabase database(&files);
  STELE_RETURN_IF_ERROR(database.Open());
  std::vector<std::string> states(1);
  for (const WorkloadStep& step : steps) {
    if (const absl::Status status = database.Run(step); !status.ok())
      return WithContext(status, ToText(step));
    if (!step.ChangesState()) continue;
    STELE_ASSIGN_OR_RETURN(states.emplace_back(), DumpDatabase(database.database()));
  }
  return states;
}

std::string CheckpointDirectory(uint64_t salt) {
  return fmt::format("/copy{}", salt % kWorkloadCheckpoints);
}

absl::Status WorkloadDatabase::Open() {
  STELE_ASSIGN_OR_RETURN(local_, OpenDatabase(directory_, options_));
  database_ = Access::Make<Database>(local_);
  return absl::OkStatus();
}

absl::Status WorkloadDatabase::Write(const WorkloadStep& step) {
  STELE_ASSIGN_OR_RETURN(Table table, database_.OpenTable(TableName(step.table)));
  Random random(step.salt);
  if (step.kind == Kind::kRanged) {
    RowMutation mutation(RowKey(random));
    const int64_t start = static_cast<int64_t>(random.Below(4)) * 1000;
    mutation.DeleteFromColumn(
        "f", fmt::format("q{}", random.Below(3)),
        TimestampRange{Timestamp::FromMicros(start), Timestamp::FromMicros(start + 3000)});
    // This cell makes the effect of the step visible.
    mutation.SetCell("g", "ranged", Timestamp(), fmt::format("{:x}", random.Next()));
    return table.Apply(mutation, OptionsOf(step));
  }
  RowMutation mutation = MutationOf(random);
  const absl::StatusOr<Schema> schema = table.schema();
  if (schema.ok() && schema->family("x") != nullptr)
    mutation.SetCell("x", "q", Stamp(random), Value(random));
  return table.Apply(mutation, OptionsOf(step));
}

absl::Status WorkloadDatabase::WriteBatchOf(const WorkloadStep& step) {
  Random random(step.salt);
  WriteBatch batch;
  for (int i = 0; i < 4; ++i) {
    STELE_ASSIGN_OR_RETURN(const Table table, database_.OpenTable(TableName(i % 2)));
    batch.Add(table, MutationOf(random));
  }
  return database_.Apply(batch, OptionsOf(step));
}

absl::Status WorkloadDatabase::Load(const WorkloadStep& step) {
  STELE_ASSIGN_OR_RETURN(Table table, database_.OpenTable(TableName(step.table)));
  Random random(step.salt);
  BulkLoad load = table.NewBulkLoad();
  for (uint64_t row = random.Below(8); row < 24; row += 1 + random.Below(6)) {
    RowMutation mutation(fmt::format("row{:02}", row));
    for (uint64_t i = 0; i < 3; ++i) {
      mutation.SetCell(random.OneIn(2) ? "f" : "g", fmt::format("q{}", random.Below(3)),
                       Stamp(random), Value(random));
    }
    STELE_RETURN_IF_ERROR(load.Add(mutation));
  }
  return load.Finish();
}

absl::Status WorkloadDatabase::Run(const WorkloadStep& step) {
  Random random(step.salt);
  switch (step.kind) {
    case Kind::kCreateTable:
      return database_
          .CreateTable(TableName(step.table), Schema()
                                                  .AddFamily("f", GcRule::MaxNumVersions(2))
                                                  .AddFamily("g")
                                                  .SetCompression(Compression::kFast))
          .status();
    case Kind::kDeleteTable:
      return database_.DeleteTable(TableName(step.table));
    case Kind::kBatch:
      return WriteBatchOf(step);
    case Kind::kWrite:
    case Kind::kRanged:
      return Write(step);
    case Kind::kLoad:
      return Load(step);
    case Kind::kCheckpoint:
      return database_.Checkpoint(CheckpointDirectory(step.salt));
    case Kind::kSync:
      return database_.Sync();
    case Kind::kReopen: {
      const absl::Status closed = database_.Close();
      Drop();
      STELE_RETURN_IF_ERROR(closed);
      return Open();
    }
    default:
      break;
  }
  STELE_ASSIGN_OR_RETURN(Table table, database_.OpenTable(TableName(step.table)));
  if (step.kind == Kind::kDropRange) return table.DropRowRange(RangeOf(random));
  if (step.kind == Kind::kAddFamily)
    return table.ModifyColumnFamilies({FamilyChange::Create({.name = "x"})});
  if (step.kind == Kind::kDropFamily) return table.ModifyColumnFamilies({FamilyChange::Drop("x")});
  if (step.kind == Kind::kFlush) return table.Flush();
  return table.Compact(random.OneIn(2) ? RowRange::All() : RangeOf(random));
}

absl::Status WorkloadDatabase::WriteProbe(std::string_view value) {
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, database_.ListTables());
  if (names.empty()) return database_.CreateTable("probe", Schema().AddFamily("g")).status();
  STELE_ASSIGN_OR_RETURN(Table table, database_.OpenTable(names.front()));
  return table.Apply(RowMutation("probe").SetCell("g", "q", Timestamp::FromMicros(1000), value),
                     {.durability = Durability::kDisk});
}

}  // namespace stele::internal
