// Tests bulk loads with a crash or a failure at any call of the file system.
#include "unit/db/bulk_load_fixture.h"

namespace stele::internal {
namespace {

class BulkLoadFaultTest : public BulkLoadTest {
 protected:
  static constexpr std::string_view kBefore = "a f:q@1000=file\nb f:q@1000=memory\n";

  void Prepare(FileSystem* files) {
    Open(files);
    ASSERT_EQ(opened_, absl::OkStatus());
    Table table = Create("t", GcRule::None(), {"row005"});
    ASSERT_EQ(table.Apply(Cells("a", "file")), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    ASSERT_EQ(table.Apply(Cells("b", "memory"), kLoadOnDisk), absl::OkStatus());
  }
  // Runs the whole load and returns the first error.
  absl::Status Load() {
    BulkLoad load = Find().NewBulkLoad();
    STELE_RETURN_IF_ERROR(AddRows(load, 0, 10));
    return load.Finish();
  }
  uint64_t CallsOfALoad() {
    CrashFileSystem files;
    Prepare(&files);
    const uint64_t calls = files.calls();
    EXPECT_EQ(Load(), absl::OkStatus());
    const uint64_t used = files.calls() - calls;
    Open(&files_);
    return used;
  }
  static bool HasAll(std::string_view text) {
    return text.substr(0, kBefore.size()) == kBefore &&
           std::count(text.begin(), text.end(), '\n') == 12;
  }
};

TEST_F(BulkLoadFaultTest, ACrashAtAnyCallLeavesAllOrNothing) {
  int before = 0;
  int after = 0;
  const uint64_t calls = CallsOfALoad();
  for (uint64_t call = 1; call <= calls + 1 && !HasFailure(); ++call) {
    CrashFileSystem files;
    Prepare(&files);
    files.SetCrashAtCall(files.calls() + call);
    const absl::Status loaded = Load();
    EXPECT_EQ(files.crashed(), call <= calls);
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const CrashPolicy policy = seed == 0   ? CrashPolicy::KilledProcess()
                                 : seed == 1 ? CrashPolicy::DropUnsynced()
                                 : seed == 2 ? CrashPolicy::KeepAll()
                                             : CrashPolicy::PowerLoss();
      const auto image = files.Crash(policy, call * 7 + seed);
      Open(image.get());
      ASSERT_EQ(opened_, absl::OkStatus()) << "call " << call << " seed " << seed;
      const std::string text = Text(Find());
      const bool all = HasAll(text);
      EXPECT_TRUE(all || text == kBefore) << "call " << call << " seed " << seed << ": " << text;
      if (loaded.ok()) {
        EXPECT_TRUE(all) << "acked, and gone after a crash at call " << call;
      }
      (all ? after : before) += 1;
      EXPECT_EQ(CountSstables(image.get()),
                engine().storage().state.view()->version->Files().size())
          << "a leftover";
      EXPECT_EQ(Find().Apply(Cells("z", "on"), kLoadOnDisk), absl::OkStatus());
      EXPECT_TRUE(
          database().Verify().value_or(VerifyReport{.damages = {VerifyReport::Damage()}}).ok());
      database_.reset();  // before its file system
    }
    Open(&files_);  // destroys the file systems
  }
  EXPECT_GT(before, 50);
  EXPECT_GE(after, 5);
}

TEST_F(BulkLoadFaultTest, AFailureAtAnyCallLeavesNothingOrAll) {
  const uint64_t calls = CallsOfALoad();
  for (const int error_number : {EIO, ENOSPC}) {
    int failures = 0;
    for (uint64_t call = 1; call <= calls && !HasFailure(); ++call) {
      CrashFileSystem files;
      Prepare(&files);
      files.FailCall(files.calls() + call,
                     {.error_number = error_number, .partial = call % 2 == 0});
      const absl::Status loaded = Load();
      files.ClearFaults();
      const bool poisoned = !engine().storage().committer->poison().ok();
      const std::string text = Text(Find());
      EXPECT_EQ(HasAll(text), loaded.ok()) << "call " << call << ": " << loaded << "\n" << text;
      if (!loaded.ok()) {
        EXPECT_EQ(text, kBefore) << "call " << call;
      }
      if (!loaded.ok() && !poisoned) {
        ++failures;
        EXPECT_EQ(engine().scheduler().WaitForIdle(), absl::OkStatus());
        EXPECT_EQ(CountSstables(&files), engine().storage().state.view()->version->Files().size())
            << "call " << call << ": " << loaded;
        EXPECT_EQ(Load(), absl::OkStatus()) << "again, after a failure at call " << call;
        EXPECT_TRUE(HasAll(Text(Find())));
      }
      const auto image = files.Crash(CrashPolicy::KilledProcess(), call);
      Open(image.get());
      ASSERT_EQ(opened_, absl::OkStatus());
      const bool all = HasAll(Text(Find()));
      EXPECT_TRUE(all || Text(Find()) == kBefore);
      if (loaded.ok()) {
        EXPECT_TRUE(all);
      }
      Open(&files_);
    }
    EXPECT_GT(failures, 3);
  }
}

}  // namespace
}  // namespace stele::internal
