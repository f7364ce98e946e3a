// Records the calls with which a program syncs and removes files, when it is loaded before the C
// library (LD_PRELOAD). It appends a line "sync PATH" or "remove NAME" to the file named in
// STELE_SYNC_TRACE for each successful call, before the call returns. A kill cannot show this,
// since the system keeps unsynced data.
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
  const ssize_t bytes =
      readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path);
  if (result == 0 && bytes > 0)
    Note("sync " + std::string(path, static_cast<size_t>(bytes)) + "\n");
  return result;
}

}  // namespace

extern "C" {

int fsync(int descriptor) { return Sync("fsync", descriptor); }
int fdatasync(int descriptor) { return Sync("fdatasync", descriptor); }

int unlinkat(int directory, const char* name, int flags) noexcept {
  const int result = reinterpret_cast<int (*)(int, const char*, int)>(dlsym(RTLD_NEXT, "unlinkat"))(
      directory, name, flags);
  if (result == 0) Note("remove " + std::string(name) + "\n");
  return result;
}
}
