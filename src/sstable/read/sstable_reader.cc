#include "sstable/read/sstable_reader.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "base/checksum.h"
#include "base/status.h"
#include "sstable/read/latest_cursor.h"
#include "sstable/read/open_sstable.h"
#include "sstable/read/section_cursor.h"
#include "sstable/read/section_join.h"

namespace stele::internal {
namespace {

// The size of the first read at the end of the file: it includes tail and footer of most files.
constexpr size_t kFirstReadBytes = 4 << 10;
// Boundaries divides a file into parts of about 1 / kPartsMax of its data. A part is larger if one
// row group with its large values is.
constexpr size_t kPartsMax = 128;

// Reads [offset, offset + bytes) completely and verifies it.
absl::StatusOr<Buffer> ReadChecked(const OpenSstable& table, uint64_t offset, uint64_t bytes,
                                   uint64_t checksum, const char* what) {
  if (bytes > table.file_bytes || offset > table.file_bytes - bytes)
    return DataLoss(table.name, offset, fmt::format("{} past the end", what));
  STELE_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(bytes));
  STELE_RETURN_IF_ERROR(table.ReadExactly(offset, bytes, buffer.data()));
  if (Checksum64(buffer.view(), BlockSeed(table.tail.file_id, offset)) != checksum) {
    return DataLoss(table.name, offset, fmt::format("{} checksum mismatch", what));
  }
  return buffer;
}

// Dictionaries, bloom, index, footer and tail are at the end of the file, in this order and without
// gaps. Everything before is row groups and values.
const char* LayoutFault(const OpenSstable& table) {
  const Footer& footer = table.footer;
  const SstableSummary& summary = footer.summary;
  if (summary.file_id != table.tail.file_id) return "footer of another file";
  if (summary.file_bytes != table.file_bytes) return "file's length differs from its footer's";
  uint64_t index_bytes = 0;
  uint64_t dictionary_bytes = 0;
  uint64_t group_count = 0;
  for (const SectionReference& section : footer.sections) {
    if (section.index_bytes > table.file_bytes || section.group_count > table.file_bytes)
      return "section larger than the file";
    index_bytes += section.index_bytes;
    dictionary_bytes += section.dictionary_bytes;
    group_count += section.group_count;
  }
  if (index_bytes != summary.index_bytes) return "sections and index disagree";
  if (footer.dictionary_offset > table.file_bytes || footer.bloom_bytes > table.file_bytes ||
      summary.index_bytes > table.file_bytes ||
      footer.dictionary_offset + dictionary_bytes != footer.bloom_offset ||
      footer.bloom_offset + footer.bloom_bytes != summary.index_offset ||
      summary.index_offset + summary.index_bytes != table.tail.footer_offset) {
    return "dictionaries, bloom, index and footer are not contiguous";
  }
  if (footer.bloom_bytes % kBloomBlockBytes != 0 ||
      (footer.bloom_bytes == 0) != (summary.rows == 0))
    return "bloom of an impossible length";
  if ((group_count == 0) != (summary.rows == 0)) return "rows and row groups disagree";
  return nullptr;
}

// A family's cells are in one section, and its history in the same or in another one.
const char* SectionsFault(const Footer& footer) {
  if (footer.sections.empty() || footer.sections.front().is_history)
    return "no section of newest versions";
  std::vector<uint8_t> latest(footer.family_ids.size() + 1, 0);
  std::vector<uint8_t> history(footer.family_ids.size() + 1, 0);
  for (const SectionReference& section : footer.sections) {
    for (const uint32_t family_index : section.family_indexes) {
      uint8_t& seen = section.is_history ? history[family_index] : latest[family_index];
      if (seen++ != 0) return "two sections of one family";
    }
  }
  for (size_t family_index = 1; family_index < latest.size(); ++family_index) {
    if (latest[family_index] == 0) return "family without a section";
  }
  return nullptr;
}

absl::Status ReadTailAndFooter(OpenSstable* table) {
  STELE_ASSIGN_OR_RETURN(table->file_bytes, table->file->Size());
  if (table->file_bytes < kSstableTailBytes)
    return DataLoss(table->name, 0, "not an SSTable, or truncated");
  const size_t end_bytes = std::min<uint64_t>(kFirstReadBytes, table->file_bytes);
  const uint64_t end_offset = table->file_bytes - end_bytes;
  STELE_ASSIGN_OR_RETURN(Buffer end, Buffer::Allocate(end_bytes));
  STELE_RETURN_IF_ERROR(table->ReadExactly(end_offset, end_bytes, end.data()));
  const uint64_t tail_offset = table->file_bytes - kSstableTailBytes;
  STELE_ASSIGN_OR_RETURN(
      table->tail, ReadTail(end.view().substr(tail_offset - end_offset), table->name, tail_offset));
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
    STELE_ASSIGN_OR_RETURN(longer, ReadChecked(*table, tail.footer_offset, tail.footer_bytes,
                                               tail.footer_checksum, "footer"));
    bytes = longer.view();
  }
  if (!ReadFooter(bytes, &table->footer))
    return DataLoss(table->name, tail.footer_offset, "malformed footer");
  if (const char* fault = LayoutFault(*table); fault != nullptr)
    return DataLoss(table->name, tail.footer_offset, fault);
  if (const char* fault = SectionsFault(table->footer); fault != nullptr)
    return DataLoss(table->name, tail.footer_offset, fault);
  return absl::OkStatus();
}

absl::Status CheckExpected(const OpenSstable& table, const SstableSummary& expected) {
  std::string wanted;
  std::string found;
  AppendSummary(&wanted, expected);
  AppendSummary(&found, table.footer.summary);
  if (wanted == found) return absl::OkStatus();
  return DataLoss(table.name, table.tail.footer_offset,
                  "not the file the manifest refers to: their summaries differ");
}

// Together the sections have the rows from the summary's first to its last.
const char* EndsFault(const OpenSstable& table) {
  const SstableSummary& summary = table.footer.summary;
  if (summary.rows == 0) return nullptr;
  bool has_first = false;
  bool has_last = false;
  for (const OpenSection& section : table.sections) {
    const size_t group_count = section.index.group_count();
    if (group_count == 0) continue;
    has_first |= section.index.group(0).first_row == summary.first_row;
    has_last |= section.index.last_row(group_count - 1) == summary.last_row;
  }
  return has_first && has_last ? nullptr : "first or last row differs from the footer's";
}

absl::Status OpenSections(std::string_view index, OpenSstable* table) {
  const Footer& footer = table->footer;
  uint64_t index_at = 0;
  uint64_t dictionary_offset = footer.dictionary_offset;
  for (const SectionReference& reference : footer.sections) {
    OpenSection& section = table->sections.emplace_back();
    section.number = table->sections.size() - 1;
    section.reference = &reference;
    STELE_ASSIGN_OR_RETURN(section.index,
                           SstableIndex::ReadFrom(index.substr(index_at, reference.index_bytes),
                                                  footer.summary.index_offset + index_at, reference,
                                                  footer, table->name));
    index_at += reference.index_bytes;
    if (reference.dictionary_bytes == 0) continue;
    STELE_ASSIGN_OR_RETURN(const Buffer dictionary,
                           ReadChecked(*table, dictionary_offset, reference.dictionary_bytes,
                                       reference.dictionary_checksum, "dictionary"));
    section.dictionary = DecodingDictionary::Open(dictionary.view());
    if (section.dictionary == nullptr)
      return DataLoss(table->name, dictionary_offset, "not a dictionary, or no memory for it");
    dictionary_offset += reference.dictionary_bytes;
  }
  if (const char* fault = EndsFault(*table); fault != nullptr)
    return DataLoss(table->name, footer.summary.index_offset, fault);
  return absl::OkStatus();
}

absl::Status ReadIndexAndBloom(OpenSstable* table) {
  const Footer& footer = table->footer;
  const SstableSummary& summary = footer.summary;
  STELE_ASSIGN_OR_RETURN(const Buffer index,
                         ReadChecked(*table, summary.index_offset, summary.index_bytes,
                                     summary.index_checksum, "index"));
  STELE_RETURN_IF_ERROR(OpenSections(index.view(), table));
  STELE_ASSIGN_OR_RETURN(
      const Buffer bloom,
      ReadChecked(*table, footer.bloom_offset, footer.bloom_bytes, footer.bloom_checksum, "bloom"));
  STELE_ASSIGN_OR_RETURN(table->bloom, BloomFilter::FromBytes(bloom.view()));
  return absl::OkStatus();
}

// A row group of any section.
struct StoredGroup {
  std::string_view row_key;  // its first row; of a continued row, that of the group it began in
  uint64_t offset = 0;
  uint64_t end_offset = 0;
};

std::vector<StoredGroup> GroupsByOffset(const OpenSstable& table) {
  std::vector<StoredGroup> groups;
  for (const OpenSection& section : table.sections) {
    std::string_view row_key;
    for (size_t i = 0; i < section.index.group_count(); ++i) {
      const GroupReference group = section.index.group(i);
      if (!group.continues_row) row_key = group.first_row;
      groups.push_back({row_key, group.offset(), group.end_offset()});
    }
  }
  std::sort(groups.begin(), groups.end(),
            [](const StoredGroup& a, const StoredGroup& b) { return a.offset < b.offset; });
  return groups;
}

struct RowBytes {
  std::string_view row_key;
  uint64_t bytes = 0;  // greater than 0
};

// Returns the stored bytes of groups and large values by the first row of the groups, ascending and
// without duplicates. A builder writes large values before the groups of their rows, so bytes
// between groups count for the first row of the consecutive groups behind them.
std::vector<RowBytes> BytesByRow(const std::vector<StoredGroup>& groups) {
  std::vector<RowBytes> rows;
  uint64_t counted_end = 0;
  const auto count = [&](std::string_view row_key, uint64_t end) {
    if (end <= counted_end) return;
    rows.push_back({row_key, end - counted_end});
    counted_end = end;
  };
  for (size_t i = 0; i < groups.size();) {
    std::string_view first_row = groups[i].row_key;
    size_t end = i + 1;
    for (; end < groups.size() && groups[end].offset <= groups[end - 1].end_offset; ++end)
      first_row = std::min(first_row, groups[end].row_key);
    count(first_row, groups[i].offset);
    for (; i < end; ++i) count(groups[i].row_key, groups[i].end_offset);
  }
  std::sort(rows.begin(), rows.end(),
            [](const RowBytes& a, const RowBytes& b) { return a.row_key < b.row_key; });
  size_t row_count = 0;
  for (const RowBytes& row : rows) {
    if (row_count > 0 && rows[row_count - 1].row_key == row.row_key) {
      rows[row_count - 1].bytes += row.bytes;
    } else {
      rows[row_count++] = row;
    }
  }
  rows.resize(row_count);
  return rows;
}

}  // namespace

SstableReader::SstableReader(OpenSstable table) : table_(std::move(table)) {
  table_.resident =
      MemoryCharge(table_.memory_tracker(), MemoryTracker::Use::kFiles, resident_bytes());
}

SstableReader::~SstableReader() {
  // Its id is never reused, so the cache could not find its blocks any more.
  if (table_.cache != nullptr) table_.cache->Erase(table_.cache_id);
}

absl::StatusOr<std::shared_ptr<SstableReader>> SstableReader::Open(std::unique_ptr<File> file,
                                                                   std::string name,
                                                                   const SstableSummary* expected,
                                                                   BlockCache* cache) {
  OpenSstable table;
  table.file = std::move(file);
  table.name = std::move(name);
  STELE_RETURN_IF_ERROR(ReadTailAndFooter(&table));
  if (expected != nullptr) {
    STELE_RETURN_IF_ERROR(CheckExpected(table, *expected));
    table.footer.edit = std::string();  // the manifest has it; frees its memory
  }
  STELE_RETURN_IF_ERROR(ReadIndexAndBloom(&table));
  if (cache != nullptr) {
    table.cache = cache;
    table.cache_id = cache->NewCacheId();
  }
  return std::shared_ptr<SstableReader>(new SstableReader(std::move(table)));
}

bool SstableReader::MayContainRow(uint64_t row_hash) const {
  return table_.footer.summary.rows != 0 && table_.bloom.MayContain(row_hash);
}

std::unique_ptr<CellCursor> SstableReader::NewCursor(const CursorOptions& options) const {
  absl::InlinedVector<const OpenSection*, 2> needed;
  const OpenSection* history = nullptr;  // left out
  for (const OpenSection& section : table_.sections) {
    if (!table_.NeedsSection(section, options.families)) continue;
    if (options.latest_only && section.reference->is_history) {
      history = &section;
    } else {
      needed.push_back(&section);
    }
  }
  const auto new_cursor = [&](const OpenSection& section) {
    return std::make_unique<SectionCursor>(shared_from_this(), table_, section, options);
  };
  std::unique_ptr<CellCursor> cursor;
  if (needed.size() == 1) {
    cursor = new_cursor(*needed.front());
  } else {
    std::vector<std::unique_ptr<CellCursor>> cursors;
    for (const OpenSection* const section : needed) cursors.push_back(new_cursor(*section));
    cursor = std::make_unique<SectionJoin>(std::move(cursors), options.direction);
  }
  if (history == nullptr) return cursor;
  const auto new_history = [self = shared_from_this(), history,
                            options]() -> std::unique_ptr<CellCursor> {
    CursorOptions forward = options;
    forward.direction = Direction::kForward;
    return std::make_unique<SectionCursor>(self, self->table_, *history, forward);
  };
  return std::make_unique<LatestCursor>(std::move(cursor), new_history, options.stats);
}

absl::StatusOr<RowForm> SstableReader::ReadPlainRow(std::string_view row_key,
                                                    const CursorOptions& options,
                                                    PlainRow* row) const {
  return internal::ReadPlainRow(table_, row_key, options, row);
}

void SstableReader::StartRead(std::string_view row_key, const CursorOptions& options) const {
  for (const OpenSection& section : table_.sections) {
    if (!table_.NeedsSection(section, options.families) ||
        (options.latest_only && section.reference->is_history))
      continue;
    const size_t group_index = section.index.LowerBound(row_key);
    if (group_index < section.index.group_count())
      RowGroupLoader(table_, section, options).StartRead(group_index, row_key);
  }
}

std::vector<SstableReader::Boundary> SstableReader::Boundaries() const {
  const uint64_t part_bytes = table_.footer.data_end() / kPartsMax;
  std::vector<Boundary> boundaries;
  uint64_t next_offset = part_bytes;
  uint64_t offset = 0;
  for (const RowBytes& row : BytesByRow(GroupsByOffset(table_))) {
    const bool is_part = offset >= next_offset || row.bytes >= part_bytes;
    if (offset > 0 && is_part) {
      boundaries.push_back({std::string(row.row_key), offset});
      next_offset = offset + part_bytes;
    }
    offset += row.bytes;
  }
  return boundaries;
}

size_t SstableReader::resident_bytes() const {
  size_t bytes = table_.bloom.memory_bytes();
  for (const OpenSection& section : table_.sections) {
    bytes += section.index.memory_bytes();
    if (section.dictionary != nullptr) bytes += section.dictionary->memory_bytes();
  }
  return bytes;
}

}  // namespace stele::internal
