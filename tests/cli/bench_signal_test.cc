// Tests how signals end the verb bench.
#ifdef STELE_HAS_LAB
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <semaphore>
#include <stop_token>

#include "cli/command_fixture.h"
#include "end_signals.h"

namespace stele {
namespace {

// Waits for the next new file of a directory.
class NewFileWatch {
 public:
  explicit NewFileWatch(const std::string& directory)
      : events_(::inotify_init1(IN_CLOEXEC)),
        watch_(::inotify_add_watch(events_, directory.c_str(), IN_CREATE)) {}
  ~NewFileWatch() { ::close(events_); }
  NewFileWatch(const NewFileWatch&) = delete;
  NewFileWatch& operator=(const NewFileWatch&) = delete;

  // Returns its name; "" if none comes within two minutes.
  std::string Await() const {
    constexpr int kMillis = 120'000;
    alignas(inotify_event) char bytes[4096];
    pollfd wait = {events_, POLLIN, 0};
    if (watch_ < 0 || ::poll(&wait, 1, kMillis) != 1) return "";
    if (::read(events_, bytes, sizeof(bytes)) < static_cast<ssize_t>(sizeof(inotify_event)))
      return "";
    return reinterpret_cast<const inotify_event*>(bytes)->name;
  }

 private:
  const int events_;
  const int watch_;
};

class BenchSignalTest : public CommandTest {
 protected:
  BenchSignalTest() { std::filesystem::create_directory(outputs_); }

  // Sends SIGTERM to a workload that runs for an hour, and returns standard error.
  std::string StopWorkload(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"--db",   database(), "bench",      "get", "--rows",
                                     "300",    "--warmup", "0s",         "-o",  outputs_ + "/out",
                                     "--rate", "1/s",      "--duration", "60m"};
    args.insert(args.end(), more.begin(), more.end());
    const NewFileWatch watch(outputs_);
    const auto bench = Start(args, {});
    // The output begins after the load.
    EXPECT_TRUE(watch.Await().ends_with(".new"));
    EXPECT_EQ(bench->EndBy(SIGTERM), SIGTERM);
    std::ifstream file(Path("stderr-started"));
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }

  const std::string outputs_ = Path("outputs");
};

TEST_F(BenchSignalTest, ASignalRemovesTheTableAndTheNewOutput) {
  EXPECT_EQ(StopWorkload({}), "stele: stopped by SIGTERM\n");
  EXPECT_TRUE(std::filesystem::is_empty(outputs_));
  EXPECT_EQ(Output({"ls"}), "");
}

TEST_F(BenchSignalTest, ASignalLeavesAKeptTable) {
  EXPECT_EQ(StopWorkload({"--keep"}), "stele: stopped by SIGTERM\n");
  EXPECT_TRUE(std::filesystem::is_empty(outputs_));
  EXPECT_EQ(Output({"ls"}), "bench\n");
  // The table is complete.
  Output({"bench", "get", "--rows", "300", "--operations", "10", "--load", "never"});
}

[[noreturn]] void SendTwoSignals() {
  const cli::StopSignals signals;
  std::binary_semaphore is_stopped(0);
  const std::stop_callback on_stop(signals.token(), [&] { is_stopped.release(); });
  ::kill(::getpid(), SIGTERM);
  is_stopped.acquire();
  std::fputs(signals.status().ToString().c_str(), stderr);
  ::kill(::getpid(), SIGTERM);
  while (true) ::pause();
}

TEST(StopSignalsTest, TheSecondSignalEndsTheProcess) {
  EXPECT_EXIT(SendTwoSignals(), testing::KilledBySignal(SIGTERM), "CANCELLED: stopped by SIGTERM");
}

TEST(StopSignalsTest, WithoutASignalNothingIsStopped) {
  const cli::StopSignals signals;
  EXPECT_EQ(signals.signal(), 0);
  EXPECT_TRUE(signals.status().ok());
  EXPECT_FALSE(signals.token().stop_requested());
}

}  // namespace
}  // namespace stele
#endif  // STELE_HAS_LAB
