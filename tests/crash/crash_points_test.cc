// Tests a crash before every file-system call of small workloads, and inside the recovery. The
// reopened database has the workload's state after some prefix of its writes. The prefix contains
// all durable writes. The database passes every check and continues.
//
// Environment:
//   STELE_CRASH_IMAGES  minimum number of crash images (default 10,000; 2,000 with sanitizers)
//   STELE_CRASH_SEED    the first workload
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/random.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_crash_check.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr size_t kStepCount = 36;
constexpr uint64_t kImagesPerCall = 8;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A workload, and the state after each number of its writes on a database without faults.
struct Course {
  std::vector<WorkloadStep> steps;
  std::vector<std::string> states;
};

Course RunUndisturbed(uint64_t seed) {
  Course course{.steps = MakeWorkload(seed, kStepCount)};
  absl::StatusOr<std::vector<std::string>> states = StatesOf(course.steps);
  EXPECT_TRUE(states.ok()) << "seed " << seed << ": " << states.status();
  if (states.ok()) course.states = *std::move(states);
  return course;
}

// The acknowledged writes at the time of the crash. The write in progress may be applied or not.
struct Progress {
  size_t acked = 0;
  size_t durable = 0;
  size_t possible = 0;
  std::string step = "opening";
  CheckpointProgress checkpoints;
};

Progress RunUntilCrash(CrashFileSystem* files, const Course& course) {
  Progress progress;
  WorkloadDatabase database(files);
  if (!database.Open().ok()) return progress;
  for (const WorkloadStep& step : course.steps) {
    progress.step = ToText(step);
    const std::string copy = CheckpointDirectory(step.salt);
    const bool copies = step.kind == WorkloadStep::Kind::kCheckpoint;
    const absl::Status status = database.Run(step);
    // A crash at the end of a call, after the write became durable, still acknowledges it.
    if (!status.ok()) {
      EXPECT_TRUE(files->crashed()) << ToText(step) << ": " << status;
      progress.possible = progress.acked + (step.ChangesState() ? 1 : 0);
      if (copies) {
        progress.checkpoints.copies[copy].push_back(progress.acked);
        progress.checkpoints.under_way = copy;
      }
      return progress;
    }
    if (step.ChangesState()) ++progress.acked;
    if (step.IsDurable()) progress.durable = progress.acked;
    if (copies) progress.checkpoints.copies[copy] = {progress.acked};
  }
  progress.possible = progress.acked;
  return progress;
}

class CrashCampaign {
 public:
  // Makes crash images at every call of the workload of `seed`, up to `images_max` in total.
  void RunWorkload(uint64_t seed, uint64_t images_max);

  uint64_t images = 0;
  uint64_t crashes_in_recovery = 0;
  uint64_t calls = 0;
  uint64_t copies_opened = 0;

 private:
  std::unique_ptr<CrashFileSystem> CrashInRecovery(std::unique_ptr<CrashFileSystem> image,
                                                   Random& random);
};

CrashPolicy PolicyOf(uint64_t index, Random& random) {
  switch (index) {
    case 0:
      return CrashPolicy::KilledProcess();
    case 1:
      return CrashPolicy::DropUnsynced();
    case 2:
      return CrashPolicy::KeepAll();
    case 3:
    case 4:
    case 5:
      return CrashPolicy::PowerLoss();
    default:
      return CrashPolicy::Random(random.Next());
  }
}

std::unique_ptr<CrashFileSystem> CrashCampaign::CrashInRecovery(
    std::unique_ptr<CrashFileSystem> image, Random& random) {
  image->SetCrashAtCall(image->calls() + 1 + random.Below(16));
  {
    WorkloadDatabase database(image.get());
    database.Open().IgnoreError();
    if (!image->crashed()) return image->Crash(CrashPolicy::PowerLoss(), random.Next());
  }
  ++crashes_in_recovery;
  return image->Crash(
      random.OneIn(2) ? CrashPolicy::PowerLoss() : CrashPolicy::Random(random.Next()),
      random.Next());
}

void CrashCampaign::RunWorkload(uint64_t seed, uint64_t images_max) {
  const Course course = RunUndisturbed(seed);
  if (::testing::Test::HasFailure()) return;
  for (uint64_t call = 1; images < images_max; ++call) {
    CrashFileSystem files;
    files.SetCrashAtCall(call);
    const Progress progress = RunUntilCrash(&files, course);
    ++calls;
    Random random(seed * 1'000'003 + call);
    for (uint64_t index = 0; index < kImagesPerCall && images < images_max; ++index, ++images) {
      const CrashPolicy policy = PolicyOf(index, random);
      const bool killed = policy.keep == CrashPolicy::Keep::kPageCache;
      std::unique_ptr<CrashFileSystem> image = files.Crash(policy, random.Next());
      // A second crash may lose data that the first one left unsynced.
      const bool twice = !killed && random.OneIn(3);
      if (twice) image = CrashInRecovery(std::move(image), random);
      std::string wrong =
          CheckCheckpoints(image.get(), course.states, progress.checkpoints, &copies_opened);
      const AllowedStates allowed{.states = course.states,
                                  .least = killed ? progress.acked : progress.durable,
                                  .most = progress.possible};
      if (wrong.empty()) wrong = CheckReopened(image.get(), allowed, random.OneIn(4));
      if (wrong.empty()) continue;
      ADD_FAILURE() << fmt::format("workload {}, crash at call {} (in {}), image {}{}: {}", seed,
                                   call, progress.step, index,
                                   twice ? ", crashed again in recovery" : "", wrong);
      return;
    }
    if (!files.crashed()) return;
  }
}

TEST(CrashPointsTest, EveryCallOfEveryWorkload) {
  constexpr uint64_t kImages = kReduced ? 1'000 : 10'000;
  const uint64_t images_min = FromEnvironment("STELE_CRASH_IMAGES", kImages);
  const uint64_t seed_first = FromEnvironment("STELE_CRASH_SEED", 1);
  const auto start = std::chrono::steady_clock::now();
  CrashCampaign campaign;
  uint64_t seed = seed_first;
  for (; campaign.images < images_min && !HasFailure(); ++seed)
    campaign.RunWorkload(seed, images_min);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << fmt::format(
      "{} crash images ({} after a second crash, in recovery) at {} calls of workloads {} to {}; "
      "{} checkpoints opened; {:.1f} s\n",
      campaign.images, campaign.crashes_in_recovery, campaign.calls, seed_first, seed - 1,
      campaign.copies_opened, seconds);
  EXPECT_GT(campaign.crashes_in_recovery, campaign.images / 20);
}

}  // namespace
}  // namespace stele::internal
