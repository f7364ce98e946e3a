// bench/layout_lab/layout.h: a data set cut into sections and pages, and compressed. The lab
// measures this object.
//
// A section is a sorted file inside the layout, with its rows, pages, index and dictionary. The
// setting Sections selects one of three cuts. `one` keeps everything in one section. `split`
// separates latest versions, history and narrow families; a family is narrow if it has less than
// 1/8 of the bytes. `families` also separates each family's latest versions.
//
// Threads:   The result of CutSections is immutable. A Layout is confined to one thread, because
//            its codecs are.
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
// The part of a page that stays uncompressed, before the part that the codec gets: the whole head,
// the part that finds a row, or nothing.
enum class Plain { kHead, kRows, kNothing };

std::string_view SectionsName(Sections sections);
std::string_view PlainName(Plain plain);

// The contents of one section.
struct SectionScope {
  std::vector<bool> families;
  bool has_latest = true;
  bool has_history = true;
};

std::vector<SectionScope> ScopesOf(const DataSet& set, Sections sections);

// A page before compression.
struct RawPage {
  std::string head;
  std::string values;
  uint32_t first_row;  // ordinals in the data set
  uint32_t last_row;
  uint32_t first_column;
  int64_t first_timestamp;
  bool continues_row = false;  // its first row started in the previous page
  // It contains only older versions of a column that started in an earlier page.
  bool only_older = false;
};

struct RawSection {
  SectionScope scope;
  std::vector<RawPage> pages;
};

std::vector<RawSection> CutSections(const DataSet& set, Sections sections, size_t page_bytes);

struct PageEntry {
  uint64_t offset;
  uint32_t plain_bytes;
  uint32_t stored_bytes;  // of the compressed part, stored
  uint32_t raw_bytes;     // of the compressed part, uncompressed
  bool is_compressed;
  Plain plain;
  bool continues_row;
  bool only_older;
};

// An open page: used in place, or decoded into `memory`.
struct OpenPage {
  PageView view;
  std::string memory;
};

class Section {
 public:
  Section(const DataSet& set, const RawSection& raw, CodecKind codec, std::string dictionary,
          Plain plain);

  const SectionScope& scope() const { return scope_; }
  size_t page_count() const { return pages_.size(); }
  const PageEntry& page(size_t page_index) const { return pages_[page_index]; }
  // Returns the first page whose last row is >= row_key, or page_count().
  size_t LowerBound(std::string_view row_key) const;
  void OpenRows(size_t page_index, OpenPage* page) const;   // enough to find a row
  void OpenCells(size_t page_index, OpenPage* page) const;  // call after OpenRows

  uint64_t page_bytes() const { return page_bytes_; }
  // Of page_bytes: heads, before compression.
  uint64_t head_bytes() const { return head_bytes_; }
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
  // For each last row: eight bytes after the prefix that all rows share.
  std::vector<uint64_t> fences_;
  std::vector<std::string> last_rows_;
  size_t common_prefix_bytes_ = 0;
  uint64_t page_bytes_ = 0;
  uint64_t head_bytes_ = 0;
  uint64_t index_bytes_ = 0;
  uint64_t dictionary_bytes_ = 0;
};

// Trains on evenly spread pages of the section, about 4 MiB of the codec's input.
std::string TrainSectionDictionary(const RawSection& raw, Plain plain);

}  // namespace stele::layout_lab
