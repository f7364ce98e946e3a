// Tests requests that are small when encoded and large in memory, or too deep for a stack: they are
// rejected with a status, and the server is not affected.
#include <fcntl.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "steled/server_fixture.h"

namespace stele::server {
namespace {

using grpc::StatusCode;

constexpr char kData[] = "/google.bigtable.v2.Bigtable/";
constexpr char kTables[] = "/google.bigtable.admin.v2.BigtableTableAdmin/";
constexpr char kInstances[] = "/google.bigtable.admin.v2.BigtableInstanceAdmin/";
constexpr size_t kRequestBytes = size_t{16} << 20;

std::string Varint(size_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>((number & 0x7f) | 0x80));
  bytes.push_back(static_cast<char>(number));
  return bytes;
}

// Encodes a field of bytes, or of a message.
std::string Field(int number, const std::string& bytes) {
  return Varint(static_cast<size_t>(number) << 3 | 2) + Varint(bytes.size()) + bytes;
}

std::string Repeated(const std::string& part, size_t byte_count = kRequestBytes) {
  std::string bytes;
  while (bytes.size() < byte_count) bytes += part;
  return bytes;
}

// Encodes fields with these numbers, nested repeatedly, the first one outermost.
std::string Nested(const std::vector<int>& numbers, size_t count) {
  std::vector<std::string> heads;
  size_t byte_count = 0;
  for (size_t level = count * numbers.size(); level-- > 0;) {
    heads.push_back(Varint(static_cast<size_t>(numbers[level % numbers.size()]) << 3 | 2) +
                    Varint(byte_count));
    byte_count += heads.back().size();
  }
  std::string bytes;
  std::for_each(heads.rbegin(), heads.rend(), [&bytes](const std::string& head) { bytes += head; });
  return bytes;
}

// Returns the peak memory of a process.
size_t PeakBytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; file >> word;) {
    if (word == "VmHWM:" && file >> word) return std::stoull(word) << 10;
  }
  return 0;
}

grpc::Status SendTo(const Client& client, const std::string& path, const std::string& request) {
  grpc::GenericStub stub(client.channel());
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice slice(request);
  const auto call = stub.PrepareUnaryCall(&context, path, grpc::ByteBuffer(&slice, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

class HostileTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(client_.CreateTable("t", {"f"}).ok()); }

  // Returns the code, and checks that the call took no more memory than a few times the request.
  StatusCode Code(const std::string& path, const std::string& request) {
    const size_t before = PeakBytes(server_.pid());
    const grpc::Status status = SendTo(client_, path, request);
    // The kernel's figure is not exact: it may even sink by some pages.
    EXPECT_LT(PeakBytes(server_.pid()), before + 10 * std::max(request.size(), kRequestBytes))
        << path;
    return status.error_code();
  }

  const std::string table_ = Field(1, Client::TableName("t"));
  const ScratchDirectory directory_;
  ServerProcess server_{directory_.path() + "/db", {"--durability=process"}};
  Client client_{server_.address()};
};

TEST_F(HostileTest, ManySmallPartsAreRefused) {
  const auto data = [&](const char* method, const std::string& rest) {
    return Code(kData + std::string(method), table_ + rest);
  };
  EXPECT_EQ(data("ReadRows", Field(2, Repeated(Field(1, "")))), StatusCode::RESOURCE_EXHAUSTED)
      << "row keys";
  EXPECT_EQ(data("ReadRows", Field(2, Repeated(Field(1, "k")))), StatusCode::RESOURCE_EXHAUSTED)
      << "row keys";
  EXPECT_EQ(data("ReadRows", Field(2, Repeated(Field(2, "")))), StatusCode::RESOURCE_EXHAUSTED)
      << "row ranges";
  EXPECT_EQ(data("ReadRows", Field(3, Field(2, Repeated(Field(1, ""))))),
            StatusCode::RESOURCE_EXHAUSTED)
      << "filters";
  EXPECT_EQ(data("ReadRows", Repeated("\xf8\x07\x01")), StatusCode::RESOURCE_EXHAUSTED)
      << "fields of no known number";
  EXPECT_EQ(data("ReadRows", Repeated("\x22" + std::string(1, '\0'))),
            StatusCode::RESOURCE_EXHAUSTED)
      << "bytes for a number";
  EXPECT_EQ(data("ReadRows", Repeated("\xfb\x07\xfc\x07")), StatusCode::RESOURCE_EXHAUSTED)
      << "groups";
  EXPECT_EQ(data("MutateRows", Repeated(Field(2, ""))), StatusCode::INVALID_ARGUMENT)
      << "entries, read in place";
  EXPECT_EQ(data("MutateRows", Field(2, Repeated(Field(2, "")))), StatusCode::RESOURCE_EXHAUSTED)
      << "mutations";
  EXPECT_EQ(data("MutateRow", Repeated(Field(3, ""))), StatusCode::RESOURCE_EXHAUSTED)
      << "mutations";
  EXPECT_EQ(data("CheckAndMutateRow", Repeated(Field(4, ""))), StatusCode::RESOURCE_EXHAUSTED)
      << "mutations";
  EXPECT_EQ(data("ReadModifyWriteRow", Repeated(Field(3, ""))), StatusCode::RESOURCE_EXHAUSTED)
      << "rules";
  for (int i = 0; i < 3; ++i) {
    const std::string most = Repeated(Field(1, ""), size_t{2'800'000});
    EXPECT_EQ(data("ReadRows", Field(2, most)), StatusCode::INVALID_ARGUMENT)
        << "with the room that the last call has given back";
  }
  EXPECT_TRUE(client_.Set("t", "r", "f:q", 1000, "v").ok());
}

TEST_F(HostileTest, ALargeAdministrativeRequestIsRefused) {
  EXPECT_EQ(Code(kTables + std::string("CreateTable"), Repeated(Field(4, ""))),
            StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Code(kTables + std::string("TestIamPermissions"), Repeated(Field(2, ""))),
            StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Code(kInstances + std::string("CreateInstance"),
                 Field(3, Field(2, std::string(size_t{64} << 10, 'x')))),
            StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(client_.CreateTable("other", {"f"}).ok());
}

TEST_F(HostileTest, DepthEndsInAStatus) {
  // A chain in a chain in a chain, of 20 KiB and larger than any stack; unknown groups.
  for (const size_t count : {size_t{2'500}, size_t{100'000}}) {
    EXPECT_NE(Code(kData + std::string("ReadRows"), table_ + Field(3, Nested({1, 1}, count))),
              StatusCode::UNAVAILABLE)
        << count;
    EXPECT_NE(Code(kData + std::string("CheckAndMutateRow"),
                   table_ + Field(2, "r") + Field(6, Nested({1, 1}, count))),
              StatusCode::UNAVAILABLE);
    // A table's family's rule: a union in a union. Its type: an array in an array.
    for (const std::string& family :
         {Field(1, Nested({4, 1}, count)), Field(3, Nested({14, 1}, count))}) {
      const std::string entry = Field(1, "f") + Field(2, family);
      EXPECT_NE(Code(kTables + std::string("CreateTable"),
                     Field(1, kInstance) + Field(2, "deep") + Field(3, Field(3, entry))),
                StatusCode::UNAVAILABLE);
    }
    EXPECT_NE(Code(kData + std::string("ReadRows"), table_ + Repeated("\xfb\x07", count * 2)),
              StatusCode::UNAVAILABLE)
        << count;
  }
  EXPECT_TRUE(client_.Set("t", "r", "f:q", 1000, "v").ok());
}

// The server's standard error is for its operator; clients cannot fill it.
TEST(HostileText, IsToldToTheClientAlone) {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/errors";
  const int errors_before = dup(STDERR_FILENO);
  const int file = open(path.c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_GE(dup2(file, STDERR_FILENO), 0);
  ServerProcess server(directory.path() + "/db", {"--slow-call-ms=0"});
  dup2(errors_before, STDERR_FILENO);
  close(errors_before);
  close(file);
  EXPECT_EQ(SendTo(Client(server.address()), kData + std::string("ReadRows"), Field(1, "\xff"))
                .error_code(),
            StatusCode::INTERNAL);
  EXPECT_EQ(server.Terminate(), 0);
  std::ifstream log(path);
  for (std::string line; std::getline(log, line);) {
    const bool is_own = line.find(": the server ") != std::string::npos ||
                        line.find(": a variable sets no flag") != std::string::npos;
    EXPECT_TRUE(is_own) << line;
  }
}

}  // namespace
}  // namespace stele::server
