// tests/support/cell_text.h: cells as lines of text, for tests that are driven by text.
//
//   row fam:qual @timestamp = value      a cell version; the value is the rest of the line
//   row fam:qual @timestamp sum 5        a delta; also min, max, and "hll a b c" with items. A sketch is printed as "hll of about 3"
//   row DELETE                           a row tombstone
//   row fam DELETE                       a family tombstone
//   row fam:qual DELETE [oldest,newest]  a range tombstone, both ends included; "max" stands for the greatest timestamp
//
// Bytes other than letters, digits and -_.#/ (in values also blanks inside and other printable ones) are written \xNN. Blank lines and
// lines that begin with # are left out.
// Errors:    a line that is none of these ends the program with a message: it is a mistake in a test.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cell/family_list.h"
#include "support/cell_vector_cursor.h"

namespace stele::internal {

struct CellLine {
  std::string row_key;
  OwnedCell cell;
};

// Families "a", "b", "c" and "d" with ids 1 to 4, and so ranks 1 to 4.
const FamilyList& TestFamilies();

// In the order of the text.
std::vector<CellLine> ParseCellLines(std::string_view text, const FamilyList& families = TestFamilies());
// Any order of lines; rows and cells sorted, as a source hands them out.
OwnedRows ParseRows(std::string_view text, const FamilyList& families = TestFamilies());

std::string PrintCell(std::string_view row_key, const Cell& cell, const FamilyList& families = TestFamilies());
// A line per cell, each with its line end; in the order given.
std::string PrintRows(const OwnedRows& rows, const FamilyList& families = TestFamilies());
// PrintRows of all that the cursor hands out.
std::string PrintAll(CellCursor* cursor, const FamilyList& families = TestFamilies());

}  // namespace stele::internal
