#include "unit/remote/client/fake_server.h"

#include "model/access.h"
#include "remote/client/remote_table.h"

namespace stele::internal {

// The engine is not linked here.
absl::StatusOr<std::shared_ptr<DatabaseBackend>> OpenLocalDatabase(
    std::string_view /*location*/, const DatabaseOptions& /*options*/) {
  return absl::UnimplementedError("there is no engine here");
}

namespace wire = ::google::bigtable::v2;
namespace admin_wire = ::google::bigtable::admin::v2;

class FakeServer::Admin final : public admin_wire::BigtableTableAdmin::Service {
 public:
  explicit Admin(FakeServer* owner) : owner_(*owner) {}

  grpc::Status GetTable(grpc::ServerContext* /*context*/,
                        const admin_wire::GetTableRequest* request,
                        admin_wire::Table* response) override {
    ++owner_.table_looks;
    if (owner_.table_is_gone) return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such table");
    response->set_name(request->name());
    return grpc::Status::OK;
  }

  grpc::Status ListTables(grpc::ServerContext* /*context*/,
                          const admin_wire::ListTablesRequest* request,
                          admin_wire::ListTablesResponse* response) override {
    const size_t begin = request->page_token().empty() ? 0 : std::stoul(request->page_token());
    for (size_t i = begin; i < owner_.table_names.size() && i < begin + 2; ++i) {
      response->add_tables()->set_name(request->parent() + "/tables/" + owner_.table_names[i]);
    }
    if (begin + 2 < owner_.table_names.size())
      response->set_next_page_token(std::to_string(begin + 2));
    return grpc::Status::OK;
  }

  grpc::Status UpdateTable(grpc::ServerContext* /*context*/,
                           const admin_wire::UpdateTableRequest* /*request*/,
                           google::longrunning::Operation* response) override {
    ++owner_.update_count;
    response->set_name("operations/1");
    return grpc::Status::OK;
  }

 private:
  FakeServer& owner_;
};

class FakeServer::Operations final : public google::longrunning::Operations::Service {
 public:
  explicit Operations(FakeServer* owner) : owner_(*owner) {}

  grpc::Status GetOperation(grpc::ServerContext* /*context*/,
                            const google::longrunning::GetOperationRequest* request,
                            google::longrunning::Operation* response) override {
    response->set_name(request->name());
    if (owner_.operation_polls-- > 0) return grpc::Status::OK;
    response->set_done(true);
    response->mutable_error()->set_code(static_cast<int>(grpc::StatusCode::FAILED_PRECONDITION));
    response->mutable_error()->set_message("it ended so");
    return grpc::Status::OK;
  }

 private:
  FakeServer& owner_;
};

FakeServer::FakeServer()
    : admin_(std::make_unique<Admin>(this)), operations_(std::make_unique<Operations>(this)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(this);
  builder.RegisterService(admin_.get());
  builder.RegisterService(operations_.get());
  server_ = builder.BuildAndStart();
  EXPECT_NE(server_, nullptr);
}

FakeServer::~FakeServer() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

std::string FakeServer::Location(const std::string& more) const {
  return "bigtable://p/i?endpoint=127.0.0.1:" + std::to_string(port_) + more;
}

Database FakeServer::Open(const std::string& more, DatabaseOptions options) {
  return Access::Make<Database>(OpenRemoteDatabase(Location(more), options, waiter).value());
}

Table FakeServer::OpenTable(const std::string& more, DatabaseOptions options) {
  return Open(more, std::move(options)).OpenTable("t").value();
}

grpc::Status FakeServer::ReadRows(grpc::ServerContext* context,
                                  const wire::ReadRowsRequest* request, ReadWriter* writer) {
  headers.clear();
  for (const auto& [name, value] : context->client_metadata()) {
    headers.push_back(std::string(name.data(), name.size()) + ": " +
                      std::string(value.data(), value.size()));
  }
  reads.push_back(*request);
  return on_read(reads.size() - 1, context, writer);
}

grpc::Status FakeServer::MutateRow(grpc::ServerContext* /*context*/,
                                   const wire::MutateRowRequest* request,
                                   wire::MutateRowResponse* /*response*/) {
  mutates.push_back(*request);
  return on_mutate(mutates.size() - 1);
}

grpc::Status FakeServer::MutateRows(grpc::ServerContext* context,
                                    const wire::MutateRowsRequest* request, BulkWriter* writer) {
  bulk_deadline = context->deadline();
  bulks.push_back(*request);
  return on_bulk(bulks.size() - 1, writer);
}

grpc::Status FakeServer::CheckAndMutateRow(grpc::ServerContext* /*context*/,
                                           const wire::CheckAndMutateRowRequest* /*request*/,
                                           wire::CheckAndMutateRowResponse* /*response*/) {
  return on_check(check_count++);
}

grpc::Status FakeServer::ReadModifyWriteRow(grpc::ServerContext* /*context*/,
                                            const wire::ReadModifyWriteRowRequest* /*request*/,
                                            wire::ReadModifyWriteRowResponse* /*response*/) {
  return on_modify(modify_count++);
}

wire::ReadRowsResponse RowsMessage(const std::vector<std::string>& row_keys) {
  wire::ReadRowsResponse message;
  for (const std::string& row_key : row_keys) {
    auto* const chunk = message.add_chunks();
    chunk->set_row_key(row_key);
    chunk->mutable_family_name()->set_value("f");
    chunk->mutable_qualifier()->set_value("q");
    chunk->set_value("v");
    chunk->set_commit_row(true);
  }
  return message;
}

}  // namespace stele::internal
