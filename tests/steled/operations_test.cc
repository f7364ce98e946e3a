// Operations by themselves: what is left of one that could not begin.
#include "operations.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include "absl/status/status.h"

namespace stele::server {
namespace {

// As long as it lives no thread can be made: none finds a place for its stack.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{1} << 47);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST(OperationsTest, WithoutAThreadOneIsRefusedAndTakesNoPlace) {
  Operations operations;
  const google::protobuf::Empty metadata;
  const auto work = [](const std::stop_token&) { return Operations::Outcome(); };
  {
    const NoThreads none;
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(absl::IsResourceExhausted(operations.Start("r", metadata, work).status()));
  }
  const auto operation = operations.Start("r", metadata, work);
  EXPECT_TRUE(operation.ok()) << operation.status();
  operations.Stop();
}

}  // namespace
}  // namespace stele::server
