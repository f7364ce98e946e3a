// tools/stele/help_text.h: the text that `stele help` prints.
#pragma once

#include <string>

namespace stele::cli {

std::string HelpText();

}  // namespace stele::cli
