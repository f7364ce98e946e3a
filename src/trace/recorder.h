// trace/recorder.h: records operations in a trace file. No operation waits for it.
//
// A thread encodes a record into one of several buffers, one that is not in use. A thread of the
// recorder takes all buffers each second, or when one is full, compresses them and writes them.
//
// Used by:   api/recorded_call.cc.
// Calls:     trace/trace_writer.h.
// Rule:      an operation never waits: not for the file, not for memory to become free, and not for
//            another operation. A record for which no buffer has room is dropped and counted. A
//            failure of the file ends the trace, and nothing else.
// Errors:    FailedPrecondition for a second start, or a stop without a start; those of the writer.
// Threads:   thread-safe. The file is used by Start(), then by the recorder's thread, then by
//            Stop().
// Fork:      a child must not use or destroy the recorder of its parent (api/backend.h).
// Memory:    at most 32 MiB while it records.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "io/file_system.h"
#include "trace/non_blocking_lock.h"
#include "trace/trace_encoding.h"
#include "trace/trace_format.h"
#include "trace/trace_record.h"
#include "trace/trace_writer.h"

namespace stele::internal {

class Recorder {
 public:
  Recorder() = default;
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  struct Options {
    uint32_t sample = 1;  // one of this many operations is recorded
    uint64_t bytes_max = UINT64_MAX;
    bool appends = false;  // the file may exist
    FileSystem* file_system = PosixFileSystem();
    std::chrono::nanoseconds interval = std::chrono::seconds(1);
  };
  struct Summary {
    TraceCounts counts;
    uint64_t bytes = 0;  // of the file
  };
  // Only the owner may read the new file. A failure leaves no new file.
  absl::Status Start(const std::string& path, const Options& options);
  // Writes what was recorded, and the summary. Returns the first error of the file.
  absl::StatusOr<Summary> Stop();

  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }

  // Decides whether to record `operations`. Returns the recording, or 0.
  uint64_t Choose(uint64_t operations);
  // Adds a record, unless the recording has ended.
  void Add(uint64_t recording, const TraceRecord& record);
  void Add(uint64_t recording, const PointReadRecord& record);
  // Returns the time in microseconds since the epoch. The times of a recording do not leap if the
  // clock is set.
  int64_t TimeOf(std::chrono::steady_clock::time_point time) const {
    return MicrosOf(time) + clock_offset_micros_.load(std::memory_order_relaxed);
  }
  // A number that no other call of the recording has.
  uint64_t NextNumber() { return next_number_.fetch_add(1, std::memory_order_relaxed); }

 private:
  // Encoded records: the payload of a block.
  struct Chunk {
    Chunk() = default;
    explicit Chunk(size_t room)
        : bytes(std::make_unique_for_overwrite<char[]>(room)), capacity(room) {}
    template <typename Store>
    void Append(const Store& store) {
      char* const begin = bytes.get() + size;
      size += static_cast<size_t>(store(begin) - begin);
      ++records;
    }

    std::unique_ptr<char[]> bytes;  // null: none
    size_t capacity = 0;
    size_t size = 0;
    uint32_t records = 0;
  };
  struct alignas(64) Shard {
    NonBlockingLock lock;
    uint64_t recording ABSL_GUARDED_BY(lock) = 0;  // 0: nothing is added
    Chunk open ABSL_GUARDED_BY(lock);
    std::vector<Chunk> full ABSL_GUARDED_BY(lock);
    std::atomic<uint64_t> operations{0};  // if not all of them are recorded
    std::atomic<uint64_t> dropped{0};
  };
  static constexpr size_t kShards = 16;

  template <typename TimePoint>
  static int64_t MicrosOf(TimePoint time) {
    return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  }
  static size_t ShardOfThread();
  // Adds a record. `store(out)` writes the bytes of the record, at most `bytes_max`, and returns
  // their end.
  template <typename Store>
  void AddStored(uint64_t recording, size_t bytes_max, const Store& store);
  // Each adds a record if the recording has not ended. Returns false if all shards are in use, or
  // memory is full.
  template <typename Store>
  bool AddToOpenChunk(uint64_t recording, size_t bytes_max, const Store& store);
  bool AddFullChunk(uint64_t recording, Chunk&& chunk);
  // Makes room in the open chunk. Returns false if memory is full. Sets `is_full` if a chunk
  // became full.
  bool MakeRoom(size_t bytes, Shard* shard, bool* is_full)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard->lock);
  // Calls `use(shard)` with the lock of a shard that is not in use; first tries that of this
  // thread. Returns false if there is none.
  template <typename Use>
  bool WithFreeShard(const Use& use);
  // Waits until no operation has the lock.
  static void Lock(Shard* shard) ABSL_EXCLUSIVE_LOCK_FUNCTION(shard->lock);
  // Charges the bytes of a full chunk. Returns false if memory is full.
  bool Reserve(size_t bytes);
  void WakeThread();
  absl::Status Begin(std::unique_ptr<File> file, const Options& options)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_mutex_);
  void SetRecording(uint64_t recording);
  // The function of the recorder's thread.
  void Run();
  void WriteAll();
  void Write(std::string_view bytes, uint32_t records);

  // Held by Start() and Stop(), also while they wait for the thread.
  Mutex control_mutex_;
  bool is_running_ ABSL_GUARDED_BY(control_mutex_) = false;
  uint64_t recordings_ ABSL_GUARDED_BY(control_mutex_) = 0;
  Thread thread_ ABSL_GUARDED_BY(control_mutex_);

  std::atomic<bool> is_on_{false};
  std::atomic<uint64_t> recording_{0};  // the current one; 0: none
  std::atomic<uint32_t> sample_{1};
  std::atomic<int64_t> clock_offset_micros_{0};  // of the system's clock to the steady one
  std::atomic<uint64_t> next_number_{1};
  std::array<Shard, kShards> shards_;
  std::atomic<size_t> waiting_bytes_{0};  // in full chunks

  Mutex wake_mutex_;
  CondVar wake_;
  bool is_stopping_ ABSL_GUARDED_BY(wake_mutex_) = false;
  std::atomic<bool> has_full_{false};  // a chunk is full

  // Not guarded; see Threads above for who uses them when.
  Options options_;
  std::unique_ptr<TraceWriter> writer_;
  absl::Status status_;
  TraceCounts counts_;  // recorded, and dropped by the recorder's thread
};

}  // namespace stele::internal
