// kinds/public_suffixes.h: top-level domains and registrable domains, from the list in libpsl.
//
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

namespace stele::internal::lab {

// True if the label alone is a suffix below which domains are registered, such as "com".
bool IsTopLevelDomain(std::string_view label);
// The registrable domain of a host name, "google.com" of "maps.google.com"; "" if it has none.
std::string RegistrableDomain(std::string_view host);
// Reverses the labels: "com.google.maps" becomes "maps.google.com".
std::string ReversedLabels(std::string_view host);

}  // namespace stele::internal::lab
