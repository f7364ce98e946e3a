// bench/layout_lab/walk.h: scans and point reads of a Layout, cell by cell, with a visitor.
//
// A visitor has Row(std::string_view row_key) and Cell(uint32_t column, int64_t timestamp,
// std::string_view value).
// If a row is in several sections, its cells arrive section by section. An engine would merge them
// by column. That costs one comparison per column more than is measured here.
#pragma once

#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "layout.h"

namespace stele::layout_lab {

inline constexpr uint32_t kAllFamilies = std::numeric_limits<uint32_t>::max();

// The cells that a read selects.
struct Query {
  uint32_t family = kAllFamilies;
  bool only_latest = false;
  // The family as a range of columns, which are adjacent.
  uint32_t column_begin = 0;
  uint32_t column_end = std::numeric_limits<uint32_t>::max();

  bool Wants(const SectionScope& scope) const {
    return (family == kAllFamilies || scope.families[family]) && (!only_latest || scope.has_latest);
  }
  bool Skips(const PageEntry& page) const { return only_latest && page.only_older; }
};

Query MakeQuery(const DataSet& set, uint32_t family, bool only_latest);

// Visits the row's cells in one page. `last_column` is the column of the row's previous cell, for a
// row that spans pages.
template <typename Visitor>
void VisitCells(const PageView& page, uint32_t row, const Query& query, uint32_t* last_column,
                Visitor& visitor) {
  const uint32_t end = page.row_end(row);
  if (query.family == kAllFamilies && !query.only_latest) {
    for (uint32_t cell = page.row_begin(row); cell < end; ++cell)
      visitor.Cell(page.column(cell), page.timestamp(cell), page.value(cell));
    return;
  }
  for (uint32_t cell = page.row_begin(row); cell < end; ++cell) {
    const uint32_t column = page.column(cell);
    if (column < query.column_begin) continue;
    if (column >= query.column_end) return;
    if (query.only_latest && column == *last_column) continue;
    *last_column = column;
    visitor.Cell(column, page.timestamp(cell), page.value(cell));
  }
}

// Iterates over the rows of one section.
class SectionCursor {
 public:
  SectionCursor(const Section& section, const Query& query) : section_(&section), query_(query) {
    OpenPageAt(0);
  }

  bool AtEnd() const { return at_end_; }
  std::string_view row_key() const { return {key_.data(), key_bytes_}; }

  // Visits the row's cells over all its pages, and moves to the next row.
  template <typename Visitor>
  void VisitRow(Visitor& visitor) {
    uint32_t last_column = std::numeric_limits<uint32_t>::max();
    VisitCells(page_.view, row_, query_, &last_column, visitor);
    while (++row_ == page_.view.row_count()) {
      OpenPageAt(page_index_ + 1);
      if (at_end_) return;
      if (!continued_) break;
      VisitCells(page_.view, 0, query_, &last_column, visitor);
    }
    if (!at_end_) MakeKey();
  }

 private:
  void OpenPageAt(size_t page_index) {
    while (page_index < section_->page_count() && query_.Skips(section_->page(page_index)))
      ++page_index;
    page_index_ = page_index;
    row_ = 0;
    at_end_ = page_index == section_->page_count();
    if (at_end_) return;
    continued_ = section_->page(page_index).continues_row;
    section_->OpenRows(page_index, &page_);
    section_->OpenCells(page_index, &page_);
    if (page_index == 0) MakeKey();
  }
  // Joins prefix and remainder of the key into one view.
  void MakeKey() {
    const std::string_view prefix = page_.view.key_prefix();
    const std::string_view rest = page_.view.key_rest(row_);
    key_bytes_ = prefix.size() + rest.size();
    if (key_.size() < key_bytes_) key_.resize(key_bytes_);
    std::memcpy(key_.data(), prefix.data(), prefix.size());
    std::memcpy(key_.data() + prefix.size(), rest.data(), rest.size());
  }

  const Section* section_;
  Query query_;
  OpenPage page_;
  std::string key_;
  size_t key_bytes_ = 0;
  size_t page_index_ = 0;
  uint32_t row_ = 0;
  bool continued_ = false;
  bool at_end_ = false;
};

template <typename Visitor>
void Scan(const std::vector<Section>& sections, const Query& query, Visitor& visitor) {
  std::vector<SectionCursor> cursors;
  cursors.reserve(sections.size());
  for (const Section& section : sections) {
    if (query.Wants(section.scope())) cursors.emplace_back(section, query);
  }
  if (cursors.size() == 1) {
    for (SectionCursor& cursor = cursors.front(); !cursor.AtEnd(); cursor.VisitRow(visitor))
      visitor.Row(cursor.row_key());
    return;
  }
  for (;;) {
    const SectionCursor* least = nullptr;
    for (const SectionCursor& cursor : cursors) {
      if (!cursor.AtEnd() && (least == nullptr || cursor.row_key() < least->row_key()))
        least = &cursor;
    }
    if (least == nullptr) return;
    const std::string row_key(least->row_key());
    visitor.Row(row_key);
    for (SectionCursor& cursor : cursors) {
      if (!cursor.AtEnd() && cursor.row_key() == row_key) cursor.VisitRow(visitor);
    }
  }
}

template <typename Visitor>
void Get(const std::vector<Section>& sections, const Query& query, std::string_view row_key,
         OpenPage* page, Visitor& visitor) {
  visitor.Row(row_key);
  for (const Section& section : sections) {
    if (!query.Wants(section.scope())) continue;
    uint32_t last_column = std::numeric_limits<uint32_t>::max();
    for (size_t i = section.LowerBound(row_key); i < section.page_count(); ++i) {
      if (!query.Skips(section.page(i))) {
        section.OpenRows(i, page);
        const uint32_t row = page->view.Find(row_key);
        if (row == page->view.row_count()) break;
        section.OpenCells(i, page);
        VisitCells(page->view, row, query, &last_column, visitor);
        if (row + 1 < page->view.row_count()) break;
      }
      if (i + 1 == section.page_count() || !section.page(i + 1).continues_row) break;
    }
  }
}

}  // namespace stele::layout_lab
