// steled/metrics_page.h: what a server says at its --metrics address.
//
// Threads:   pure functions, but for the connection that each makes.
#pragma once

#include <string>
#include <string_view>

namespace stele::server {

// The whole answer to the bytes `request`, up to the end of the connection.
std::string FetchPage(const std::string& address, std::string_view request);

// What GET /metrics answers at "127.0.0.1:PORT".
std::string FetchMetrics(const std::string& address);

// The value behind "name " or "name{labels} " at the beginning of a line; -1 if there is none.
double MetricOf(const std::string& address, const std::string& name);

}  // namespace stele::server
