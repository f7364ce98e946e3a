// tests/support/cell_text.h: parses and prints cells as lines of text, for text-driven tests.
//
//   row fam:qual @timestamp = value      a cell version; the value is the rest of the line
//   row fam:qual @timestamp sum 5        a delta; also min, max, and "hll a b c" with items;
//                                        a sketch is printed as "hll of about 3"
//   row DELETE                           a row tombstone
//   row fam DELETE                       a family tombstone
//   row fam:qual DELETE [oldest,newest]  a range tombstone, both ends included;
//                                        "max" is the greatest timestamp
//
// Letters, digits and -_.#/ are written as they are. A value may also contain other printable
// characters, and blanks between them. Every other byte is written as \xNN. Blank lines and lines
// that begin with # are ignored.
// Errors:    A malformed line is a mistake in the test: the program prints a message and exits.
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

// Returns the families "a", "b", "c" and "d". Their ids are 1 to 4, and so are their family
// indexes.
const FamilyList& TestFamilies();

// Returns the cells in the order of the text.
std::vector<CellLine> ParseCellLines(std::string_view text,
                                     const FamilyList& families = TestFamilies());
// Accepts lines in any order. Returns rows and cells sorted, as a source returns them.
OwnedRows ParseRows(std::string_view text, const FamilyList& families = TestFamilies());

std::string PrintCell(std::string_view row_key, const Cell& cell,
                      const FamilyList& families = TestFamilies());
// Prints one line per cell, each with a newline, in the given order.
std::string PrintRows(const OwnedRows& rows, const FamilyList& families = TestFamilies());
// PrintRows of everything that the cursor returns.
std::string PrintAll(CellCursor* cursor, const FamilyList& families = TestFamilies());

}  // namespace stele::internal
