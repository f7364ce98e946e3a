#include "manifest/edit_coding.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "manifest/token_table.h"
#include "model/validate.h"

namespace stele::internal {
namespace {

enum EditTag : uint64_t {
  kNewFile = 1,
  kTable = 2,
  kOldestSegment = 3,
  kLastSequence = 4,
  kClockMark = 5,
  kNextFileNumber = 6,
  kNextTableId = 7,
  kNextFamilyId = 8,
  kSyncedLogEnd = 9,
  kTokenKey = 10,
  // Fields of the last table.
  kTableDrop = 11,
  kTableDefinition = 12,
  kTableFlushedThrough = 13,
  kTableTablet = 14,
  // Fields of the last table's definition.
  kDefinitionFamily = 15,
  kDefinitionSplit = 16,
  kDefinitionProperty = 17,
  // Fields of the last tablet.
  kTabletReference = 18,
};
constexpr uint8_t kFileHasBottommostCodec = 1;
// How the end of a range is stored. Most references cover their whole tablet and are stored as
// kRangeOfTablet.
enum RangeTag : uint8_t { kRangeBounded = 0, kRangeUnbounded = 1, kRangeOfTablet = 2 };
// A row key has at most kRowKeyBytesMax bytes. A range may begin or end right after one.
constexpr size_t kRangeKeyBytesMax = kRowKeyBytesMax + 1;

void AppendRange(std::string* out, const KeyRange& range) {
  out->push_back(range.unbounded_end ? kRangeUnbounded : kRangeBounded);
  AppendBytes(*out, range.start);
  if (!range.unbounded_end) AppendBytes(*out, range.end);
}

// The tag was read before.
bool ReadRange(ByteReader* in, uint8_t tag, KeyRange* range) {
  std::string_view start;
  std::string_view end;
  if (tag > kRangeUnbounded || !in->ReadBytes(&start) || start.size() > kRangeKeyBytesMax)
    return false;
  if (tag == kRangeBounded && (!in->ReadBytes(&end) || end.size() > kRangeKeyBytesMax))
    return false;
  *range = {std::string(start), std::string(end), tag == kRangeUnbounded};
  return true;
}

bool ReadFile(ByteReader* in, SstableFile* file) {
  uint8_t flags;
  if (!in->ReadVarint(&file->number) || !in->ReadSignedVarint(&file->newest_commit_time) ||
      !in->ReadByte(&flags))
    return false;
  file->bottommost_codec = flags == kFileHasBottommostCodec;
  if (flags > kFileHasBottommostCodec || !ReadSummary(in, &file->summary)) return false;
  return file->summary.first_row.size() <= kRowKeyBytesMax &&
         file->summary.last_row.size() <= kRowKeyBytesMax;
}

bool ReadTablet(ByteReader* in, TabletEdit* tablet) {
  uint8_t tag;
  return in->ReadByte(&tag) && ReadRange(in, tag, &tablet->range);
}

bool ReadReference(ByteReader* in, const SharedRange& tablet_range, ReferenceEdit* reference) {
  uint8_t tag;
  if (!in->ReadVarint(&reference->file_number) || !in->ReadByte(&tag)) return false;
  if (tag == kRangeOfTablet) {
    reference->range = tablet_range;
  } else {
    KeyRange range;
    if (!ReadRange(in, tag, &range)) return false;
    reference->range = std::move(range);
  }
  return in->ReadVarint(&reference->sequence_first) && in->ReadVarint(&reference->sequence_last);
}

// Passes fields to the sink until it fails.
class Encoder {
 public:
  explicit Encoder(const ByteSink& sink) : sink_(sink) {}
  const absl::Status& status() const { return status_; }

  void Number(EditTag tag, uint64_t value) {
    if (value == 0) return;
    AppendVarint(content_, value);
    Emit(tag);
  }
  void Scalars(const auto& from) {  // `from` is an Edit or a Version.
    Number(kLastSequence, from.last_sequence);
    Number(kNextFileNumber, from.next_file_number);
    Number(kNextTableId, from.next_table_id);
    Number(kNextFamilyId, from.next_family_id);
    if (from.clock_mark != 0) {
      AppendSignedVarint(content_, from.clock_mark);
      Emit(kClockMark);
    }
    if (from.synced_log_end.segment != 0) {
      AppendVarint(content_, from.synced_log_end.segment);
      AppendVarint(content_, from.synced_log_end.end_offset);
      Emit(kSyncedLogEnd);
    }
  }
  void OldestSegment(uint64_t number) {
    AppendVarint(content_, number);
    Emit(kOldestSegment);
  }
  void File(const SstableFile& file) {
    AppendVarint(content_, file.number);
    AppendSignedVarint(content_, file.newest_commit_time);
    content_.push_back(file.bottommost_codec ? kFileHasBottommostCodec : 0);
    AppendSummary(&content_, file.summary);
    Emit(kNewFile);
  }
  void Table(uint32_t table_id) {
    AppendVarint(content_, table_id);
    Emit(kTable);
  }
  void Drop() { Emit(kTableDrop); }
  void Definition(const TableDefinition& definition) {
    AppendDefinitionTraits(&content_, definition);
    Emit(kTableDefinition);
    for (const FamilySchema& family : definition.schema.families()) {
      AppendDefinitionFamily(&content_, definition, family);
      Emit(kDefinitionFamily);
    }
    for (const std::string& split : definition.schema.splits()) {
      content_ = split;
      Emit(kDefinitionSplit);
    }
    for (const auto& [key, value] : definition.schema.properties()) {
      AppendBytes(content_, key);
      content_ += value;
      Emit(kDefinitionProperty);
    }
  }
  void FlushedThrough(uint64_t sequence) {
    AppendVarint(content_, sequence);
    Emit(kTableFlushedThrough);
  }
  void BeginTablet(const KeyRange& range) {
    AppendRange(&content_, range);
    Emit(kTableTablet);
  }
  // `tablet_range` is that of the last tablet.
  void Reference(uint64_t file_number, const auto& reference, const KeyRange& tablet_range) {
    AppendVarint(content_, file_number);
    if (reference.range == tablet_range) {
      content_.push_back(kRangeOfTablet);
    } else {
      AppendRange(&content_, reference.range);
    }
    AppendVarint(content_, reference.sequence_first);
    AppendVarint(content_, reference.sequence_last);
    Emit(kTabletReference);
  }
  void TokenKey(const SipKey& key) {
    AppendFixed64(content_, key.first);
    AppendFixed64(content_, key.second);
    Emit(kTokenKey);
  }

 private:
  // Emits the bytes in content_ as one field.
  void Emit(EditTag tag) {
    std::string head;
    AppendVarint(head, tag);
    AppendVarint(head, content_.size());
    if (status_.ok()) status_ = sink_(head);
    if (status_.ok()) status_ = sink_(content_);
    content_.clear();
  }

  const ByteSink& sink_;
  absl::Status status_;
  std::string content_;
};

}  // namespace

absl::Status EncodeEdit(const Edit& edit, const ByteSink& sink) {
  Encoder out(sink);
  out.Scalars(edit);
  if (edit.oldest_segment.has_value()) out.OldestSegment(*edit.oldest_segment);
  for (const SstableFile& file : edit.new_files) out.File(file);
  for (const TableEdit& table : edit.tables) {
    out.Table(table.table_id);
    if (table.drop) out.Drop();
    if (table.definition != nullptr) out.Definition(*table.definition);
    if (table.flushed_through.has_value()) out.FlushedThrough(*table.flushed_through);
    for (const TabletEdit& tablet : table.tablets) {
      out.BeginTablet(tablet.range);
      for (const ReferenceEdit& reference : tablet.stack)
        out.Reference(reference.file_number, reference, tablet.range);
    }
  }
  if (edit.token_key.has_value()) out.TokenKey(*edit.token_key);
  return out.status();
}

absl::Status EncodeSnapshot(const Version& version, const ByteSink& sink) {
  Encoder out(sink);
  out.Scalars(version);
  out.OldestSegment(version.oldest_segment);
  for (const auto& [number, file] : version.Files()) out.File(*file);
  for (const auto& [id, table] : version.tables) {
    out.Table(id);
    if (id != kTokenTableId) out.Definition(*table->definition);
    out.FlushedThrough(table->flushed_through);
    for (const Tablet& tablet : table->tablets) {
      out.BeginTablet(tablet.range);
      for (const SstableReference& reference : tablet.stack)
        out.Reference(reference.file->number, reference, tablet.range);
    }
    if (!out.status().ok()) break;
  }
  if (version.token_key != SipKey()) out.TokenKey(version.token_key);
  return out.status();
}

std::string EncodeEdit(const Edit& edit) {
  std::string out;
  EncodeEdit(edit, [&out](std::string_view bytes) {
    out.append(bytes);
    return absl::OkStatus();
  }).IgnoreError();  // this sink never fails
  return out;
}

absl::StatusOr<Edit> DecodeEdit(std::string_view bytes) {
  EditDecoder decoder;
  STELE_RETURN_IF_ERROR(decoder.Add(bytes));
  return decoder.Finish();
}

absl::Status EditDecoder::Add(std::string_view bytes) {
  if (!rest_.empty()) {
    STELE_RETURN_IF_ERROR(rest_.Append(bytes));
    bytes = rest_.view();
  }
  STELE_RETURN_IF_ERROR(TakeFields(&bytes));
  GrowingBuffer rest;
  // The bytes are in rest_ already, since no complete field was removed. Or nothing is left.
  if (bytes.size() == rest_.size()) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(rest.Append(bytes));
  rest_ = std::move(rest);
  return absl::OkStatus();
}

absl::Status EditDecoder::TakeFields(std::string_view* bytes) {
  while (!bytes->empty()) {
    ByteReader in(*bytes);
    uint64_t tag;
    std::string_view content;
    // An incomplete field may continue in the next part.
    if (!in.ReadVarint(&tag) || !in.ReadBytes(&content)) return absl::OkStatus();
    STELE_RETURN_IF_ERROR(TakeField(tag, content));
    bytes->remove_prefix(bytes->size() - in.remaining());
  }
  return absl::OkStatus();
}

absl::Status EditDecoder::TakeField(uint64_t tag, std::string_view content) {
  ByteReader in(content);
  bool read = false;
  switch (tag) {
    case kNewFile:
      read = ReadFile(&in, &edit_.new_files.emplace_back());
      break;
    case kTable:
      STELE_RETURN_IF_ERROR(FinishTable());
      read = in.ReadVarint32(&edit_.tables.emplace_back().table_id);
      break;
    case kOldestSegment:
      read = in.ReadVarint(&edit_.oldest_segment.emplace());
      break;
    case kLastSequence:
      read = in.ReadVarint(&edit_.last_sequence);
      break;
    case kClockMark:
      read = in.ReadSignedVarint(&edit_.clock_mark);
      break;
    case kNextFileNumber:
      read = in.ReadVarint(&edit_.next_file_number);
      break;
    case kNextTableId:
      read = in.ReadVarint32(&edit_.next_table_id);
      break;
    case kNextFamilyId:
      read = in.ReadVarint32(&edit_.next_family_id);
      break;
    case kSyncedLogEnd:
      read = in.ReadVarint(&edit_.synced_log_end.segment) &&
             in.ReadVarint(&edit_.synced_log_end.end_offset);
      break;
    case kTokenKey: {
      SipKey& key = edit_.token_key.emplace();
      read = in.ReadFixed64(&key.first) && in.ReadFixed64(&key.second);
      break;
    }
    default:
      return TakeTableField(tag, &in);
  }
  return read && in.AtEnd() ? absl::OkStatus()
                            : InvalidArgument("field {} of the edit cannot be decoded", tag);
}

absl::Status EditDecoder::TakeTableField(uint64_t tag, ByteReader* in) {
  if (tag < kTableDrop || tag > kTabletReference)
    return InvalidArgument("unknown edit tag {}", tag);
  const bool is_of_definition = tag >= kDefinitionFamily && tag <= kDefinitionProperty;
  if (edit_.tables.empty() || (is_of_definition && !definition_.has_value())) {
    return InvalidArgument("field {} of the edit does not follow the field that it belongs to",
                           tag);
  }
  TableEdit& table = edit_.tables.back();
  bool read = false;
  switch (tag) {
    case kTableDrop:
      read = table.drop = true;
      break;
    case kTableDefinition:
      read = !definition_.has_value() && definition_.emplace(table.table_id).ReadTraits(in);
      break;
    case kTableFlushedThrough:
      read = in->ReadVarint(&table.flushed_through.emplace());
      break;
    case kTableTablet:
      read = ReadTablet(in, &table.tablets.emplace_back());
      tablet_range_ = table.tablets.back().range;
      break;
    case kDefinitionFamily:
      read = definition_->ReadFamily(in);
      break;
    case kDefinitionSplit:
      read = definition_->ReadSplit(in);
      break;
    case kDefinitionProperty:
      read = definition_->ReadProperty(in);
      break;
    default:  // kTabletReference
      read = !table.tablets.empty() &&
             ReadReference(in, tablet_range_, &table.tablets.back().stack.emplace_back());
      break;
  }
  return read && in->AtEnd() ? absl::OkStatus()
                             : InvalidArgument("field {} of the edit cannot be decoded", tag);
}

absl::Status EditDecoder::FinishTable() {
  if (!definition_.has_value()) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(edit_.tables.back().definition, definition_->Finish());
  definition_.reset();
  return absl::OkStatus();
}

absl::StatusOr<Edit> EditDecoder::Finish() {
  if (!rest_.empty()) return InvalidArgument("the edit ends inside a field");
  STELE_RETURN_IF_ERROR(FinishTable());
  return std::move(edit_);
}

}  // namespace stele::internal
