#include "server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "errors.h"
#include "report.h"

namespace stele::server {
namespace {

absl::StatusOr<std::string> ReadPem(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || text.empty()) return InvalidArgument("{}: cannot be read, or is empty", path);
  return text;
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsOf(const Flags& flags) {
  if (flags.tls_cert.empty()) return grpc::InsecureServerCredentials();
  STELED_ASSIGN_OR_RETURN(std::string chain, ReadPem(flags.tls_cert));
  STELED_ASSIGN_OR_RETURN(std::string key, ReadPem(flags.tls_key));
  grpc::SslServerCredentialsOptions options(flags.tls_client_ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                                                        : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  if (!flags.tls_client_ca.empty()) {
    STELED_ASSIGN_OR_RETURN(options.pem_root_certs, ReadPem(flags.tls_client_ca));
  }
  options.pem_key_cert_pairs.push_back({std::move(key), std::move(chain)});
  return grpc::SslServerCredentials(options);
}

class SystemClock final : public Clock {
 public:
  Timestamp Now() override { return Timestamp::From(std::chrono::system_clock::now()); }
};

// What an operator should know goes to standard error; flushes and compactions are everyday work.
void Report(const Event& event) {
  switch (event.kind) {
    case Event::Kind::kBackgroundError:
    case Event::Kind::kBackgroundRecovered:
    case Event::Kind::kPoisoned:
    case Event::Kind::kLogDiscarded:
    case Event::Kind::kClockJump:
      ReportLine(event.status.ok() ? event.message : fmt::format("{}: {}", event.message, TextOf(event.status)));
      return;
    default:
      return;
  }
}

}  // namespace

Server::Server(Database database, const Flags& flags, std::shared_ptr<HealthService> health)
    : health_(std::move(health)),
      database_(std::move(database)),
      tables_(database_),
      backups_(database_, &tables_, &operations_, BackupRootOf(flags), std::make_shared<SystemClock>()),
      records_(database_),
      instances_(&tables_, &records_, &backups_),
      profiles_(&records_),
      policies_(&records_),
      data_(&tables_, &calls_),
      admin_(&tables_, &operations_, &backups_, &policies_),
      instance_admin_(&instances_, &profiles_, &policies_, &operations_) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Flags& flags) {
  DatabaseOptions options;
  options.durability = flags.durability;
  options.memory_budget_bytes = flags.memory_budget_bytes;
  const auto health = std::make_shared<HealthService>();
  options.on_event = [health](const Event& event) {
    Report(event);
    if (event.kind == Event::Kind::kPoisoned) health->SetServing(false);
  };
  STELED_ASSIGN_OR_RETURN(Database database, Database::Open(flags.database, std::move(options)));
  std::unique_ptr<Server> server(new Server(std::move(database), flags, health));
  STELED_RETURN_IF_ERROR(server->tables_.DeleteUnrevealed());
  STELED_RETURN_IF_ERROR(server->backups_.Load());
  STELED_RETURN_IF_ERROR(server->Listen(flags));
  return server;
}

absl::Status Server::Listen(const Flags& flags) {
  STELED_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ServerCredentials> credentials, CredentialsOf(flags));
  grpc::EnableDefaultHealthCheckService(false);  // there is one of our own
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(flags.listen, credentials, &port);
  // Two servers on one port would share its clients out between two databases.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kRequestBytesMax);
  grpc::ResourceQuota quota("steled");
  quota.Resize(kRequestMemoryBytes);
  quota.SetMaxThreads(flags.calls_max);
  builder.SetResourceQuota(quota);
  builder.RegisterService(health_.get());
  builder.RegisterService(&data_);
  builder.RegisterService(&admin_);
  builder.RegisterService(&instance_admin_);
  builder.RegisterService(&operations_);
  if (!flags.metrics.empty()) {
    STELED_ASSIGN_OR_RETURN(metrics_, Metrics::Start(flags.metrics, database_));
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> counters;
    counters.push_back(metrics_->NewInterceptorFactory());
    builder.experimental().SetInterceptorCreators(std::move(counters));
  }
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port == 0) {
    return MakeStatus(absl::StatusCode::kUnavailable, fmt::format("cannot listen on {}: is the port taken?", flags.listen));
  }
  address_ = flags.listen.substr(0, flags.listen.rfind(':')) + ":" + std::to_string(port);
  return absl::OkStatus();
}

absl::Status Server::Stop(std::chrono::milliseconds grace) {
  health_->Stop();
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
  operations_.Stop();
  metrics_.reset();
  return database_.Close();
}

}  // namespace stele::server
