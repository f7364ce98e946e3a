// steled/metrics_page.h: fetches pages from a server's --metrics address.
//
// Threads:   pure functions, except for the connection that each makes.
#pragma once

#include <string>
#include <string_view>

namespace stele::server {

// Sends the bytes `request` and returns everything up to the end of the connection.
std::string FetchPage(const std::string& address, std::string_view request);

// Returns the result of GET /metrics at "127.0.0.1:PORT".
std::string FetchMetrics(const std::string& address);

// Returns the value after "name " or "name{labels} " at the start of a line; -1 if there is none.
double MetricOf(const std::string& address, const std::string& name);

}  // namespace stele::server
