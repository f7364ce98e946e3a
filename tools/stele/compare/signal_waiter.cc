#include "compare/signal_waiter.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace stele::cli {
namespace {

bool IsIgnored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void EndBySignal(int signal) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  std::raise(signal);
}

SignalWaiter::SignalWaiter(std::function<void(int signal)> on_signal)
    : on_signal_(std::move(on_signal)) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!IsIgnored(signal)) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, &signals_before_);
  signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
  end_ = ::eventfd(0, EFD_CLOEXEC);
  if (signals_ >= 0 && end_ >= 0) waiter_ = std::jthread([this] { AwaitSignals(); });
}

SignalWaiter::~SignalWaiter() {
  const uint64_t one = 1;
  if (waiter_.joinable() && ::write(end_, &one, sizeof(one)) == sizeof(one)) waiter_.join();
  if (signals_ >= 0) ::close(signals_);
  if (end_ >= 0) ::close(end_);
  pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
}

void SignalWaiter::AwaitSignals() const {
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

}  // namespace stele::cli
