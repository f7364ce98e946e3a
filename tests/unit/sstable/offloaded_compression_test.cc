#include <gtest/gtest.h>

#include <deque>
#include <thread>
#include <vector>

#include "io/mem_file_system.h"
#include "sstable/write/serial_executor.h"
#include "support/base_sanitized.h"
#include "support/sstable_testing.h"

namespace stele::internal {
namespace {

// Runs the work when it is started, when it is awaited, or on threads.
class Hands : public SerialExecutor {
 public:
  enum class Way { kAtOnce, kAtAwait, kThreads };
  explicit Hands(Way way) : way_(way) {}
  ~Hands() override { Await(); }

  void Submit(std::function<void()> work) override {
    ++begun;
    if (way_ == Way::kAtOnce) return work();
    waiting_.push_back(std::move(work));
    if (way_ == Way::kThreads) threads_.emplace_back(waiting_.back());
  }
  void Await() override {
    for (std::thread& thread : threads_) thread.join();
    for (const auto& work : waiting_) {
      if (way_ == Way::kAtAwait) work();
    }
    threads_.clear();
    waiting_.clear();
  }

  int begun = 0;

 private:
  const Way way_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
};

// Several sections may be in another order; reads return the same.
TEST(OffloadedCompressionTest, ChangesNothingThatIsRead) {
  for (const bool one_section : {true, false}) {
    RowShape shape{.row_count = kReduced ? 4'000u : 12'000u,
                   .family_count = 4,
                   .value_bytes = 120,
                   .narrow_family_count = 1};
    if (one_section)
      shape = {.row_count = kReduced ? 4'000u : 8'000u,
               .family_count = 1,
               .qualifier_count = 0,
               .value_bytes = 120};
    const std::vector<OwnedRow> rows = RandomRows(1, shape);
    for (const Codec codec : {Codec::kNone, Codec::kLz4, Codec::kZstd}) {
      MemFileSystem files;
      SstableBuilderOptions options = OptionsForTest(shape.family_count, codec);
      ASSERT_TRUE(WriteSstable(&files, "/alone", rows, options).ok());
      const std::string alone = ReadBytes(&files, "/alone").value_or("");
      for (const Hands::Way way :
           {Hands::Way::kAtOnce, Hands::Way::kAtAwait, Hands::Way::kThreads}) {
        Hands hands(way);
        options.compression_executor = &hands;
        const std::string path = "/compressed" + std::to_string(static_cast<int>(way));
        ASSERT_TRUE(WriteSstable(&files, path, rows, options).ok());
        EXPECT_GT(hands.begun, 2);
        const std::string compressed = ReadBytes(&files, path).value_or("");
        if (one_section) {
          EXPECT_TRUE(compressed == alone) << "codec " << static_cast<int>(codec);
        } else {
          const auto reader = OpenSstableFile(&files, path);
          ASSERT_TRUE(reader.ok()) << reader.status();
          EXPECT_TRUE(ReadWholeSstable(**reader).value_or(std::vector<OwnedRow>()) == rows)
              << "codec " << static_cast<int>(codec);
        }
      }
    }
  }
}

TEST(OffloadedCompressionTest, IsAwaitedByADestroyedBuilder) {
  MemFileSystem files;
  Hands hands(Hands::Way::kThreads);
  SstableBuilderOptions options = OptionsForTest(1, Codec::kZstd);
  options.compression_executor = &hands;
  const std::unique_ptr<File> file = files.Open("/f", OpenMode::kCreate).value_or(nullptr);
  ASSERT_NE(file, nullptr);
  {
    SstableBuilder builder(file.get(), options);
    const std::string value(1000, 'v');
    for (int row = 0; row < 3000; ++row) {
      const Cell cell{
          .family = 1, .kind = CellKind::kSet, .timestamp = 1, .qualifier = "q", .value = value};
      ASSERT_TRUE(builder.StartRow("row" + std::to_string(10'000 + row)).ok());
      ASSERT_TRUE(builder.AddCells({&cell, 1}).ok());
    }
  }
  EXPECT_GT(hands.begun, 0);
}

}  // namespace
}  // namespace stele::internal
