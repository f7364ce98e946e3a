#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/status.h"
#include "io/file_names.h"
#include "wal/log_format.h"
#include "wal/log_reader.h"
#include "wal/segment_reader.h"

namespace stele::internal {
namespace {

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

void AppendHeader(const SegmentReader& reader, std::string& out) {
  const SegmentHeader& header = *reader.header();
  auto to = std::back_inserter(out);
  fmt::format_to(to, "segment={} database_id={:016x} version={} prepared_bytes={}\n",
                 header.segment_number, header.database_id, header.format_version,
                 header.prepared_bytes);
  fmt::format_to(
      to, "follows segment={} end={} checksum={:016x} sequence={}; synced segment={} offset={}\n",
      header.previous_end.segment_number, header.previous_end.offset, header.previous_checksum,
      header.previous_sequence, header.synced_end.segment_number, header.synced_end.offset);
}

void AppendRecord(const SegmentReader::Record& record, bool continues, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 "@{} {} sequence={} length={} synced={} manifest={}@{} checksum={:016x} {}\n",
                 record.offset, record.header.type == RecordType::kEndMark ? "end mark" : "record",
                 record.header.sequence, record.header.payload_bytes, record.header.synced_offset,
                 record.header.manifest.number, record.header.manifest.bytes,
                 record.header.checksum, continues ? "ok" : "does not continue the record before");
}

}  // namespace

absl::StatusOr<std::string> DumpSegment(FileSystem* file_system, const std::string& path) {
  const std::optional<FileName> name = ParseFileName(LastPart(path));
  if (!name.has_value() || name->type != FileType::kSegment)
    return InvalidArgument("{}: not the name of a log segment", path);
  STELE_ASSIGN_OR_RETURN(SegmentReader reader,
                         SegmentReader::Open(file_system, path, name->number));
  std::string out = fmt::format("file_bytes={}\n", reader.file_bytes());
  if (reader.header() == nullptr) return out + "not started: no good header\n";
  AppendHeader(reader, out);
  if (!reader.IsStarted(std::nullopt))
    return out + "not started: the header is of the file's earlier use\n";
  STELE_RETURN_IF_ERROR(reader.CheckVersion());

  uint64_t offset = kFirstRecordOffset;
  uint64_t previous_checksum = reader.header()->previous_checksum;
  while (true) {
    STELE_ASSIGN_OR_RETURN(const std::optional<SegmentReader::Record> record,
                           reader.FindRecord(offset));
    if (!record.has_value()) break;
    if (record->offset > offset)
      out += fmt::format("@{} no good record for {} bytes\n", offset, record->offset - offset);
    AppendRecord(*record, record->header.previous_checksum == previous_checksum, out);
    previous_checksum = record->header.checksum;
    offset = record->end_offset;
  }
  return out + fmt::format("@{} end; {} bytes behind it\n", offset,
                           std::max(reader.file_bytes(), offset) - offset);
}

}  // namespace stele::internal
