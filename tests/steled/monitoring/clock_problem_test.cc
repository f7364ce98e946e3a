// Tests what the built server says while it does not trust its clock: its log, its health page and
// its metrics.
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>

#include "stele/stele.h"
#include "steled/logged_server.h"
#include "steled/metrics_page.h"

namespace stele::server {
namespace {

// Makes a database whose clock has seen the year 2099, so that it does not trust the system's.
void MakeDatabaseOfTheFuture(const std::string& path) {
  const auto future = std::make_shared<ManualClock>(Timestamp::FromMillis(4'070'908'800'000));
  absl::StatusOr<Database> database = Database::Open(path, {.clock = future});
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE(database->Close().ok());
}

TEST(ClockProblem, IsLoggedAndShown) {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/db";
  ASSERT_NO_FATAL_FAILURE(MakeDatabaseOfTheFuture(path));
  for (const bool is_confirmed : {false, true}) {
    if (is_confirmed) {
      absl::StatusOr<Database> database = Database::Open(path);
      ASSERT_TRUE(database.ok()) << database.status();
      ASSERT_TRUE(database->ConfirmClock().ok());
      ASSERT_TRUE(database->Close().ok());
    }
    LoggedServer server(path, {"--durability=process", "--metrics=127.0.0.1:0"});
    const std::string metrics = server.process().metrics_address();
    EXPECT_EQ(MetricOf(metrics, "stele_clock_not_trusted"), is_confirmed ? 0 : 1);
    const std::string page = FetchPage(metrics, "GET /healthz HTTP/1.0\r\n\r\n");
    EXPECT_TRUE(page.starts_with("HTTP/1.1 200 ")) << page;
    EXPECT_EQ(page.find("the clock is not trusted") == std::string::npos, is_confirmed) << page;
    if (!is_confirmed) EXPECT_NE(server.NextLineWith("warning: the clock is not trusted"), "");
    EXPECT_EQ(server.Terminate(), 0);
  }
}

TEST(ClockProblem, ASignalConfirmsTheClock) {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/db";
  ASSERT_NO_FATAL_FAILURE(MakeDatabaseOfTheFuture(path));
  LoggedServer server(path, {"--durability=process", "--metrics=127.0.0.1:0"});
  const std::string metrics = server.process().metrics_address();
  EXPECT_EQ(MetricOf(metrics, "stele_clock_not_trusted"), 1);
  const auto shows_problem = [&metrics] {
    return FetchPage(metrics, "GET /healthz HTTP/1.0\r\n\r\n").find("the clock is not trusted") !=
           std::string::npos;
  };
  EXPECT_TRUE(shows_problem());
  EXPECT_EQ(kill(server.process().pid(), SIGUSR1), 0);
  EXPECT_NE(server.NextLineWith("SIGUSR1: the clock is confirmed"), "");
  EXPECT_EQ(MetricOf(metrics, "stele_clock_not_trusted"), 0);
  EXPECT_FALSE(shows_problem());
  EXPECT_EQ(server.Terminate(), 0);
}

}  // namespace
}  // namespace stele::server
