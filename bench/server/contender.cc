#include "contender.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "compare/measure.h"

namespace stele_load {
namespace {

constexpr std::chrono::milliseconds kLook(100);
constexpr double kIdleShare = 0.1;  // of one core
constexpr double kSettleSecondsMax = 10;

std::string ReadLine(int descriptor) {
  std::string line;
  for (char character = 0; read(descriptor, &character, 1) == 1 && character != '\n';)
    line.push_back(character);
  return line;
}

Contender Of(std::string name, std::vector<std::string> command) {
  std::string settings;
  for (const std::string& word : command) settings += (settings.empty() ? "" : " ") + word;
  return Contender{
      .name = std::move(name), .settings = std::move(settings), .command = std::move(command)};
}

// `program` is steled, or has its flags.
Contender OfSteled(const std::string& program, const std::string& name,
                   const std::string& durability, const std::string& directory) {
  return Of(name, {program, "--db", fmt::format("{}/{}", directory, name), "--listen",
                   "127.0.0.1:0", "--durability", durability});
}

}  // namespace

std::vector<Contender> Contenders(const Programs& programs, const std::string& directory) {
  std::vector<Contender> contenders;
  for (const std::string durability : {"disk", "process"}) {
    contenders.push_back(OfSteled(programs.steled, "steled-" + durability, durability, directory));
  }
  if (access(programs.grpc_server.c_str(), X_OK) == 0)
    contenders.push_back(OfSteled(programs.grpc_server, "grpc-process", "process", directory));
  if (access(programs.emulator.c_str(), X_OK) == 0)
    contenders.push_back(Of("emulator", {programs.emulator, "-host", "127.0.0.1", "-port", "0"}));
  return contenders;
}

RunningServer::RunningServer(const Contender& contender) {
  std::vector<char*> words;
  for (const std::string& word : contender.command)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], STDOUT_FILENO);
    execv(words[0], words.data());
    _exit(127);
  }
  close(ends[1]);
  const std::string line = pid_ > 0 ? ReadLine(ends[0]) : "";
  close(ends[0]);
  if (line.find(':') != std::string::npos) address_ = line.substr(line.rfind(' ') + 1);
}

RunningServer::~RunningServer() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

CpuTime RunningServer::Cpu() const {
  std::ifstream file(fmt::format("/proc/{}/stat", pid_));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // The process name in parentheses may contain blanks. The state and ten numbers follow it, then
  // the two wanted ones.
  std::istringstream words(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < 11; ++i) words >> skipped;
  double user_ticks = 0;
  double kernel_ticks = 0;
  words >> user_ticks >> kernel_ticks;
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {.total_seconds = (user_ticks + kernel_ticks) / ticks_per_second,
          .kernel_seconds = kernel_ticks / ticks_per_second};
}

uint64_t RunningServer::PeakBytes() const {
  std::ifstream file(fmt::format("/proc/{}/status", pid_));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  return 0;
}

double RunningServer::Settle() const {
  const stele_compare::Clock::time_point begin = stele_compare::Clock::now();
  const double look_seconds = std::chrono::duration<double>(kLook).count();
  double before = Cpu().total_seconds;
  for (double passed = 0; passed < kSettleSecondsMax; passed = stele_compare::SecondsSince(begin)) {
    std::this_thread::sleep_for(kLook);
    const double now = Cpu().total_seconds;
    if (now - before <= kIdleShare * look_seconds) return passed;
    before = now;
  }
  return kSettleSecondsMax;
}

}  // namespace stele_load
