// report_page/page_text.h: the files of this directory, which form pages of reports. CMake embeds
// them.
#pragma once

#include <string_view>

namespace stele::internal::lab {

extern const std::string_view kReportStyle;   // CSS
extern const std::string_view kReportScript;  // tables and plots
extern const std::string_view kReplayPage;    // with the marks @STYLE@, @DATA@ and @SCRIPT@
extern const std::string_view kReplayScript;
extern const std::string_view kComparePage;  // HTML before the heat maps
extern const std::string_view kCompareScript;

}  // namespace stele::internal::lab
