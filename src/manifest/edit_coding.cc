// EncodeEdit and DecodeEdit.
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "manifest/definition_coding.h"
#include "manifest/edit.h"

namespace stele::internal {
namespace {

enum EditTag : uint64_t {
  kEditNewFile = 1,
  kEditTable = 2,
  kEditOldestSegment = 3,
  kEditLastSequence = 4,
  kEditClockMark = 5,
  kEditNextFileNumber = 6,
  kEditNextTableId = 7,
  kEditNextFamilyId = 8,
  kEditLogReach = 9,
  kEditTokenKey = 10,
};
// A table's fields follow its id and end with kTableEnd.
enum TableTag : uint64_t { kTableEnd = 0, kTableDrop = 1, kTableDefinition = 2, kTableFlushedThrough = 3, kTableTablet = 4 };
constexpr uint8_t kFileSettled = 1;
// How a range's end is stored. A reference says kRangeOfTablet where it sees all of its tablet, which most do.
enum RangeTag : uint8_t { kRangeBounded = 0, kRangeUnbounded = 1, kRangeOfTablet = 2 };

void AppendRange(std::string* out, const KeyRange& range) {
  out->push_back(range.unbounded_end ? kRangeUnbounded : kRangeBounded);
  AppendBytes(*out, range.start);
  if (!range.unbounded_end) AppendBytes(*out, range.end);
}

// `tablet` is null for a tablet's own range.
bool ReadRange(ByteReader* in, const KeyRange* tablet, KeyRange* range) {
  uint8_t tag;
  std::string_view bytes;
  if (!in->ReadByte(&tag)) return false;
  if (tag == kRangeOfTablet && tablet != nullptr) {
    *range = *tablet;
    return true;
  }
  if (tag > kRangeUnbounded || !in->ReadBytes(&bytes)) return false;
  range->start = bytes;
  range->unbounded_end = tag == kRangeUnbounded;
  if (range->unbounded_end) return true;
  if (!in->ReadBytes(&bytes)) return false;
  range->end = bytes;
  return true;
}

void AppendFile(std::string* out, const SstableFile& file) {
  AppendVarint(*out, kEditNewFile);
  AppendVarint(*out, file.number);
  AppendSignedVarint(*out, file.newest_commit_time);
  out->push_back(file.settled ? kFileSettled : 0);
  AppendSummary(out, file.summary);
}

bool ReadFile(ByteReader* in, SstableFile* file) {
  uint8_t flags;
  if (!in->ReadVarint(&file->number) || !in->ReadSignedVarint(&file->newest_commit_time) || !in->ReadByte(&flags)) return false;
  file->settled = flags == kFileSettled;
  return flags <= kFileSettled && ReadSummary(in, &file->summary);
}

void AppendTablet(std::string* out, const TabletEdit& tablet) {
  AppendVarint(*out, kTableTablet);
  AppendRange(out, tablet.range);
  AppendVarint(*out, tablet.stack.size());
  for (const ReferenceEdit& reference : tablet.stack) {
    AppendVarint(*out, reference.file_number);
    if (reference.range == tablet.range) {
      out->push_back(kRangeOfTablet);
    } else {
      AppendRange(out, reference.range);
    }
    AppendVarint(*out, reference.sequence_first);
    AppendVarint(*out, reference.sequence_last);
  }
}

bool ReadTablet(ByteReader* in, TabletEdit* tablet) {
  uint64_t count;
  if (!ReadRange(in, nullptr, &tablet->range) || !in->ReadVarint(&count) || count > in->remaining()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    ReferenceEdit reference;
    if (!in->ReadVarint(&reference.file_number) || !ReadRange(in, &tablet->range, &reference.range)) return false;
    if (!in->ReadVarint(&reference.sequence_first) || !in->ReadVarint(&reference.sequence_last)) return false;
    tablet->stack.push_back(std::move(reference));
  }
  return true;
}

void AppendTable(std::string* out, const TableEdit& table) {
  AppendVarint(*out, kEditTable);
  AppendVarint(*out, table.table_id);
  if (table.drop) AppendVarint(*out, kTableDrop);
  if (table.definition != nullptr) {
    AppendVarint(*out, kTableDefinition);
    AppendDefinition(out, *table.definition);
  }
  if (table.flushed_through.has_value()) {
    AppendVarint(*out, kTableFlushedThrough);
    AppendVarint(*out, *table.flushed_through);
  }
  for (const TabletEdit& tablet : table.tablets) AppendTablet(out, tablet);
  AppendVarint(*out, kTableEnd);
}

absl::Status ReadTable(ByteReader* in, TableEdit* table) {
  const absl::Status undecodable = InvalidArgument("a table of the edit does not decode");
  if (!in->ReadVarint32(&table->table_id)) return undecodable;
  while (true) {
    uint64_t tag;
    if (!in->ReadVarint(&tag)) return undecodable;
    switch (tag) {
      case kTableEnd:
        return absl::OkStatus();
      case kTableDrop:
        table->drop = true;
        break;
      case kTableDefinition: {
        STELE_ASSIGN_OR_RETURN(table->definition, ReadDefinition(table->table_id, in));
        break;
      }
      case kTableFlushedThrough:
        if (!in->ReadVarint(&table->flushed_through.emplace())) return undecodable;
        break;
      case kTableTablet:
        if (!ReadTablet(in, &table->tablets.emplace_back())) return undecodable;
        break;
      default:
        return InvalidArgument("unknown table tag {}", tag);
    }
  }
}

absl::Status ReadField(ByteReader* in, Edit* edit) {
  const absl::Status undecodable = InvalidArgument("the edit does not decode");
  const auto judge = [&](bool read) { return read ? absl::OkStatus() : undecodable; };
  uint64_t tag;
  if (!in->ReadVarint(&tag)) return undecodable;
  switch (tag) {
    case kEditNewFile:
      return judge(ReadFile(in, &edit->new_files.emplace_back()));
    case kEditTable:
      return ReadTable(in, &edit->tables.emplace_back());
    case kEditOldestSegment:
      return judge(in->ReadVarint(&edit->oldest_segment.emplace()));
    case kEditLastSequence:
      return judge(in->ReadVarint(&edit->last_sequence));
    case kEditClockMark:
      return judge(in->ReadSignedVarint(&edit->clock_mark));
    case kEditNextFileNumber:
      return judge(in->ReadVarint(&edit->next_file_number));
    case kEditNextTableId:
      return judge(in->ReadVarint32(&edit->next_table_id));
    case kEditNextFamilyId:
      return judge(in->ReadVarint32(&edit->next_family_id));
    case kEditLogReach:
      return judge(in->ReadVarint(&edit->log_reach.segment) && in->ReadVarint(&edit->log_reach.end_offset));
    case kEditTokenKey: {
      SipKey& key = edit->token_key.emplace();
      return judge(in->ReadFixed64(&key.first) && in->ReadFixed64(&key.second));
    }
    default:
      return InvalidArgument("unknown edit tag {}", tag);
  }
}

}  // namespace

std::string EncodeEdit(const Edit& edit) {
  std::string out;
  const auto append = [&](EditTag tag, uint64_t value) {
    if (value == 0) return;
    AppendVarint(out, tag);
    AppendVarint(out, value);
  };
  append(kEditLastSequence, edit.last_sequence);
  append(kEditNextFileNumber, edit.next_file_number);
  append(kEditNextTableId, edit.next_table_id);
  append(kEditNextFamilyId, edit.next_family_id);
  if (edit.clock_mark != 0) {
    AppendVarint(out, kEditClockMark);
    AppendSignedVarint(out, edit.clock_mark);
  }
  if (edit.oldest_segment.has_value()) {
    AppendVarint(out, kEditOldestSegment);
    AppendVarint(out, *edit.oldest_segment);
  }
  if (edit.log_reach.segment != 0) {
    AppendVarint(out, kEditLogReach);
    AppendVarint(out, edit.log_reach.segment);
    AppendVarint(out, edit.log_reach.end_offset);
  }
  for (const SstableFile& file : edit.new_files) AppendFile(&out, file);
  for (const TableEdit& table : edit.tables) AppendTable(&out, table);
  if (edit.token_key.has_value()) {
    AppendVarint(out, kEditTokenKey);
    AppendFixed64(out, edit.token_key->first);
    AppendFixed64(out, edit.token_key->second);
  }
  return out;
}

absl::StatusOr<Edit> DecodeEdit(std::string_view bytes) {
  ByteReader in(bytes);
  Edit edit;
  while (!in.AtEnd()) STELE_RETURN_IF_ERROR(ReadField(&in, &edit));
  return edit;
}

}  // namespace stele::internal
