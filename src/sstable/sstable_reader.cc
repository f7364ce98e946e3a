#include "sstable/sstable_reader.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/status.h"
#include "sstable/open_sstable.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_dump.h"
#include "sstable/sstable_verify.h"

namespace stele::internal {
namespace {

constexpr size_t kFirstReadBytes = 4 << 10;  // of the end of the file: holds tail and footer of most
constexpr size_t kBoundariesMax = 128;

// [offset, offset + bytes) read whole and checked.
absl::StatusOr<Buffer> ReadChecked(const OpenSstable& table, uint64_t offset, uint64_t bytes, uint64_t checksum, const char* what) {
  if (bytes > table.file_bytes || offset > table.file_bytes - bytes)
    return DataLoss(table.name, offset, fmt::format("{} past the end", what));
  STELE_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(bytes));
  STELE_RETURN_IF_ERROR(table.ReadExactly(offset, bytes, buffer.data()));
  if (Checksum64(buffer.view(), BlockSeed(table.tail.file_id, offset)) != checksum) {
    return DataLoss(table.name, offset, fmt::format("{} checksum mismatch", what));
  }
  return buffer;
}

// Bloom, index, footer and tail end the file in this order without a gap; all that lies before is row groups.
const char* LayoutFault(const OpenSstable& table) {
  const Footer& footer = table.footer;
  const SstableSummary& summary = footer.summary;
  if (summary.file_id != table.tail.file_id) return "footer of another file";
  if (summary.file_bytes != table.file_bytes) return "file's length differs from its footer's";
  if (footer.bloom_offset > table.file_bytes || footer.bloom_bytes > table.file_bytes || summary.index_bytes > table.file_bytes ||
      footer.bloom_offset + footer.bloom_bytes != summary.index_offset ||
      summary.index_offset + summary.index_bytes != table.tail.footer_offset) {
    return "bloom, index and footer do not follow each other";
  }
  if (footer.bloom_bytes % kBloomBlockBytes != 0 || (footer.bloom_bytes == 0) != (summary.rows == 0)) return "bloom of no possible length";
  if ((footer.group_count == 0) != (summary.rows == 0)) return "rows and row groups disagree";
  return nullptr;
}

absl::Status ReadTailAndFooter(OpenSstable* table) {
  STELE_ASSIGN_OR_RETURN(table->file_bytes, table->file->Size());
  if (table->file_bytes < kSstableTailBytes) return DataLoss(table->name, 0, "not an SSTable, or cut short");
  const size_t end_bytes = std::min<uint64_t>(kFirstReadBytes, table->file_bytes);
  const uint64_t end_offset = table->file_bytes - end_bytes;
  STELE_ASSIGN_OR_RETURN(Buffer end, Buffer::Allocate(end_bytes));
  STELE_RETURN_IF_ERROR(table->ReadExactly(end_offset, end_bytes, end.data()));
  const uint64_t tail_offset = table->file_bytes - kSstableTailBytes;
  STELE_ASSIGN_OR_RETURN(table->tail, ReadTail(end.view().substr(tail_offset - end_offset), table->name, tail_offset));
  const Tail& tail = table->tail;
  if (tail.footer_offset > tail_offset || tail.footer_bytes != tail_offset - tail.footer_offset) {
    return DataLoss(table->name, tail_offset, "footer does not end where the tail begins");
  }
  Buffer longer;
  std::string_view bytes;
  if (tail.footer_offset >= end_offset) {
    bytes = end.view().substr(tail.footer_offset - end_offset, tail.footer_bytes);
    if (Checksum64(bytes, BlockSeed(tail.file_id, tail.footer_offset)) != tail.footer_checksum) {
      return DataLoss(table->name, tail.footer_offset, "footer checksum mismatch");
    }
  } else {
    STELE_ASSIGN_OR_RETURN(longer, ReadChecked(*table, tail.footer_offset, tail.footer_bytes, tail.footer_checksum, "footer"));
    bytes = longer.view();
  }
  if (!ReadFooter(bytes, &table->footer)) return DataLoss(table->name, tail.footer_offset, "malformed footer");
  if (const char* fault = LayoutFault(*table); fault != nullptr) return DataLoss(table->name, tail.footer_offset, fault);
  return absl::OkStatus();
}

absl::Status CheckExpected(const OpenSstable& table, const SstableSummary& expected) {
  std::string wanted;
  std::string found;
  AppendSummary(&wanted, expected);
  AppendSummary(&found, table.footer.summary);
  if (wanted == found) return absl::OkStatus();
  return DataLoss(table.name, table.tail.footer_offset, "not the file the manifest refers to: their summaries differ");
}

absl::Status ReadIndexAndBloom(OpenSstable* table) {
  const Footer& footer = table->footer;
  const SstableSummary& summary = footer.summary;
  STELE_ASSIGN_OR_RETURN(Buffer index, ReadChecked(*table, summary.index_offset, summary.index_bytes, summary.index_checksum, "index"));
  STELE_ASSIGN_OR_RETURN(table->index, SstableIndex::ReadFrom(std::move(index), footer, table->name));
  STELE_ASSIGN_OR_RETURN(const Buffer bloom, ReadChecked(*table, footer.bloom_offset, footer.bloom_bytes, footer.bloom_checksum, "bloom"));
  STELE_ASSIGN_OR_RETURN(table->bloom, Bloom::FromBytes(bloom.view()));
  return absl::OkStatus();
}

}  // namespace

uint64_t RowHash(std::string_view row_key) { return Checksum64(row_key); }

class SstableReader::State {
 public:
  OpenSstable table;
};

SstableReader::SstableReader(std::unique_ptr<State> state) : state_(std::move(state)) {}

SstableReader::~SstableReader() {
  // Its id is never used again, so what the cache holds of it could not be found any more.
  if (state_->table.cache != nullptr) state_->table.cache->Erase(state_->table.cache_id);
}

absl::StatusOr<std::shared_ptr<SstableReader>> SstableReader::Open(std::unique_ptr<File> file, std::string name,
                                                                   const SstableSummary* expected, BlockCache* cache) {
  auto state = std::make_unique<State>();
  OpenSstable& table = state->table;
  table.file = std::move(file);
  table.name = std::move(name);
  STELE_RETURN_IF_ERROR(ReadTailAndFooter(&table));
  if (expected != nullptr) STELE_RETURN_IF_ERROR(CheckExpected(table, *expected));
  STELE_RETURN_IF_ERROR(ReadIndexAndBloom(&table));
  if (cache != nullptr) {
    table.cache = cache;
    table.cache_id = cache->NewCacheId();
  }
  return std::shared_ptr<SstableReader>(new SstableReader(std::move(state)));
}

const SstableSummary& SstableReader::summary() const { return state_->table.footer.summary; }
const std::vector<uint32_t>& SstableReader::family_ids() const { return state_->table.footer.family_ids; }
bool SstableReader::MayContainRow(uint64_t row_hash) const {
  return state_->table.index.group_count() != 0 && state_->table.bloom.MayContain(row_hash);
}

std::unique_ptr<CellCursor> SstableReader::NewCursor(const CursorOptions& options) const {
  return std::make_unique<SstableCursor>(shared_from_this(), state_->table, options);
}

std::vector<SstableReader::Boundary> SstableReader::Boundaries() const {
  const SstableIndex& index = state_->table.index;
  const uint64_t part_bytes = state_->table.footer.bloom_offset / kBoundariesMax;
  std::vector<Boundary> boundaries;
  uint64_t next_offset = part_bytes;
  uint64_t offset = 0;  // where the group begins, with the large values before it
  for (size_t i = 0; i < index.group_count(); ++i) {
    const GroupReference group = index.group(i);
    if (i > 0 && !group.continues_row && offset >= next_offset) {
      boundaries.push_back({std::string(group.first_row), offset});
      next_offset = offset + part_bytes;
    }
    offset = group.end_offset();
  }
  return boundaries;
}

size_t SstableReader::resident_bytes() const { return state_->table.index.memory_bytes() + state_->table.bloom.memory_bytes(); }

absl::Status SstableReader::Verify(const std::function<void(const Damage&)>& report) const { return VerifySstable(state_->table, report); }

absl::StatusOr<std::string> SstableReader::Dump(bool cells) const { return DumpSstable(state_->table, cells); }

}  // namespace stele::internal
