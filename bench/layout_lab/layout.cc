#include "layout.h"

#include <algorithm>
#include <numeric>

namespace stele::layout_lab {
namespace {

constexpr size_t kSampleBytes = size_t{4} << 20;
// Uncompressed; each read unit has one checksum and one offset in the index.
constexpr size_t kReadUnitBytes = size_t{48} << 10;
constexpr uint32_t kNarrowShare = 8;  // a family is narrow if it has less than 1/8 of the bytes

// Cuts one section into pages. Cells arrive in the order of the data set.
class Cutter {
 public:
  Cutter(const DataSet& set, const SectionScope& scope, size_t page_bytes)
      : set_(set), page_bytes_(page_bytes), section_{scope, {}} {}

  RawSection Cut() {
    for (uint32_t row = 0; row < set_.rows.size(); ++row) {
      Select(row);
      if (!selected_.empty()) CutRow(row);
    }
    if (!writer_.empty()) FinishPage();
    return std::move(section_);
  }

 private:
  void Select(uint32_t row) {
    selected_.clear();
    selected_bytes_ = set_.rows[row].size();
    for (uint32_t i = set_.row_starts[row]; i < set_.row_starts[row + 1]; ++i) {
      const bool is_latest =
          i == set_.row_starts[row] || set_.cells[i].column != set_.cells[i - 1].column;
      const SectionScope& scope = section_.scope;
      if (!(is_latest ? scope.has_latest : scope.has_history) ||
          !scope.families[set_.columns[set_.cells[i].column].family])
        continue;
      selected_.push_back(i);
      selected_bytes_ += set_.cells[i].value.size() + 6;
    }
  }

  void CutRow(uint32_t row) {
    if (!writer_.empty() && writer_.raw_bytes() + selected_bytes_ > page_bytes_) FinishPage();
    bool is_open = false;
    uint32_t last_column = UINT32_MAX;
    for (const uint32_t i : selected_) {
      const StoredCell& cell = set_.cells[i];
      if (is_open && writer_.raw_bytes() + cell.value.size() > page_bytes_) {
        FinishPage();
        BeginPage(row, cell);
        page_.continues_row = true;
        page_.only_older = cell.column == last_column;
      } else if (writer_.empty()) {
        BeginPage(row, cell);
      } else if (!is_open) {
        writer_.AddRow(set_.rows[row]);
      }
      is_open = true;
      page_.last_row = row;
      if (cell.column != page_.first_column || row != page_.first_row) page_.only_older = false;
      writer_.AddCell(cell);
      last_column = cell.column;
    }
  }

  void BeginPage(uint32_t row, const StoredCell& cell) {
    page_ = RawPage{.first_row = row,
                    .last_row = row,
                    .first_column = cell.column,
                    .first_timestamp = cell.timestamp};
    writer_.AddRow(set_.rows[row]);
  }

  void FinishPage() {
    writer_.Finish(&page_.head, &page_.values);
    section_.pages.push_back(std::move(page_));
  }

  const DataSet& set_;
  const size_t page_bytes_;
  RawSection section_;
  PageWriter writer_;
  RawPage page_{};
  std::vector<uint32_t> selected_;  // the row's cells that belong to this section
  size_t selected_bytes_ = 0;
};

std::vector<uint64_t> BytesByFamily(const DataSet& set) {
  std::vector<uint64_t> bytes(set.family_count, 0);
  for (const StoredCell& cell : set.cells)
    bytes[set.columns[cell.column].family] += cell.value.size() + 6;
  return bytes;
}

size_t PlainBytes(const RawPage& page, Plain plain) {
  if (plain == Plain::kNothing) return 0;
  return plain == Plain::kHead ? page.head.size() : PageView::RowsBytes(page.head.data());
}

uint64_t FenceOf(std::string_view row_key, size_t prefix_bytes) {
  uint64_t fence = 0;
  for (size_t i = 0; i < 8; ++i) {
    const size_t at = prefix_bytes + i;
    fence = fence << 8 | (at < row_key.size() ? static_cast<unsigned char>(row_key[at]) : 0);
  }
  return fence;
}

}  // namespace

std::string_view SectionsName(Sections sections) {
  switch (sections) {
    case Sections::kOne:
      return "one";
    case Sections::kSplit:
      return "split";
    case Sections::kFamilies:
      return "families";
  }
  return "?";
}

std::string_view PlainName(Plain plain) {
  switch (plain) {
    case Plain::kHead:
      return "head";
    case Plain::kRows:
      return "rows";
    case Plain::kNothing:
      return "nothing";
  }
  return "?";
}

std::vector<SectionScope> ScopesOf(const DataSet& set, Sections sections) {
  const std::vector<bool> none(set.family_count, false);
  const std::vector<bool> all(set.family_count, true);
  if (sections == Sections::kOne) return {{all, true, true}};
  const std::vector<uint64_t> bytes = BytesByFamily(set);
  const uint64_t total = std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
  std::vector<SectionScope> scopes;
  SectionScope rest{none, true, false};
  for (uint32_t family = 0; family < set.family_count; ++family) {
    if (sections == Sections::kFamilies || bytes[family] * kNarrowShare < total) {
      scopes.push_back({none, true, false});
      scopes.back().families[family] = true;
    } else {
      rest.families[family] = true;
    }
  }
  if (rest.families != none) scopes.push_back(rest);
  if (set.has_versions) scopes.push_back({all, false, true});
  return scopes;
}

std::vector<RawSection> CutSections(const DataSet& set, Sections sections, size_t page_bytes) {
  std::vector<RawSection> cut;
  for (const SectionScope& scope : ScopesOf(set, sections))
    cut.push_back(Cutter(set, scope, page_bytes).Cut());
  return cut;
}

std::string TrainSectionDictionary(const RawSection& raw, Plain plain) {
  uint64_t total = 0;
  for (const RawPage& page : raw.pages) total += page.head.size() + page.values.size();
  const size_t step = std::max<size_t>(1, total / kSampleBytes);
  std::vector<std::string> samples;
  for (size_t i = 0; i < raw.pages.size(); i += step) {
    const RawPage& page = raw.pages[i];
    samples.push_back(page.head.substr(PlainBytes(page, plain)) + page.values);
  }
  return TrainDictionary(samples);
}

Section::Section(const DataSet& set, const RawSection& raw, CodecKind codec, std::string dictionary,
                 Plain plain)
    : scope_(raw.scope), codec_(codec, dictionary), dictionary_bytes_(dictionary.size()) {
  for (const RawPage& page : raw.pages) AppendPage(page, plain);
  page_bytes_ = stored_.size();
  stored_.append(kSlackBytes, '\0');
  MakeIndex(set, raw);
}

void Section::AppendPage(const RawPage& raw, Plain plain) {
  PageEntry entry{.offset = stored_.size(),
                  .plain = plain,
                  .continues_row = raw.continues_row,
                  .only_older = raw.only_older};
  head_bytes_ += raw.head.size();
  const size_t plain_bytes = PlainBytes(raw, plain);
  const std::string rest = raw.head.substr(plain_bytes) + raw.values;
  stored_.append(raw.head, 0, plain_bytes);
  entry.is_compressed = codec_.Compress(rest, &stored_);
  entry.plain_bytes = static_cast<uint32_t>(plain_bytes);
  entry.stored_bytes = static_cast<uint32_t>(stored_.size() - entry.offset - plain_bytes);
  entry.raw_bytes = static_cast<uint32_t>(rest.size());
  pages_.push_back(entry);
}

void Section::MakeIndex(const DataSet& set, const RawSection& raw) {
  common_prefix_bytes_ = SharedBytes(set.rows.front(), set.rows.back());
  std::string index;
  std::string_view previous;
  size_t unit_bytes = 0;
  for (size_t i = 0; i < pages_.size(); ++i) {
    const std::string& last_row = set.rows[raw.pages[i].last_row];
    last_rows_.push_back(last_row);
    fences_.push_back(FenceOf(last_row, common_prefix_bytes_));
    // The index stores as much of the page's first row key as distinguishes it from the previous
    // row, front-coded against the previous entry.
    const std::string_view first = set.rows[raw.pages[i].first_row];
    const size_t needed =
        i == 0
            ? first.size()
            : std::min(first.size(), SharedBytes(set.rows[raw.pages[i - 1].last_row], first) + 1);
    const std::string_view separator = first.substr(0, needed);
    const size_t shared = SharedBytes(previous, separator);
    internal::AppendVarint(index, shared);
    internal::AppendBytes(index, separator.substr(shared));
    previous = separator;
    internal::AppendVarint(index, pages_[i].plain_bytes);
    internal::AppendVarint(index, pages_[i].stored_bytes);
    internal::AppendVarint(index, pages_[i].raw_bytes);
    if (pages_[i].continues_row) {
      internal::AppendVarint(index, raw.pages[i].first_column);
      internal::AppendSignedVarint(index, raw.pages[i].first_timestamp);
    }
    unit_bytes += raw.pages[i].head.size() + raw.pages[i].values.size();
    if (unit_bytes >= kReadUnitBytes || i + 1 == pages_.size()) {
      index.append(8, '\0');  // checksum
      internal::AppendVarint(index, pages_[i].offset);
      unit_bytes = 0;
    }
  }
  index_bytes_ = index.size();
}

size_t Section::LowerBound(std::string_view row_key) const {
  const uint64_t fence = FenceOf(row_key, common_prefix_bytes_);
  auto at = static_cast<size_t>(std::lower_bound(fences_.begin(), fences_.end(), fence) -
                                fences_.begin());
  while (at < fences_.size() && fences_[at] == fence && last_rows_[at] < row_key) ++at;
  return at;
}

void Section::OpenRows(size_t page_index, OpenPage* page) const {
  const PageEntry& entry = pages_[page_index];
  const bool is_in_place = !entry.is_compressed || entry.plain != Plain::kNothing;
  page->view.OpenRows(is_in_place ? stored_.data() + entry.offset : Decode(entry, page));
}

void Section::OpenCells(size_t page_index, OpenPage* page) const {
  const PageEntry& entry = pages_[page_index];
  const char* after_rows = page->view.rows_end();
  if (!entry.is_compressed || entry.plain == Plain::kNothing) {
    page->view.SetValues(page->view.OpenCells(after_rows));
  } else if (entry.plain == Plain::kRows) {
    page->view.SetValues(page->view.OpenCells(Decode(entry, page)));
  } else {
    page->view.OpenCells(after_rows);
    page->view.SetValues(Decode(entry, page));
  }
}

const char* Section::Decode(const PageEntry& entry, OpenPage* page) const {
  if (page->memory.size() < entry.raw_bytes + kSlackBytes)
    page->memory.resize(entry.raw_bytes + kSlackBytes);
  codec_.Decompress({stored_.data() + entry.offset + entry.plain_bytes, entry.stored_bytes},
                    page->memory.data(), entry.raw_bytes);
  return page->memory.data();
}

}  // namespace stele::layout_lab
