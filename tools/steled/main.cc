// steled/main.cc: serves one database until it is told to stop.
//
// Errors:    to standard error, one line that begins with "steled: "; exit status 1, or 2 for a wrong call.
#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "errors.h"
#include "flags.h"
#include "report.h"
#include "server.h"
#include "systemd_notify.h"

namespace stele::server {
namespace {

// Calls that still run after this are cancelled: a client can take up again, and whoever stops a server waits for it.
constexpr std::chrono::milliseconds kGrace(5'000);

int Fail(const absl::Status& status, int exit_status) {
  ReportLine(TextOf(status));
  return exit_status;
}

// To standard output. Whoever reads it may be gone, and the server serves all the same.
void PutLine(std::string_view what, const std::string& address) { std::fputs(fmt::format("{} {}\n", what, address).c_str(), stdout); }

// Returns when SIGTERM or SIGINT came. SIGHUP reads the TLS files again.
void ServeUntilTold(const sigset_t& signals, const Flags& flags, Server* server) {
  const std::string serving = fmt::format("serving {} on {}", flags.database, server->address());
  TellReady(serving);
  int received = 0;
  while (sigwait(&signals, &received) == 0 && received == SIGHUP) {
    TellReloading();
    const absl::StatusOr<bool> reloaded = server->ReloadTls(flags);
    if (!reloaded.ok()) {
      ReportLine(fmt::format("SIGHUP: the TLS files were not reloaded, and the old ones stay in use: {}", TextOf(reloaded.status())));
    } else {
      ReportLine(*reloaded ? "SIGHUP: the TLS files were reloaded" : "SIGHUP: nothing to reload without --tls-cert");
    }
    TellReady(serving);
  }
}

int Main(const std::vector<std::string>& args) {
  const absl::StatusOr<Flags> flags = ParseFlags(args, ProcessEnvironment());
  if (!flags.ok()) return Fail(flags.status(), 2);
  if (flags->wish == Flags::Wish::kHelp) {
    fmt::print("{}", HelpText());
    return 0;
  }
  if (flags->wish == Flags::Wish::kVersion) {
    fmt::print("steled {}\n", STELE_VERSION);
    return 0;
  }
  // A reader of the output that is gone is an error of that write, no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  // Debian's Abseil looks for deadlocks at every lock of every program that does not say this.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Protobuf writes to standard error what it finds wrong in a request; whoever sent it is told.
  google::protobuf::SetLogHandler(nullptr);
  // Before there is any other thread, so that the signals wait for this one.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(*flags);
  if (!server.ok()) return Fail(server.status(), 1);
  if (!(*server)->metrics_address().empty()) PutLine("metrics on", (*server)->metrics_address());
  PutLine("listening on", (*server)->address());
  std::fflush(stdout);
  if (ServesPlaintextRemotely(*flags)) {
    ReportLine(
        fmt::format("warning: other machines reach {} without TLS (--allow-plaintext): whoever can connect can read and change everything",
                    (*server)->address()));
  }
  ServeUntilTold(signals, *flags, server->get());
  TellStopping();
  const absl::Status stopped = (*server)->Stop(kGrace);
  return stopped.ok() ? 0 : Fail(stopped, 1);
}

}  // namespace
}  // namespace stele::server

int main(int argc, char** argv) { return stele::server::Main(std::vector<std::string>(argv + 1, argv + argc)); }
