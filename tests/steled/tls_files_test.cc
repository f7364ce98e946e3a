// Tests which files can be certificates and keys: a wrong path is an error, and blocks nothing.
#include "steled/tls_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <new>
#include <string>

#include "steled/base/errors.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

class TlsFilesTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return scratch_.path() + "/" + name; }
  std::string Put(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  // The error of reading with this certificate.
  std::string ErrorOf(const std::string& certificate) const {
    Flags flags;
    flags.tls_cert = certificate;
    flags.tls_key = Put("key", "k");
    const absl::StatusOr<TlsFiles> tls = ReadTlsFiles(flags);
    EXPECT_EQ(tls.status().code(), absl::StatusCode::kInvalidArgument);
    return TextOf(tls.status());
  }

  const ScratchDirectory scratch_;
};

TEST_F(TlsFilesTest, RegularFilesAreRead) {
  Flags flags;
  absl::StatusOr<TlsFiles> tls = ReadTlsFiles(flags);
  ASSERT_TRUE(tls.ok()) << tls.status();
  EXPECT_EQ(tls->certificate_chain, "");
  flags.tls_cert = Put("cert", "c");
  flags.tls_key = Put("key", std::string(kPemBytesMax, 'k'));
  flags.tls_client_ca = Path("link");
  std::filesystem::create_symlink(Put("ca", "a"), flags.tls_client_ca);
  tls = ReadTlsFiles(flags);
  ASSERT_TRUE(tls.ok()) << tls.status();
  EXPECT_EQ(tls->certificate_chain, "c");
  EXPECT_EQ(tls->private_key.size(), kPemBytesMax);
  EXPECT_EQ(tls->client_ca, "a");
}

TEST_F(TlsFilesTest, OtherFilesAreErrors) {
  const auto error = [](const std::string& path, const std::string& wrong) {
    return "--tls-cert " + path + ": the file " + wrong;
  };
  EXPECT_EQ(ErrorOf(Path("missing")),
            error(Path("missing"), "cannot be read: No such file or directory"));
  EXPECT_EQ(ErrorOf(Put("empty", "")), error(Path("empty"), "is empty"));
  EXPECT_EQ(ErrorOf(scratch_.path()), error(scratch_.path(), "is a directory"));
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(ErrorOf(Path("fifo")), error(Path("fifo"), "is not a regular file"));
  EXPECT_EQ(ErrorOf("/dev/zero"), error("/dev/zero", "is not a regular file"));
  EXPECT_EQ(ErrorOf(Put("large", std::string(kPemBytesMax + 1, 'x'))),
            error(Path("large"), "has 1048577 bytes, and PEM files have at most 1048576"));
}

TEST_F(TlsFilesTest, AReadThatFindsNoMemoryIsAnError) {
  const absl::StatusOr<TlsFiles> tls = ReadWithin(
      std::chrono::minutes(10), []() -> absl::StatusOr<TlsFiles> { throw std::bad_alloc(); });
  EXPECT_EQ(tls.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(TlsFilesTest, AReadThatDoesNotEndIsLeftBehind) {
  const auto may_end = std::make_shared<std::latch>(1);  // shared with the thread that is left
  const absl::StatusOr<TlsFiles> tls =
      ReadWithin(std::chrono::milliseconds(1), [may_end]() -> absl::StatusOr<TlsFiles> {
        may_end->wait();
        return TlsFiles();
      });
  EXPECT_EQ(tls.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(TextOf(tls.status()), "reading did not end within 1 ms; does the file system respond?");
  may_end->count_down();
}

}  // namespace
}  // namespace stele::server
