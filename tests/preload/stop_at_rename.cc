// Stops a program at an exact place, when it is loaded before the C library (LD_PRELOAD).
//
// STELE_STOP_AT_RENAME is "SUFFIX COUNT[,COUNT...]", counts ascending. When the program has renamed
// so many files whose old name ends with SUFFIX, it stops itself with SIGSTOP, with all its
// threads. The rename is done by then. STELE_STOP_AT_OPEN is the same for openat(2). A test waits
// with waitpid(WUNTRACED), and then kills or continues it.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Stops {
  explicit Stops(const char* variable) {
    const char* const text = std::getenv(variable);
    std::istringstream words(text == nullptr ? "" : text);
    words >> suffix;
    for (std::string count; std::getline(words, count, ',');) counts.push_back(std::stoi(count));
  }

  // True if this call is one to stop at.
  bool Count(std::string_view name) {
    const std::lock_guard lock(mutex);
    if (next == counts.size() || !name.ends_with(suffix) || ++calls < counts[next]) return false;
    ++next;
    return true;
  }

  std::string suffix;
  std::vector<int> counts;
  std::mutex mutex;
  size_t next = 0;
  int calls = 0;
};

}  // namespace

extern "C" int renameat(int from_directory, const char* from, int to_directory,
                        const char* to) noexcept {
  static Stops stops("STELE_STOP_AT_RENAME");
  using RenameAt = int (*)(int, const char*, int, const char*);
  const int result = reinterpret_cast<RenameAt>(dlsym(RTLD_NEXT, "renameat"))(from_directory, from,
                                                                              to_directory, to);
  if (result == 0 && stops.Count(from)) kill(getpid(), SIGSTOP);
  return result;
}

extern "C" int openat(int directory, const char* name, int flags, ...) {
  static Stops stops("STELE_STOP_AT_OPEN");
  using OpenAt = int (*)(int, const char*, int, ...);
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  const int result =
      reinterpret_cast<OpenAt>(dlsym(RTLD_NEXT, "openat"))(directory, name, flags, mode);
  if (result >= 0 && stops.Count(name)) kill(getpid(), SIGSTOP);
  return result;
}
