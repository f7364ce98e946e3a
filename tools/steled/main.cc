// steled/main.cc: serves one database until SIGTERM, SIGINT or SIGQUIT.
//
// Errors:    on standard error. Wrong flags: a line that begins with "steled: ", and exit status 2.
//            Any other error: a line of the log, and exit status 1.
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
#include "io/posix_descriptor.h"
#include "steled/base/errors.h"
#include "steled/base/log.h"
#include "steled/flags.h"
#include "steled/rpc/no_exceptions.h"
#include "steled/server.h"
#include "steled/systemd_notify.h"

namespace stele::server {
namespace {

// Calls that still run after this time are cancelled. Clients can retry them, and stopping must not
// take long.
constexpr std::chrono::milliseconds kGrace(5'000);

int Fail(std::string_view what, const absl::Status& status) {
  Log(LogLevel::kError, fmt::format("{}: {}", what, TextOf(status)));
  return 1;
}

// Prints to standard output. Ignores errors, since the server can run without its output.
void PutLine(std::string_view what, const std::string& address) {
  std::fputs(fmt::format("{} {}\n", what, address).c_str(), stdout);
}

void Reload(const Flags& flags, Server* server) {
  const absl::StatusOr<bool> reloaded = server->ReloadTls(flags);
  if (!reloaded.ok()) {
    return Log(LogLevel::kError,
               fmt::format("SIGHUP: the TLS files were not reloaded, and the old ones stay in use: "
                           "{}",
                           TextOf(reloaded.status())));
  }
  Log(LogLevel::kInfo, *reloaded ? "SIGHUP: the TLS files were reloaded"
                                 : "SIGHUP: nothing to reload without --tls-cert");
}

void ConfirmClock(Server* server) {
  const absl::Status confirmed = server->ConfirmClock();
  if (!confirmed.ok())
    return Log(LogLevel::kError,
               fmt::format("SIGUSR1: the clock was not confirmed: {}", TextOf(confirmed)));
  Log(LogLevel::kInfo, "SIGUSR1: the clock is confirmed");
}

// Returns an exception as an error.
absl::StatusOr<std::unique_ptr<Server>> StartServer(const Flags& flags) {
  try {
    return Server::Start(flags);
  } catch (...) {
    return StatusOfException();
  }
}

// "SIGTERM" for SIGTERM.
std::string NameOf(int signal) { return fmt::format("SIG{}", sigabbrev_np(signal)); }

// Returns after SIGTERM, SIGINT or SIGQUIT. SIGHUP reloads the TLS files, and SIGUSR1 confirms the
// clock.
void ServeUntilStopped(const sigset_t& signals, const Flags& flags, Server* server) {
  const std::string serving = fmt::format("serving {} on {}", flags.database, server->address());
  NotifyReady(serving);
  int received = 0;
  while (sigwait(&signals, &received) == 0 && (received == SIGHUP || received == SIGUSR1)) {
    if (received == SIGUSR1) {
      RunRound("SIGUSR1", [server] { ConfirmClock(server); });
      continue;
    }
    NotifyReloading();
    RunRound("SIGHUP", [&] { Reload(flags, server); });
    NotifyReady(serving);
  }
  Log(LogLevel::kInfo, "the server stops", {{"signal", NameOf(received)}});
}

int Main(const std::vector<std::string>& args) {
  internal::OpenStandardDescriptors();
  const absl::StatusOr<Flags> flags = ParseFlags(args, ProcessEnvironment(), VariableNames());
  if (!flags.ok()) {
    std::fputs(fmt::format("steled: {}\n", TextOf(flags.status())).c_str(), stderr);
    return 2;
  }
  if (flags->action == Flags::FlagAction::kHelp) {
    fmt::print("{}", HelpText());
    return 0;
  }
  if (flags->action == Flags::FlagAction::kVersion) {
    fmt::print("steled {}\n", STELE_VERSION);
    return 0;
  }
  UseLogFormat(flags->log_format);
  // A write to a closed pipe must return an error and not end the process. The process does not use
  // the other signals, but by default they would end it.
  for (const int signal : {SIGPIPE, SIGUSR2, SIGALRM}) std::signal(signal, SIG_IGN);
  // Debian's Abseil checks for deadlocks at every lock unless a program switches it off.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Protobuf would write errors in requests to standard error; the client gets them in the
  // response.
  google::protobuf::SetLogHandler(nullptr);
  // Before any other thread exists, so that this thread receives the signals.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const absl::StatusOr<std::unique_ptr<Server>> server = StartServer(*flags);
  if (!server.ok()) return Fail("the server cannot start", server.status());
  if (!(*server)->metrics_address().empty()) PutLine("metrics on", (*server)->metrics_address());
  PutLine("listening on", (*server)->address());
  std::fflush(stdout);
  if (ServesPlaintextRemotely(*flags)) {
    Log(LogLevel::kWarning,
        fmt::format("other machines reach {} without TLS (--allow-plaintext): everyone who can "
                    "connect can read and change all data",
                    (*server)->address()));
  }
  ServeUntilStopped(signals, *flags, server->get());
  NotifyStopping();
  const absl::Status stopped = (*server)->Stop(kGrace);
  if (!stopped.ok()) return Fail("the server did not stop cleanly", stopped);
  Log(LogLevel::kInfo, "the server has stopped");
  return 0;
}

}  // namespace
}  // namespace stele::server

int main(int argc, char** argv) {
  return stele::server::Main(std::vector<std::string>(argv + 1, argv + argc));
}
