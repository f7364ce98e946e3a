// Tests the live heat map of the built server: its page, its JSON, and that it is off by default.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "steled/metrics_page.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

class HeatMapPages : public testing::Test {
 protected:
  static std::string Get(const ServerProcess& server, const std::string& path) {
    return FetchPage(server.metrics_address(),
                     "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  }
  static nlohmann::json Maps(const ServerProcess& server, const std::string& path) {
    const std::string response = Get(server, path);
    EXPECT_NE(response.find("Content-Type: application/json\r\n"), std::string::npos) << response;
    return nlohmann::json::parse(response.substr(response.find("\r\n\r\n") + 4));
  }
  std::unique_ptr<ServerProcess> Start(std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--metrics=127.0.0.1:0", "--durability=process"});
    return std::make_unique<ServerProcess>(directory_.path() + "/db", std::move(flags));
  }

  const ScratchDirectory directory_;
};

TEST_F(HeatMapPages, HaveTheOperationsOfClients) {
  {
    const auto server = Start({});
    Client client(server->address());
    ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
    const std::string hostile = "b</script><img src=x>\xff";
    for (const std::string& row_key : {std::string("a"), hostile, std::string("c")})
      ASSERT_TRUE(client.Set("t", row_key, "f:q", 0, "v").ok());
    EXPECT_EQ(server->Terminate(), 0);
  }
  const auto server = Start({"--heatmap"});
  Client client(server->address());
  EXPECT_TRUE(Maps(*server, "/heatmap.json").empty());
  // The table is wanted after this call, and counted after the next request for maps.
  EXPECT_EQ(client.Read("t", "rows { row_keys: 'a' }").size(), 1u);
  ASSERT_EQ(Maps(*server, "/heatmap.json").size(), 1u);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client.Set("t", "c", "f:q", 0, "w").ok());
  EXPECT_EQ(client.Read("t", "rows { row_keys: 'a' }").size(), 1u);
  for (const std::string path : {"/heatmap.json", "/heatmap/day.json"}) {
    const nlohmann::json map = Maps(*server, path).at(0);
    EXPECT_EQ(map.at("table"), "p/i/t");
    EXPECT_EQ(map.at("bands").size(), 3u);
    EXPECT_TRUE(map.at("bands").at(1).contains("start_base64"));
    EXPECT_EQ(map.at("totals").at("writes"), 5);
    EXPECT_EQ(map.at("totals").at("reads"), 1);
    double last_band = 0;
    for (const auto& count : map.at("metrics").at("writes").at(2)) last_band += count.get<double>();
    EXPECT_EQ(last_band, 5);
    EXPECT_EQ(map.at("step_us"), path == "/heatmap.json" ? 5'000'000 : 360'000'000);
  }
}

TEST_F(HeatMapPages, AreHtmlThatRequestsOnlyItsOwnServer) {
  const auto server = Start({"--heatmap"});
  for (const std::string path : {"/heatmap", "/heatmap/day"}) {
    const std::string page = Get(*server, path);
    EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"));
    EXPECT_NE(page.find("default-src 'none'; script-src 'unsafe-inline'; style-src "
                        "'unsafe-inline'; img-src data:; connect-src 'self'\">"),
              std::string::npos);
    EXPECT_NE(page.find("{\"path\":\"" + path + ".json\",\"seconds\":5,"), std::string::npos);
    EXPECT_EQ(page.find("http://"), std::string::npos);
  }
  EXPECT_TRUE(FetchPage(server->metrics_address(),
                        "POST /heatmap.json HTTP/1.1\r\nHost: "
                        "localhost\r\nContent-Length: 0\r\n\r\n")
                  .starts_with("HTTP/1.1 405 "));
}

// The name of a site may lead to the address of the server.
TEST_F(HeatMapPages, AreNotServedToOtherSites) {
  const auto server = Start({"--heatmap"});
  for (const std::string path :
       {"/heatmap", "/heatmap.json", "/heatmap/day", "/heatmap/day.json"}) {
    const std::string response =
        FetchPage(server->metrics_address(),
                  "GET " + path + " HTTP/1.1\r\nHost: attacker.example:9090\r\n\r\n");
    EXPECT_TRUE(response.starts_with("HTTP/1.1 421 ")) << response;
  }
  EXPECT_TRUE(FetchPage(server->metrics_address(),
                        "GET /metrics HTTP/1.1\r\nHost: stele.cluster.example\r\n\r\n")
                  .starts_with("HTTP/1.1 200 "));
}

TEST_F(HeatMapPages, AreOffUnlessRequested) {
  const auto server = Start({});
  for (const char* const path : {"/heatmap", "/heatmap.json", "/heatmap/day.json"})
    EXPECT_TRUE(Get(*server, path).starts_with("HTTP/1.1 404 ")) << path;
}

}  // namespace
}  // namespace stele::server
