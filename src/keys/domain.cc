#include <algorithm>
#include <vector>

#include "base/status.h"
#include "stele/keys.h"

namespace stele {
inline namespace v0 {
namespace keys {
namespace {

// Returns whether the labels of a name are four decimal numbers from 0 to 255.
bool IsIpv4(std::string_view name) {
  constexpr std::string_view kLongest = "255.255.255.255";
  if (name.size() > kLongest.size()) return false;
  const std::vector<std::string_view> labels = Split(name, ".");
  return labels.size() == 4 && std::all_of(labels.begin(), labels.end(), [](std::string_view part) {
           if (part.empty() || part.size() > 3) return false;
           int number = 0;
           for (const char c : part) {
             if (c < '0' || c > '9') return false;
             number = number * 10 + (c - '0');
           }
           return number <= 255;
         });
}

char LowerOf(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

absl::StatusOr<std::string> ReverseDomain(std::string_view host) {
  if (host.starts_with('[')) {
    if (host.find(']') != std::string_view::npos) return std::string(host);
    return internal::InvalidArgument("\"{}\" begins with '[' and has no ']'",
                                     internal::Printable(host));
  }
  const size_t name_bytes = std::min(host.find_first_of(":/"), host.size());
  const std::string_view rest = host.substr(name_bytes);
  std::string_view name = host.substr(0, name_bytes);
  if (rest.starts_with("://")) {
    return internal::InvalidArgument("\"{}\" has a scheme: remove \"{}://\"",
                                     internal::Printable(host), internal::Printable(name));
  }
  if (name.ends_with('.')) name.remove_suffix(1);
  if (IsIpv4(name)) return std::string(name).append(rest);
  std::string reversed;
  reversed.reserve(host.size());
  // A list of the labels could need 8 times the memory of the name.
  size_t end = name.size();
  while (true) {
    const size_t dot = end == 0 ? std::string_view::npos : name.rfind('.', end - 1);
    const size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    const std::string_view label = name.substr(begin, end - begin);
    if (label.empty() || label.find_first_of("[]") != std::string_view::npos) {
      return internal::InvalidArgument("\"{}\" has {} and is not a host name",
                                       internal::Printable(host),
                                       label.empty() ? "an empty label" : "a bracket");
    }
    if (!reversed.empty()) reversed += '.';
    std::transform(label.begin(), label.end(), std::back_inserter(reversed), LowerOf);
    if (begin == 0) break;
    end = begin - 1;
  }
  return reversed.append(rest);
}

}  // namespace keys
}  // namespace v0
}  // namespace stele
