// backends/backends.h: the places that one suite of tests runs over: memory, a directory, steled, Google's emulator.
//
// Needs:     the server's path in STELED_COMMAND, as ctest sets it. Where the emulator is not installed its tests are skipped and say so.
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

// A server as a child process, killed with the object. Its first line of output ends with the address at which it listens.
class ChildServer {
 public:
  explicit ChildServer(const std::vector<std::string>& words);
  ~ChildServer();
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;

  // "" if it did not come up.
  const std::string& address() const { return address_; }
  // SIGTERM; its exit status, -1 if a signal ended it.
  int Terminate();

 private:
  pid_t pid_ = 0;
  std::string address_;
};

// Each test gets an instance, or a database, of its own; the servers serve all tests.
class BackendTest : public testing::TestWithParam<Backend> {
 protected:
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  bool is_local() const { return GetParam() == Backend::kMemory || GetParam() == Backend::kDirectory; }
  bool is_emulator() const { return GetParam() == Backend::kEmulator; }

  // A table with families f (every version) and g (two versions); `name` once for a test.
  Table NewTable(const std::string& name = "t", Schema schema = Schema().AddFamily("f").AddFamily("g", GcRule::MaxNumVersions(2)));

  Database database_;

 private:
  static inline std::unique_ptr<ChildServer> steled_;
  static inline std::unique_ptr<ChildServer> emulator_;
  static inline std::string steled_directory_;
  static inline int instance_count_ = 0;
  std::string directory_;
};

// "row f:q@2000=value f:q@1000=value#label", the rows one after the other; an error ends them: "[CODE]". Values above 40 bytes as their
// length.
std::vector<std::string> TextsOf(RowReader reader);
std::string TextOf(const RowView& row);
std::string CodeOf(const absl::Status& status);

}  // namespace stele
