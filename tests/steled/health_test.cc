// What the server says of itself: that it serves, that it no longer does, and that it ends.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "health_service.h"

namespace stele::server {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class HealthTest : public testing::Test {
 protected:
  HealthTest() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&health_);
    server_ = builder.BuildAndStart();
    stub_ = grpc::health::v1::Health::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  }
  ~HealthTest() override {
    health_.Stop();
    server_->Shutdown();
  }

  // Its status, or the error's code as a negative number.
  int Check(const std::string& service) {
    grpc::ClientContext context;
    HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    const grpc::Status status = stub_->Check(&context, request, &response);
    return status.ok() ? static_cast<int>(response.status()) : -static_cast<int>(status.error_code());
  }

  HealthService health_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::health::v1::Health::Stub> stub_;
};

TEST_F(HealthTest, CheckSaysWhetherItServes) {
  EXPECT_EQ(Check(""), HealthCheckResponse::SERVING);
  EXPECT_EQ(Check("google.bigtable.v2.Bigtable"), HealthCheckResponse::SERVING);
  EXPECT_EQ(Check("some.other.Service"), -grpc::StatusCode::NOT_FOUND);
  health_.SetServing(false);
  EXPECT_EQ(Check(""), HealthCheckResponse::NOT_SERVING);
}

TEST_F(HealthTest, AWatchIsToldOfEachChangeAndOfTheEnd) {
  grpc::ClientContext context;
  const auto reader = stub_->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  health_.SetServing(false);
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  health_.SetServing(true);
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  health_.Stop();
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(HealthTest, SixteenMayWatchAndAnotherWhenOneHasGone) {
  struct Watcher {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader;
  };
  const auto watch = [this](Watcher* watcher) {
    HealthCheckResponse response;
    watcher->reader = stub_->Watch(&watcher->context, HealthCheckRequest());
    return watcher->reader->Read(&response);
  };
  std::vector<Watcher> watchers(16);
  for (Watcher& watcher : watchers) ASSERT_TRUE(watch(&watcher));
  Watcher refused;
  ASSERT_FALSE(watch(&refused));
  EXPECT_EQ(refused.reader->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Check(""), HealthCheckResponse::SERVING);
  watchers.front().context.TryCancel();
  EXPECT_EQ(watchers.front().reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  // The server sees that its client has gone when it looks next.
  for (bool is_taken = false; !is_taken;) {
    Watcher next;
    is_taken = watch(&next);
    next.context.TryCancel();
    next.reader->Finish();
  }
  for (size_t i = 1; i < watchers.size(); ++i) watchers[i].context.TryCancel();
  for (size_t i = 1; i < watchers.size(); ++i) watchers[i].reader->Finish();
}

TEST_F(HealthTest, AWatchOfAnUnknownServiceIsToldSo) {
  grpc::ClientContext context;
  HealthCheckRequest request;
  request.set_service("some.other.Service");
  const auto reader = stub_->Watch(&context, request);
  HealthCheckResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  EXPECT_FALSE(reader->Read(&response));
}

}  // namespace
}  // namespace stele::server
