// sstable/sstable_format.h: the constants of an SSTable and its outermost parts: block references, footer, tail.
//
// Path:      sstable builder writes them, sstable reader reads them.
// Format:    docs/format/sstable.md. A file is, without a gap:
//              data         extents of the sections, and the blocks of large values
//                extent = row groups of one section; row group = keys unit, then family units; every unit one checked block
//              dictionaries of the sections that have one
//              bloom        one checked block
//              index        one checked block: for each section an entry per row group
//              footer       SstableSummary, family ids by rank, sections, references to dictionaries and bloom
//              tail         64 bytes:
//                0 file_id u64 | 8 footer offset u64 | 16 footer bytes u64 | 24 footer checksum u64 | 32 incompatible features u32
//                36 compatible features u32 | 40 reserved u32 = 0 | 44 format version u32 | 48 checksum of 0..47 u64 | 56 magic u64
// Checks:    a checksum is XXH3-64 seeded with BlockSeed(file_id, offset) and stands in the reference to the block.
// Errors:    ReadFooter and ReadTail answer DataLoss; another format or an unknown incompatible feature Unimplemented.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "sstable/codec.h"
#include "sstable/sstable_summary.h"

namespace stele::internal {

inline constexpr uint64_t kSstableMagic = 0x544c42545f4c5453;  // "STL_TBLT"
inline constexpr uint32_t kSstableFormatVersion = 1;
inline constexpr uint32_t kSstableFeaturesKnown = 0;  // incompatible feature bits this code understands
inline constexpr size_t kSstableTailBytes = 64;

// No block, nor a row group's blocks together, decode to more, whatever their references say.
inline constexpr uint32_t kBlockRawBytesMax = 64 << 20;
inline constexpr uint32_t kRowGroupBytesMin = 64;
inline constexpr uint32_t kRowGroupBytesMax = 8 << 20;  // what a builder may be asked for; leaves room for arrays and a last cell
// A family's pages are cut at row ends once they are this part of a row group: what a point read decodes (decisions/0011).
inline constexpr uint32_t kUnitsPerRowGroup = 8;
// Sections: the newest version of each column, apart for families that are narrow beside their rows, and older versions.
inline constexpr size_t kSectionsMax = 4;
// Values from here on lie apart, in blocks of up to kLargeValueBlockBytes.
inline constexpr size_t kLargeValueBytes = kBatchEndingBytes;
inline constexpr size_t kLargeValueBlockBytes = 4 << 20;
inline constexpr uint64_t kValueBytesMax = 256 << 20;

// How a cell of a family page is stored: the numbers of CellKind, and one for values that lie apart. What the value slot holds:
enum class StoredKind : uint8_t {
  kDeleteFamily = 1,  // nothing
  kDeleteRange = 2,   // range_start, eight bytes
  kSet = 3,           // the value
  kSetLarge = 4,      // a large value's reference (sstable/large_value.h)
  kSum = 5,           // deltas: the value (cell/fold.h), never apart
  kMin = 6,
  kMax = 7,
  kHll = 8,
};
inline bool IsTombstone(StoredKind kind) { return kind < StoredKind::kSet; }

// The checked block that lies at an offset known from elsewhere.
struct BlockReference {
  uint64_t offset = 0;
  uint32_t stored_bytes = 0;
  uint32_t raw_bytes = 0;
  Codec codec = Codec::kNone;
  uint64_t checksum = 0;  // of the stored bytes
};

// Binds a block to its file and its place in it: a block of another file, or moved within this one, does not pass (engine rule 19).
inline uint64_t BlockSeed(uint64_t file_id, uint64_t offset) { return file_id ^ (offset * 0x9e3779b97f4a7c15); }

// A stretch of the file's cells with keys and an index of its own, so that who wants only these reads only these.
struct SectionReference {
  bool is_history = false;      // of its columns the versions after the newest, and nothing else
  std::vector<uint32_t> ranks;  // whose cells it holds, ascending; of two sections with a rank in common one is the history
  uint64_t group_count = 0;
  uint64_t index_bytes = 0;       // its share of the index; the shares follow each other
  uint32_t dictionary_bytes = 0;  // 0: none; the dictionaries follow each other
  uint64_t dictionary_checksum = 0;
};

struct Footer {
  SstableSummary summary;
  std::vector<uint32_t> family_ids;  // by rank - 1
  std::vector<SectionReference> sections;
  uint64_t dictionary_offset = 0;  // where the data ends
  uint64_t bloom_offset = 0;
  uint64_t bloom_bytes = 0;  // 0: no rows
  uint64_t bloom_checksum = 0;

  uint64_t data_end() const { return dictionary_offset; }
};
void AppendFooter(std::string* out, const Footer& footer);
// False when the bytes are no footer.
bool ReadFooter(std::string_view bytes, Footer* footer);

struct Tail {
  uint64_t file_id = 0;
  uint64_t footer_offset = 0;
  uint64_t footer_bytes = 0;
  uint64_t footer_checksum = 0;
};
void AppendTail(std::string* out, const Tail& tail);
// `bytes` are the last kSstableTailBytes of the file `name`, `offset` where they stand.
absl::StatusOr<Tail> ReadTail(std::string_view bytes, std::string_view name, uint64_t offset);

}  // namespace stele::internal
