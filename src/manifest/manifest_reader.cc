#include "manifest/manifest_reader.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "manifest/edit_coding.h"

namespace stele::internal {
namespace {

constexpr size_t kScanWindowBytes = 64 << 10;
// The records that are tried after damage may be this many times as large as the file. Genuine
// records do not overlap; hostile ones may.
constexpr uint64_t kRestReadsMax = 4;

absl::StatusOr<ManifestHeader> ReadHeader(const File& file, std::string_view file_name,
                                          uint64_t* checksum) {
  std::string bytes(kManifestHeaderBytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t got, file.Read(0, bytes.size(), bytes.data()));
  bytes.resize(got);
  STELE_ASSIGN_OR_RETURN(const ManifestHeader header, DecodeManifestHeader(bytes, file_name));
  *checksum = ManifestHeaderChecksum(bytes);
  return header;
}

class ManifestWalk {
 public:
  ManifestWalk(const File& file, std::string_view file_name, const EditVisitor& visit)
      : file_(file), file_name_(file_name), visit_(&visit) {}

  absl::StatusOr<ManifestScan> Run(absl::Status* damage, const EditVisitor* visit_rest) {
    STELE_ASSIGN_OR_RETURN(file_bytes_, file_.Size());
    STELE_ASSIGN_OR_RETURN(scan_.header, ReadHeader(file_, file_name_, &scan_.last_checksum));
    seed_ = RecordSeed(scan_.header);
    scan_.end_offset = offset_ = kManifestHeaderBytes;
    checksum_ = scan_.last_checksum;
    const absl::Status read = ReadEdits();
    if (!read.ok() && (damage == nullptr || !absl::IsDataLoss(read) || scan_.edit_count == 0))
      return read;
    if (damage != nullptr) *damage = read;
    scan_.discarded_bytes = file_bytes_ - scan_.end_offset;
    if (scan_.discarded_bytes > 0) scan_.closed = false;
    const ManifestScan result = scan_;
    if (read.ok() || visit_rest == nullptr) return result;
    if (const absl::Status rest = ReadRest(*visit_rest); !rest.ok()) {
      *damage = MakeStatus(read.code(), fmt::format("{}; the rest cannot be read: {}",
                                                    ToStd(read.message()), ToStd(rest.message())));
    }
    return result;
  }

 private:
  // Reads up to the end or a torn tail.
  absl::Status ReadEdits() {
    while (offset_ < file_bytes_ || scan_.edit_count == 0) {
      STELE_ASSIGN_OR_RETURN(RecordView record, ReadRecord(file_, offset_, file_bytes_, seed_));
      STELE_RETURN_IF_ERROR(CheckPlace(&record));
      if (!record.good) return ErrorOfBadRecord(record.what);
      STELE_RETURN_IF_ERROR(Take(record));
    }
    return absl::OkStatus();
  }

  // Reads the edits after the damage at `offset_`. After further damage, it continues with the next
  // readable edit.
  absl::Status ReadRest(const EditVisitor& visit_rest) {
    visit_ = &visit_rest;
    uint64_t bytes_left = kRestReadsMax * file_bytes_;
    for (uint64_t next = offset_ + 1;;) {
      STELE_ASSIGN_OR_RETURN(
          const std::optional<uint64_t> found,
          FindRecordHeader(file_, next, file_bytes_, seed_, /*edit_offset_min=*/next));
      if (!found.has_value()) return absl::OkStatus();
      next = *found + 1;
      STELE_ASSIGN_OR_RETURN(const RecordView record,
                             ReadRecord(file_, *found, file_bytes_, seed_));
      const uint64_t bytes = kManifestRecordHeaderBytes + record.record_header.payload_bytes;
      if (bytes > bytes_left) return absl::OkStatus();
      bytes_left -= bytes;
      if (!record.good || record.record_header.edit_offset != *found) continue;
      scan_.end_offset = offset_ = *found;
      checksum_ = record.record_header.previous_checksum;
      decoder_ = EditDecoder();
      const absl::Status read = ReadEdits();
      if (!absl::IsDataLoss(read)) return read;
      next = std::max(next, offset_ + 1);
    }
  }

  // A good record continues the current edit, or begins the next edit right after the previous
  // record.
  absl::Status CheckPlace(RecordView* record) const {
    if (!record->good) return absl::OkStatus();
    const bool begins = record->record_header.edit_offset == offset_;
    if (record->record_header.edit_offset == scan_.end_offset &&
        record->record_header.previous_checksum == checksum_)
      return absl::OkStatus();
    // The writer of an edit's first record had synced the record before it. A later part may be
    // left from an edit that was torn at the same place earlier.
    if (begins && scan_.end_offset == offset_)
      return DataLoss(file_name_, offset_, "record does not follow the one before it");
    record->good = false;
    record->what = "record belongs to another edit";
    return absl::OkStatus();
  }

  // Evaluates a bad record at `offset_`. OK means a torn tail.
  absl::Status ErrorOfBadRecord(std::string_view what) const {
    if (scan_.edit_count == 0)
      return DataLoss(file_name_, offset_, fmt::format("first edit: {}", what));
    STELE_ASSIGN_OR_RETURN(const std::optional<uint64_t> later,
                           FindRecordHeader(file_, offset_, file_bytes_, seed_,
                                            /*edit_offset_min=*/scan_.end_offset + 1));
    if (!later.has_value()) return absl::OkStatus();
    return DataLoss(
        file_name_, offset_,
        fmt::format("{}, although a later record was written after it was synced", what));
  }

  absl::Status Take(const RecordView& record) {
    const auto type = static_cast<ManifestRecordType>(record.record_header.type);
    const absl::Status status = TakePayload(type, record);
    if (absl::IsInvalidArgument(status))
      return DataLoss(file_name_, scan_.end_offset, ToStd(status.message()));
    STELE_RETURN_IF_ERROR(status);
    offset_ += kManifestRecordHeaderBytes + record.payload.size();
    checksum_ = record.record_header.checksum;
    if (type == ManifestRecordType::kPart) return absl::OkStatus();
    scan_.closed = type == ManifestRecordType::kEnd;
    scan_.last_edit_offset = scan_.end_offset;
    scan_.end_offset = offset_;
    scan_.last_checksum = checksum_;
    if (++scan_.edit_count == 1) scan_.first_edit_end = offset_;
    return absl::OkStatus();
  }

  absl::Status TakePayload(ManifestRecordType type, const RecordView& record) {
    switch (type) {
      case ManifestRecordType::kEnd:
        if (offset_ == scan_.end_offset && record.payload.size() == 0) return absl::OkStatus();
        return InvalidArgument("an end mark that is part of an edit");
      case ManifestRecordType::kPart:
        return decoder_.Add(record.payload.view());
      case ManifestRecordType::kEdit: {
        STELE_RETURN_IF_ERROR(decoder_.Add(record.payload.view()));
        STELE_ASSIGN_OR_RETURN(Edit edit, std::exchange(decoder_, EditDecoder()).Finish());
        return (*visit_)(std::move(edit));
      }
    }
    return Unimplemented("{} @{}: record type {} is of a newer Stele", file_name_, offset_,
                         record.record_header.type);
  }

  const File& file_;
  const std::string_view file_name_;
  const EditVisitor* visit_;
  ManifestScan scan_;
  uint64_t file_bytes_ = 0;
  uint64_t seed_ = 0;
  uint64_t offset_ = 0;    // of the next record
  uint64_t checksum_ = 0;  // of the previous record
  EditDecoder decoder_;    // has consumed the parts since scan_.end_offset
};

}  // namespace

absl::StatusOr<RecordView> ReadRecord(const File& file, uint64_t offset, uint64_t file_bytes,
                                      uint64_t seed) {
  RecordView record;
  char bytes[kManifestRecordHeaderBytes];
  if (file_bytes < offset || file_bytes - offset < kManifestRecordHeaderBytes) {
    record.what = "the file ends inside a record header";
    return record;
  }
  STELE_ASSIGN_OR_RETURN(const size_t got, file.Read(offset, kManifestRecordHeaderBytes, bytes));
  const std::string_view record_header_bytes(bytes, kManifestRecordHeaderBytes);
  const std::optional<ManifestRecordHeader> record_header =
      got < kManifestRecordHeaderBytes ? std::nullopt
                                       : DecodeManifestRecordHeader(record_header_bytes, seed);
  if (!record_header.has_value() || record_header->offset != offset) {
    record.what = "no record header";
    return record;
  }
  record.record_header = *record_header;
  if (record_header->payload_bytes > kRecordPayloadBytesMax ||
      record_header->payload_bytes > file_bytes - offset - kManifestRecordHeaderBytes) {
    record.what = "record extends past the end of the file";
    return record;
  }
  STELE_ASSIGN_OR_RETURN(record.payload, Buffer::Allocate(record_header->payload_bytes));
  STELE_ASSIGN_OR_RETURN(
      const size_t payload_got,
      file.Read(offset + kManifestRecordHeaderBytes, record.payload.size(), record.payload.data()));
  if (payload_got < record.payload.size()) {
    record.what = "the file ends inside a record";
    return record;
  }
  record.good =
      PayloadChecksum(record_header_bytes, record.payload.view()) == record_header->checksum;
  if (!record.good) record.what = "record checksum mismatch";
  return record;
}

absl::StatusOr<std::optional<uint64_t>> FindRecordHeader(const File& file, uint64_t offset,
                                                         uint64_t file_bytes, uint64_t seed,
                                                         uint64_t edit_offset_min) {
  std::string window(kScanWindowBytes + kManifestRecordHeaderBytes, '\0');
  for (uint64_t begin = offset; begin + kManifestRecordHeaderBytes <= file_bytes;
       begin += kScanWindowBytes) {
    STELE_ASSIGN_OR_RETURN(const size_t got, file.Read(begin, window.size(), window.data()));
    if (got < kManifestRecordHeaderBytes) break;
    const size_t places = std::min(kScanWindowBytes, got - kManifestRecordHeaderBytes + 1);
    for (size_t i = 0; i < places; ++i) {
      // A record header contains its own offset.
      if (ClaimedOffset(window.data() + i) != begin + i) continue;
      const std::optional<ManifestRecordHeader> record_header =
          DecodeManifestRecordHeader({window.data() + i, kManifestRecordHeaderBytes}, seed);
      if (record_header.has_value() && record_header->edit_offset >= edit_offset_min)
        return std::optional<uint64_t>(begin + i);
    }
  }
  return std::optional<uint64_t>();
}

absl::StatusOr<ManifestScan> ReadManifest(const File& file, std::string_view file_name,
                                          const EditVisitor& visit) {
  return ManifestWalk(file, file_name, visit).Run(nullptr, nullptr);
}

absl::StatusOr<ManifestScan> ReadDamagedManifest(const File& file, std::string_view file_name,
                                                 const EditVisitor& visit,
                                                 const EditVisitor& visit_rest,
                                                 absl::Status* damage) {
  return ManifestWalk(file, file_name, visit).Run(damage, &visit_rest);
}

}  // namespace stele::internal
