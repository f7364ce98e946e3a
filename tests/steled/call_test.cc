// Tests calls: cancelled and unread calls, unsupported methods, TLS, reflection, metrics, and a
// shutdown during work.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "steled/metrics_page.h"
#include "steled/server_fixture.h"
#include "steled/transport/sockets/tls.h"

namespace stele::server {
namespace {

using grpc::StatusCode;
using Rows = std::vector<std::string>;

// Calls any method by its path, with the request's bytes.
struct RawAnswer {
  StatusCode code = StatusCode::UNKNOWN;
  std::string bytes;
};
RawAnswer CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                  const std::string& request) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice slice(request);
  const grpc::ByteBuffer message(&slice, 1);
  const auto call = stub.PrepareUnaryCall(&context, method, message, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  RawAnswer answer{.code = status.error_code()};
  std::vector<grpc::Slice> slices;
  if (status.ok() && response.Dump(&slices).ok()) {
    for (const grpc::Slice& part : slices)
      answer.bytes.append(reinterpret_cast<const char*>(part.begin()), part.size());
  }
  return answer;
}

// Waits until the metric has the value: a call's end is counted after its client knows of it.
void AwaitMetric(const std::string& address, const std::string& name, double value) {
  while (MetricOf(address, name) != value) std::this_thread::yield();
}

std::string CallsOf(const std::string& method, const std::string& code) {
  return "steled_calls_total{code=\"" + code + "\",method=\"/google.bigtable.v2.Bigtable/" +
         method + "\"}";
}

class CallTest : public testing::Test {
 protected:
  static constexpr int kRows = 60;

  void SetUp() override {
    server_ = std::make_unique<ServerProcess>(
        directory_.path() + "/db",
        Rows{"--durability=process", "--metrics=127.0.0.1:0", "--memory-budget=32MiB"});
    client_ = std::make_unique<Client>(server_->address());
    ASSERT_TRUE(client_->CreateTable("t", {"f"}).ok());
  }

  // Writes more than an unread stream can buffer.
  void Fill() {
    const std::string value(900'000, 'v');
    for (int i = 0; i < kRows; ++i)
      ASSERT_TRUE(client_->Set("t", "r" + std::to_string(100 + i), "f:v", 1000, value).ok());
  }

  static google::bigtable::v2::ReadRowsRequest WholeTable() {
    google::bigtable::v2::ReadRowsRequest request;
    request.set_table_name(Client::TableName("t"));
    return request;
  }

  double Metric(const std::string& name) const {
    return MetricOf(server_->metrics_address(), name);
  }
  void Await(const std::string& name, double value) const {
    AwaitMetric(server_->metrics_address(), name, value);
  }
  void AwaitAbove(const std::string& name, double value) const {
    while (Metric(name) <= value) std::this_thread::yield();
  }

  const ScratchDirectory directory_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(CallTest, AreCountedByMethodAndCode) {
  ASSERT_TRUE(client_->Set("t", "r", "f:v", 1000, "value").ok());
  ASSERT_TRUE(client_->Set("t", "r", "f:v", 2000, "value").ok());
  EXPECT_EQ(client_->Set("t", "r", "none:v", 1000, "value").error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(client_->Read("t"), Rows({"r f:v@2000=value f:v@1000=value"}));
  Await(CallsOf("MutateRow", "OK"), 2);
  Await(CallsOf("MutateRow", "NOT_FOUND"), 1);
  Await(CallsOf("ReadRows", "OK"), 1);
  // The figures of a call are counted one after the other.
  Await("steled_call_seconds_count{method=\"/google.bigtable.v2.Bigtable/MutateRow\"}", 3);
  AwaitAbove("steled_received_bytes_total{method=\"/google.bigtable.v2.Bigtable/MutateRow\"}", 120);
  AwaitAbove("steled_sent_bytes_total{method=\"/google.bigtable.v2.Bigtable/ReadRows\"}", 10);
  EXPECT_EQ(Metric("stele_tables"), 1);
  EXPECT_GE(Metric("stele_commits_total"), 2);
  Await("steled_running_calls", 0);
}

TEST_F(CallTest, BytesThatAreNoRequestAreAnInternalError) {
  EXPECT_EQ(CallRaw(client_->channel(), "/google.bigtable.v2.Bigtable/MutateRow", "\x0a\xff").code,
            StatusCode::INTERNAL);
  EXPECT_EQ(CallRaw(client_->channel(), "/google.bigtable.v2.Bigtable/ReadRows", "\x0a\xff").code,
            StatusCode::INTERNAL);
}

TEST_F(CallTest, AScanThatNobodyReadsEndsWithItsDeadline) {
  const std::string ended =
      "steled_call_seconds_count{method=\"/google.bigtable.v2.Bigtable/ReadRows\"}";
  Fill();
  Await("steled_running_calls", 0);
  // On a slow machine the deadline may pass before the server runs the call.
  for (int seconds = 2; Metric(ended) < 1 && seconds < 256; seconds *= 2) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(seconds));
    const auto reader = client_->data().ReadRows(&context, WholeTable());
    // The client reads nothing before the deadline.
    while (std::chrono::system_clock::now() < context.deadline()) std::this_thread::yield();
    Await("steled_running_calls", 0);
    google::bigtable::v2::ReadRowsResponse message;
    while (reader->Read(&message)) continue;
    EXPECT_EQ(reader->Finish().error_code(), StatusCode::DEADLINE_EXCEEDED);
  }
  EXPECT_GE(Metric(ended), 1);
  EXPECT_LT(Metric(CallsOf("ReadRows", "OK")), 1);
}

TEST_F(CallTest, AScanThatIsCancelledEnds) {
  Fill();
  grpc::ClientContext context;
  const auto reader = client_->data().ReadRows(&context, WholeTable());
  Await("steled_running_calls", 1);
  context.TryCancel();
  Await("steled_running_calls", 0);
  EXPECT_LT(Metric(CallsOf("ReadRows", "OK")), 1);
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::CANCELLED);
}

TEST_F(CallTest, SlowReadersHoldLittleMemory) {
  constexpr int kReaders = 8;
  Fill();
  const auto resident = [&] {
    std::ifstream status("/proc/" + std::to_string(server_->pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stol(line.substr(6)) * 1024;
    }
    return 0L;
  };
  const long before = resident();
  ASSERT_GT(before, 0);
  std::array<grpc::ClientContext, kReaders> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<google::bigtable::v2::ReadRowsResponse>>> readers;
  google::bigtable::v2::ReadRowsResponse message;
  for (grpc::ClientContext& context : contexts) {
    Client other(server_->address());
    readers.push_back(other.data().ReadRows(&context, WholeTable()));
    ASSERT_TRUE(readers.back()->Read(&message));
  }
  Await("steled_running_calls", kReaders);
  EXPECT_TRUE(client_->Set("t", "after", "f:v", 1000, "x").ok()) << "they keep nobody";
  // Each of them reads 54 MB.
  EXPECT_LT(resident() - before, 8 * 20'000'000L);
  EXPECT_LT(Metric("stele_memory_bytes"), 32 << 20);
  for (grpc::ClientContext& context : contexts) context.TryCancel();
  Await("steled_running_calls", 0);
}

TEST_F(CallTest, UnknownFieldsAreTolerated) {
  google::bigtable::v2::MutateRowRequest request;
  request.set_table_name(Client::TableName("t"));
  request.set_row_key("r");
  auto* const set = request.add_mutations()->mutable_set_cell();
  set->set_family_name("f");
  set->set_value("v");
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(1000,
                                                                              "of a newer client");
  set->GetReflection()->MutableUnknownFields(set)->AddVarint(1001, 7);
  grpc::ClientContext context;
  google::bigtable::v2::MutateRowResponse response;
  EXPECT_TRUE(client_->data().MutateRow(&context, request, &response).ok());
  EXPECT_EQ(client_->Read("t"), Rows({"r f:@0=v"}));
}

// Semantics row 145: ExecuteQuery is one of these methods.
TEST_F(CallTest, WhatIsNotOfferedIsUnimplemented) {
  const std::string data = "/google.bigtable.v2.Bigtable/";
  const std::string tables = "/google.bigtable.admin.v2.BigtableTableAdmin/";
  const std::string instances = "/google.bigtable.admin.v2.BigtableInstanceAdmin/";
  const std::string operations = "/google.longrunning.Operations/";
  Rows methods;
  for (const char* const method :
       {"GenerateInitialChangeStreamPartitions", "ReadChangeStream", "PrepareQuery", "ExecuteQuery",
        "GetClientConfiguration", "OpenTable", "OpenAuthorizedView", "OpenMaterializedView",
        "NoSuchMethod"}) {
    methods.push_back(data + method);
  }
  for (const char* const method :
       {"CreateTableFromSnapshot", "CreateAuthorizedView", "ListAuthorizedViews",
        "GetAuthorizedView", "UpdateAuthorizedView", "DeleteAuthorizedView", "SnapshotTable",
        "GetSnapshot", "ListSnapshots", "DeleteSnapshot", "CreateSchemaBundle",
        "UpdateSchemaBundle", "GetSchemaBundle", "ListSchemaBundles", "DeleteSchemaBundle"}) {
    methods.push_back(tables + method);
  }
  for (const char* const method :
       {"CreateLogicalView", "GetLogicalView", "ListLogicalViews", "UpdateLogicalView",
        "DeleteLogicalView", "CreateMaterializedView", "GetMaterializedView",
        "ListMaterializedViews", "UpdateMaterializedView", "DeleteMaterializedView"}) {
    methods.push_back(instances + method);
  }
  methods.push_back(operations + "NoSuchMethod");
  for (const std::string& method : methods)
    EXPECT_EQ(CallRaw(client_->channel(), method, "").code, StatusCode::UNIMPLEMENTED) << method;
  EXPECT_EQ(CallRaw(client_->channel(), data + "MutateRow", "").code, StatusCode::INVALID_ARGUMENT)
      << "one that is offered";
}

TEST_F(CallTest, ReflectionListsTheServices) {
  const std::string list_all = "\x3a\x01*";  // ServerReflectionRequest.list_services
  for (const char* const name : {"v1", "v1alpha"}) {
    const std::string path =
        std::string("/grpc.reflection.") + name + ".ServerReflection/ServerReflectionInfo";
    const RawAnswer answer = CallRaw(client_->channel(), path, list_all);
    ASSERT_EQ(answer.code, StatusCode::OK) << name;
    for (const char* const service :
         {"google.bigtable.v2.Bigtable", "google.bigtable.admin.v2.BigtableTableAdmin",
          "google.bigtable.admin.v2.BigtableInstanceAdmin", "google.longrunning.Operations"}) {
      EXPECT_NE(answer.bytes.find(service), std::string::npos) << service;
    }
  }
}

TEST(CallLoad, AnEndInOrderUnderLoadLosesNothingThatWasAcknowledged) {
  constexpr size_t kWriters = 4;
  const ScratchDirectory directory;
  std::array<int, kWriters> acked{};
  {
    ServerProcess server(directory.path() + "/db");
    ASSERT_TRUE(Client(server.address()).CreateTable("t", {"f"}).ok());
    std::atomic<int> acked_count{0};
    std::vector<std::jthread> writers;
    for (size_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        Client client(server.address());
        while (client
                   .Set("t", "w" + std::to_string(writer) + "-" + std::to_string(acked[writer]),
                        "f:a", 1000, "v")
                   .ok()) {
          ++acked[writer];
          acked_count.fetch_add(1, std::memory_order_relaxed);
          acked_count.notify_one();
        }
      });
    }
    for (int seen = 0; seen < 200; seen = acked_count.load()) acked_count.wait(seen);
    EXPECT_EQ(server.Terminate(), 0);
  }
  const ServerProcess again(directory.path() + "/db");
  Client client(again.address());
  for (size_t writer = 0; writer < kWriters; ++writer) {
    const std::string prefix = "w" + std::to_string(writer);
    const size_t rows = client
                            .Read("t", "rows { row_ranges { start_key_closed: '" + prefix +
                                           "-' end_key_open: '" + prefix + ".' } }")
                            .size();
    const auto promised = static_cast<size_t>(acked[writer]);
    EXPECT_TRUE(rows == promised || rows == promised + 1) << rows << " of " << promised;
  }
}

// ---- TLS ----

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A certificate authority, and its certificates for a server on 127.0.0.1 and for a client.
class Certificates {
 public:
  explicit Certificates(const std::string& folder) : folder_(folder) {
    made_ = Run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
                "/CN=authority -keyout " +
                Path("ca.key") + " -out " + Path("ca.pem")) &&
            Sign("server", "subjectAltName=IP:127.0.0.1") &&
            Sign("client", "subjectAltName=DNS:client");
  }

  bool made() const { return made_; }
  std::string Path(const std::string& file) const { return folder_ + "/" + file; }

  std::shared_ptr<grpc::ChannelCredentials> ForClient(bool with_certificate) const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = ReadFile(Path("ca.pem"));
    if (with_certificate) {
      options.pem_cert_chain = ReadFile(Path("client.pem"));
      options.pem_private_key = ReadFile(Path("client.key"));
    }
    return grpc::SslCredentials(options);
  }

 private:
  static bool Run(const std::string& arguments) {
    return std::system(("openssl " + arguments + " 2> /dev/null").c_str()) == 0;
  }

  bool Sign(const std::string& name, const std::string& extension) const {
    std::ofstream(Path(name + ".ext")) << extension << "\n";
    return Run("req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=" + name +
               " -keyout " + Path(name + ".key") + " -out " + Path(name + ".csr")) &&
           Run("x509 -req -days 2 -in " + Path(name + ".csr") + " -CA " + Path("ca.pem") +
               " -CAkey " + Path("ca.key") + " -CAcreateserial -extfile " + Path(name + ".ext") +
               " -out " + Path(name + ".pem"));
  }

  const std::string folder_;
  bool made_ = false;
};

StatusCode Ping(const std::string& address,
                const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  const auto stub =
      google::bigtable::v2::Bigtable::NewStub(grpc::CreateChannel(address, credentials));
  grpc::ClientContext context;
  google::bigtable::v2::PingAndWarmRequest request;
  request.set_name(kInstance);
  google::bigtable::v2::PingAndWarmResponse response;
  return stub->PingAndWarm(&context, request, &response).error_code();
}

TEST(Tls, IsForClientsThatTrustTheServerAndThatItTrusts) {
  const ScratchDirectory directory;
  const Certificates certificates(directory.path());
  if (!certificates.made()) GTEST_SKIP() << "openssl makes no certificates here";
  const Rows flags = {"--tls-cert", certificates.Path("server.pem"), "--tls-key",
                      certificates.Path("server.key")};
  {
    const ServerProcess server(directory.path() + "/db", flags);
    EXPECT_EQ(Ping(server.address(), certificates.ForClient(false)), StatusCode::OK);
    EXPECT_EQ(Ping(server.address(), grpc::InsecureChannelCredentials()), StatusCode::UNAVAILABLE);
    EXPECT_EQ(Ping(server.address(), grpc::SslCredentials({})), StatusCode::UNAVAILABLE)
        << "an authority that nobody knows";
  }
  Rows mutual = flags;
  mutual.insert(mutual.end(), {"--tls-client-ca", certificates.Path("ca.pem")});
  const ServerProcess server(directory.path() + "/db", mutual);
  EXPECT_EQ(Ping(server.address(), certificates.ForClient(true)), StatusCode::OK);
  EXPECT_EQ(Ping(server.address(), certificates.ForClient(false)), StatusCode::UNAVAILABLE);
}

// Regression: the certificates after a damaged one were left out, and the server said nothing.
TEST(Tls, ADamagedCertificateAfterTheFirstIsAnError) {
  const ScratchDirectory directory;
  const Certificates certificates(directory.path());
  if (!certificates.made()) GTEST_SKIP() << "openssl makes no certificates here";
  const std::string key = ReadFile(certificates.Path("server.key"));
  const std::string own = ReadFile(certificates.Path("server.pem"));
  const std::string authority = ReadFile(certificates.Path("ca.pem"));
  const std::string cut = authority.substr(0, authority.size() / 2);
  EXPECT_TRUE(NewTlsContext({own + authority + "# the end\n", key, authority}).ok());
  const absl::Status chain = NewTlsContext({own + cut, key, authority}).status();
  EXPECT_NE(chain.ToString().find("the certificate chain of --tls-cert"), std::string::npos)
      << chain;
  const absl::Status trusted = NewTlsContext({own, key, authority + cut}).status();
  EXPECT_NE(trusted.ToString().find("a certificate of --tls-client-ca"), std::string::npos)
      << trusted;
}

}  // namespace
}  // namespace stele::server
