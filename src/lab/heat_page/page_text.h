// heat_page/page_text.h: the files of this directory that form the page. CMake embeds them.
#pragma once

#include <string_view>

namespace stele::internal::lab {

// With the lines @DATA@ and @SCRIPT@, which are replaced.
extern const std::string_view kHeatMapPage;
extern const std::string_view kHeatMapScript;

}  // namespace stele::internal::lab
