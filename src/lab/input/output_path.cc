#include "lab/input/output_path.h"

#include <filesystem>
#include <system_error>

#include "base/status.h"

namespace stele::internal::lab {

absl::Status CheckReplacesNoInput(const std::vector<std::string>& outputs,
                                  const std::vector<std::string>& inputs) {
  constexpr size_t kShownBytesMax = 400;
  for (const std::string& output : outputs) {
    for (const std::string& input : inputs) {
      std::error_code error;
      if (!output.empty() && std::filesystem::equivalent(output, input, error))
        return InvalidArgument("{} is a file of the input and would be replaced: name another one",
                               Printable(output, kShownBytesMax));
    }
  }
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
