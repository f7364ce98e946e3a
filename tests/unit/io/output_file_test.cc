#include "io/output_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "io/file_system.h"
#include "support/crash_fs/crash_file_system.h"

namespace stele::internal {
namespace {

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "stele_output_file_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    std::filesystem::create_directories(root_ + "/data/part");
    for (const char* const file : {"/a", "/data/x", "/data/part/y"}) std::ofstream(root_ + file);
  }
  void TearDown() override {
    if (!root_.empty()) std::filesystem::remove_all(root_);
  }

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

constexpr char kReplaced[] = "/d/state";

// Returns the text of the replaced file, or "none" if there is no such file.
std::string ReplacedText(FileSystem* files) {
  const auto file = files->Open(kReplaced, OpenMode::kRead);
  if (!file.ok()) return "none";
  std::string text(100, '\0');
  const absl::StatusOr<size_t> read = (*file)->Read(0, text.size(), text.data());
  EXPECT_TRUE(read.ok());
  text.resize(read.value_or(0));
  return text;
}

// Crashes at call `call`, if there are that many, and checks what the file can have afterwards.
// Returns whether it crashed.
bool ReplaceAndCrash(uint64_t call) {
  CrashFileSystem files;
  EXPECT_TRUE(files.CreateDirectory("/d").ok());
  EXPECT_TRUE(files.SyncDirectory("/").ok());
  EXPECT_TRUE(ReplaceFileDurably(&files, kReplaced, "old").ok());
  files.SetCrashAtCall(files.calls() + call);
  const bool is_replaced = ReplaceFileDurably(&files, kReplaced, "new text").ok();
  for (uint64_t seed = 0; seed < 32; ++seed) {
    const auto image =
        files.Crash(seed < 16 ? CrashPolicy::PowerLoss() : CrashPolicy::Random(seed), seed);
    const std::string text = ReplacedText(image.get());
    EXPECT_TRUE(text == "new text" || (text == "old" && !is_replaced)) << call << ": " << text;
    // A leftover of the crash does not harm the next one.
    EXPECT_TRUE(ReplaceFileDurably(image.get(), kReplaced, "last").ok());
    EXPECT_EQ(ReplacedText(image.get()), "last");
  }
  return files.crashed();
}

TEST(ReplaceFileTest, ACrashLeavesTheOldOrTheNewText) {
  uint64_t call = 1;
  while (ReplaceAndCrash(call)) ++call;
  EXPECT_GT(call, 4u);
}

TEST(ReplaceFileTest, AFailureLeavesTheOldTextAndNoOtherFile) {
  for (const CallKind kind : {CallKind::kWrite, CallKind::kSync, CallKind::kRename}) {
    CrashFileSystem files;
    ASSERT_TRUE(files.CreateDirectory("/d").ok());
    ASSERT_TRUE(ReplaceFileDurably(&files, kReplaced, "old").ok());
    files.FailKind(kind, 1, {.error_number = ENOSPC});
    EXPECT_FALSE(ReplaceFileDurably(&files, kReplaced, "new text").ok());
    EXPECT_EQ(ReplacedText(&files), "old");
    EXPECT_EQ(files.List("/d")->size(), 1u);
  }
}

TEST(ReplaceFileTest, AFileOfTheUserIsKept) {
  CrashFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/d").ok());
  ASSERT_TRUE(files.Open("/d/state.new", OpenMode::kCreate).ok());
  ASSERT_TRUE(ReplaceFileDurably(&files, kReplaced, "text").ok());
  EXPECT_EQ(*files.List("/d"), (std::vector<std::string>{"state", "state.new"}));
}

}  // namespace
}  // namespace stele::internal
