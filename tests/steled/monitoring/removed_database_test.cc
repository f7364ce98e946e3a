// Tests what the built server reports after the directory of its database was removed.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>

#include "steled/logged_server.h"
#include "steled/metrics_page.h"

namespace stele::server {
namespace {

TEST(RemovedDatabase, RefusesWritesAndReportsThat) {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/db";
  LoggedServer server(path, {"--durability=process", "--metrics=127.0.0.1:0"});
  Client client(server.process().address());
  ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
  ASSERT_TRUE(client.Set("t", "r", "f:a", 1000, "v").ok());
  std::filesystem::remove_all(path);

  EXPECT_NE(server.NextLineWith("error: " + path + ": the directory was removed "), "");
  EXPECT_EQ(client.Set("t", "s", "f:a", 1000, "v").error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(client.Read("t").size(), 1U);
  const std::string metrics = server.process().metrics_address();
  EXPECT_EQ(MetricOf(metrics, "stele_writes_refused"), 1);
  const auto page = [&metrics](const std::string& name) {
    return FetchPage(metrics, "GET " + name + " HTTP/1.0\r\n\r\n");
  };
  while (!page("/healthz/writes").starts_with("HTTP/1.1 503 ")) std::this_thread::yield();
  EXPECT_TRUE(page("/healthz").starts_with("HTTP/1.1 200 "));
  EXPECT_NE(page("/healthz").find("not serving writes: " + path), std::string::npos);
}

}  // namespace
}  // namespace stele::server
