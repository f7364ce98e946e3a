// tools/stele/listing.h: a list of records in the formats of --format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "row_text.h"
#include "session.h"

namespace stele::cli {

// Text in columns as Go's tabwriter aligns them for cbt: with tabs, every column but the last as wide as its longest entry and at least
// four more.
std::string AlignedText(const std::vector<std::vector<std::string>>& lines);
// A line of CSV: fields with comma, quote, CR or LF in quotes.
std::string CsvLine(const std::vector<std::string>& fields);

struct Listing {
  std::vector<std::string> names;          // of the columns, for --format
  std::vector<std::vector<Json>> records;  // a value per column
};
// In the session's format; kText and kTable: aligned, with the names as the head.
std::string ListingText(const Listing& listing, Format format);

}  // namespace stele::cli
