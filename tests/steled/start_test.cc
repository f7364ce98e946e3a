// Tests a start to which the system refuses a thread: it is an error, and ends no process.
#include <gtest/gtest.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "steled/no_threads.h"
#include "steled/rpc/method_table.h"
#include "steled/transport/transport.h"

namespace stele::server {
namespace {

TEST(StartTest, ATransportWithoutThreadsDoesNotStart) {
  const MethodTable methods;
  TransportOptions options;
  options.listen = "127.0.0.1:0";
  {
    const NoThreads none;
    const absl::StatusOr<std::unique_ptr<Transport>> refused =
        Transport::Start(options, &methods, nullptr);
    EXPECT_TRUE(absl::IsUnavailable(refused.status())) << refused.status();
  }
  const absl::StatusOr<std::unique_ptr<Transport>> started =
      Transport::Start(options, &methods, nullptr);
  EXPECT_TRUE(started.ok()) << started.status();
}

}  // namespace
}  // namespace stele::server
