#include "lab/trace_sort/record_sorter.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/coding.h"
#include "base/status.h"
#include "trace/trace_encoding.h"

namespace stele::internal::lab {
namespace {

// In the file, a record has its time, its number, its size, and then its sample and its bytes.
constexpr size_t kPlaceBytes = 3 * sizeof(uint64_t);
constexpr size_t kSortedRunsMax = 1'024;
constexpr size_t kRunBufferBytes = size_t{16} << 10;

}  // namespace

RecordSorter::~RecordSorter() {
  if (fd_ >= 0) close(fd_);
}

absl::Status RecordSorter::Add(const TraceRecord& record, uint64_t number) {
  const size_t offset = open_.size();
  AppendVarint(open_, record.sample);
  AppendTraceRecord(record, &open_);
  entries_.push_back({.place = {.micros = record.micros, .number = number},
                      .offset = offset,
                      .bytes = open_.size() - offset});
  const bool is_full = open_.size() + entries_.size() * sizeof(Entry) >= run_bytes_;
  return is_full ? WriteRun() : absl::OkStatus();
}

absl::Status RecordSorter::OpenFile() {
  std::error_code error;
  path_ = std::filesystem::temp_directory_path(error).string();
  if (error) path_ = "/tmp";
  path_ += "/stele_trace_XXXXXX";
  fd_ = mkostemp(path_.data(), O_CLOEXEC);
  if (fd_ < 0) return ErrnoStatus("create", path_, errno);
  unlink(path_.c_str());
  return absl::OkStatus();
}

absl::Status RecordSorter::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(file_bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus("write", path_, errno);
    file_bytes_ += static_cast<uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status RecordSorter::WriteRun() {
  if (fd_ < 0) STELE_RETURN_IF_ERROR(OpenFile());
  if (runs_.size() == kSortedRunsMax)
    return internal::ResourceExhausted("more than {} MiB of operations are not in order of time",
                                       kSortedRunsMax * run_bytes_ >> 20);
  Run run{.next = file_bytes_};
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.place < b.place; });
  std::string part;
  for (const Entry& entry : entries_) {
    AppendFixed64(part, static_cast<uint64_t>(entry.place.micros));
    AppendFixed64(part, entry.place.number);
    AppendFixed64(part, entry.bytes);
    part.append(open_, entry.offset, entry.bytes);
    if (part.size() < kRunBufferBytes) continue;
    STELE_RETURN_IF_ERROR(Write(part));
    part.clear();
  }
  STELE_RETURN_IF_ERROR(Write(part));
  run.end = file_bytes_;
  run.buffer_begin = run.next;
  runs_.push_back(std::move(run));
  entries_.clear();
  open_.clear();
  return absl::OkStatus();
}

absl::Status RecordSorter::Finish() {
  if (!runs_.empty() && !entries_.empty()) STELE_RETURN_IF_ERROR(WriteRun());
  // Without a file, the heap has one entry for each record in memory.
  for (size_t i = 0; i < entries_.size(); ++i)
    heads_.push_back({.place = entries_[i].place, .run = i});
  std::make_heap(heads_.begin(), heads_.end(),
                 [](const Head& a, const Head& b) { return b.place < a.place; });
  if (runs_.empty()) return absl::OkStatus();
  open_ = std::string();
  entries_ = std::vector<Entry>();
  for (size_t i = 0; i < runs_.size(); ++i) STELE_RETURN_IF_ERROR(AddHead(i));
  return absl::OkStatus();
}

absl::Status RecordSorter::Read(Run* run, size_t bytes, std::string* out) {
  out->clear();
  if (bytes > run->end - run->next)
    return internal::DataLoss(path_, run->next, "a record ends behind its run");
  while (out->size() < bytes) {
    const uint64_t in_buffer = run->next - run->buffer_begin;
    const size_t taken = std::min<uint64_t>(bytes - out->size(), run->buffer.size() - in_buffer);
    out->append(run->buffer, in_buffer, taken);
    run->next += taken;
    if (out->size() == bytes) break;
    run->buffer.resize(std::min<uint64_t>(kRunBufferBytes, run->end - run->next));
    run->buffer_begin = run->next;
    const ssize_t got =
        pread(fd_, run->buffer.data(), run->buffer.size(), static_cast<off_t>(run->next));
    run->buffer.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus("read", path_, errno);
    if (got == 0) return internal::DataLoss(path_, run->next, "the file has become shorter");
  }
  return absl::OkStatus();
}

absl::Status RecordSorter::AddHead(size_t run) {
  if (runs_[run].next == runs_[run].end) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(Read(&runs_[run], kPlaceBytes, &read_));
  heads_.push_back({.place = {.micros = static_cast<int64_t>(LoadFixed64(read_.data())),
                              .number = LoadFixed64(read_.data() + sizeof(uint64_t))},
                    .run = run,
                    .bytes = LoadFixed64(read_.data() + 2 * sizeof(uint64_t))});
  std::push_heap(heads_.begin(), heads_.end(),
                 [](const Head& a, const Head& b) { return b.place < a.place; });
  return absl::OkStatus();
}

absl::Status RecordSorter::Pop(TraceRecord* record) {
  std::pop_heap(heads_.begin(), heads_.end(),
                [](const Head& a, const Head& b) { return b.place < a.place; });
  const Head head = heads_.back();
  heads_.pop_back();
  std::string_view bytes;
  if (runs_.empty()) {
    bytes = std::string_view(open_).substr(entries_[head.run].offset, entries_[head.run].bytes);
  } else {
    STELE_RETURN_IF_ERROR(Read(&runs_[head.run], head.bytes, &read_));
    bytes = read_;
  }
  *record = TraceRecord();
  ByteReader in(bytes);
  if (!in.ReadVarint(&record->sample) || !ReadTraceRecord(&in, record))
    return internal::DataLoss(path_, head.bytes, "a record is damaged");
  return runs_.empty() ? absl::OkStatus() : AddHead(head.run);
}

}  // namespace stele::internal::lab
