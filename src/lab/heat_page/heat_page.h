// heat_page/heat_page.h: builds pages with heat maps from parts.
//
// Threads:   pure functions.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "stele/lab/heat_map.h"

namespace stele::internal::lab {

// The parts are not escaped: they must be constants, or made by AppendDataElement().
struct HeatPage {
  std::string_view title = "Heat map";
  std::string_view style = "";      // CSS after that of the maps
  std::string_view beginning = "";  // HTML between the title and the maps
  std::string_view data = "";       // elements of AppendDataElement()
  std::string_view script = "";     // runs after that of the maps
  bool requests_its_server = false;
};

// Returns the HTML. The script of the maps draws the data elements heatmap-data and
// heatmap-compare. If there are none, `script` must give them to heatMapPage.show().
std::string HeatPageHtml(const HeatPage& page);

// Returns `text` with each mark, such as @DATA@, replaced by its part. Marks in parts stay.
std::string FillMarks(std::string_view text,
                      std::initializer_list<std::pair<std::string_view, std::string_view>> parts);

// Appends a script element with JSON. No text in it can end the element.
void AppendDataElement(std::string_view id, std::string_view json, std::string* out);

// The JSON of a map. Numbers are rounded if the JSON has more than 1,900,000 bytes, or 30 bytes per
// cell if that is more.
std::string HeatPageMap(const stele::lab::HeatMap& map, stele::lab::HeatMetric metric);

}  // namespace stele::internal::lab
