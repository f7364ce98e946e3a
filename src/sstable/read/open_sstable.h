// sstable/read/open_sstable.h: the state that all cursors over an open SSTable share, and exact
// reads of its file.
//
// Used by:   sstable/read/sstable_reader.cc owns it. The cursors, sstable/read/row_group_loader.cc
//            and sstable/read/large_value.cc read the file with it.
// Calls:     io/file_system.h.
// Errors:    DataLoss naming file and offset if the file ends early or a checksum does not match;
//            otherwise those of the file system.
// Threads:   immutable once open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/checksum.h"
#include "base/status.h"
#include "cell/family_list.h"
#include "io/file_system.h"
#include "sstable/format/bloom.h"
#include "sstable/format/index.h"
#include "sstable/format/sstable_format.h"
#include "sstable/read/block_cache.h"

namespace stele::internal {

struct OpenSection {
  size_t number = 0;  // in the file
  const SectionReference* reference = nullptr;
  SstableIndex index;
  std::unique_ptr<const DecodingDictionary> dictionary;  // null: none
};

struct OpenSstable {
  std::unique_ptr<File> file;
  std::string name;
  uint64_t file_bytes = 0;
  Tail tail;
  Footer footer;
  std::vector<OpenSection> sections;
  BloomFilter bloom;
  BlockCache* cache = nullptr;
  uint64_t cache_id = 0;
  MemoryCharge resident;  // for index, bloom filter and dictionaries

  // Null: reads are not charged.
  MemoryTracker* memory_tracker() const {
    return cache == nullptr ? nullptr : cache->memory_tracker();
  }
  uint64_t file_id() const { return footer.summary.file_id; }

  // True if the section has row groups with cells of a family that is not skipped, or row
  // tombstones, which affect all families.
  bool NeedsSection(const OpenSection& section, const FamilyMap& families) const {
    if (section.index.group_count() == 0) return false;
    if (section.number == 0 && footer.summary.row_tombstones != 0) return true;
    for (const uint32_t family_index : section.reference->family_indexes) {
      if (family_index < families.size() && families[family_index] != kSkippedFamily) return true;
    }
    return false;
  }
  // True if the file may have tombstones of the family with this index.
  bool HasTombstones(uint32_t family_index) const {
    for (const FamilySummary& family : footer.summary.families) {
      if (family.family_id == footer.family_ids[family_index - 1]) return family.tombstones != 0;
    }
    return false;
  }
  absl::Status ReadExactly(uint64_t offset, size_t bytes, char* out) const {
    STELE_ASSIGN_OR_RETURN(const size_t got, file->Read(offset, bytes, out));
    return got == bytes ? absl::OkStatus() : DataLoss(name, offset, "file ends early");
  }
  absl::Status CheckBlock(std::string_view stored, uint64_t offset, uint64_t checksum) const {
    if (Checksum64(stored, BlockSeed(file_id(), offset)) == checksum) return absl::OkStatus();
    return DataLoss(name, offset, "block checksum mismatch");
  }
  absl::Status DecodeBlock(std::string_view stored, const BlockHandle& block,
                           const DecodingDictionary* dictionary, char* raw) const {
    STELE_RETURN_IF_ERROR(CheckBlock(stored, block.offset, block.checksum));
    if (Decompress(block.codec, stored, raw, block.raw_bytes, dictionary)) return absl::OkStatus();
    return DataLoss(name, block.offset, "block cannot be decompressed");
  }
};

}  // namespace stele::internal
