// bench/grpc_server/main.cc: serves one database like steled, but through gRPC's own C++ library,
// until SIGTERM or SIGINT. stele_server_load compares the two.
//
// Flags:     those of steled, without those for TLS. Variables are ignored.
//
// Everything but the transport is the same as in steled: steled/server.h. It prints a line that
// ends in HOST:PORT when it is ready.
//
// Errors:    on standard error. Exit code 2: wrong flags; 1: any other error.
#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "grpc_transport.h"
#include "steled/base/errors.h"
#include "steled/flags.h"
#include "steled/server.h"

namespace stele::server {
namespace {

constexpr std::chrono::milliseconds kGrace(5'000);

int Fail(const absl::Status& status, int exit_code) {
  fmt::print(stderr, "stele_grpc_server: {}\n", TextOf(status));
  return exit_code;
}

int Main(const std::vector<std::string>& args) {
  const absl::StatusOr<Flags> flags =
      ParseFlags(args, [](const std::string& /*name*/) { return std::nullopt; });
  if (!flags.ok()) return Fail(flags.status(), 2);
  if (flags->action != Flags::FlagAction::kServe) {
    fmt::print("usage: stele_grpc_server --db DIRECTORY [FLAG OF steled...]\n");
    return 0;
  }
  std::signal(SIGPIPE, SIG_IGN);
  // As in steled: otherwise Debian's Abseil checks for deadlocks at every lock.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Before any other thread exists, so that this thread receives the signals.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(*flags, &StartGrpcTransport);
  if (!server.ok()) return Fail(server.status(), 1);
  fmt::print("listening on {}\n", (*server)->address());
  std::fflush(stdout);
  int received = 0;
  sigwait(&signals, &received);
  const absl::Status stopped = (*server)->Stop(kGrace);
  return stopped.ok() ? 0 : Fail(stopped, 1);
}

}  // namespace
}  // namespace stele::server

int main(int argc, char** argv) {
  return stele::server::Main(std::vector<std::string>(argv + 1, argv + argc));
}
