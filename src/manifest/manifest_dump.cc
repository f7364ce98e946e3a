// Implements DumpManifest.
#include "base/status.h"
#include "manifest/edit_coding.h"
#include "manifest/manifest_log.h"
#include "manifest/manifest_reader.h"

namespace stele::internal {
namespace {

// `decoder` has consumed the parts before this record.
std::string RecordText(const RecordView& record, uint64_t offset, uint64_t previous_checksum,
                       EditDecoder* decoder) {
  const bool chained = record.record_header.previous_checksum == previous_checksum;
  const std::string head = fmt::format(
      "record @{} bytes={} checksum={:#018x}{}", offset, record.record_header.payload_bytes,
      record.record_header.checksum, chained ? "" : " does not follow the record before it");
  const auto type = static_cast<ManifestRecordType>(record.record_header.type);
  if (type == ManifestRecordType::kEnd) return head + " end mark\n";
  if (type != ManifestRecordType::kEdit && type != ManifestRecordType::kPart) {
    return head + fmt::format(" unknown type {}\n", record.record_header.type);
  }
  if (record.record_header.edit_offset == offset) *decoder = EditDecoder();
  const absl::Status added = decoder->Add(record.payload.view());
  if (type == ManifestRecordType::kPart) {
    return head + fmt::format(" part of the edit @{}{}\n", record.record_header.edit_offset,
                              added.ok() ? "" : ", does not decode");
  }
  const auto edit = added.ok() ? decoder->Finish() : absl::StatusOr<Edit>(added);
  if (!edit.ok()) return head + fmt::format(" edit: {}\n", ToStd(edit.status().message()));
  return head + " edit\n" + EditText(*edit);
}

}  // namespace

absl::StatusOr<std::string> DumpManifest(FileSystem* file_system, const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const auto file, file_system->Open(path, OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(const uint64_t file_bytes, file->Size());
  std::string header_bytes(kManifestHeaderBytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t got, file->Read(0, header_bytes.size(), header_bytes.data()));
  header_bytes.resize(got);
  const std::string name = path.substr(path.rfind('/') + 1);
  STELE_ASSIGN_OR_RETURN(const ManifestHeader header, DecodeManifestHeader(header_bytes, name));
  std::string out = fmt::format("manifest {} format={} database={:#018x}{}\n", header.number,
                                kManifestFormatVersion, header.database_id,
                                header.creation_mark ? " made with the database" : "");
  const uint64_t seed = RecordSeed(header);
  uint64_t offset = kManifestHeaderBytes;
  uint64_t previous_checksum = ManifestHeaderChecksum(header_bytes);
  EditDecoder decoder;
  while (offset < file_bytes) {
    STELE_ASSIGN_OR_RETURN(const RecordView record, ReadRecord(*file, offset, file_bytes, seed));
    if (!record.good) {
      // A torn write may leave a later record header of the same edit intact.
      STELE_ASSIGN_OR_RETURN(const std::optional<uint64_t> proof,
                             FindRecordHeader(*file, offset + 1, file_bytes, seed, offset + 1));
      STELE_ASSIGN_OR_RETURN(const std::optional<uint64_t> next,
                             FindRecordHeader(*file, offset + 1, file_bytes, seed, 0));
      out += fmt::format("{} @{} bytes={}: {}\n", proof.has_value() ? "damage" : "torn tail",
                         offset, next.value_or(file_bytes) - offset, record.what);
      if (!next.has_value()) break;
      offset = *next;
      continue;
    }
    out += RecordText(record, offset, previous_checksum, &decoder);
    previous_checksum = record.record_header.checksum;
    offset += kManifestRecordHeaderBytes + record.payload.size();
  }
  return out + fmt::format("end @{}\n", file_bytes);
}

}  // namespace stele::internal
