#include "wal/log_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/buffer.h"
#include "base/status.h"
#include "io/file_names.h"
#include "wal/log_format.h"
#include "wal/segment_reader.h"

namespace stele::internal {
namespace {

std::string SegmentPath(const LogReadOptions& options, uint64_t number) {
  return JoinPath(options.directory, SegmentName(number));
}

absl::StatusOr<std::vector<uint64_t>> ListSegments(const LogReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         options.file_system->List(options.directory));
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    const std::optional<FileName> parsed = ParseFileName(name, options.number_end);
    if (parsed.has_value() && parsed->type == FileType::kSegment && parsed->number > 0)
      numbers.push_back(parsed->number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// One read of a log, from the lowest started segment along the links in the headers to the end.
class LogWalk {
 public:
  LogWalk(const LogReadOptions& options, const LogVisitor& visit)
      : options_(options), visit_(visit) {}

  absl::StatusOr<LogTail> Run() {
    STELE_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, ListSegments(options_));
    STELE_RETURN_IF_ERROR(LoadHeaders(numbers));
    const SegmentHeader* first = started_.empty() ? nullptr : &started_.front();
    if (options_.oldest_segment > 0 &&
        (first == nullptr || first->segment_number != options_.oldest_segment)) {
      constexpr std::string_view kWhat =
          "the first segment of the log is missing or has no valid header";
      // It is unknown which commit precedes it, so the log cannot end there either.
      if (options_.at_damage != AtDamage::kSkip)
        return DataLoss(SegmentPath(options_, options_.oldest_segment), 0, kWhat);
      AddDamage(options_.oldest_segment, 0, kWhat);
      first = FirstAfter(options_.oldest_segment);
      if (first != nullptr) tail_.damages.back().lost_through = first->previous_sequence;
    }
    if (first != nullptr) STELE_RETURN_IF_ERROR(Follow(first));
    std::set_difference(numbers.begin(), numbers.end(), tail_.live_numbers.begin(),
                        tail_.live_numbers.end(), std::back_inserter(tail_.spare_numbers));
    return std::move(tail_);
  }

 private:
  absl::Status LoadHeaders(const std::vector<uint64_t>& numbers) {
    for (const uint64_t number : numbers) {
      if (number < options_.oldest_segment || number > LastNumber()) continue;
      STELE_ASSIGN_OR_RETURN(
          const SegmentReader reader,
          SegmentReader::Open(options_.file_system, SegmentPath(options_, number), number));
      if (!reader.IsStarted(options_.database_id)) continue;
      STELE_RETURN_IF_ERROR(reader.CheckVersion());
      if (reader.file_bytes() < reader.header()->prepared_bytes) {
        const std::string what =
            fmt::format("the file ends here; {} bytes were prepared and synced",
                        reader.header()->prepared_bytes);
        if (options_.at_damage == AtDamage::kFail)
          return DataLoss(reader.path(), reader.file_bytes(), what);
        shortened_[number] = {reader.file_bytes(), what};
      }
      started_.push_back(*reader.header());
    }
    return absl::OkStatus();
  }

  uint64_t LastNumber() const {
    return options_.end.segment_number == 0 ? UINT64_MAX : options_.end.segment_number;
  }
  bool IsAtGivenEnd() const {
    return LogPosition{tail_.segment_number, tail_.end_offset} == options_.end;
  }

  // The highest segment that names `segment` as its predecessor.
  const SegmentHeader* Successor(const SegmentHeader& segment) const {
    for (size_t i = started_.size();
         i-- > 0 && started_[i].segment_number > segment.segment_number;) {
      if (started_[i].previous_end.segment_number == segment.segment_number) return &started_[i];
    }
    return nullptr;
  }

  // Returns the segment with which the log continues if `number` is lost; null: none. If several
  // segments follow the same lost one, the highest is valid.
  const SegmentHeader* FirstAfter(uint64_t number) const {
    const auto first =
        std::find_if(started_.begin(), started_.end(),
                     [&](const SegmentHeader& later) { return later.segment_number > number; });
    if (first == started_.end()) return nullptr;
    const SegmentHeader* valid = &*first;
    for (const SegmentHeader& later : started_) {
      if (later.previous_end.segment_number == first->previous_end.segment_number &&
          later.segment_number > valid->segment_number)
        valid = &later;
    }
    return valid;
  }

  absl::Status Follow(const SegmentHeader* segment) {
    tail_.released_sequence = segment->previous_sequence;
    tail_.last_checksum = segment->previous_checksum;
    tail_.last_sequence = segment->previous_sequence;
    uint64_t offset = kFirstRecordOffset;
    bool is_after_damage = false;  // a good record was found at `offset`
    while (segment != nullptr) {
      tail_.synced_end = std::max(tail_.synced_end, segment->synced_end);
      const SegmentHeader* const next = Successor(*segment);
      const uint64_t end_offset_max = EndOffsetMax(*segment, next);
      STELE_RETURN_IF_ERROR(ReadSegment(segment->segment_number, offset, end_offset_max));
      if (is_after_damage && tail_.end_offset == offset)
        return DataLoss(SegmentPath(options_, segment->segment_number), offset,
                        "the record changed while it was read");
      const bool linked = next != nullptr && next->previous_end.offset == tail_.end_offset &&
                          next->previous_checksum == tail_.last_checksum &&
                          next->previous_sequence == tail_.last_sequence;
      STELE_ASSIGN_OR_RETURN(const bool is_damaged, CheckSegmentEnd(linked));
      if (!linked && (!is_damaged || options_.at_damage == AtDamage::kStop))
        return absl::OkStatus();
      if (!linked) {
        STELE_ASSIGN_OR_RETURN(offset, FindAfterDamage(end_offset_max));
        is_after_damage = offset != 0;
        if (is_after_damage) continue;
      }
      segment = linked ? next : SegmentAfterDamage(*segment);
      offset = kFirstRecordOffset;
      is_after_damage = false;
    }
    return absl::OkStatus();
  }

  // Where the records of the segment end at the latest.
  uint64_t EndOffsetMax(const SegmentHeader& segment, const SegmentHeader* next) const {
    const uint64_t linked_end = next != nullptr ? next->previous_end.offset : UINT64_MAX;
    return segment.segment_number == options_.end.segment_number
               ? std::min(linked_end, options_.end.offset)
               : linked_end;
  }

  void AddDamage(uint64_t number, uint64_t offset, std::string_view what) {
    tail_.damages.push_back({.file = SegmentName(number),
                             .offset = offset,
                             .last_sequence = tail_.last_sequence,
                             .what = std::string(what)});
  }

  // Called where the records of a segment end. Returns true if there is damage, and adds it to the
  // tail. `linked`: the header of the next segment names this end, so no record is lost.
  absl::StatusOr<bool> CheckSegmentEnd(bool linked) {
    const uint64_t number = tail_.segment_number;
    const uint64_t discarded_bytes = tail_.discarded_bytes;
    const absl::Status end = linked ? absl::OkStatus() : CheckEnd();
    if (!end.ok()) {
      if (options_.at_damage == AtDamage::kFail || !absl::IsDataLoss(end)) return end;
      tail_.discarded_bytes = discarded_bytes;  // these bytes count as lost
      std::string what(end.message());
      const std::string place =
          fmt::format("{} @{}: ", SegmentPath(options_, number), tail_.end_offset);
      if (const size_t at = what.find(place); at != std::string::npos) what.erase(at, place.size());
      AddDamage(number, tail_.end_offset, what);
      return true;
    }
    const auto shortened = shortened_.find(number);
    if (shortened == shortened_.end()) return false;
    AddDamage(number, shortened->second.first, shortened->second.second);
    if (linked) tail_.damages.back().lost_through = tail_.last_sequence;
    return true;
  }

  // Returns the offset of the next good record of the segment with a later sequence, so that the
  // records continue there; 0 if there is none.
  absl::StatusOr<uint64_t> FindAfterDamage(uint64_t end_offset_max) {
    const uint64_t number = tail_.segment_number;
    STELE_ASSIGN_OR_RETURN(
        SegmentReader reader,
        SegmentReader::Open(options_.file_system, SegmentPath(options_, number), number));
    if (!reader.IsStarted(options_.database_id)) return 0;
    for (uint64_t offset = tail_.end_offset;;) {
      STELE_ASSIGN_OR_RETURN(const std::optional<SegmentReader::Record> record,
                             reader.FindRecord(offset));
      if (!record.has_value() || record->end_offset > end_offset_max) return 0;
      offset = record->end_offset;
      if (record->header.sequence <= tail_.last_sequence) continue;
      const bool is_end_mark = record->header.type == RecordType::kEndMark;
      tail_.damages.back().lost_through = record->header.sequence - (is_end_mark ? 0 : 1);
      tail_.last_checksum = record->header.previous_checksum;
      if (is_end_mark) tail_.last_sequence = record->header.sequence;
      return record->offset;
    }
  }

  // Returns the segment to continue with if the rest of this one is lost; null: none.
  const SegmentHeader* SegmentAfterDamage(const SegmentHeader& segment) {
    const SegmentHeader* next = Successor(segment);
    if (next == nullptr) next = FirstAfter(segment.segment_number);
    if (next == nullptr) return nullptr;
    tail_.last_sequence = std::max(tail_.last_sequence, next->previous_sequence);
    tail_.last_checksum = next->previous_checksum;
    tail_.damages.back().lost_through = tail_.last_sequence;
    return next;
  }

  // Visits records from `offset` up to `end_offset_max` (EndOffsetMax), or up to the first bad
  // record.
  absl::Status ReadSegment(uint64_t number, uint64_t offset, uint64_t end_offset_max) {
    STELE_ASSIGN_OR_RETURN(
        SegmentReader reader,
        SegmentReader::Open(options_.file_system, SegmentPath(options_, number), number));
    if (!reader.IsStarted(options_.database_id))
      return DataLoss(reader.path(), 0, "the segment's header changed while it was read");
    tail_.clean = false;
    while (offset < end_offset_max && !tail_.clean) {
      STELE_ASSIGN_OR_RETURN(const std::optional<SegmentReader::Record> record,
                             reader.ReadRecord(offset));
      if (!record.has_value() || !Continues(*record) || record->end_offset > end_offset_max) break;
      tail_.clean = record->header.type == RecordType::kEndMark;
      if (!tail_.clean) STELE_RETURN_IF_ERROR(visit_(record->header.sequence, record->payload));
      if (record->header.synced_offset > 0)
        tail_.synced_end = {number, record->header.synced_offset};
      tail_.synced_manifest_end = std::max(tail_.synced_manifest_end, record->header.manifest);
      if (tail_.clean) tail_.closed_manifest_end = record->header.manifest;
      tail_.last_checksum = record->header.checksum;
      tail_.last_sequence = record->header.sequence;
      offset = record->end_offset;
    }
    tail_.segment_number = number;
    tail_.end_offset = offset;
    if (tail_.live_numbers.empty() || tail_.live_numbers.back() != number) {
      tail_.live_numbers.push_back(number);
      tail_.live_ends.emplace_back();
    }
    tail_.live_ends.back() = {offset, tail_.last_sequence};
    return absl::OkStatus();
  }

  bool Continues(const SegmentReader::Record& record) const {
    if (record.header.previous_checksum != tail_.last_checksum) return false;
    return record.header.type == RecordType::kEndMark
               ? record.header.sequence == tail_.last_sequence
               : record.header.sequence > tail_.last_sequence;
  }

  // The log ends at the tail. Checks whether it may end there, or whether later records or headers
  // prove that it continued.
  absl::Status CheckEnd() {
    if (IsAtGivenEnd()) return absl::OkStatus();
    if (!tail_.clean) STELE_RETURN_IF_ERROR(SearchRest(tail_.segment_number, tail_.end_offset));
    for (const SegmentHeader& later : started_) {
      if (later.segment_number <= tail_.segment_number) continue;
      if (later.synced_end > LogPosition{tail_.segment_number, tail_.end_offset}) {
        const absl::Status lost = LostSyncedRecords(later.segment_number, 0);
        if (later.synced_end.segment_number == tail_.segment_number) return lost;
        return WithContext(lost, fmt::format("{} is missing or corrupt",
                                             SegmentName(later.synced_end.segment_number)));
      }
      STELE_RETURN_IF_ERROR(SearchRest(later.segment_number, kFirstRecordOffset));
    }
    return absl::OkStatus();
  }

  // Searches a segment for good records from `begin_offset` on. If one of them proves that more was
  // synced than was read, the end of the log is corruption. Otherwise they are discarded and
  // counted.
  absl::Status SearchRest(uint64_t number, uint64_t begin_offset) {
    STELE_ASSIGN_OR_RETURN(
        SegmentReader reader,
        SegmentReader::Open(options_.file_system, SegmentPath(options_, number), number));
    if (!reader.IsStarted(options_.database_id)) return absl::OkStatus();
    const bool is_tail = number == tail_.segment_number;
    STELE_ASSIGN_OR_RETURN(const std::optional<uint64_t> claimed_end,
                           reader.ClaimedEnd(begin_offset));
    uint64_t discarded_end = claimed_end.value_or(begin_offset);
    uint64_t offset = begin_offset;
    while (true) {
      STELE_ASSIGN_OR_RETURN(const std::optional<SegmentReader::Record> record,
                             reader.FindRecord(offset));
      if (!record.has_value()) break;
      if (record->header.synced_offset > (is_tail ? begin_offset : 0))
        return LostSyncedRecords(number, record->offset);
      offset = record->end_offset;
      discarded_end = std::max(discarded_end, offset);
    }
    tail_.discarded_bytes += discarded_end - begin_offset;
    return absl::OkStatus();
  }

  absl::Status LostSyncedRecords(uint64_t number, uint64_t offset) const {
    return DataLoss(SegmentPath(options_, tail_.segment_number), tail_.end_offset,
                    fmt::format("no valid record of the log (after sequence {}), although {} @{} "
                                "proves that it was synced",
                                tail_.last_sequence, SegmentName(number), offset));
  }

  const LogReadOptions& options_;
  const LogVisitor& visit_;
  std::vector<SegmentHeader> started_;  // ascending
  // The size of each file that is too short, and a description, by segment number.
  std::map<uint64_t, std::pair<uint64_t, std::string>> shortened_;
  LogTail tail_;
};

constexpr uint64_t kRewriteBytes = uint64_t{1} << 20;

absl::Status Rewrite(File* file, uint64_t begin_offset, uint64_t end_offset) {
  if (begin_offset >= end_offset) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(Buffer buffer,
                         Buffer::Allocate(std::min(kRewriteBytes, end_offset - begin_offset)));
  for (uint64_t offset = begin_offset; offset < end_offset;) {
    const size_t wanted = std::min<uint64_t>(buffer.size(), end_offset - offset);
    STELE_ASSIGN_OR_RETURN(const size_t got, file->Read(offset, wanted, buffer.data()));
    if (got != wanted)
      return DataLoss(file->path(), offset + got, "the file ends before its records do");
    STELE_RETURN_IF_ERROR(file->Write(offset, buffer.view().substr(0, got)));
    offset += got;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LogTail> ReadLog(const LogReadOptions& options, const LogVisitor& visit) {
  return LogWalk(options, visit).Run();
}

absl::Status SyncReplayedLog(const LogReadOptions& options, const LogTail& tail) {
  for (size_t i = 0; i < tail.live_numbers.size(); ++i) {
    const LogPosition end{tail.live_numbers[i], tail.live_ends[i].offset};
    if (end <= tail.synced_end) continue;
    const uint64_t begin_offset =
        end.segment_number == tail.synced_end.segment_number ? tail.synced_end.offset : 0;
    STELE_ASSIGN_OR_RETURN(
        const std::unique_ptr<File> file,
        options.file_system->Open(SegmentPath(options, end.segment_number), OpenMode::kReadWrite));
    STELE_RETURN_IF_ERROR(Rewrite(file.get(), begin_offset, end.offset));
    STELE_RETURN_IF_ERROR(file->Sync());
  }
  return options.file_system->SyncDirectory(options.directory);
}

}  // namespace stele::internal
