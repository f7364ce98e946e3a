#include "wal/commit_log.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "wal/log_format.h"
#include "wal/segment_writer.h"
#include "wal/spare_segments.h"

namespace stele::internal {
namespace {

constexpr uint64_t kSegmentBytesMin = 4096;
// Syncs are frequent if this many in a row each covered less than 1 / kOftenPart of a segment. Then
// zeros written in advance save each sync the metadata of unwritten space. With rare syncs, such
// zeros would only double the bytes written.
constexpr int kSyncsOften = 3;
constexpr uint64_t kOftenPart = 16;
constexpr size_t kSmallSegmentsMax = 64;  // see IsLongerThan

// A segment that is part of the log and not released yet.
struct LiveSegment {
  uint64_t number = 0;
  std::shared_ptr<File> file;  // nullptr: written before the last start, and synced then
  uint64_t end_offset = 0;
  uint64_t first_sequence = 0;  // 0: its header was synced before it was published
  uint64_t last_sequence = 0;
  uint64_t synced_offset = 0;
  bool name_synced = false;
};

// The segments with records that are not released.
struct LogSize {
  uint64_t bytes = 0;
  size_t small_segments = 0;
};

uint64_t GroupBytes(std::span<const LogRecord> records) {
  uint64_t bytes = 0;
  for (const LogRecord& record : records) bytes += RecordBytes(record.payload.size());
  return bytes;
}

}  // namespace

class CommitLog::State {
 public:
  State(const CommitLogOptions& options, const LogTail& tail);

  absl::Status Start(const LogTail& tail);
  absl::Status Append(std::span<const LogRecord> records, RecordType type);
  absl::Status Sync();
  absl::Status Close();
  absl::Status PrepareSpare();
  absl::Status Release(uint64_t through);
  bool space_is_scarce() const { return spares_.space_is_scarce(); }
  bool NeedsSpare() const { return !poisoned() && spares_.Needed(); }

  LogPosition synced_end() const {
    MutexLock lock(mutex_);
    return synced_end_;
  }

  bool SpareIsDue() const {
    if (spares_.RemovalIsDue()) return !poisoned();
    {
      MutexLock lock(mutex_);
      if (segments_.empty() || segments_.back().end_offset < options_.first_segment_bytes / 4)
        return false;
      if (small_syncs_ < kSyncsOften && !spares_.HasRetired()) return false;
    }
    return NeedsSpare();
  }

  uint64_t synced_sequence() const;
  uint64_t last_sequence() const;
  uint64_t oldest_segment() const;
  uint64_t OldestSegmentAfter(uint64_t through) const;
  uint64_t bytes() const;
  bool IsLongerThan(uint64_t bytes_max) const;
  uint64_t appended_bytes() const;
  bool poisoned() const { return !Poison().ok(); }
  std::vector<LogPosition> SegmentEnds() const;

 private:
  absl::Status Poison() const;
  absl::Status CheckRecords(std::span<const LogRecord> records) const;
  absl::Status TryAppend(std::span<const LogRecord> records, RecordType type, bool* written);
  absl::Status CheckRoom(uint64_t record_bytes) const {
    return options_.check_room ? options_.check_room(record_bytes) : absl::OkStatus();
  }
  absl::Status SealEnd();
  absl::Status BeginFirstSegment(uint64_t record_bytes);
  absl::Status BeginNextSegment(uint64_t record_bytes);
  absl::Status MakeSegmentDurable();
  bool SwitchToSpareIsDue() const;
  void NoteSync(const std::vector<LiveSegment>& segments) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t SyncedOffsetOfActive() const;
  void Publish(uint64_t first_sequence, uint64_t record_bytes, bool name_synced);
  LogSize UnreleasedSize() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t ReleasableCount(uint64_t through) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status SyncSegments(const std::vector<LiveSegment>& segments) ABSL_LOCKS_EXCLUDED(mutex_);
  void MarkSynced(const LiveSegment& segment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const CommitLogOptions options_;
  SpareSegments spares_;
  // For the appending thread only.
  SegmentWriter writer_;
  BlankSegment active_;
  bool begins_later_ = false;  // Start found no space for a segment, and there is none yet

  mutable Mutex mutex_;
  // Ascending; the last one is the active segment.
  std::deque<LiveSegment> segments_ ABSL_GUARDED_BY(mutex_);
  LogPosition synced_end_ ABSL_GUARDED_BY(mutex_);  // everything before it is synced
  uint64_t synced_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t released_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t appended_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status poison_ ABSL_GUARDED_BY(mutex_);  // the error of the first failed sync
  bool sync_running_ ABSL_GUARDED_BY(mutex_) = false;
  int small_syncs_ ABSL_GUARDED_BY(mutex_) = 0;  // in a row
  CondVar sync_ended_;
};

CommitLog::State::State(const CommitLogOptions& options, const LogTail& tail)
    : options_(options),
      spares_({options.file_system, options.directory,
               std::max(options.segment_bytes, kSegmentBytesMin), options.spares_max,
               options.next_file_number, options.space_is_scarce}),
      writer_(
          LogEnd{{tail.segment_number, tail.end_offset}, tail.last_checksum, tail.last_sequence}) {
  MutexLock lock(mutex_);
  for (size_t i = 0; i < tail.live_numbers.size(); ++i) {
    const SegmentEnd& end = tail.live_ends[i];
    segments_.push_back(
        {tail.live_numbers[i], nullptr, end.offset, 0, end.last_sequence, end.offset, true});
  }
  synced_end_ = {tail.segment_number, tail.end_offset};
  synced_sequence_ = last_sequence_ = tail.last_sequence;
}

absl::Status CommitLog::State::Start(const LogTail& tail) {
  // Files that recovery did not use are removed before any segment that is released later; see
  // Retire.
  for (const uint64_t number : tail.spare_numbers) spares_.Retire({number, true});
  // The writer is sealed at the end of the tail, which is synced. So an Append continues in the
  // next segment, as after a failed write, and everything else needs only the segments of the tail.
  const auto begins_later = [&](const absl::Status& status) {
    return FoundNoSpace(status) && options_.may_begin_later && !tail.live_numbers.empty();
  };
  absl::StatusOr<BlankSegment> first =
      spares_.MakeFirst(std::max(options_.first_segment_bytes, kSegmentBytesMin), kSegmentBytesMin);
  begins_later_ = begins_later(first.status());
  if (begins_later_) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(first.status());
  active_ = *std::move(first);
  const uint64_t highest =
      std::max(tail.segment_number, tail.spare_numbers.empty() ? 0 : tail.spare_numbers.back());
  if (active_.number <= highest)
    return FailedPrecondition("log segment {} cannot follow {}", active_.number, highest);
  STELE_RETURN_IF_ERROR(options_.file_system->SyncDirectory(options_.directory));
  active_.synced = true;
  STELE_RETURN_IF_ERROR(writer_.ReserveBuffer(0));
  writer_.Begin(active_, options_.database_id, writer_.end().position);
  const absl::Status written = writer_.Write({}, RecordType::kPayload, {});
  if (FoundNoSpace(written)) {
    // As in TryAppend, the segment never became part of the log.
    const uint64_t number = std::exchange(active_, {}).number;
    spares_.Discard(number);
  }
  begins_later_ = begins_later(written);
  if (begins_later_) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(written);
  Publish(0, 0, true);
  return Sync();
}

absl::Status CommitLog::State::Poison() const {
  MutexLock lock(mutex_);
  return poison_;
}

absl::Status CommitLog::State::CheckRecords(std::span<const LogRecord> records) const {
  uint64_t last_sequence = writer_.end().sequence;
  for (const LogRecord& record : records) {
    if (record.sequence <= last_sequence)
      return InvalidArgument("log record {} does not follow {}", record.sequence, last_sequence);
    if (record.payload.size() > kPayloadBytesMax) {
      return InvalidArgument("a log record of {} bytes; the limit is {}", record.payload.size(),
                             kPayloadBytesMax);
    }
    last_sequence = record.sequence;
  }
  return absl::OkStatus();
}

uint64_t CommitLog::State::SyncedOffsetOfActive() const {
  if (writer_.IsBegun()) return 0;
  MutexLock lock(mutex_);
  return segments_.back().synced_offset;
}

// True if syncs are frequent and a written spare exists, while the active segment was only
// reserved.
bool CommitLog::State::SwitchToSpareIsDue() const {
  if (active_.written) return false;
  {
    MutexLock lock(mutex_);
    if (small_syncs_ < kSyncsOften) return false;
  }
  return spares_.HasSpare();
}

absl::Status CommitLog::State::BeginNextSegment(uint64_t record_bytes) {
  STELE_ASSIGN_OR_RETURN(active_, spares_.Take(SegmentWriter::FileBytesFor(record_bytes)));
  LogPosition synced_end;
  {
    MutexLock lock(mutex_);
    synced_end = synced_end_;
  }
  writer_.Begin(active_, options_.database_id, synced_end);
  return absl::OkStatus();
}

// Makes written records visible to Sync and other threads.
void CommitLog::State::Publish(uint64_t first_sequence, uint64_t record_bytes, bool name_synced) {
  const LogEnd& end = writer_.end();
  MutexLock lock(mutex_);
  if (segments_.empty() || segments_.back().number != end.position.segment_number) {
    segments_.push_back(
        {end.position.segment_number, active_.file, 0, first_sequence, 0, 0, name_synced});
  }
  segments_.back().end_offset = end.position.offset;
  segments_.back().last_sequence = end.sequence;
  last_sequence_ = end.sequence;
  appended_bytes_ += record_bytes;
}

absl::Status CommitLog::State::Append(std::span<const LogRecord> records, RecordType type) {
  STELE_RETURN_IF_ERROR(Poison());
  if (records.empty()) return absl::OkStatus();
  if (type == RecordType::kPayload) STELE_RETURN_IF_ERROR(CheckRecords(records));
  bool written = false;
  absl::Status status = TryAppend(records, type, &written);
  if (!status.ok() && written) {
    if (const absl::Status sealed = SealEnd(); !sealed.ok()) {
      status = WithContext(sealed, fmt::format("a refused write may be found again after reopening "
                                               "({}): the log could not be ended before it",
                                               ToStd(status.message())));
      MutexLock lock(mutex_);
      if (poison_.ok()) poison_ = status;
    }
  }
  return status;
}

// `written` is set if parts of the records may be on disk although they are refused.
absl::Status CommitLog::State::TryAppend(std::span<const LogRecord> records, RecordType type,
                                         bool* written) {
  const uint64_t record_bytes = GroupBytes(records);
  const SyncedManifestEnd manifest =
      options_.synced_manifest_end ? options_.synced_manifest_end() : SyncedManifestEnd();
  if (begins_later_) STELE_RETURN_IF_ERROR(BeginFirstSegment(record_bytes));
  absl::Status status;
  // If the segment is full, or sealed by a failed write, continue in the next one. Two failures in
  // a row mean that the disk is at fault, not the segment.
  for (int attempt = 0; attempt < 2; ++attempt) {
    STELE_RETURN_IF_ERROR(writer_.ReserveBuffer(record_bytes));
    if (!writer_.HasRoom(record_bytes)) {
      STELE_RETURN_IF_ERROR(CheckRoom(record_bytes));
      STELE_RETURN_IF_ERROR(BeginNextSegment(record_bytes));
    } else if (SwitchToSpareIsDue()) {
      STELE_RETURN_IF_ERROR(BeginNextSegment(record_bytes));
    }
    const bool begun = writer_.IsBegun();
    status = writer_.Write(records, type, {.offset = SyncedOffsetOfActive(), .manifest = manifest});
    if (status.ok()) {
      Publish(records.front().sequence, record_bytes, active_.synced);
      return status;
    }
    *written = true;
    // The segment never became part of the log, even if its header is on disk: the next segment
    // names the same end and has a higher number.
    if (begun) spares_.Retire({active_.number, false});
  }
  return status;
}

// A refused write may be complete on disk: after the end, or in a segment that names the end as its
// predecessor. So before the refusal is returned, a segment with a higher number that names the
// same end is made durable. No recovery replays the refused records then.
absl::Status CommitLog::State::SealEnd() {
  STELE_RETURN_IF_ERROR(writer_.ReserveBuffer(0));
  STELE_RETURN_IF_ERROR(BeginNextSegment(0));
  return MakeSegmentDurable();
}

// Makes the segment that Start found no space for. It is durable before it has a record. So if only
// a sync finds the lack of space, as under a quota of NFS, the record is refused and the log can go
// on. A failed sync of a record would poison it.
absl::Status CommitLog::State::BeginFirstSegment(uint64_t record_bytes) {
  STELE_RETURN_IF_ERROR(CheckRoom(record_bytes));
  STELE_RETURN_IF_ERROR(writer_.ReserveBuffer(0));
  const LogEnd end = writer_.end();
  STELE_RETURN_IF_ERROR(BeginNextSegment(record_bytes));
  absl::Status status = MakeSegmentDurable();
  begins_later_ = !status.ok();
  if (status.ok()) return status;
  // As in TryAppend: it never became part of the log.
  writer_ = SegmentWriter(end);
  const uint64_t number = std::exchange(active_, {}).number;
  spares_.Discard(number);
  return status;
}

// Writes the header of the segment that was begun, and syncs it and its name.
absl::Status CommitLog::State::MakeSegmentDurable() {
  absl::Status status = writer_.Write({}, RecordType::kPayload, {});
  if (status.ok()) status = active_.file->Sync();
  if (status.ok() && !active_.synced)
    status = options_.file_system->SyncDirectory(options_.directory);
  STELE_RETURN_IF_ERROR(status);
  active_.synced = true;
  Publish(0, 0, true);
  return absl::OkStatus();
}

// Only one sync runs at a time. Other callers wait, and the next sync covers all of them.
absl::Status CommitLog::State::Sync() {
  std::vector<LiveSegment> unsynced;
  {
    MutexLock lock(mutex_);
    const LogPosition wanted{segments_.back().number, segments_.back().end_offset};
    while (true) {
      STELE_RETURN_IF_ERROR(poison_);
      if (synced_end_ >= wanted) return absl::OkStatus();
      if (!sync_running_) break;
      sync_ended_.Wait(mutex_);
    }
    sync_running_ = true;
    for (const LiveSegment& segment : segments_) {
      if (segment.synced_offset < segment.end_offset) unsynced.push_back(segment);
    }
    NoteSync(unsynced);
  }
  absl::Status status = SyncSegments(unsynced);
  MutexLock lock(mutex_);
  if (!status.ok()) poison_ = status;
  sync_running_ = false;
  sync_ended_.SignalAll();
  return status;
}

void CommitLog::State::NoteSync(const std::vector<LiveSegment>& segments) {
  uint64_t covered_bytes = 0;
  for (const LiveSegment& segment : segments)
    covered_bytes += segment.end_offset - segment.synced_offset;
  small_syncs_ = covered_bytes < options_.segment_bytes / kOftenPart
                     ? std::min(small_syncs_ + 1, kSyncsOften)
                     : 0;
}

// Syncs names first, then bytes, lower segments first (engine rule 3), so that the synced part of
// the log has no hole.
absl::Status CommitLog::State::SyncSegments(const std::vector<LiveSegment>& segments) {
  const bool names_synced =
      std::all_of(segments.begin(), segments.end(),
                  [](const LiveSegment& segment) { return segment.name_synced; });
  if (!names_synced) STELE_RETURN_IF_ERROR(options_.file_system->SyncDirectory(options_.directory));
  for (const LiveSegment& segment : segments) {
    STELE_RETURN_IF_ERROR(segment.file->Sync());
    MutexLock lock(mutex_);
    MarkSynced(segment);
  }
  return absl::OkStatus();
}

// Records that a segment is synced up to the state in `segment`, a copy from before the sync.
void CommitLog::State::MarkSynced(const LiveSegment& segment) {
  for (LiveSegment& live : segments_) {
    if (live.number != segment.number) continue;
    live.synced_offset = segment.end_offset;
    live.name_synced = true;
  }
  synced_end_ = {segment.number, segment.end_offset};
  synced_sequence_ = segment.last_sequence;
}

absl::Status CommitLog::State::Close() {
  STELE_RETURN_IF_ERROR(Sync());
  const LogRecord end_mark{writer_.end().sequence, {}};
  STELE_RETURN_IF_ERROR(Append({&end_mark, 1}, RecordType::kEndMark));
  return Sync();
}

absl::Status CommitLog::State::PrepareSpare() {
  STELE_RETURN_IF_ERROR(Poison());
  return spares_.Prepare();
}

absl::Status CommitLog::State::Release(uint64_t through) {
  {
    MutexLock lock(mutex_);
    STELE_RETURN_IF_ERROR(poison_);
    released_sequence_ = std::max(released_sequence_, through);
    for (size_t count = ReleasableCount(through); count > 0 && segments_[1].synced_offset > 0;
         --count) {
      spares_.Retire({segments_[0].number, true});
      segments_.pop_front();
    }
  }
  return spares_.RemoveExcess();
}

// A segment can be released if the next one has a record up to `through`, or was durable from its
// start. Then the next one, which becomes the oldest, exists after any crash, since the log is
// synced through `through`. Later appends do not change the result.
size_t CommitLog::State::ReleasableCount(uint64_t through) const {
  size_t count = 0;
  while (count + 1 < segments_.size() && segments_[count].last_sequence <= through &&
         segments_[count + 1].first_sequence <= through) {
    ++count;
  }
  return count;
}

uint64_t CommitLog::State::OldestSegmentAfter(uint64_t through) const {
  MutexLock lock(mutex_);
  return segments_[ReleasableCount(through)].number;
}

uint64_t CommitLog::State::synced_sequence() const {
  MutexLock lock(mutex_);
  return synced_sequence_;
}

uint64_t CommitLog::State::last_sequence() const {
  MutexLock lock(mutex_);
  return last_sequence_;
}

uint64_t CommitLog::State::oldest_segment() const {
  MutexLock lock(mutex_);
  return segments_.front().number;
}

uint64_t CommitLog::State::bytes() const {
  MutexLock lock(mutex_);
  return UnreleasedSize().bytes;
}

bool CommitLog::State::IsLongerThan(uint64_t bytes_max) const {
  MutexLock lock(mutex_);
  const LogSize size = UnreleasedSize();
  return size.bytes > bytes_max || size.small_segments > kSmallSegmentsMax;
}

LogSize CommitLog::State::UnreleasedSize() const {
  LogSize size;
  for (const LiveSegment& segment : segments_) {
    if (segment.last_sequence <= released_sequence_) continue;
    size.bytes += segment.end_offset - kFirstRecordOffset;
    if (segment.end_offset < options_.segment_bytes / 2) ++size.small_segments;
  }
  return size;
}

uint64_t CommitLog::State::appended_bytes() const {
  MutexLock lock(mutex_);
  return appended_bytes_;
}

std::vector<LogPosition> CommitLog::State::SegmentEnds() const {
  MutexLock lock(mutex_);
  std::vector<LogPosition> ends;
  for (const LiveSegment& segment : segments_) ends.push_back({segment.number, segment.end_offset});
  return ends;
}

CommitLog::CommitLog(std::unique_ptr<State> state) : state_(std::move(state)) {}
CommitLog::~CommitLog() = default;

absl::StatusOr<std::unique_ptr<CommitLog>> CommitLog::Start(CommitLogOptions options,
                                                            const LogTail& tail) {
  if (tail.live_ends.size() != tail.live_numbers.size())
    return InvalidArgument("a log tail that ReadLog did not make");
  auto state = std::make_unique<State>(options, tail);
  STELE_RETURN_IF_ERROR(state->Start(tail));
  return std::unique_ptr<CommitLog>(new CommitLog(std::move(state)));
}

absl::Status CommitLog::Append(std::span<const LogRecord> records) {
  return state_->Append(records, RecordType::kPayload);
}
absl::Status CommitLog::Sync() { return state_->Sync(); }
absl::Status CommitLog::Close() { return state_->Close(); }
absl::Status CommitLog::PrepareSpare() { return state_->PrepareSpare(); }
absl::Status CommitLog::Release(uint64_t through) { return state_->Release(through); }
bool CommitLog::NeedsSpare() const { return state_->NeedsSpare(); }
LogPosition CommitLog::synced_end() const { return state_->synced_end(); }
bool CommitLog::SpareIsDue() const { return state_->SpareIsDue(); }
uint64_t CommitLog::synced_sequence() const { return state_->synced_sequence(); }
uint64_t CommitLog::last_sequence() const { return state_->last_sequence(); }
uint64_t CommitLog::oldest_segment() const { return state_->oldest_segment(); }
uint64_t CommitLog::OldestSegmentAfter(uint64_t through) const {
  return state_->OldestSegmentAfter(through);
}
uint64_t CommitLog::bytes() const { return state_->bytes(); }
bool CommitLog::IsLongerThan(uint64_t bytes_max) const { return state_->IsLongerThan(bytes_max); }
uint64_t CommitLog::appended_bytes() const { return state_->appended_bytes(); }
bool CommitLog::space_is_scarce() const { return state_->space_is_scarce(); }
bool CommitLog::poisoned() const { return state_->poisoned(); }
std::vector<LogPosition> CommitLog::SegmentEnds() const { return state_->SegmentEnds(); }

}  // namespace stele::internal
