// Tests the metrics port of the built server with requests of every kind.
#include <gtest/gtest.h>
#include <link.h>

#include <cstdlib>
#include <fstream>

#include "steled/metrics_page.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

class MetricsPort : public testing::Test {
 protected:
  std::string Fetch(const std::string& request) {
    return FetchPage(server_.metrics_address(), request);
  }
  std::string FetchPath(const std::string& method, const std::string& path) {
    const std::string body = method == "POST" ? "Content-Length: 3\r\n\r\nabc" : "\r\n";
    return Fetch(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                 body);
  }
  void ExpectServes() {
    EXPECT_TRUE(Fetch("GET /metrics HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200 "));
    EXPECT_EQ(client_.Read("t"), std::vector<std::string>());
  }
  void SetUp() override { ASSERT_TRUE(client_.CreateTable("t", {"f"}).ok()); }

  ScratchDirectory directory_;
  ServerProcess server_{directory_.path() + "/db",
                        {"--metrics=127.0.0.1:0", "--durability=process"}};
  Client client_{server_.address()};
};

TEST_F(MetricsPort, EveryPathAndMethodIsAnswered) {
  for (const char* const path : {"/", "/healthz", "/favicon.ico", "/metrics", "/metrics/",
                                 "/metrics?name=x", "/a/../b", "/%00%ff", "//", "/metrics/x/y/z"}) {
    for (const char* const method : {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"}) {
      EXPECT_TRUE(FetchPath(method, path).starts_with("HTTP/1.1 ")) << method << " " << path;
    }
  }
  ExpectServes();
  EXPECT_EQ(server_.Terminate(), 0);
}

TEST_F(MetricsPort, HealthIsAPageAndOtherPathsAreNot) {
  EXPECT_TRUE(FetchPath("GET", "/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(FetchPath("GET", "/healthz").ends_with("\r\n\r\nserving\n"));
  EXPECT_TRUE(FetchPath("HEAD", "/healthz").ends_with("\r\n\r\n"));
  EXPECT_TRUE(FetchPath("POST", "/healthz").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(FetchPath("GET", "/").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(FetchPath("GET", "/healthz/x").starts_with("HTTP/1.1 404 "));
}

TEST_F(MetricsPort, RequestsThatAreNotHttpDoNoHarm) {
  const std::string long_path = "GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\n\r\n";
  const std::string many_headers = "GET / HTTP/1.1\r\n" + std::string(30'000, 'h') + ": x\r\n\r\n";
  for (const std::string& request :
       {long_path, many_headers, std::string("OPTIONS * HTTP/1.1\r\n\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), std::string("\r\n\r\n"),
        std::string("\x16\x03\x01\x02\x00\r\n\r\n", 9)}) {
    Fetch(request);
  }
  ExpectServes();
  EXPECT_EQ(server_.Terminate(), 0);
}

// Thread-local variables are on the stack of every thread, and libraries start threads with stacks
// of 100 KiB.
TEST(Program, ThreadLocalVariablesAreSmall) {
  const char* const program = std::getenv("STELED_COMMAND");
  ASSERT_NE(program, nullptr) << "run this through ctest";
  std::ifstream file(program, std::ios::binary);
  ElfW(Ehdr) header{};
  ASSERT_TRUE(file.read(reinterpret_cast<char*>(&header), sizeof(header)));
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof(segment)));
    ASSERT_TRUE(file.read(reinterpret_cast<char*>(&segment), sizeof(segment)));
    if (segment.p_type != PT_TLS) continue;
    EXPECT_LE(segment.p_memsz, 4096u);
  }
}

}  // namespace
}  // namespace stele::server
