// heat_page/live_page.h: a page that draws the heat maps of a server, and requests them again.
//
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

namespace stele::internal::lab {

struct LivePage {
  std::string_view maps_path;   // returns a list of maps as JSON; see HeatMap::ToJson
  int seconds = 5;              // between two requests
  std::string_view other_path;  // another page, to which this one has a link
  std::string_view other_title;
};
// Returns HTML. The page requests only `maps_path`, from its own server. The values of `page` are
// constants of the caller: they are not escaped.
std::string LivePageHtml(const LivePage& page);

}  // namespace stele::internal::lab
