#include "child.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stele_compare {
namespace {

bool WriteAll(int descriptor, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(descriptor, bytes, count);
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<size_t>(written);
  }
  return true;
}

bool ReadFigure(int descriptor, Figure* figure) {
  size_t bytes = 0;
  while (bytes < sizeof *figure) {
    const ssize_t got =
        read(descriptor, reinterpret_cast<char*>(figure) + bytes, sizeof *figure - bytes);
    if (got <= 0) return false;
    bytes += static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

Figure Failed(std::string_view what) {
  Figure figure;
  SetText(figure.error, sizeof figure.error, what);
  return figure;
}

Figure RunInChild(const std::function<Figure()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return Failed("no pipe");
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return Failed("no process");
  }
  if (child == 0) {
    close(ends[0]);
    const Figure figure = work();
    _exit(WriteAll(ends[1], reinterpret_cast<const char*>(&figure), sizeof figure) ? 0 : 1);
  }
  close(ends[1]);
  Figure figure;
  const bool is_whole = ReadFigure(ends[0], &figure);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return is_whole ? figure : Failed(fmt::format("the process ended with status {:#x}", status));
}

}  // namespace stele_compare
