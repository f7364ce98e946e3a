// tests/unit/remote/client/fake_server.h: an in-process server whose responses the test defines,
// and a clock that only retries advance.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "remote/client/remote_database.h"
#include "remote/wire/bigtable.grpc.pb.h"
#include "remote/wire/operations.grpc.pb.h"
#include "remote/wire/table_admin.grpc.pb.h"
#include "stele/database.h"

namespace stele::internal {

class FakeWaiter final : public Waiter {
 public:
  SteadyClock::time_point Now() override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  bool WaitUntil(SteadyClock::time_point time, const std::stop_token& stop,
                 const std::stop_token& closing) override {
    const std::lock_guard lock(mutex_);
    pauses_.push_back(time - now_);
    now_ = time;
    return !stop.stop_requested() && !closing.stop_requested();
  }
  void Advance(SteadyClock::duration time) {
    const std::lock_guard lock(mutex_);
    now_ += time;
  }
  std::vector<SteadyClock::duration> pauses() {
    const std::lock_guard lock(mutex_);
    return pauses_;
  }

 private:
  std::mutex mutex_;
  SteadyClock::time_point now_ = SteadyClock::now();
  std::vector<SteadyClock::duration> pauses_;
};

// Each method calls its function with the number of the call, from 0, and keeps the request.
class FakeServer final : public google::bigtable::v2::Bigtable::Service {
 public:
  using ReadWriter = grpc::ServerWriter<google::bigtable::v2::ReadRowsResponse>;
  using BulkWriter = grpc::ServerWriter<google::bigtable::v2::MutateRowsResponse>;

  FakeServer();
  ~FakeServer() override;

  // Returns "bigtable://p/i?endpoint=...", followed by `more`.
  std::string Location(const std::string& more = "") const;
  int port() const { return port_; }
  // Opens a database with the fake clock. OpenTable also returns its table t without a request for
  // it.
  Database Open(const std::string& more = "", DatabaseOptions options = {});
  Table OpenTable(const std::string& more = "", DatabaseOptions options = {});

  std::function<grpc::Status(size_t, grpc::ServerContext*, ReadWriter*)> on_read;
  std::function<grpc::Status(size_t)> on_mutate;
  std::function<grpc::Status(size_t, BulkWriter*)> on_bulk;
  std::function<grpc::Status(size_t)> on_check;
  std::function<grpc::Status(size_t)> on_modify;
  std::vector<google::bigtable::v2::ReadRowsRequest> reads;
  std::vector<google::bigtable::v2::MutateRowRequest> mutates;
  std::vector<google::bigtable::v2::MutateRowsRequest> bulks;
  std::vector<std::string> headers;  // "name: value" of the last call
  size_t check_count = 0;
  size_t modify_count = 0;
  std::chrono::system_clock::time_point bulk_deadline;  // of the last MutateRows
  bool table_is_gone = false;
  size_t table_looks = 0;   // calls of GetTable
  int operation_polls = 0;  // polls until UpdateTable's operation is done
  int update_count = 0;
  std::vector<std::string> table_names;  // two per page

  std::shared_ptr<FakeWaiter> waiter = std::make_shared<FakeWaiter>();

 private:
  class Admin;
  class Operations;

  grpc::Status ReadRows(grpc::ServerContext* context,
                        const google::bigtable::v2::ReadRowsRequest* request,
                        ReadWriter* writer) override;
  grpc::Status MutateRow(grpc::ServerContext* context,
                         const google::bigtable::v2::MutateRowRequest* request,
                         google::bigtable::v2::MutateRowResponse* response) override;
  grpc::Status MutateRows(grpc::ServerContext* context,
                          const google::bigtable::v2::MutateRowsRequest* request,
                          BulkWriter* writer) override;
  grpc::Status CheckAndMutateRow(
      grpc::ServerContext* context, const google::bigtable::v2::CheckAndMutateRowRequest* request,
      google::bigtable::v2::CheckAndMutateRowResponse* response) override;
  grpc::Status ReadModifyWriteRow(
      grpc::ServerContext* context, const google::bigtable::v2::ReadModifyWriteRowRequest* request,
      google::bigtable::v2::ReadModifyWriteRowResponse* response) override;

  std::unique_ptr<Admin> admin_;
  std::unique_ptr<Operations> operations_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// Returns a message with these rows, one cell f:q = "v" each.
google::bigtable::v2::ReadRowsResponse RowsMessage(const std::vector<std::string>& row_keys);

}  // namespace stele::internal
