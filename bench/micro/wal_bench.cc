// bench/micro/wal_bench.cc: the cost of the commit log: appends of 600-byte records, and appends
// with a sync each.
//
// Note:      The append runs in memory, so that framing and checksum dominate. The sync runs on the
//            disk of the current directory.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "io/mem_file_system.h"
#include "wal/commit_log.h"

namespace stele::internal {
namespace {

constexpr size_t kPayloadBytes = 600;

CommitLogOptions Options(FileSystem* file_system, const std::string& directory,
                         std::atomic<uint64_t>* number) {
  CommitLogOptions options;
  options.file_system = file_system;
  options.directory = directory;
  options.next_file_number = [number] { return ++*number; };
  return options;
}

// Makes one write call for a write group of state.range(0) records.
void BM_Append(benchmark::State& state) {
  MemFileSystem file_system;
  file_system.CreateDirectory("db").IgnoreError();
  std::atomic<uint64_t> number{0};
  auto log = CommitLog::Start(Options(&file_system, "db", &number), LogTail{});
  if (!log.ok()) return state.SkipWithError("start failed");
  const std::string payload(kPayloadBytes, 'x');
  std::vector<LogRecord> group(static_cast<size_t>(state.range(0)), LogRecord{0, payload});
  uint64_t sequence = 0;
  for (auto _ : state) {
    for (LogRecord& record : group) record.sequence = ++sequence;
    if (!(*log)->Append(group).ok()) return state.SkipWithError("append failed");
    if ((*log)->bytes() < (uint64_t{64} << 20)) continue;
    state.PauseTiming();
    const bool released = (*log)->Sync().ok() && (*log)->Release(sequence).ok();
    state.ResumeTiming();
    if (!released) return state.SkipWithError("release failed");
  }
  state.SetItemsProcessed(static_cast<int64_t>(sequence));
  state.SetBytesProcessed(static_cast<int64_t>(sequence * kPayloadBytes));
}
BENCHMARK(BM_Append)->Arg(1)->Arg(16);

void BM_AppendSync(benchmark::State& state) {
  char directory[] = "wal_bench_XXXXXX";
  if (::mkdtemp(directory) == nullptr) return state.SkipWithError("no directory");
  FileSystem* const file_system = PosixFileSystem();
  std::atomic<uint64_t> number{0};
  {
    auto log = CommitLog::Start(Options(file_system, directory, &number), LogTail{});
    if (!log.ok() || !(*log)->PrepareSpare().ok()) return state.SkipWithError("start failed");
    const std::string payload(kPayloadBytes, 'x');
    uint64_t sequence = 0;
    for (auto _ : state) {
      const LogRecord record{++sequence, payload};
      if (!(*log)->Append({&record, 1}).ok() || !(*log)->Sync().ok())
        return state.SkipWithError("append failed");
    }
    state.SetItemsProcessed(static_cast<int64_t>(sequence));
  }
  if (const auto names = file_system->List(directory); names.ok()) {
    for (const std::string& name : *names)
      file_system->Remove(std::string(directory) + "/" + name).IgnoreError();
  }
  file_system->RemoveDirectory(directory).IgnoreError();
}
BENCHMARK(BM_AppendSync)->UseRealTime();

}  // namespace
}  // namespace stele::internal

BENCHMARK_MAIN();
