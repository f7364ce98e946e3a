// steled/report.h: what an operator should know, on standard error.
//
// Errors:    none: a line that cannot be written is lost. fmt::print would throw, on whichever thread has something to say.
// Threads:   thread-safe: stdio writes a line whole.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

namespace stele::server {

// "steled: TEXT" and the end of the line.
inline void ReportLine(std::string_view text) { std::fputs(fmt::format("steled: {}\n", text).c_str(), stderr); }

}  // namespace stele::server
