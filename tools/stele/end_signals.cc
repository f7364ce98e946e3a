#include "end_signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace stele::cli {
namespace {

// True for a process that runs on, for example SIGHUP under nohup.
bool IsIgnored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

std::string_view NameOfSignal(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

}  // namespace

EndSignals::EndSignals(std::function<void(int signal)> on_signal)
    : on_signal_(std::move(on_signal)) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!IsIgnored(signal)) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, &signals_before_);
  signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
  end_ = ::eventfd(0, EFD_CLOEXEC);
  const bool has_waiter =
      signals_ >= 0 && end_ >= 0 && waiter_.Start<&EndSignals::AwaitSignals>(this) == 0;
  // Without a waiter, a blocked signal would be lost.
  if (!has_waiter) pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
}

EndSignals::~EndSignals() {
  StopWaiting();
  if (signals_ >= 0) ::close(signals_);
  if (end_ >= 0) ::close(end_);
  pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
}

void EndSignals::StopWaiting() {
  const uint64_t one = 1;
  if (waiter_.is_started() && ::write(end_, &one, sizeof(one)) == sizeof(one)) waiter_.Join();
}

void EndSignals::EndProcess(int signal) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  std::raise(signal);
  ::_exit(128 + signal);  // process 1 of a container survives the signal
}

void EndSignals::AwaitSignals() {
  while (true) {
    pollfd waits[] = {{signals_, POLLIN, 0}, {end_, POLLIN, 0}};
    while (::poll(waits, 2, -1) < 0 && errno == EINTR) {
    }
    signalfd_siginfo info{};
    if ((waits[1].revents & POLLIN) != 0 || ::read(signals_, &info, sizeof(info)) != sizeof(info))
      return;
    on_signal_(static_cast<int>(info.ssi_signo));
  }
}

absl::Status StopSignals::status() const {
  if (signal_ == 0) return absl::OkStatus();
  return internal::Cancelled("stopped by {}", NameOfSignal(signal_));
}

void StopSignals::OnSignal(int signal) {
  int none = 0;
  if (!signal_.compare_exchange_strong(none, signal)) EndSignals::EndProcess(signal);
  stop_.request_stop();
}

}  // namespace stele::cli
