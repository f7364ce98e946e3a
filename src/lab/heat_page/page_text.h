// heat_page/page_text.h: the files of this directory that form the page. CMake embeds them.
#pragma once

#include <string_view>

namespace stele::internal::lab {

// With marks such as @DATA@, which heat_page.cc replaces.
extern const std::string_view kHeatMapPage;
extern const std::string_view kHeatMapScript;
extern const std::string_view kLiveScript;  // for a page that a server updates

}  // namespace stele::internal::lab
