// tools/stele/page/page_text.h: the files of this directory. CMake embeds them.
#pragma once

#include <string_view>

namespace stele::cli {

extern const std::string_view kComparePage;  // HTML before the heat maps
extern const std::string_view kCompareScript;

}  // namespace stele::cli
