#include "trace/trace_writer.h"

#include "base/status.h"
#include "trace/trace_encoding.h"

namespace stele::internal {

absl::StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::Open(std::unique_ptr<File> file,
                                                               uint32_t sample) {
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, file->Size());
  if (bytes == 0) {
    TraceHeader header = NewTraceHeader(sample);
    STELE_RETURN_IF_ERROR(file->Write(0, EncodeTraceHeader(header)));
    return std::unique_ptr<TraceWriter>(
        new TraceWriter(std::move(file), std::move(header), kTraceHeaderBytes));
  }
  std::string encoded(kTraceHeaderBytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t got, file->Read(0, encoded.size(), encoded.data()));
  encoded.resize(got);
  absl::StatusOr<TraceHeader> header = DecodeTraceHeader(encoded);
  if (!header.ok())
    return FailedPrecondition("{}: {}; choose a new file", file->path(),
                              ToStd(header.status().message()));
  if (header->sample != sample)
    return FailedPrecondition("{} has the sample {}, so nothing with the sample {} can be added",
                              file->path(), header->sample, sample);
  std::unique_ptr<TraceWriter> writer(
      new TraceWriter(std::move(file), *std::move(header), kTraceHeaderBytes));
  STELE_RETURN_IF_ERROR(writer->FindEnd(bytes));
  return writer;
}

absl::Status TraceWriter::FindEnd(uint64_t file_bytes) {
  char bytes[kTraceBlockHeaderBytes];
  while (offset_ + kTraceBlockHeaderBytes <= file_bytes) {
    STELE_ASSIGN_OR_RETURN(const size_t got, file_->Read(offset_, sizeof bytes, bytes));
    const auto block = DecodeTraceBlockHeader({bytes, got}, TraceBlockSeed(header_, offset_));
    if (!block.has_value()) {
      offset_ = file_bytes;  // readers skip damaged bytes, so they stay
      return absl::OkStatus();
    }
    const uint64_t end = offset_ + kTraceBlockHeaderBytes + block->stored_bytes;
    if (end > file_bytes) break;
    offset_ = end;
  }
  return offset_ == file_bytes ? absl::OkStatus() : file_->Truncate(offset_);
}

absl::Status TraceWriter::Add(const TraceRecord& record) {
  const size_t before = open_.size();
  AppendTraceRecord(record, &open_);
  const size_t bytes = open_.size() - before;
  if (bytes > kTraceBlockBytesMax) {
    open_.resize(before);
    return InvalidArgument("an operation of {} bytes; a binary trace has at most {}", bytes,
                           kTraceBlockBytesMax);
  }
  if (before > 0 && open_.size() > kTraceBlockBytes) {
    const std::string record_bytes = open_.substr(before);
    open_.resize(before);
    STELE_RETURN_IF_ERROR(Flush());
    open_ = record_bytes;
  }
  ++open_records_;
  return absl::OkStatus();
}

absl::Status TraceWriter::Flush() {
  if (open_.empty()) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(AddBlock(open_, open_records_));
  open_.clear();
  open_records_ = 0;
  return absl::OkStatus();
}

absl::Status TraceWriter::AddBlock(std::string_view payload, uint32_t records) {
  Encode(TraceBlockKind::kRecords, payload, records);
  return WriteEncoded();
}

absl::StatusOr<bool> TraceWriter::AddBlockUpTo(std::string_view payload, uint32_t records,
                                               uint64_t bytes_max) {
  Encode(TraceBlockKind::kRecords, payload, records);
  if (offset_ + block_.size() > bytes_max) return false;
  STELE_RETURN_IF_ERROR(WriteEncoded());
  return true;
}

absl::Status TraceWriter::Finish(const TraceCounts& counts) {
  STELE_RETURN_IF_ERROR(Flush());
  Encode(TraceBlockKind::kSummary, EncodeTraceCounts(counts), 0);
  return WriteEncoded();
}

void TraceWriter::Encode(TraceBlockKind kind, std::string_view payload, uint32_t records) {
  block_.clear();
  AppendTraceBlock(kind, payload, records, TraceBlockSeed(header_, offset_), &block_);
}

absl::Status TraceWriter::WriteEncoded() {
  STELE_RETURN_IF_ERROR(file_->Write(offset_, block_));
  offset_ += block_.size();
  return absl::OkStatus();
}

}  // namespace stele::internal
