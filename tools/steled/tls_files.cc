#include "steled/tls_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "steled/base/errors.h"
#include "steled/rpc/no_exceptions.h"

namespace stele::server {
namespace {

// A healthy file system needs milliseconds.
constexpr std::chrono::seconds kReadTime(10);

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

std::string ErrnoText() { return fmt::format("cannot be read: {}", std::strerror(errno)); }

// Returns why the file is not read; "" if it is.
std::string Refusal(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "is a directory";
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (status.st_size > static_cast<off_t>(kPemBytesMax)) {
    return fmt::format("has {} bytes, and PEM files have at most {}", status.st_size, kPemBytesMax);
  }
  return "";
}

// Appends the file's bytes to `text`. Returns what is wrong with the file; "" if nothing is.
std::string ReadRegularFile(const std::string& path, std::string* text) {
  // Opening a FIFO without O_NONBLOCK would wait for a writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0) return ErrnoText();
  struct stat status {};
  if (fstat(file.number(), &status) != 0) return ErrnoText();
  if (std::string refusal = Refusal(status); !refusal.empty()) return refusal;
  text->resize(kPemBytesMax);
  size_t end = 0;
  while (end < text->size()) {
    const ssize_t bytes = read(file.number(), text->data() + end, text->size() - end);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return ErrnoText();
    if (bytes == 0) break;
    end += static_cast<size_t>(bytes);
  }
  text->resize(end);
  return end == 0 ? "is empty" : "";
}

absl::StatusOr<std::string> ReadPem(const Flags& flags, std::string_view name,
                                    const std::string& path) {
  std::string text;
  if (const std::string wrong = ReadRegularFile(path, &text); !wrong.empty())
    return InvalidArgument("{} {}: the file {}", SourceOf(flags, name), path, wrong);
  return text;
}

absl::StatusOr<TlsFiles> ReadAll(const Flags& flags) {
  TlsFiles tls;
  STELED_ASSIGN_OR_RETURN(tls.certificate_chain, ReadPem(flags, "tls-cert", flags.tls_cert));
  STELED_ASSIGN_OR_RETURN(tls.private_key, ReadPem(flags, "tls-key", flags.tls_key));
  if (flags.tls_client_ca.empty()) return tls;
  STELED_ASSIGN_OR_RETURN(tls.client_ca, ReadPem(flags, "tls-client-ca", flags.tls_client_ca));
  return tls;
}

}  // namespace

absl::StatusOr<TlsFiles> ReadWithin(std::chrono::milliseconds limit,
                                    std::function<absl::StatusOr<TlsFiles>()> read) {
  try {
    // The task keeps an exception of `read` for get().
    std::packaged_task<absl::StatusOr<TlsFiles>()> task(std::move(read));
    std::future<absl::StatusOr<TlsFiles>> result = task.get_future();
    std::thread(std::move(task)).detach();
    if (result.wait_for(limit) == std::future_status::ready) return result.get();
  } catch (const std::system_error& error) {
    return MakeStatus(absl::StatusCode::kUnavailable,
                      fmt::format("no thread could be started: {}", error.what()));
  } catch (...) {
    return StatusOfException();
  }
  return MakeStatus(absl::StatusCode::kUnavailable,
                    fmt::format("reading did not end within {} ms; does the file system respond?",
                                limit.count()));
}

absl::StatusOr<TlsFiles> ReadTlsFiles(const Flags& flags) {
  if (flags.tls_cert.empty()) return TlsFiles();
  absl::StatusOr<TlsFiles> tls = ReadWithin(kReadTime, [flags] { return ReadAll(flags); });
  // Those errors do not name a file.
  if (absl::IsUnavailable(tls.status()) || absl::IsResourceExhausted(tls.status())) {
    return MakeStatus(tls.status().code(), fmt::format("{} {}: {}", SourceOf(flags, "tls-cert"),
                                                       flags.tls_cert, TextOf(tls.status())));
  }
  return tls;
}

}  // namespace stele::server
