// tests/backends/backends.h: the backends that the suite runs on: memory, a directory, steled,
// Google's emulator.
//
// Needs:     the server's path in STELED_COMMAND, which ctest sets. If the emulator is not
//            installed, its tests are skipped and report that.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stele/stele.h"

namespace stele {

enum class Backend { kMemory, kDirectory, kSteled, kEmulator };

std::string NameOf(Backend backend);

// A server as a child process. It is killed when the object is destroyed. The first line of its
// output ends with its address.
class ChildServer {
 public:
  explicit ChildServer(const std::vector<std::string>& words);
  ~ChildServer();
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;

  // "" if the server did not start.
  const std::string& address() const { return address_; }
  // Sends SIGTERM. Returns the exit status, or -1 if a signal ended the server.
  int Terminate();

 private:
  pid_t pid_ = 0;
  std::string address_;
};

// Each test gets a new instance or database. All tests share the servers.
class BackendTest : public testing::TestWithParam<Backend> {
 protected:
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  bool is_local() const {
    return GetParam() == Backend::kMemory || GetParam() == Backend::kDirectory;
  }
  bool is_emulator() const { return GetParam() == Backend::kEmulator; }

  // Creates a table with families f (all versions) and g (two versions). Each `name` may be used
  // once per test.
  Table NewTable(const std::string& name = "t",
                 Schema schema = Schema().AddFamily("f").AddFamily("g", GcRule::MaxNumVersions(2)));

  Database database_;

 private:
  static inline std::unique_ptr<ChildServer> steled_;
  static inline std::unique_ptr<ChildServer> emulator_;
  static inline std::string steled_directory_;
  static inline int instance_count_ = 0;
  std::string directory_;
};

// Prints each row as "row f:q@2000=value f:q@1000=value#label". An error comes last, as "[CODE]".
// For a value above 40 bytes, prints its length.
std::vector<std::string> TextsOf(RowReader reader);
std::string TextOf(const RowView& row);
std::string CodeOf(const absl::Status& status);

}  // namespace stele
