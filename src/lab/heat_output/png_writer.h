// heat_output/png_writer.h: writes images with a palette of 256 colors as PNG.
//
// Errors:    ResourceExhausted if there is not enough memory.
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace stele::internal::lab {

struct PngImage {
  uint32_t width = 1;
  uint32_t height = 1;
  // Fills a row with entries of the palette (InfernoColor). Called once for each row, from the top.
  std::function<void(uint32_t row, std::vector<uint8_t>* colors)> fill_row;
  // Keywords and texts of tEXt chunks, in ASCII.
  std::vector<std::pair<std::string, std::string>> texts;
};

absl::StatusOr<std::string> WritePng(const PngImage& image);

}  // namespace stele::internal::lab
