// Tests the outputs of a heat map: JSON, CSV, text, PNG and HTML, also with hostile keys.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <png.h>

#include <string>
#include <vector>

#include "lab/heat_output/palette.h"
#include "lab/heat_page/live_page.h"
#include "lab/values/shown_text.h"
#include "nlohmann/json.hpp"
#include "stele/lab/heat_map.h"

namespace stele::internal::lab {
namespace {

using stele::lab::HeatMap;
using stele::lab::HeatMetric;
using TextStyle = stele::lab::HeatMap::TextStyle;

constexpr std::string_view kHostile =
    "</script><img src=x onerror=alert(1)>\x1b[2J\xe2\x80\xae<!--";

// Two bands and three steps with 1, 0, 3 and 0, 8, 0 operations.
HeatMap::Parts SmallMap() {
  return {.table = "t",
          .start_micros = 1'700'000'000'000'000,
          .steps = 3,
          .bands = {{.start = "", .end = "m", .keys = 4}, {.start = "m", .end = "", .keys = 3}},
          .values = {{HeatMetric::kOps, {1, 0, 0, 8, 3, 0}},
                     {HeatMetric::kReads, {1, 0, 0, 8, 3, 0}},
                     {HeatMetric::kWrites, {0, 0, 0, 0, 0, 0}}},
          .gini = 0.25};
}

struct DecodedPng {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> rgb;

  std::vector<int> At(uint32_t x, uint32_t y) const {
    const size_t offset = 3 * (size_t{y} * width + x);
    return {rgb[offset], rgb[offset + 1], rgb[offset + 2]};
  }
};

DecodedPng Decode(const std::string& bytes) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), 0);
  image.format = PNG_FORMAT_RGB;
  DecodedPng decoded = {.width = image.width, .height = image.height};
  decoded.rgb.resize(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, decoded.rgb.data(), 0, nullptr), 0);
  return decoded;
}

TEST(HeatOutputTest, LevelsOfTheLogarithm) {
  EXPECT_EQ(HeatLevel(0, 10, 256), 0u);
  EXPECT_EQ(HeatLevel(1, 100, 256), 1u + static_cast<size_t>(254 * std::log(2) / std::log(101)));
  EXPECT_EQ(HeatLevel(10, 10, 256), 255u);
  EXPECT_EQ(HeatLevel(0.001, 10, 256), 1u);
  EXPECT_EQ(HeatLevel(10, 10, 10), 9u);
  EXPECT_EQ(HeatLevel(9, 10, 10), 8u);
}

TEST(HeatOutputTest, ImageHasEnlargedCells) {
  const auto png = HeatMap(SmallMap()).ToPng(HeatMetric::kOps);
  ASSERT_TRUE(png.ok()) << png.status();
  const DecodedPng image = Decode(*png);
  EXPECT_EQ(image.width, 801u);  // 3 x 267
  EXPECT_EQ(image.height, 400u);
  const std::vector<int> cold = {0, 0, 4};
  const std::vector<int> hot = {252, 255, 164};
  EXPECT_EQ(image.At(300, 0), cold);
  EXPECT_EQ(image.At(267, 200), hot);
  EXPECT_EQ(image.At(533, 399), hot);
  EXPECT_EQ(image.At(534, 399), cold);
  // 1 + floor(254 * log(4) / log(9)) = 161
  const Color color = InfernoColor(161);
  EXPECT_EQ(image.At(800, 199), (std::vector<int>{color.red, color.green, color.blue}));
  for (const std::string text : {"tEXttable", "tEXtmetric", "tEXtstart", "tEXtstep"})
    EXPECT_NE(png->find(text + '\0'), std::string::npos) << text;
  EXPECT_NE(png->find("2023-11-14T22:13:20Z"), std::string::npos);
}

TEST(HeatOutputTest, ScaleOfAnImage) {
  const HeatMap map(SmallMap());
  for (const uint32_t scale : {1u, 4u}) {
    const DecodedPng image = Decode(*map.ToPng(HeatMetric::kOps, scale));
    EXPECT_EQ(image.width, 3 * scale);
    EXPECT_EQ(image.height, 2 * scale);
  }
  EXPECT_FALSE(map.ToPng(HeatMetric::kOps, 100'000).ok());
}

TEST(HeatOutputTest, JsonOfBytesAndPatterns) {
  HeatMap::Parts parts = SmallMap();
  parts.bands[0].end = "\xff";
  parts.bands[1].start = "\xff";
  parts.values[HeatMetric::kBytes] = {1.5, 0, 0, 1e300, 1.0 / 3, 0};
  parts.hottest_row = kHostile;
  parts.hottest_operations = 7;
  parts.patterns = {{.name = "hot-row", .measured = 0.25, .row = std::string(kHostile)},
                    {.name = "full-scan", .rule = "R", .measured = 3, .is_count = true},
                    {.name = "periodic", .measured = 0.99999, .period_seconds = 3600}};
  const auto json = nlohmann::json::parse(HeatMap(parts).ToJson(HeatMetric::kBytes));
  EXPECT_EQ(json["bands"][0]["end_base64"], "/w==");
  EXPECT_EQ(json["bands"][1]["start_base64"], "/w==");
  EXPECT_EQ(json["metrics"]["bytes"][0][0], 1.5);
  EXPECT_EQ(json["metrics"]["bytes"][0][2], 0.3333);
  EXPECT_EQ(json["metrics"]["bytes"][1][1], 1e300);
  EXPECT_EQ(json["hottest_row"]["row"], kHostile);
  EXPECT_EQ(json["patterns"][0]["row"], kHostile);
  EXPECT_TRUE(json["patterns"][0]["rule"].is_null());
  EXPECT_EQ(json["patterns"][1]["measured"].dump(), "3");
  EXPECT_EQ(json["patterns"][2]["measured"], 1);
  EXPECT_EQ(json["patterns"][2]["period_s"], 3600);
}

TEST(HeatOutputTest, TextHasNoControlBytes) {
  HeatMap::Parts parts = SmallMap();
  parts.table = kHostile;
  parts.bands[1].start = kHostile;
  parts.hottest_row = kHostile;
  parts.hottest_operations = 7;
  parts.patterns = {{.name = "hot-row", .row = std::string(kHostile)}};
  const HeatMap map(parts);
  for (const std::string& text : {map.ToText(HeatMetric::kOps, TextStyle::kPlain), map.ToCsv(),
                                  map.ToJson(HeatMetric::kOps)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << text;
  }
  EXPECT_EQ(ShownText(kHostile),
            "</script><img src=x onerror=alert(1)>\\x1b[2J\\xe2\\x80\\xae<!--");
  EXPECT_EQ(ShownText("a\\b\xc3\xa9\xff\xe4\xb8\xad"), "a\\\\b\xc3\xa9\\xff\xe4\xb8\xad");
  EXPECT_EQ(ShownText("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 5), "\xe4\xb8\xad\xe4\xb8\xad~");
  EXPECT_EQ(ShownText("abcde", 5), "abcde");
  EXPECT_EQ(ShownText("abcdef", 5), "abcd~");
}

TEST(HeatOutputTest, ColorsOfTwoBandsPerLine) {
  const HeatMap map(SmallMap());
  const std::string true_color = map.ToText(HeatMetric::kOps, TextStyle::k24BitColors);
  EXPECT_NE(true_color.find("\x1b[38;2;0;0;4m\x1b[48;2;252;255;164m\xe2\x96\x80"),
            std::string::npos);
  const std::string colors = map.ToText(HeatMetric::kOps, TextStyle::k256Colors);
  EXPECT_NE(colors.find("\x1b[38;5;16m\x1b[48;5;229m\xe2\x96\x80"), std::string::npos) << colors;
}

TEST(HeatOutputTest, TextAddsUpWhatDoesNotFit) {
  HeatMap::Parts parts = {.table = "t", .steps = 200};
  parts.bands.resize(100);
  parts.values[HeatMetric::kOps].assign(100 * 200, 1);
  const std::string text = HeatMap(parts).ToText(HeatMetric::kOps, TextStyle::kPlain);
  // 3 bands and 3 steps are added up, and the last line has one band.
  EXPECT_NE(text.find("@: 9 ops"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 34 + 2);
  for (size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = text.find('\n', at);
    EXPECT_LE(std::min(end, text.size()) - at, 100u);
  }
}

// The text of the element with this id.
std::string DataOf(const std::string& html, const std::string& id) {
  const std::string begin = "<script type=\"application/json\" id=\"" + id + "\">";
  const size_t at = html.find(begin);
  if (at == std::string::npos) return "";
  return html.substr(at + begin.size(), html.find('<', at + begin.size()) - at - begin.size());
}

TEST(HeatOutputTest, PageHasTheDataAndNothingFromElsewhere) {
  HeatMap::Parts parts = SmallMap();
  parts.table = kHostile;
  parts.bands[1].start = kHostile;
  const HeatMap map(parts);
  const std::string html = HeatMap::ToHtml({&map, 1}, HeatMetric::kOps);
  EXPECT_EQ(html.find(kHostile), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(DataOf(html, "heatmap-data")),
            nlohmann::json::parse(map.ToJson(HeatMetric::kOps)));
  EXPECT_EQ(nlohmann::json::parse(DataOf(html, "heatmap-palette")).size(), 256u);
  EXPECT_EQ(DataOf(html, "heatmap-compare"), "");
  EXPECT_NE(html.find("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">"),
            std::string::npos);
  std::string rest = html;  // without the keys
  rest.erase(rest.find(DataOf(html, "heatmap-data")), DataOf(html, "heatmap-data").size());
  for (const char* const text : {" src=", "href", "@import", "url(", "fetch", "XMLHttpRequest",
                                 "innerHTML", "eval(", "@DATA@", "@SCRIPT@", "http:", "https:"})
    EXPECT_EQ(rest.find(text), std::string::npos) << text;
  const std::string compared = HeatMap::ToHtml({&map, 1}, HeatMetric::kOps, {&map, 1});
  EXPECT_FALSE(DataOf(compared, "heatmap-compare").empty());
}

TEST(HeatOutputTest, OnlyALivePageRequestsMaps) {
  const std::string html = LivePageHtml({.maps_path = "/maps.json",
                                         .seconds = 7,
                                         .other_path = "/other",
                                         .other_title = "the other one"});
  const nlohmann::json live = nlohmann::json::parse(DataOf(html, "heatmap-live"));
  EXPECT_EQ(live, (nlohmann::json{{"path", "/maps.json"},
                                  {"seconds", 7},
                                  {"other", "/other"},
                                  {"title", "the other one"}}));
  EXPECT_EQ(DataOf(html, "heatmap-data"), "");
  EXPECT_NE(html.find("img-src data:; connect-src 'self'\">"), std::string::npos);
  EXPECT_NE(html.find("fetch(live.path"), std::string::npos);
  EXPECT_TRUE(html.ends_with("</script>\n</body>\n</html>\n"));
  for (const char* const text :
       {" src=", "@import", "url(", "innerHTML", "eval(", "http:", "https:"})
    EXPECT_EQ(html.find(text), std::string::npos) << text;
}

TEST(HeatOutputTest, PageOfALargeMapHasLessThanTwoMebibytes) {
  HeatMap::Parts parts = {.table = "t", .steps = 240};
  parts.bands.resize(256, {.start = std::string(40, 'k'), .end = std::string(40, 'k')});
  for (int i = 0; i <= static_cast<int>(HeatMetric::kSeenRatio); ++i) {
    std::vector<double>& values = parts.values[static_cast<HeatMetric>(i)];
    for (int cell = 0; cell < 256 * 240; ++cell)
      values.push_back(i < 3 ? 100 : 1234567.0 + cell / 7.0);
  }
  const HeatMap map(parts);
  EXPECT_GT(map.ToJson(HeatMetric::kOps).size(), size_t{2} << 20);
  EXPECT_LT(HeatMap::ToHtml({&map, 1}, HeatMetric::kOps).size(), size_t{2} << 20);
}

}  // namespace
}  // namespace stele::internal::lab
