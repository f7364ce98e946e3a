#include "trace/recorder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/random.h"
#include "base/status.h"

namespace stele::internal {
namespace {

// Full chunks that wait. The open ones and the writer's buffers need the rest of 32 MiB.
constexpr size_t kWaitingBytesMax = size_t{20} << 20;
// Room for the summary below the largest size of the file.
constexpr uint64_t kSummaryBytesMax = 128;

absl::StatusOr<std::unique_ptr<File>> OpenTraceFile(FileSystem* file_system,
                                                    const std::string& path, bool appends,
                                                    bool* is_new) {
  auto file = file_system->Open(path, OpenMode::kCreatePrivate);
  *is_new = file.ok();
  if (file.ok() || file.status().code() != absl::StatusCode::kAlreadyExists) return file;
  if (appends) return file_system->Open(path, OpenMode::kReadWrite);
  return AlreadyExists("{} exists; name a new file", path);
}

Random& RandomOfThread() {
  thread_local Random random(RandomSeed());
  return random;
}

}  // namespace

Recorder::~Recorder() { Stop().status().IgnoreError(); }

absl::Status Recorder::Start(const std::string& path, const Options& options) {
  MutexLock lock(control_mutex_);
  if (is_running_)
    return FailedPrecondition("a trace is being recorded; stop it before the next one starts");
  bool is_new = false;
  STELE_ASSIGN_OR_RETURN(auto file,
                         OpenTraceFile(options.file_system, path, options.appends, &is_new));
  absl::Status begun = Begin(std::move(file), options);
  if (!begun.ok() && is_new) options.file_system->Remove(path).IgnoreError();
  return begun;
}

absl::Status Recorder::Begin(std::unique_ptr<File> file, const Options& options) {
  STELE_ASSIGN_OR_RETURN(writer_, TraceWriter::Open(std::move(file), options.sample));
  options_ = options;
  status_ = absl::OkStatus();
  counts_ = {};
  waiting_bytes_ = 0;
  has_full_ = false;
  sample_ = options.sample;
  clock_offset_micros_ =
      MicrosOf(std::chrono::system_clock::now()) - MicrosOf(std::chrono::steady_clock::now());
  {
    MutexLock wake_lock(wake_mutex_);
    is_stopping_ = false;
  }
  if (const int error = thread_.Start<&Recorder::Run>(this); error != 0) {
    writer_ = nullptr;
    return StartStatus(error, "trace: nothing is recorded");
  }
  is_running_ = true;
  SetRecording(++recordings_);
  recording_ = recordings_;
  is_on_ = true;
  return absl::OkStatus();
}

void Recorder::SetRecording(uint64_t recording) {
  for (Shard& shard : shards_) {
    Lock(&shard);
    shard.recording = recording;
    shard.lock.Unlock();
    if (recording == 0) continue;
    shard.operations = 0;
    shard.dropped = 0;
  }
}

absl::StatusOr<Recorder::Summary> Recorder::Stop() {
  MutexLock lock(control_mutex_);
  if (!is_running_) return FailedPrecondition("no trace is being recorded");
  is_on_ = false;
  recording_ = 0;
  SetRecording(0);
  {
    MutexLock wake_lock(wake_mutex_);
    is_stopping_ = true;
    wake_.Signal();
  }
  thread_.Join();
  is_running_ = false;
  const std::unique_ptr<TraceWriter> writer = std::move(writer_);
  for (const Shard& shard : shards_) {
    counts_.operations += shard.operations;
    counts_.dropped += shard.dropped;
  }
  if (options_.sample == 1) counts_.operations = counts_.recorded + counts_.dropped;
  STELE_RETURN_IF_ERROR(status_);
  STELE_RETURN_IF_ERROR(writer->Finish(counts_));
  return Summary{.counts = counts_, .bytes = writer->bytes()};
}

uint64_t Recorder::Choose(uint64_t operations) {
  const uint32_t sample = sample_.load(std::memory_order_relaxed);
  if (sample > 1) {
    shards_[ShardOfThread()].operations.fetch_add(operations, std::memory_order_relaxed);
    if (!RandomOfThread().OneIn(sample)) return 0;
  }
  return recording_.load(std::memory_order_relaxed);
}

size_t Recorder::ShardOfThread() {
  static std::atomic<size_t> next{0};
  thread_local const size_t shard = next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shard;
}

void Recorder::Add(uint64_t recording, const TraceRecord& record) {
  if (recording == 0) return;
  // Keeps its memory for the next record of the thread, unless the record was large.
  thread_local std::string bytes;
  bytes.clear();
  AppendTraceRecord(record, &bytes);
  AddStored(recording, bytes.size(), [](char* out) {
    std::memcpy(out, bytes.data(), bytes.size());
    return out + bytes.size();
  });
  if (bytes.size() > kTraceBlockBytes) std::string().swap(bytes);
}

void Recorder::Add(uint64_t recording, const PointReadRecord& record) {
  if (recording == 0) return;
  AddStored(recording, PointReadBytesMax(record),
            [&](char* out) { return StorePointRead(record, out); });
}

template <typename Store>
void Recorder::AddStored(uint64_t recording, size_t bytes_max, const Store& store) {
  bool is_added = false;
  if (bytes_max <= kTraceBlockBytes) {
    is_added = AddToOpenChunk(recording, bytes_max, store);
  } else if (bytes_max <= kTraceBlockBytesMax && Reserve(bytes_max)) {
    Chunk chunk(bytes_max);
    chunk.Append(store);
    is_added = AddFullChunk(recording, std::move(chunk));
  }
  // A record that is late must not be counted in the next recording.
  if (!is_added && recording == recording_.load(std::memory_order_relaxed))
    shards_[ShardOfThread()].dropped.fetch_add(1, std::memory_order_relaxed);
}

template <typename Store>
bool Recorder::AddToOpenChunk(uint64_t recording, size_t bytes_max, const Store& store) {
  bool is_full = false;
  bool is_added = false;
  const bool has_shard = WithFreeShard([&](Shard* shard) {
    shard->lock.AssertHeld();
    if (shard->recording != recording) {
      is_added = true;  // nowhere, since the recording has ended
      return;
    }
    if (!MakeRoom(bytes_max, shard, &is_full)) return;
    shard->open.Append(store);
    is_added = true;
  });
  if (is_full) WakeThread();
  return has_shard && is_added;
}

bool Recorder::AddFullChunk(uint64_t recording, Chunk&& chunk) {
  const size_t bytes = chunk.capacity;
  bool is_kept = false;
  const bool has_shard = WithFreeShard([&](Shard* shard) {
    shard->lock.AssertHeld();
    if (shard->recording != recording) return;
    shard->full.push_back(std::move(chunk));
    is_kept = true;
  });
  if (is_kept) {
    WakeThread();
  } else {
    waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  return has_shard;
}

bool Recorder::MakeRoom(size_t bytes, Shard* shard, bool* is_full) {
  Chunk& open = shard->open;
  if (open.bytes != nullptr && open.size + bytes > open.capacity) {
    if (!Reserve(open.capacity)) return false;
    shard->full.push_back(std::move(open));
    open = {};
    *is_full = true;
  }
  if (open.bytes == nullptr) open = Chunk(kTraceBlockBytes);
  return true;
}

template <typename Use>
bool Recorder::WithFreeShard(const Use& use) {
  const size_t first = ShardOfThread();
  for (size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[(first + i) % kShards];
    if (!shard.lock.TryLock()) continue;
    use(&shard);
    shard.lock.Unlock();
    return true;
  }
  return false;
}

// Operations only try the lock, so they do not wake those that wait for it. Sleeps instead of
// yielding: a thread of a higher priority would not let the operation end.
void Recorder::Lock(Shard* shard) {
  constexpr std::chrono::microseconds kPause(50);
  Mutex mutex;
  CondVar never;
  while (!shard->lock.TryLock()) {
    MutexLock lock(mutex);
    never.WaitFor(mutex, kPause);
  }
}

bool Recorder::Reserve(size_t bytes) {
  if (waiting_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= kWaitingBytesMax)
    return true;
  waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

// Without the mutex, because operations do not wait: a lost signal delays the thread until its
// interval is over.
void Recorder::WakeThread() {
  has_full_.store(true, std::memory_order_relaxed);
  wake_.Signal();
}

void Recorder::Run() {
  bool is_stopping = false;
  while (!is_stopping) {
    {
      MutexLock lock(wake_mutex_);
      if (!is_stopping_ && !has_full_.load(std::memory_order_relaxed))
        wake_.WaitFor(wake_mutex_, options_.interval);
      is_stopping = is_stopping_;
    }
    has_full_.store(false, std::memory_order_relaxed);
    WriteAll();
  }
}

void Recorder::WriteAll() {
  std::string rest;  // of the open chunks, as many as fit in a block
  uint32_t rest_records = 0;
  for (Shard& shard : shards_) {
    std::vector<Chunk> full;
    Chunk open;
    Lock(&shard);
    full.swap(shard.full);
    std::swap(open, shard.open);
    shard.lock.Unlock();
    for (Chunk& chunk : full) {
      Write({chunk.bytes.get(), chunk.size}, chunk.records);
      chunk.bytes = nullptr;  // frees it before others may take its room
      waiting_bytes_.fetch_sub(chunk.capacity, std::memory_order_relaxed);
    }
    if (rest.size() + open.size > kTraceBlockBytes) {
      Write(rest, rest_records);
      rest.clear();
      rest_records = 0;
    }
    rest.append(open.bytes.get(), open.size);
    rest_records += open.records;
  }
  Write(rest, rest_records);
}

void Recorder::Write(std::string_view bytes, uint32_t records) {
  if (records == 0) return;
  if (status_.ok() && !counts_.stopped_at_limit) {
    const uint64_t bytes_max = options_.bytes_max - std::min(options_.bytes_max, kSummaryBytesMax);
    const auto written = writer_->AddBlockUpTo(bytes, records, bytes_max);
    if (written.ok() && *written) {
      counts_.recorded += records;
      return;
    }
    status_ = written.status();
    counts_.stopped_at_limit = written.ok();
    is_on_.store(false, std::memory_order_relaxed);
  }
  counts_.dropped += records;
}

}  // namespace stele::internal
