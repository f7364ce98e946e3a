#include "lab/values/key_hashes.h"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <queue>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kEntriesAtFirst = 1024;
constexpr char kFileName[] = "the temporary file of hashes";

}  // namespace

// Merges the runs of the file.
class KeyHashes::Runs {
 public:
  Runs(std::FILE* file, const std::vector<uint64_t>& run_ends, size_t buffer_entries)
      : file_(file), buffer_entries_(std::max<size_t>(1, buffer_entries)) {
    uint64_t begin = 0;
    for (const uint64_t end : run_ends) {
      runs_.push_back({.next = begin, .end = end});
      begin = end;
    }
  }

  absl::Status Start() {
    for (size_t i = 0; i < runs_.size(); ++i) STELE_RETURN_IF_ERROR(Push(i));
    return absl::OkStatus();
  }
  bool empty() const { return heads_.empty(); }
  absl::StatusOr<Entry> Take() {
    const auto [entry, run] = heads_.top();
    heads_.pop();
    STELE_RETURN_IF_ERROR(Push(run));
    return entry;
  }

 private:
  struct Run {
    uint64_t next;
    uint64_t end;
    std::vector<Entry> buffer = {};
    size_t used = 0;
  };

  absl::Status Push(size_t index) {
    Run& run = runs_[index];
    if (run.used == run.buffer.size()) {
      const uint64_t count = std::min<uint64_t>(buffer_entries_, run.end - run.next);
      if (count == 0) return absl::OkStatus();
      run.buffer.resize(count);
      if (std::fseek(file_, static_cast<long>(run.next * kEntryBytes), SEEK_SET) != 0 ||
          std::fread(run.buffer.data(), kEntryBytes, count, file_) != count)
        return ErrnoStatus("read", kFileName, errno);
      run.next += count;
      run.used = 0;
    }
    heads_.emplace(run.buffer[run.used++], index);
    return absl::OkStatus();
  }

  using Head = std::pair<Entry, size_t>;
  std::FILE* const file_;
  const size_t buffer_entries_;
  std::vector<Run> runs_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
};

void KeyHashes::Clear() {
  std::vector<Entry>().swap(entries_);  // an assignment could keep the capacity
  file_.reset();
  run_ends_.clear();
}

absl::Status KeyHashes::Add(std::string_view key, uint64_t position, std::string_view value) {
  if (entries_.size() >= std::max<size_t>(1, entries_max_)) STELE_RETURN_IF_ERROR(Spill());
  // push_back would double the capacity, also beyond `entries_max_`.
  if (entries_.size() == entries_.capacity()) {
    entries_.reserve(std::min(std::max<size_t>(1, entries_max_),
                              std::max(kEntriesAtFirst, 2 * entries_.size())));
  }
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  entries_.push_back({.high = hash.high64,
                      .low = hash.low64,
                      .position = position,
                      .value = XXH3_64bits(value.data(), value.size())});
  return absl::OkStatus();
}

absl::Status KeyHashes::Spill() {
  if (file_ == nullptr) file_.reset(std::tmpfile());
  if (file_ == nullptr) return ErrnoStatus("create", kFileName, errno);
  std::sort(entries_.begin(), entries_.end());
  if (std::fwrite(entries_.data(), kEntryBytes, entries_.size(), file_.get()) != entries_.size())
    return ErrnoStatus("write", kFileName, errno);
  run_ends_.push_back((run_ends_.empty() ? 0 : run_ends_.back()) + entries_.size());
  entries_.clear();
  return absl::OkStatus();
}

absl::Status KeyHashes::FinishEach(const std::function<void(uint64_t position)>& on_first,
                                   const std::function<void(const Repeated&)>& on_repeated) {
  bool has_first = false;
  Entry first = {};
  const auto visit = [&](const Entry& entry) {
    if (has_first && entry.high == first.high && entry.low == first.low) {
      on_repeated({.first = first.position,
                   .position = entry.position,
                   .has_same_value = entry.value == first.value,
                   .first_value = first.value,
                   .value = entry.value});
      return;
    }
    first = entry;
    has_first = true;
    on_first(entry.position);
  };
  if (file_ == nullptr) {
    std::sort(entries_.begin(), entries_.end());
    for (const Entry& entry : entries_) visit(entry);
    return absl::OkStatus();
  }
  if (!entries_.empty()) STELE_RETURN_IF_ERROR(Spill());
  std::vector<Entry>().swap(entries_);  // the buffers of the runs take this memory
  Runs runs(file_.get(), run_ends_, entries_max_ / run_ends_.size());
  STELE_RETURN_IF_ERROR(runs.Start());
  while (!runs.empty()) {
    STELE_ASSIGN_OR_RETURN(const Entry entry, runs.Take());
    visit(entry);
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> KeyHashes::Finish(
    const std::function<void(uint64_t first, uint64_t repeated)>& on_repeated) {
  uint64_t distinct = 0;
  STELE_RETURN_IF_ERROR(FinishEach(
      [&](uint64_t) { ++distinct; },
      [&](const Repeated& repeated) { on_repeated(repeated.first, repeated.position); }));
  return distinct;
}

}  // namespace stele::internal::lab
