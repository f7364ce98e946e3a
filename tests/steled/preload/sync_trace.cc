// Loaded before the C library (LD_PRELOAD) this writes down what a program syncs and removes, into the file that STELE_SYNC_TRACE names: a
// line "sync PATH" or "remove NAME" for each call that succeeded, before its caller goes on. What a kill cannot show: the system keeps what
// was not synced.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

void Note(const std::string& line) {
  const char* const path = std::getenv("STELE_SYNC_TRACE");
  if (path == nullptr) return;
  const int trace = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  [[maybe_unused]] const ssize_t written = write(trace, line.data(), line.size());
  close(trace);
}

int Sync(const char* call, int descriptor) {
  const int result = reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, call))(descriptor);
  char path[4096];
  const ssize_t bytes = readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path);
  if (result == 0 && bytes > 0) Note("sync " + std::string(path, static_cast<size_t>(bytes)) + "\n");
  return result;
}

}  // namespace

extern "C" {

int fsync(int descriptor) { return Sync("fsync", descriptor); }
int fdatasync(int descriptor) { return Sync("fdatasync", descriptor); }

int unlinkat(int directory, const char* name, int flags) noexcept {
  const int result = reinterpret_cast<int (*)(int, const char*, int)>(dlsym(RTLD_NEXT, "unlinkat"))(directory, name, flags);
  if (result == 0) Note("remove " + std::string(name) + "\n");
  return result;
}
}
