#include "killed_writer.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "base/status.h"
#include "stele/stele.h"

extern char** environ;

namespace stele::main_job {
namespace {

using std::chrono::steady_clock;

constexpr char kTable[] = "journal";

double SecondsFrom(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

std::string RowKey(uint64_t index) { return fmt::format("entry#{:012}", index); }
std::string Value(uint64_t index) {
  return fmt::format("value {} of a process that will not live long", index * 2654435761u);
}

struct Writer {
  pid_t pid = 0;
  int ack_fd = -1;
};

absl::StatusOr<Writer> StartWriter(const std::string& directory) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return internal::ErrnoStatus("pipe2", "the writer's acks", errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string program = "stele_main_job";
  std::string flag = "--writer";
  std::string argument = directory;
  std::array<char*, 4> args = {program.data(), flag.data(), argument.data(), nullptr};
  Writer writer{.ack_fd = ends[0]};
  const int error =
      posix_spawn(&writer.pid, "/proc/self/exe", &actions, nullptr, args.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return internal::ErrnoStatus("posix_spawn", "/proc/self/exe", error);
  }
  return writer;
}

// Reads acknowledgements, kills the writer after `kill_after` of them, and reads the ones that were
// still in the pipe.
absl::Status ReadAcksAndKill(const Writer& writer, uint64_t kill_after, KillResult& result) {
  std::array<char, 4096> acks;
  std::optional<steady_clock::time_point> first;
  bool killed = false;
  while (true) {
    const ssize_t got = read(writer.ack_fd, acks.data(), acks.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return internal::ErrnoStatus("read", "the writer's acks", errno);
    if (got == 0) break;
    if (!first.has_value()) first = steady_clock::now();
    result.acked_count += static_cast<uint64_t>(got);
    if (result.acked_count < kill_after || killed) continue;
    result.write_seconds = SecondsFrom(*first);
    if (kill(writer.pid, SIGKILL) != 0) return internal::ErrnoStatus("kill", "the writer", errno);
    killed = true;
  }
  return killed ? absl::OkStatus()
                : internal::FailedPrecondition("the writer exited after {} writes",
                                               result.acked_count);
}

absl::Status CheckRows(Table& table, KillResult& result) {
  RowReader reader = table.ReadRows();
  for (; reader.Next(); ++result.found_count) {
    const uint64_t index = result.found_count;
    const auto cell = reader.row().cell("entry", "text");
    if (reader.row().row_key() != RowKey(index) || !cell.has_value() ||
        cell->value() != Value(index)) {
      return internal::MakeStatus(
          absl::StatusCode::kDataLoss,
          fmt::format("row {} of the killed writer is missing or wrong", index));
    }
  }
  STELE_RETURN_IF_ERROR(reader.status());
  if (result.found_count >= result.acked_count) return absl::OkStatus();
  return internal::MakeStatus(absl::StatusCode::kDataLoss,
                              fmt::format("{} writes were acknowledged, but {} rows exist",
                                          result.acked_count, result.found_count));
}

}  // namespace

absl::Status WriteUntilKilled(const std::string& directory, int ack_fd) {
  STELE_ASSIGN_OR_RETURN(const Database database, Database::Open(directory));
  STELE_ASSIGN_OR_RETURN(Table table, database.OpenTable(kTable));
  for (uint64_t index = 0;; ++index) {
    STELE_RETURN_IF_ERROR(
        table.Apply(RowMutation(RowKey(index)).SetCell("entry", "text", Value(index))));
    if (write(ack_fd, "+", 1) != 1) return internal::ErrnoStatus("write", "the acks", errno);
  }
}

absl::StatusOr<KillResult> KillWriter(const std::string& directory, uint64_t kill_after) {
  {
    STELE_ASSIGN_OR_RETURN(Database database, Database::Open(directory));
    STELE_RETURN_IF_ERROR(database.CreateTable(kTable, Schema().AddFamily("entry")).status());
    STELE_RETURN_IF_ERROR(database.Close());
  }
  STELE_ASSIGN_OR_RETURN(const Writer writer, StartWriter(directory));
  KillResult result;
  const absl::Status read = ReadAcksAndKill(writer, kill_after, result);
  close(writer.ack_fd);
  if (!read.ok()) kill(writer.pid, SIGKILL);
  int how = 0;
  while (waitpid(writer.pid, &how, 0) < 0 && errno == EINTR) {
  }
  STELE_RETURN_IF_ERROR(read);
  const auto start = steady_clock::now();
  STELE_ASSIGN_OR_RETURN(Database database, Database::Open(directory));
  result.recovery_seconds = SecondsFrom(start);
  STELE_ASSIGN_OR_RETURN(Table table, database.OpenTable(kTable));
  STELE_RETURN_IF_ERROR(CheckRows(table, result));
  STELE_RETURN_IF_ERROR(database.Close());
  return result;
}

}  // namespace stele::main_job
