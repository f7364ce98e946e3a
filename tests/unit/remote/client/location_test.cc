#include "remote/client/location.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace stele::internal {
namespace {

TEST(RemoteLocation, NamesAnInstanceAndItsEndpoint) {
  const auto location =
      ParseRemoteLocation("bigtable://my-project/my_instance?endpoint=localhost:8086", "");
  ASSERT_TRUE(location.ok()) << location.status();
  EXPECT_EQ(location->InstanceName(), "projects/my-project/instances/my_instance");
  EXPECT_EQ(location->TableName("t"), "projects/my-project/instances/my_instance/tables/t");
  EXPECT_EQ(location->data_endpoint, "localhost:8086");
  EXPECT_EQ(location->admin_endpoint, "localhost:8086");
  EXPECT_FALSE(location->is_google);
  EXPECT_FALSE(location->tls);
  EXPECT_EQ(location->retry_time, std::chrono::seconds(60));
}

TEST(RemoteLocation, WithoutAnEndpointItIsTheEmulatorOrGoogle) {
  const auto emulator = ParseRemoteLocation("bigtable://p/i", "127.0.0.1:9000");
  ASSERT_TRUE(emulator.ok());
  EXPECT_EQ(emulator->data_endpoint, "127.0.0.1:9000");
  EXPECT_FALSE(emulator->is_google);
  EXPECT_EQ(ParseRemoteLocation("bigtable://p/i?endpoint=h:1", "127.0.0.1:9000")->data_endpoint,
            "h:1");
  const auto google = ParseRemoteLocation("bigtable://p/i?app_profile=batch", "");
  ASSERT_TRUE(google.ok());
  EXPECT_TRUE(google->is_google);
  EXPECT_EQ(google->data_endpoint, "bigtable.googleapis.com:443");
  EXPECT_EQ(google->admin_endpoint, "bigtableadmin.googleapis.com:443");
  EXPECT_EQ(google->app_profile, "batch");
}

TEST(RemoteLocation, TakesItsParameters) {
  const auto location = ParseRemoteLocation(
      "bigtable://example.com:p/i?endpoint=[::1]:443&tls=1&retry_seconds=0&app_profile=a.b-c_d",
      "");
  ASSERT_TRUE(location.ok()) << location.status();
  EXPECT_EQ(location->project, "example.com:p");
  EXPECT_EQ(location->data_endpoint, "[::1]:443");
  EXPECT_TRUE(location->tls);
  EXPECT_EQ(location->retry_time, std::chrono::seconds(0));
}

TEST(RemoteLocation, OthersAreRefused) {
  for (const char* const location : {"bigtable://",
                                     "bigtable://p",
                                     "bigtable://p/",
                                     "bigtable:///i",
                                     "bigtable://p/i/t",
                                     "bigtable://p/-i",
                                     "bigtable://p /i",
                                     "bigtable://p/i?endpoint=h",
                                     "bigtable://p/i?endpoint=h:0",
                                     "bigtable://p/i?endpoint=h:65536",
                                     "bigtable://p/i?endpoint=h:1x",
                                     "bigtable://p/i?endpoint=:1",
                                     "bigtable://p/i?tls=yes",
                                     "bigtable://p/i?endpoint=::1:80",
                                     "bigtable://p/i?endpoint=[::1:80",
                                     "bigtable://p/i?endpoint=[]:80",
                                     "bigtable://p/i?endpoint=[::1]]:80",
                                     "bigtable://p/i?endpoint=h]:80",
                                     "bigtable://p/i?endpoint=[::1]",
                                     "bigtable://p/i?endpoint=http://h:1",
                                     "bigtable://p/i?endpoint=https://h:443/",
                                     "bigtable://p/i?colour=red",
                                     "bigtable://p/i?retry_seconds=",
                                     "bigtable://p/i?retry_seconds=-1",
                                     "bigtable://p/i?retry_seconds=4000",
                                     "bigtable://p/i?app_profile="}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseRemoteLocation(location, "").status())) << location;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(ParseRemoteLocation("bigtable://p/i", "nonsense").status()));
  const auto message = [](const char* location) {
    return std::string(ToStd(ParseRemoteLocation(location, "").status().message()));
  };
  EXPECT_EQ(message("bigtable://p/i?endpoint=https://h:1"),
            "location: endpoint \"https://h:1\": it must be HOST:PORT or unix:/PATH, without "
            "another scheme; tls=1 selects TLS");
  EXPECT_EQ(message("bigtable://p/i?endpoint=::1:80"),
            "location: endpoint \"::1:80\": an IPv6 address has brackets, as in [::1]:8086");
}

}  // namespace
}  // namespace stele::internal
