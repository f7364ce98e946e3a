#include "lab/kinds/public_suffixes.h"

#include <libpsl.h>

namespace stele::internal::lab {
namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace

bool IsTopLevelDomain(std::string_view label) {
  // Without the last flag, every label would be a suffix.
  return !label.empty() && psl_is_public_suffix2(psl_builtin(), LowerCase(label).c_str(),
                                                 PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) != 0;
}

std::string RegistrableDomain(std::string_view host) {
  const std::string name = LowerCase(host);
  const char* const domain = psl_registrable_domain(psl_builtin(), name.c_str());
  return domain == nullptr ? std::string() : std::string(domain);
}

std::string ReversedLabels(std::string_view host) {
  std::string reversed;
  reversed.reserve(host.size());
  while (true) {
    const size_t dot = host.rfind('.');
    reversed += dot == std::string_view::npos ? host : host.substr(dot + 1);
    if (dot == std::string_view::npos) return reversed;
    reversed += '.';
    host = host.substr(0, dot);
  }
}

}  // namespace stele::internal::lab
