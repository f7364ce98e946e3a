// Campaign R1: a crash before every file-system call of small workloads, and inside the recovery from it. The reopened database is the
// workload's state after some prefix of its writes that holds all that was promised, passes every check, and goes on.
//
// Environment: STELE_CRASH_IMAGES  how many crash images at least (default 10,000; 2,000 with sanitizers)
//              STELE_CRASH_SEED    begin with this workload
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>

#include "base/random.h"
#include "db/engine.h"
#include "io/crash_file_system.h"
#include "manifest/version.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr size_t kStepCount = 36;
constexpr uint64_t kImagesPerCall = 8;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// The workload, and the state after each number of its writes on a database that never fails.
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

// What was acked when the crash came. A write under way may be there or not.
struct Progress {
  size_t acked = 0;
  size_t durable = 0;
  size_t possible = 0;
  std::string step = "opening";
  std::map<std::string, std::vector<size_t>> copies;  // directory -> the state each checkpoint of it may have
  std::optional<std::string> copy_under_way;
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
    // A crash at the end of a call, after what made the ack true, still acks.
    if (!status.ok()) {
      EXPECT_TRUE(files->crashed()) << ToText(step) << ": " << status;
      progress.possible = progress.acked + (step.ChangesState() ? 1 : 0);
      if (copies) {
        progress.copies[copy].push_back(progress.acked);
        progress.copy_under_way = copy;
      }
      return progress;
    }
    if (step.ChangesState()) ++progress.acked;
    if (step.IsDurable()) progress.durable = progress.acked;
    if (copies) progress.copies[copy] = {progress.acked};
  }
  progress.possible = progress.acked;
  return progress;
}

class CrashCampaign {
 public:
  // Takes images at every call of the workload of `seed`, up to `images_max` in all.
  void RunWorkload(uint64_t seed, uint64_t images_max);

  uint64_t images = 0;
  uint64_t crashes_in_recovery = 0;
  uint64_t calls = 0;
  uint64_t copies_opened = 0;

 private:
  std::string CheckImage(CrashFileSystem* image, const Course& course, const Progress& progress, size_t least, bool go_on);
  std::string CheckCopies(CrashFileSystem* image, const Course& course, const Progress& progress);
  std::unique_ptr<CrashFileSystem> CrashInRecovery(std::unique_ptr<CrashFileSystem> image, Random& random);
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

std::string Damages(const VerifyReport& report) {
  std::string text;
  for (const Damage& damage : report.damages) text += fmt::format("{} @{}: {}\n", damage.file, damage.offset, damage.what);
  return text;
}

std::string CrashCampaign::CheckImage(CrashFileSystem* image, const Course& course, const Progress& progress, size_t least, bool go_on) {
  WorkloadDatabase database(image);
  if (const absl::Status opened = database.Open(); !opened.ok()) return "reopening: " + opened.ToString();
  const absl::StatusOr<std::string> dump = DumpDatabase(database.database());
  if (!dump.ok()) return "reading: " + dump.status().ToString();
  bool found = false;
  for (size_t i = least; i <= progress.possible && !found; ++i) found = course.states[i] == *dump;
  if (!found) {
    return fmt::format("the state is none of those after {} to {} writes; it is\n{}instead of\n{}", least, progress.possible, *dump,
                       course.states[progress.possible]);
  }
  if (const absl::Status sound = CheckVersion(*database.engine().state.view()->version); !sound.ok()) return sound.ToString();
  const absl::StatusOr<VerifyReport> report = database.database().Verify();
  if (!report.ok() || !report->ok()) return "verifying: " + (report.ok() ? Damages(*report) : report.status().ToString());
  if (!go_on) return "";
  if (const absl::Status written = database.WriteProbe("after the crash"); !written.ok()) return "writing on: " + written.ToString();
  const std::string after = DumpDatabase(database.database()).value_or("unreadable");
  const auto lost_power = image->Crash(CrashPolicy::PowerLoss(), images);
  WorkloadDatabase again(lost_power.get());
  if (const absl::Status opened = again.Open(); !opened.ok()) return "reopening once more: " + opened.ToString();
  if (DumpDatabase(again.database()).value_or("unreadable again") != after) return "a durable write after the crash is lost";
  return "";
}

// A finished checkpoint is there, whole; one under way is there, old or new, or is no database - never another one.
std::string CrashCampaign::CheckCopies(CrashFileSystem* image, const Course& course, const Progress& progress) {
  for (const auto& [directory, states] : progress.copies) {
    EngineOptions options = SmallEngineOptions(image);
    options.database.create_if_missing = false;
    WorkloadDatabase copy(options, directory);
    const absl::Status opened = copy.Open();
    const bool first_under_way = progress.copy_under_way == directory && states.size() == 1;
    if (first_under_way && (absl::IsNotFound(opened) || absl::IsFailedPrecondition(opened))) continue;
    if (!opened.ok()) return fmt::format("opening the checkpoint {}: {}", directory, opened.ToString());
    const std::string dump = DumpDatabase(copy.database()).value_or("unreadable");
    bool found = false;
    for (const size_t state : states) found = found || course.states[state] == dump;
    if (!found) return fmt::format("the checkpoint {} holds\n{}", directory, dump);
    ++copies_opened;
  }
  return "";
}

std::unique_ptr<CrashFileSystem> CrashCampaign::CrashInRecovery(std::unique_ptr<CrashFileSystem> image, Random& random) {
  image->SetCrashAtCall(image->calls() + 1 + random.Below(16));
  {
    WorkloadDatabase database(image.get());
    database.Open().IgnoreError();
    if (!image->crashed()) return image->Crash(CrashPolicy::PowerLoss(), random.Next());
  }
  ++crashes_in_recovery;
  return image->Crash(random.OneIn(2) ? CrashPolicy::PowerLoss() : CrashPolicy::Random(random.Next()), random.Next());
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
      // Crashing again may lose what the first crash had left unsynced.
      const bool twice = !killed && random.OneIn(3);
      if (twice) image = CrashInRecovery(std::move(image), random);
      std::string wrong = CheckCopies(image.get(), course, progress);
      if (wrong.empty()) wrong = CheckImage(image.get(), course, progress, killed ? progress.acked : progress.durable, random.OneIn(4));
      if (wrong.empty()) continue;
      ADD_FAILURE() << fmt::format("workload {}, crash at call {} (in {}), image {}{}: {}", seed, call, progress.step, index,
                                   twice ? ", crashed again in recovery" : "", wrong);
      return;
    }
    if (!files.crashed()) return;
  }
}

TEST(CrashPointsTest, EveryCallOfEveryWorkload) {
#if defined(__SANITIZE_ADDRESS__) || defined(STELE_SANITIZED)
  constexpr uint64_t kImages = 2'000;
#else
  constexpr uint64_t kImages = 10'000;
#endif
  const uint64_t images_min = FromEnvironment("STELE_CRASH_IMAGES", kImages);
  const uint64_t seed_first = FromEnvironment("STELE_CRASH_SEED", 1);
  const auto start = std::chrono::steady_clock::now();
  CrashCampaign campaign;
  uint64_t seed = seed_first;
  for (; campaign.images < images_min && !HasFailure(); ++seed) campaign.RunWorkload(seed, images_min);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << fmt::format(
      "{} crash images ({} after a second crash, in recovery) at {} calls of workloads {} to {}; {} checkpoints opened; {:.1f} s\n",
      campaign.images, campaign.crashes_in_recovery, campaign.calls, seed_first, seed - 1, campaign.copies_opened, seconds);
  EXPECT_GT(campaign.crashes_in_recovery, campaign.images / 20);
}

}  // namespace
}  // namespace stele::internal
