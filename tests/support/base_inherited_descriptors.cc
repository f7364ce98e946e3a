// Closes the descriptors that a test program inherits, except the standard streams, before main.
// Tests of descriptor limits need the same number of free descriptors under every runner.
#include <unistd.h>

namespace {

[[gnu::constructor]] void CloseInheritedDescriptors() { ::close_range(3, ~0U, 0); }

}  // namespace
