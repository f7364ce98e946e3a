#include "trace/trace_blocks.h"

#include <algorithm>

#include "base/status.h"
#include "trace/trace_encoding.h"

namespace stele::internal {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;
// A file that decompresses to more than this, and to more than kGrowthMax times its size, is
// refused as hostile.
constexpr uint64_t kCheckedBytes = uint64_t{256} << 20;
constexpr uint64_t kGrowthMax = 1'000;

// Returns the sum, or UINT64_MAX if it is larger. A hostile file may have large numbers.
uint64_t AddUpToMax(uint64_t a, uint64_t b) { return a + std::min(b, UINT64_MAX - a); }

}  // namespace

absl::StatusOr<std::unique_ptr<TraceBlocks>> TraceBlocks::Open(Source source) {
  std::unique_ptr<TraceBlocks> blocks(new TraceBlocks(std::move(source)));
  STELE_RETURN_IF_ERROR(blocks->Fill(kTraceHeaderBytes).status());
  STELE_ASSIGN_OR_RETURN(blocks->header_,
                         DecodeTraceHeader(blocks->window().substr(0, kTraceHeaderBytes)));
  blocks->Skip(kTraceHeaderBytes);
  return blocks;
}

absl::StatusOr<bool> TraceBlocks::Fill(size_t bytes) {
  while (window().size() < bytes && !at_end_) {
    buffer_.erase(0, begin_);
    begin_ = 0;
    const size_t before = buffer_.size();
    buffer_.resize(before + kReadBytes);
    const auto got = source_(buffer_.data() + before, kReadBytes);
    buffer_.resize(before + (got.ok() ? *got : 0));
    if (!got.ok()) return got.status();
    at_end_ = *got == 0;
  }
  return window().size() >= bytes;
}

void TraceBlocks::Skip(size_t bytes) {
  begin_ += bytes;
  offset_ += bytes;
}

void TraceBlocks::SkipToMagic() {
  const std::string_view bytes = window();
  const size_t found = bytes.find(kTraceBlockMagic, 1);
  // The last bytes may be the first ones of a magic number.
  const size_t kept = at_end_ ? 0 : kTraceBlockMagic.size() - 1;
  Skip(found != std::string_view::npos ? found : std::max<size_t>(bytes.size() - kept, 1));
}

absl::StatusOr<TraceBlocks::Found> TraceBlocks::ReadBlock() {
  const uint64_t seed = TraceBlockSeed(header_, offset_);
  STELE_ASSIGN_OR_RETURN(const bool has_header, Fill(kTraceBlockHeaderBytes));
  if (!has_header) return Found::kCutOff;
  const auto block = DecodeTraceBlockHeader(window(), seed);
  if (!block.has_value()) return Found::kWrongHeader;
  const size_t bytes = kTraceBlockHeaderBytes + block->stored_bytes;
  STELE_ASSIGN_OR_RETURN(const bool has_payload, Fill(bytes));
  if (!has_payload) return Found::kCutOff;
  const bool is_valid = ReadTracePayload(
      *block, window().substr(kTraceBlockHeaderBytes, block->stored_bytes), seed, &payload_);
  block_ = *block;
  Skip(bytes);
  plain_bytes_ += block->plain_bytes;
  STELE_RETURN_IF_ERROR(CheckGrowth());
  return is_valid ? Found::kBlock : Found::kWrongPayload;
}

absl::Status TraceBlocks::CheckGrowth() const {
  if (plain_bytes_ <= kCheckedBytes || plain_bytes_ / kGrowthMax <= offset_)
    return absl::OkStatus();
  return InvalidArgument("the blocks grow more than {} times when decompressed; this is no trace",
                         kGrowthMax);
}

absl::StatusOr<bool> TraceBlocks::NextBlock() {
  bool is_damaged = false;  // before the next valid block
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, Fill(1));
    if (!any) break;
    STELE_ASSIGN_OR_RETURN(const Found found, ReadBlock());
    if (found == Found::kBlock) {
      if (is_damaged) ++damaged_;
      is_complete_ = block_.kind == TraceBlockKind::kSummary;
      return true;
    }
    is_complete_ = false;
    if (found == Found::kCutOff) break;
    is_damaged = true;
    if (found == Found::kWrongHeader) SkipToMagic();
  }
  Skip(window().size());
  if (is_damaged) ++damaged_;
  return false;
}

void TraceBlocks::AddSummary() {
  const auto counts = DecodeTraceCounts(payload_);
  if (!counts.has_value()) {
    ++damaged_;
    return;
  }
  ++summaries_;
  counts_.operations = AddUpToMax(counts_.operations, counts->operations);
  counts_.recorded = AddUpToMax(counts_.recorded, counts->recorded);
  counts_.dropped = AddUpToMax(counts_.dropped, counts->dropped);
  counts_.stopped_at_limit = counts_.stopped_at_limit || counts->stopped_at_limit;
}

absl::StatusOr<bool> TraceBlocks::Next(TraceRecord* record) {
  while (true) {
    if (records_left_ > 0) {
      record->Clear();
      record->sample = header_.sample;
      const size_t before = records_.remaining();
      --records_left_;
      if (ReadTraceRecord(&records_, record) && (records_left_ > 0 || records_.AtEnd())) {
        record_bytes_ = before - records_.remaining();
        return true;
      }
      // The checksum is correct but the records are malformed, so the writer made an error.
      ++damaged_;
      records_left_ = 0;
    }
    STELE_ASSIGN_OR_RETURN(const bool any, NextBlock());
    if (!any) return false;
    if (block_.kind == TraceBlockKind::kSummary) {
      AddSummary();
      continue;
    }
    records_ = ByteReader(payload_);
    records_left_ = block_.records;
    if (records_left_ == 0) ++damaged_;  // a block has at least one record
  }
}

}  // namespace stele::internal
