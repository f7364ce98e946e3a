// bench/layout_lab/layout.h: a data set cut into sections and pages, and compressed: what the lab measures.
//
// A section is a sorted file of its own inside the layout: its rows, its pages, its index, its dictionary. Sections keeps everything in
// one; or the latest versions, the history and the narrow families apart (a family is narrow under 1/8 of the bytes); or, beyond that,
// each family's latest versions apart.
//
// Threads:   CutSections' result is immutable; a Layout is confined to one thread (its codecs are).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data_set.h"
#include "page.h"
#include "page_codec.h"

namespace stele::layout_lab {

enum class Sections { kOne, kSplit, kFamilies };
// Which part of a page stays as it is, before what the codec gets: the whole head, what finds a row, or nothing.
enum class Plain { kHead, kRows, kNothing };

std::string_view SectionsName(Sections sections);
std::string_view PlainName(Plain plain);

// What one section holds.
struct SectionScope {
  std::vector<bool> families;
  bool has_latest = true;
  bool has_history = true;
};

std::vector<SectionScope> ScopesOf(const DataSet& set, Sections sections);

// A page before the codec.
struct RawPage {
  std::string head;
  std::string values;
  uint32_t first_row;  // ordinals in the data set
  uint32_t last_row;
  uint32_t first_column;
  int64_t first_timestamp;
  bool continues_row = false;  // its first row began in the page before
  bool only_older = false;     // nothing but older versions of a column that began in a page before
};

struct RawSection {
  SectionScope scope;
  std::vector<RawPage> pages;
};

std::vector<RawSection> CutSections(const DataSet& set, Sections sections, size_t page_bytes);

struct PageEntry {
  uint64_t offset;
  uint32_t plain_bytes;
  uint32_t stored_bytes;  // of the rest
  uint32_t raw_bytes;     // of the rest
  bool is_compressed;
  Plain plain;
  bool continues_row;
  bool only_older;
};

// One page at hand: opened in place, or decoded into `memory`.
struct OpenPage {
  PageView view;
  std::string memory;
};

class Section {
 public:
  Section(const DataSet& set, const RawSection& raw, CodecKind codec, std::string dictionary, Plain plain);

  const SectionScope& scope() const { return scope_; }
  size_t page_count() const { return pages_.size(); }
  const PageEntry& page(size_t page_index) const { return pages_[page_index]; }
  // The first page whose last row is >= row_key, or page_count().
  size_t LowerBound(std::string_view row_key) const;
  void OpenRows(size_t page_index, OpenPage* page) const;   // enough to find a row
  void OpenCells(size_t page_index, OpenPage* page) const;  // after OpenRows

  uint64_t page_bytes() const { return page_bytes_; }
  uint64_t head_bytes() const { return head_bytes_; }  // of that: heads, before the codec
  uint64_t index_bytes() const { return index_bytes_; }
  uint64_t dictionary_bytes() const { return dictionary_bytes_; }

 private:
  const char* Decode(const PageEntry& entry, OpenPage* page) const;
  void AppendPage(const RawPage& raw, Plain plain);
  void MakeIndex(const DataSet& set, const RawSection& raw);

  SectionScope scope_;
  PageCodec codec_;
  std::string stored_;
  std::vector<PageEntry> pages_;
  std::vector<uint64_t> fences_;  // eight bytes of each last row past what all rows share
  std::vector<std::string> last_rows_;
  size_t common_prefix_bytes_ = 0;
  uint64_t page_bytes_ = 0;
  uint64_t head_bytes_ = 0;
  uint64_t index_bytes_ = 0;
  uint64_t dictionary_bytes_ = 0;
};

// From evenly spread pages of the section, about 4 MiB of what the codec will be given.
std::string TrainSectionDictionary(const RawSection& raw, Plain plain);

}  // namespace stele::layout_lab
