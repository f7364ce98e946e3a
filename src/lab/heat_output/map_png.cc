// heat_output/map_png.cc: a heat map as an image.
#include <algorithm>

#include "base/status.h"
#include "lab/heat_output/map_values.h"
#include "lab/heat_output/palette.h"
#include "lab/heat_output/png_writer.h"
#include "lab/values/number_text.h"
#include "stele/lab/heat_map.h"

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<std::string> HeatMap::ToPng(HeatMetric metric, uint32_t scale) const {
  constexpr uint64_t kWidthMin = 800;
  constexpr uint64_t kHeightMin = 400;
  constexpr uint64_t kPixelsMax = 200'000'000;
  const uint64_t bands = parts_.bands.size();
  const uint64_t x_scale = scale != 0 ? scale : (kWidthMin + parts_.steps - 1) / parts_.steps;
  const uint64_t y_scale = scale != 0 ? scale : (kHeightMin + bands - 1) / bands;
  const uint64_t width = parts_.steps * x_scale;
  const uint64_t height = bands * y_scale;
  if (scale > 1'000 || width * height > kPixelsMax)
    return internal::InvalidArgument(
        "an image of {} x {} pixels: at most {} pixels in all; "
        "choose a smaller scale",
        width, height, internal::lab::WithCommas(kPixelsMax));
  const double largest = internal::lab::LargestValue(*this, metric);
  return internal::lab::WritePng(
      {.width = static_cast<uint32_t>(width),
       .height = static_cast<uint32_t>(height),
       .fill_row =
           [&](uint32_t row, std::vector<uint8_t>* colors) {
             for (uint64_t step = 0; step < parts_.steps; ++step) {
               const auto color = static_cast<uint8_t>(
                   internal::lab::HeatLevel(At(metric, row / y_scale, step), largest, 256));
               std::fill_n(colors->begin() + static_cast<ptrdiff_t>(step * x_scale), x_scale,
                           color);
             }
           },
       .texts = {{"table", internal::Printable(parts_.table)},
                 {"metric", std::string(HeatMetricName(metric))},
                 {"start", internal::lab::TimeText(parts_.start_micros)},
                 {"step", internal::lab::WidthText(parts_.step_micros)}}});
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
