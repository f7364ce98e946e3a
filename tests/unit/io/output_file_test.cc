#include "io/output_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace stele::internal {
namespace {

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "/output_file_test";
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/data/part");
    for (const char* const file : {"/a", "/data/x", "/data/part/y"}) std::ofstream(root_ + file);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  absl::Status Check(const std::string& output, const std::string& input) const {
    return CheckOutputsAreNotInputs({"", root_ + output}, {"", root_ + input});
  }

  std::string root_;
};

TEST_F(OutputFileTest, AnInputIsNotReplaced) {
  EXPECT_EQ(Check("/a", "/a").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Check("/data/../a", "/a").code(), absl::StatusCode::kInvalidArgument);
  std::filesystem::create_hard_link(root_ + "/a", root_ + "/hard");
  std::filesystem::create_symlink(root_ + "/a", root_ + "/soft");
  EXPECT_EQ(Check("/hard", "/a").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Check("/soft", "/a").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Check("/a", "/soft").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(OutputFileTest, NothingIsWrittenIntoAnInputDirectory) {
  for (const char* const output : {"/data/x", "/data/new", "/data/part/y", "/data/part/new/deep",
                                   "/data/./new", "/data/part/../new", "/data"}) {
    EXPECT_EQ(Check(output, "/data").code(), absl::StatusCode::kInvalidArgument) << output;
    EXPECT_EQ(Check(output, "/data/").code(), absl::StatusCode::kInvalidArgument) << output;
  }
}

TEST_F(OutputFileTest, LinksIntoAnInputDirectoryAreFollowed) {
  std::filesystem::create_directory_symlink(root_ + "/data", root_ + "/link");
  std::filesystem::create_symlink(root_ + "/data/new", root_ + "/to_new");
  std::filesystem::create_symlink(root_ + "/a", root_ + "/data/to_a");
  EXPECT_EQ(Check("/link/new", "/data").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Check("/data/new", "/link").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Check("/to_new", "/data").code(), absl::StatusCode::kInvalidArgument);
  // A rename would replace the link itself.
  EXPECT_EQ(Check("/data/to_a", "/data").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(OutputFileTest, ADirectoryThatIsCreatedLaterCounts) {
  EXPECT_EQ(Check("/db/CURRENT", "/db").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Check("/db/CURRENT", "/db/").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(OutputFileTest, OtherFilesAreAllowed) {
  for (const char* const output : {"/b", "/new/b", "/data2", "/datax/y"})
    EXPECT_TRUE(Check(output, "/data").ok()) << output;
  EXPECT_TRUE(Check("/data/new", "/a").ok());
  EXPECT_TRUE(CheckOutputsAreNotInputs({"/dev/null", "/dev/stdout"}, {root_ + "/data"}).ok());
}

}  // namespace
}  // namespace stele::internal
