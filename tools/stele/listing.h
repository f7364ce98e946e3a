// tools/stele/listing.h: prints a list of records in the formats of --format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "row_text.h"
#include "session.h"

namespace stele::cli {

// Returns text in aligned columns as cbt prints it with Go's tabwriter. Columns are padded with
// tabs. Every column except the last is as wide as its longest entry and at least four more.
std::string AlignedText(const std::vector<std::vector<std::string>>& lines);
// Returns a line of CSV. Fields with a comma, quote, CR or LF are quoted.
std::string CsvLine(const std::vector<std::string>& fields);

// Returns "1 table" or "2 tables".
std::string Counted(uint64_t count, std::string_view one, std::string_view many);

struct Listing {
  std::vector<std::string> names;          // column names, for --format
  std::vector<std::vector<Json>> records;  // a value per column
};
// Returns the text in the session's format. kText and kTable: aligned, with the names as a header.
std::string ListingText(const Listing& listing, Format format);

}  // namespace stele::cli
