// bench/compare/child.h: runs work in a separate process.
#pragma once

#include <functional>
#include <string_view>

#include "figure.h"

namespace stele_compare {

// Returns a figure with this error.
Figure Failed(std::string_view what);

// Runs `work` in a forked child, which then ends at once: no destructor runs that `work` did not
// run. Returns the figure that `work` returned. If the child died, the figure has an error.
// Call it only while the process has one thread.
Figure RunInChild(const std::function<Figure()>& work);

}  // namespace stele_compare
