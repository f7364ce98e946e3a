#include "server.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "errors.h"
#include "report.h"
#include "routes.h"
#include "row_sender.h"

namespace stele::server {
namespace {

absl::StatusOr<std::string> ReadPem(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || text.empty()) return InvalidArgument("{}: cannot be read, or is empty", path);
  return text;
}

// Empty without a certificate.
absl::StatusOr<TlsFiles> ReadTls(const Flags& flags) {
  TlsFiles tls;
  if (flags.tls_cert.empty()) return tls;
  STELED_ASSIGN_OR_RETURN(tls.certificate_chain, ReadPem(flags.tls_cert));
  STELED_ASSIGN_OR_RETURN(tls.private_key, ReadPem(flags.tls_key));
  if (flags.tls_client_ca.empty()) return tls;
  STELED_ASSIGN_OR_RETURN(tls.client_ca, ReadPem(flags.tls_client_ca));
  return tls;
}

absl::StatusOr<TransportOptions> OptionsOf(const Flags& flags) {
  TransportOptions options;
  options.listen = flags.listen;
  options.metadata = {kFeatures};
  if (flags.durability == Durability::kDisk) {
    for (const char* const method : {"MutateRow", "MutateRows", "CheckAndMutateRow", "ReadModifyWriteRow"}) {
      options.syncing.push_back(fmt::format("/google.bigtable.v2.Bigtable/{}", method));
    }
  }
  // Where the call was served, as Bigtable's clients note it beside their latencies: a ResponseParams of the zone "local" and the
  // cluster "local".
  options.trailers = {{"x-goog-ext-425905942-bin", "CgVsb2NhbBIFbG9jYWw"}};
  options.limited_prefix = "/google.bigtable.v2.Bigtable/";
  options.calls_max = flags.calls_max;
  options.stall_timeout = flags.stall_timeout;
  options.message_bytes_max = kRequestBytesMax;
  options.request_memory_bytes = kRequestMemoryBytes;
  STELED_ASSIGN_OR_RETURN(options.tls, ReadTls(flags));
  return options;
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
      data_(&tables_, flags.message_bytes_max),
      admin_(&tables_, &operations_, &backups_, &policies_, &instances_),
      instance_admin_(&instances_, &profiles_, &policies_, &operations_) {
  AddServices({.data = &data_,
               .admin = &admin_,
               .instances = &instance_admin_,
               .operations = &operations_,
               .health = health_.get(),
               .reflection = &reflection_},
              &methods_);
}

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
  STELED_RETURN_IF_ERROR(server->instances_.FinishDeletions());
  STELED_RETURN_IF_ERROR(server->backups_.Load());
  STELED_RETURN_IF_ERROR(server->Listen(flags));
  return server;
}

absl::Status Server::Listen(const Flags& flags) {
  STELED_ASSIGN_OR_RETURN(const TransportOptions options, OptionsOf(flags));
  if (!flags.metrics.empty()) {
    STELED_ASSIGN_OR_RETURN(metrics_,
                            Metrics::Start(flags.metrics, database_, methods_.Paths(), [health = health_] { return health->IsServing(); }));
  }
  STELED_ASSIGN_OR_RETURN(transport_, Transport::Start(options, &methods_, metrics_ == nullptr ? nullptr : metrics_->observer()));
  return absl::OkStatus();
}

absl::StatusOr<bool> Server::ReloadTls(const Flags& flags) {
  if (flags.tls_cert.empty()) return false;
  STELED_ASSIGN_OR_RETURN(const TlsFiles tls, ReadTls(flags));
  STELED_RETURN_IF_ERROR(transport_->UseTls(tls));
  return true;
}

absl::Status Server::Stop(std::chrono::milliseconds grace) {
  health_->Stop();
  transport_->Stop(grace);
  operations_.Stop();
  metrics_.reset();
  return database_.Close();
}

}  // namespace stele::server
