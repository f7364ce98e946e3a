// sstable/format/sstable_format.h: the constants of the SSTable format and its outermost parts:
// block handles, footer, tail.
//
// Used by:   the builders of sstable/write encode with it, sstable/read/sstable_reader.cc decodes.
// Format:    docs/reference/format/sstable.md. A file consists of these parts, without gaps:
//
//   data          extents of the sections, and the blocks of large values.
//                 An extent has row groups of one section. A row group has a keys block, then
//                 family blocks. Every block has a checksum.
//   dictionaries  of the sections that have one
//   bloom         one checked block
//   index         one checked block: for each section an entry per row group
//   footer        SstableSummary, family ids by family index, sections, handles of dictionaries
//                 and bloom, edit
//   tail          64 bytes:
//                    0  file_id u64
//                    8  footer offset u64
//                   16  footer bytes u64
//                   24  footer checksum u64
//                   32  incompatible features u32
//                   36  compatible features u32
//                   40  reserved u32 = 0
//                   44  format version u32
//                   48  checksum of 0..47 u64
//                   56  magic u64
//
// Checks:    a checksum is XXH3-64 seeded with BlockSeed(file_id, offset), and is stored in the
//            handle of the block.
// Errors:    ReadTail returns DataLoss, or Unimplemented for another format version or an unknown
//            incompatible feature. ReadFooter returns false for invalid bytes.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "sstable/format/codec.h"
#include "sstable/format/sstable_summary.h"

namespace stele::internal {

inline constexpr uint64_t kSstableMagic = 0x544c42545f4c5453;  // "STL_TBLT"
inline constexpr uint32_t kSstableFormatVersion = 1;
// Incompatible feature bits that this code supports.
inline constexpr uint32_t kSstableFeaturesKnown = 0;
inline constexpr size_t kSstableTailBytes = 64;

// The decoded size of a block, and of all blocks of a row group, is at most this, whatever the
// handles state.
inline constexpr uint32_t kBlockRawBytesMax = 64 << 20;
inline constexpr uint32_t kRowGroupBytesMin = 64;
// The maximum of SstableBuilderOptions::row_group_bytes. The rest of kBlockRawBytesMax is room for
// arrays and a last cell.
inline constexpr uint32_t kRowGroupBytesMax = 8 << 20;
// The row group is divided into pages of about 1 / kBlocksPerRowGroup of its size, at row ends. A
// family with a small part of the group's bytes has smaller pages (SectionBuilder::PageBytes). A
// point read decodes about that many bytes (docs/decisions/0011-sstable-layout.md).
inline constexpr uint32_t kBlocksPerRowGroup = 8;
// The limit for the sections of a file. A builder makes up to three: one for newest versions, one
// for families that are narrow compared with their rows, and one for older versions.
inline constexpr size_t kSectionsMax = 4;
// Values of at least this size are stored separately, in blocks of up to kLargeValueBlockBytes.
inline constexpr size_t kLargeValueBytes = kBatchEndingBytes;
inline constexpr size_t kLargeValueBlockBytes = 4 << 20;
inline constexpr uint64_t kValueBytesMax = 256 << 20;

// How a cell of a family page is stored. The numbers are those of CellKind, and one for values that
// are stored separately. The comment of each kind says what the value slot of the cell contains.
enum class StoredKind : uint8_t {
  kDeleteFamily = 1,  // nothing
  kDeleteRange = 2,   // range_start, eight bytes
  kSet = 3,           // the value
  kSetLarge = 4,      // a reference (sstable/format/large_value_reference.h)
  kSum = 5,           // deltas: the value (cell/fold.h), never separated
  kMin = 6,
  kMax = 7,
  kHll = 8,
};
inline bool IsTombstone(StoredKind kind) { return kind < StoredKind::kSet; }

// The place and the checksum of a block.
struct BlockHandle {
  uint64_t offset = 0;
  uint32_t stored_bytes = 0;
  uint32_t raw_bytes = 0;
  Codec codec = Codec::kNone;
  uint64_t checksum = 0;  // of the stored bytes
};

// The checksum seed binds a block to its file and offset: a block of another file, or moved within
// this one, fails the check (engine rule 19).
inline uint64_t BlockSeed(uint64_t file_id, uint64_t offset) {
  return file_id ^ (offset * 0x9e3779b97f4a7c15);
}

// A part of the file's cells with separate keys and index. A caller that needs only these cells
// reads only these.
struct SectionReference {
  bool is_history = false;  // it has only versions older than the newest of their columns
  // The families of its cells, ascending. If two sections have a common family, one of them is the
  // history.
  std::vector<uint32_t> family_indexes;
  uint64_t group_count = 0;
  uint64_t index_bytes = 0;       // the size of its part of the index; the parts are contiguous
  uint32_t dictionary_bytes = 0;  // 0: none; the dictionaries are contiguous
  uint64_t dictionary_checksum = 0;
};

struct Footer {
  SstableSummary summary;
  std::vector<uint32_t> family_ids;  // by family index - 1
  std::vector<SectionReference> sections;
  uint64_t dictionary_offset = 0;  // where the data ends
  uint64_t bloom_offset = 0;
  uint64_t bloom_bytes = 0;  // 0: no rows
  uint64_t bloom_checksum = 0;
  // An edit that adds the file to a database (EncodeFileEdit), for a database that has lost its
  // manifest. Empty: none, as in a spill file.
  std::string edit;

  uint64_t data_end() const { return dictionary_offset; }
};
void AppendFooter(std::string* out, const Footer& footer);
// Returns false if the bytes are not a footer.
bool ReadFooter(std::string_view bytes, Footer* footer);

struct Tail {
  uint64_t file_id = 0;
  uint64_t footer_offset = 0;
  uint64_t footer_bytes = 0;
  uint64_t footer_checksum = 0;
};
void AppendTail(std::string* out, const Tail& tail);
// `bytes` are the last kSstableTailBytes of the file `name`, at `offset`.
absl::StatusOr<Tail> ReadTail(std::string_view bytes, std::string_view name, uint64_t offset);

}  // namespace stele::internal
