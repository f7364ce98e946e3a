#include "steled/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "io/output_file.h"
#include "steled/base/errors.h"
#include "steled/base/log.h"
#include "steled/descriptor_limit.h"
#include "steled/monitoring/database_metrics.h"
#include "steled/monitoring/health_pages.h"
#include "steled/monitoring/heat_map_pages.h"
#include "steled/monitoring/metrics.h"
#include "steled/monitoring/process_metrics.h"
#include "steled/routes.h"
#include "steled/rpc/no_exceptions.h"
#include "steled/services/row_sender.h"
#include "steled/tls_files.h"

namespace stele::server {
namespace {

constexpr std::chrono::seconds kHealthInterval(1);

absl::StatusOr<TransportOptions> OptionsOf(const Flags& flags, const ConnectionLimits& limits) {
  TransportOptions options;
  options.connections_max = limits.clients;
  options.listen = flags.listen;
  options.metadata = {kFeatures};
  // The zone "local" and the cluster "local" as a ResponseParams, which Bigtable's clients record
  // with their latencies.
  options.trailers = {{"x-goog-ext-425905942-bin", "CgVsb2NhbBIFbG9jYWw"}};
  options.calls_max = flags.calls_max;
  options.stall_timeout = flags.stall_timeout;
  options.message_bytes_max = kRequestBytesMax;
  options.request_memory_bytes = kRequestMemoryBytes;
  STELED_ASSIGN_OR_RETURN(options.tls, ReadTlsFiles(flags));
  return options;
}

// Returns an error if a file that is not a socket is at the path of "unix:PATH". The system would
// say that the address is in use.
absl::Status CheckSocketPath(const std::string& listen) {
  constexpr std::string_view kUnix = "unix:";
  struct stat file {};
  if (!listen.starts_with(kUnix) || lstat(listen.c_str() + kUnix.size(), &file) != 0 ||
      S_ISSOCK(file.st_mode))
    return absl::OkStatus();
  return Unavailable("cannot listen on {}: it is {}, not a socket: choose another path", listen,
                     S_ISDIR(file.st_mode) ? "a directory" : "another file");
}

int64_t SystemMicros() { return Timestamp::From(std::chrono::system_clock::now()).micros(); }

class SystemClock final : public TimestampClock {
 public:
  Timestamp Now() override { return Timestamp::FromMicros(SystemMicros()); }
};

// Logs errors, recoveries, a discarded end of the log and leaps of the clock. Ordinary work, such
// as flushes, is not logged.
void LogEvent(const DatabaseEvent& event) {
  LogFields fields;
  if (!event.status.ok())
    fields.emplace_back("code", absl::StatusCodeToString(event.status.code()));
  const std::string error = TextOf(event.status);
  if (event.message.find(error) == std::string::npos) fields.emplace_back("error", error);
  switch (event.kind) {
    case DatabaseEvent::Kind::kBackgroundError:
    case DatabaseEvent::Kind::kPoisoned:
      return Log(LogLevel::kError, event.message, fields);
    case DatabaseEvent::Kind::kLogDiscarded:
    case DatabaseEvent::Kind::kClockJump:
      return Log(LogLevel::kWarning, event.message, fields);
    case DatabaseEvent::Kind::kBackgroundRecovered:
      return Log(LogLevel::kInfo, event.message, fields);
    default:
      return;
  }
}

// Returns the reason why the database's clock is not trusted; "" if it is trusted.
std::string ClockProblem(const DatabaseStats::Clock& clock) {
  if (clock.is_trusted) return "";
  return fmt::format(
      "the clock is not trusted: it says {}, and cells and backups are removed by their age only "
      "up to {}; if it is wrong, set it; if it is correct, send SIGUSR1, or wait ten minutes "
      "without a leap",
      clock.now.ToString(), clock.collection_time.ToString());
}

}  // namespace

Server::Server(Database database, const Flags& flags, std::shared_ptr<HealthService> health)
    : health_(std::move(health)),
      database_(std::move(database)),
      tables_(database_),
      backups_(database_, &tables_, &operations_, BackupRootOf(flags),
               std::make_shared<SystemClock>()),
      records_(database_),
      instances_(
          &tables_, &records_, [this](std::string_view name) { return backups_.HasBackupOf(name); },
          flags.strict_instances),
      profiles_(&records_),
      policies_(&records_),
      hot_tablets_(&tables_, std::make_shared<SystemClock>(), ProcessCpuPercent()),
      automated_backups_(&tables_, &instances_, &backups_, &records_,
                         std::make_shared<SystemClock>()),
      profile_calls_(std::make_shared<AppProfileCalls>(
          [this](std::string_view instance_name, std::string_view profile_id) {
            return profiles_.Get(fmt::format("{}/appProfiles/{}", instance_name, profile_id)).ok();
          })),
      heat_(flags.heat_map ? std::make_shared<LiveCounts>(&SystemMicros) : nullptr),
      data_(&tables_, &instances_, &profiles_,
            flags.metrics.empty() ? nullptr : profile_calls_.get(), heat_.get(),
            flags.message_bytes_max),
      admin_(&tables_, &operations_, &backups_, &policies_, &instances_, flags.undelete_period),
      instance_admin_(&instances_, &profiles_, &policies_, &operations_, &hot_tablets_) {
  AddServices({.data = &data_,
               .admin = &admin_,
               .instances = &instance_admin_,
               .operations = &operations_,
               .health = health_.get(),
               .reflection = &reflection_,
               .do_writes_sync = flags.durability == Durability::kDisk},
              &methods_);
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Flags& flags,
                                                      const TransportStarter& start_transport) {
  const auto begin = std::chrono::steady_clock::now();
  if (flags.heat_map && !HasHeatMapPages())
    return MakeStatus(absl::StatusCode::kUnimplemented,
                      fmt::format("{}: this steled was built without stele::lab, which draws the "
                                  "heat map",
                                  SourceOf(flags, "heatmap")));
  STELED_ASSIGN_OR_RETURN(const ConnectionLimits limits,
                          LimitConnections(RaiseDescriptorLimit(), !flags.metrics.empty()));
  DatabaseOptions options;
  options.durability = flags.durability;
  options.memory_budget_bytes = flags.memory_budget_bytes;
  const auto health = std::make_shared<HealthService>();
  // The engine calls it, so no exception may leave it.
  options.on_event = [health](const DatabaseEvent& event) noexcept {
    RunRound("a report of the database", [&] { LogEvent(event); });
    if (event.kind == DatabaseEvent::Kind::kPoisoned)
      RunRound("a report of the health", [&] { health->SetServing(false); });
  };
  STELED_ASSIGN_OR_RETURN(Database database, Database::Open(flags.database, std::move(options)));
  std::unique_ptr<Server> server(new Server(std::move(database), flags, health));
  STELED_RETURN_IF_ERROR(server->tables_.DeleteUnrevealed());
  STELED_RETURN_IF_ERROR(server->tables_.LoadSoftDeleted());
  STELED_RETURN_IF_ERROR(server->instances_.FinishDeletions());
  STELED_RETURN_IF_ERROR(server->LoadBackups(flags));
  STELED_RETURN_IF_ERROR(server->StartTrace(flags));
  STELED_RETURN_IF_ERROR(server->Listen(flags, limits, start_transport));
  server->StartUpkeep(flags.undelete_period);
  server->LogStart(flags, limits, std::chrono::steady_clock::now() - begin);
  return server;
}

void Server::StartUpkeep(std::chrono::seconds undelete_period) {
  const auto purge = [this, undelete_period](const std::stop_token& stop) {
    const absl::Status purged = tables_.PurgeSoftDeleted(
        tables_.CollectionMicros() - std::chrono::microseconds(undelete_period).count(), stop);
    if (!purged.ok())
      Log(LogLevel::kError, "a deleted table keeps its space for now: " + TextOf(purged));
  };
  const auto back_up = [this](const std::stop_token& stop) {
    const absl::Status made = automated_backups_.MakeDue(stop);
    if (!made.ok())
      Log(LogLevel::kError, "an automated backup failed, and is tried again: " + TextOf(made));
  };
  const auto report = [this](const std::stop_token&) {
    hot_tablets_.Sample();
    RefreshHeatMap();
    call_log_->ReportSuppressed();
    LogWriteRefusal();
    UpdateClockProblem();
    LogClockProblem();
  };
  upkeep_ = std::make_unique<Upkeep>(std::vector<Upkeep::Task>{purge, back_up, report});
  health_reports_ = std::make_unique<Upkeep>(
      std::vector<Upkeep::Task>{[this](const std::stop_token&) { ReportHealth(); }},
      kHealthInterval);
}

void Server::RefreshHeatMap() {
  if (heat_ == nullptr) return;
  heat_->Refresh([this](const std::string& table) { return tables_.Open(table); });
}

void Server::LogWriteRefusal() {
  const absl::Status refusal = database_.WriteRefusal();
  if (std::exchange(are_writes_refused_, !refusal.ok()) == !refusal.ok()) return;
  if (refusal.ok()) return Log(LogLevel::kInfo, "writes are accepted again");
  Log(LogLevel::kError, "writes are refused",
      {{"code", absl::StatusCodeToString(refusal.code())}, {"error", TextOf(refusal)}});
}

// Polled, because a log that finds no space causes no event.
void Server::ReportHealth() { health_->Report(database_.WriteRefusal()); }

void Server::UpdateClockProblem() {
  const std::lock_guard lock(clock_mutex_);
  health_->SetProblem(ClockProblem(database_.Stats().clock));
}

absl::Status Server::ConfirmClock() {
  const absl::Status confirmed = database_.ConfirmClock();
  UpdateClockProblem();
  return confirmed;
}

// Logs at most one line a minute.
void Server::LogClockProblem() {
  const auto now = std::chrono::steady_clock::now();
  const std::string problem = health_->Problem();
  if (problem.empty() || now < clock_log_next_) return;
  clock_log_next_ = now + std::chrono::minutes(1);
  Log(LogLevel::kWarning, problem);
}

void Server::LogStart(const Flags& flags, const ConnectionLimits& limits,
                      std::chrono::steady_clock::duration elapsed) const {
  const DatabaseStats stats = database_.Stats();
  Log(LogLevel::kInfo, "the server has started",
      {{"version", STELE_VERSION},
       {"pid", static_cast<int64_t>(getpid())},
       {"db", flags.database},
       {"address", address()},
       {"metrics", metrics_address()},
       {"flags", GivenText(flags)},
       {"connections_max", static_cast<int64_t>(limits.clients)},
       {"tables", static_cast<int64_t>(stats.tables)},
       {"replayed_log_bytes", static_cast<int64_t>(stats.since_open.replayed_log_bytes)},
       {"discarded_log_bytes", static_cast<int64_t>(stats.since_open.discarded_log_bytes)},
       {"start_ms", static_cast<int64_t>(
                        std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count())}});
  for (const std::string& name : flags.unknown_variables) {
    Log(LogLevel::kWarning, "a variable sets no flag and is ignored", {{"variable", name}});
  }
}

absl::Status Server::LoadBackups(const Flags& flags) {
  // The default directory, next to the database, is created with the first backup.
  absl::Status usable;
  if (!flags.backup_directory.empty() &&
      !internal::CheckOutputsAreNotInputs({flags.backup_directory}, {flags.database}).ok())
    usable = InvalidArgument(
        "it is the database {}, or inside it: backups need a directory outside", flags.database);
  if (usable.ok() && !flags.backup_directory.empty()) usable = backups_.CheckDirectory();
  if (usable.ok()) return backups_.Load();
  return MakeStatus(usable.code(),
                    fmt::format("{} {} cannot be used: {}", SourceOf(flags, "backup-dir"),
                                flags.backup_directory, TextOf(usable)));
}

// Continues an existing trace, so that a restart loses nothing.
absl::Status Server::StartTrace(const Flags& flags) {
  if (flags.trace.empty()) return absl::OkStatus();
  absl::Status started =
      internal::CheckOutputsAreNotInputs({flags.trace}, {flags.database, BackupRootOf(flags)});
  if (started.ok())
    started = database_.StartTrace(flags.trace, {.sample = flags.trace_sample, .append = true});
  is_traced_ = started.ok();
  if (started.ok()) return started;
  return MakeStatus(started.code(),
                    fmt::format("{}: {}", SourceOf(flags, "trace"), TextOf(started)));
}

void Server::StopTrace() {
  if (!is_traced_) return;
  const absl::StatusOr<TraceSummary> summary = database_.StopTrace();
  if (!summary.ok()) {
    return Log(LogLevel::kError, "the trace ended early",
               {{"code", absl::StatusCodeToString(summary.status().code())},
                {"error", TextOf(summary.status())}});
  }
  Log(summary->stopped_at_limit ? LogLevel::kWarning : LogLevel::kInfo,
      summary->stopped_at_limit ? "the trace ended early: the file reached its largest size"
                                : "the trace has ended",
      {{"operations", static_cast<int64_t>(summary->operations)},
       {"recorded", static_cast<int64_t>(summary->recorded)},
       {"dropped", static_cast<int64_t>(summary->dropped)},
       {"bytes", static_cast<int64_t>(summary->bytes)}});
}

absl::Status Server::Listen(const Flags& flags, const ConnectionLimits& limits,
                            const TransportStarter& start_transport) {
  STELED_ASSIGN_OR_RETURN(const TransportOptions options, OptionsOf(flags, limits));
  STELED_RETURN_IF_ERROR(CheckSocketPath(flags.listen));
  // The first probe needs the result.
  ReportHealth();
  UpdateClockProblem();
  if (!flags.metrics.empty()) call_metrics_ = std::make_shared<CallMetrics>(methods_.Paths());
  call_log_ = std::make_unique<CallLog>(flags.slow_call, call_metrics_.get());
  STELED_ASSIGN_OR_RETURN(transport_, start_transport(options, &methods_, call_log_.get()));
  return flags.metrics.empty() ? absl::OkStatus() : ServePages(flags.metrics, limits);
}

absl::Status Server::ServePages(const std::string& listen, const ConnectionLimits& limits) {
  HttpPages::Pages probes;
  AddHealthPages(health_, &probes);
  HttpPages::Pages pages;
  pages["/metrics"] = MetricsPage(
      {call_metrics_, profile_calls_,
       NewTransportMetrics([this] { return transport_->Figures(); },
                           {.connections = limits.clients, .request_bytes = kRequestMemoryBytes}),
       NewDatabaseMetrics(database_), NewTableMetrics(&tables_), NewProcessMetrics()});
  if (heat_ != nullptr)
    AddHeatMapPages(
        heat_, [this] { RefreshHeatMap(); }, &pages);
  STELED_ASSIGN_OR_RETURN(pages_, HttpPages::Serve(listen, std::move(probes), std::move(pages),
                                                   {.connections_max = limits.pages}));
  return absl::OkStatus();
}

absl::StatusOr<bool> Server::ReloadTls(const Flags& flags) {
  if (flags.tls_cert.empty()) return false;
  STELED_ASSIGN_OR_RETURN(const TlsFiles tls, ReadTlsFiles(flags));
  STELED_RETURN_IF_ERROR(transport_->UseTls(tls));
  return true;
}

absl::Status Server::Stop(std::chrono::milliseconds grace) {
  health_->Stop();
  operations_.EndWaits();  // a wait would last for the whole grace period
  transport_->Stop(grace);
  operations_.Stop();
  upkeep_.reset();
  health_reports_.reset();
  call_log_->ReportSuppressed();
  pages_.reset();
  StopTrace();
  return database_.Close();
}

}  // namespace stele::server
