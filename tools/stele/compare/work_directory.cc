#include "compare/work_directory.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "compare/signal_waiter.h"

namespace stele::cli {
namespace {

class KeptDirectory : public WorkDirectory {
 public:
  explicit KeptDirectory(std::string path) : path_(std::move(path)) {}
  // After an error before the first design, the directory is empty. Then it is removed.
  ~KeptDirectory() override { ::rmdir(path_.c_str()); }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_;
};

class TemporaryWorkDirectory : public WorkDirectory {
 public:
  explicit TemporaryWorkDirectory(std::string path) : path_(std::move(path)) {}
  ~TemporaryWorkDirectory() override { Remove(); }
  const std::string& path() const override { return path_; }

 private:
  // After a signal, threads may still create files.
  void Remove() const {
    constexpr int kAttemptsMax = 100;
    std::error_code ignored;
    for (int i = 0; i < kAttemptsMax && std::filesystem::exists(path_, ignored); ++i)
      std::filesystem::remove_all(path_, ignored);
  }

  const std::string path_;
  // Removes the directory when a signal comes, and ends the process by this signal.
  const SignalWaiter waiter_{[this](int signal) {
    Remove();
    EndBySignal(signal);
  }};
};

}  // namespace

absl::Status WorkDirectory::CheckSpace(const std::string& keep, uint64_t bytes) {
  constexpr uint64_t kMegabyteBytes = 1'000'000;
  std::error_code error;
  std::filesystem::path directory = std::filesystem::absolute(keep, error).parent_path();
  if (keep.empty()) directory = std::filesystem::temp_directory_path(error);
  const std::filesystem::space_info space = std::filesystem::space(directory, error);
  // Make() reports a wrong directory.
  if (error || space.available >= bytes) return absl::OkStatus();
  return internal::ResourceExhausted(
      "the databases need about {} MB in {}, which has {} MB free: free space, set TMPDIR, or use "
      "--keep on another disk, or --limit",
      bytes / kMegabyteBytes, internal::Printable(directory.string()),
      space.available / kMegabyteBytes);
}

absl::StatusOr<std::unique_ptr<WorkDirectory>> WorkDirectory::Make(const std::string& keep) {
  std::error_code error;
  if (!keep.empty()) {
    const bool is_new = std::filesystem::create_directory(keep, error);
    if (error) return internal::ErrnoStatus("create the directory of --keep", keep, error.value());
    if (!is_new)
      return internal::AlreadyExists("{} exists: --keep names a new directory",
                                     internal::Printable(keep));
    return std::make_unique<KeptDirectory>(keep);
  }
  return MakeTemporary("compare");
}

absl::StatusOr<std::unique_ptr<WorkDirectory>> WorkDirectory::MakeTemporary(std::string_view verb) {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error).string();
  if (error) {
    const char* const variable = std::getenv("TMPDIR");
    return internal::ErrnoStatus("open the directory of TMPDIR",
                                 variable == nullptr ? "/tmp" : variable, error.value());
  }
  path += fmt::format("/stele_{}_XXXXXX", verb);
  if (::mkdtemp(path.data()) == nullptr) return internal::ErrnoStatus("mkdtemp", path, errno);
  return std::make_unique<TemporaryWorkDirectory>(path);
}

}  // namespace stele::cli
