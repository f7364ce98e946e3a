#include "support/db_crash_check.h"

#include <algorithm>

#include "base/status.h"
#include "db/engine.h"
#include "manifest/version.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

std::string Damages(const VerifyReport& report) {
  std::string text;
  for (const VerifyReport::Damage& damage : report.damages)
    text += fmt::format("{} @{}: {}\n", damage.file, damage.offset, damage.what);
  return text;
}

}  // namespace

std::string CheckReopened(CrashFileSystem* image, const AllowedStates& allowed, bool go_on) {
  WorkloadDatabase database(image);
  if (const absl::Status opened = database.Open(); !opened.ok())
    return "reopening: " + opened.ToString();
  const absl::StatusOr<std::string> dump = DumpDatabase(database.database());
  if (!dump.ok()) return "reading: " + dump.status().ToString();
  bool found = false;
  for (size_t i = allowed.least; i <= allowed.most && !found; ++i)
    found = allowed.states[i] == *dump;
  if (!found) {
    return fmt::format("the state is none of those after {} to {} writes; it is\n{}instead of\n{}",
                       allowed.least, allowed.most, *dump, allowed.states[allowed.most]);
  }
  if (const absl::Status sound = CheckVersion(*database.engine().storage().state.view()->version);
      !sound.ok())
    return sound.ToString();
  const absl::StatusOr<VerifyReport> report = database.database().Verify();
  if (!report.ok() || !report->ok())
    return "verifying: " + (report.ok() ? Damages(*report) : report.status().ToString());
  if (!go_on) return "";
  if (const absl::Status written = database.WriteProbe("after the crash"); !written.ok())
    return "writing on: " + written.ToString();
  const std::string after = DumpDatabase(database.database()).value_or("unreadable");
  const auto lost_power = image->Crash(CrashPolicy::PowerLoss(), image->calls());
  WorkloadDatabase again(lost_power.get());
  if (const absl::Status opened = again.Open(); !opened.ok())
    return "reopening once more: " + opened.ToString();
  if (DumpDatabase(again.database()).value_or("unreadable again") != after)
    return "a durable write after the crash is lost";
  return "";
}

std::string CheckCheckpoints(CrashFileSystem* image, const std::vector<std::string>& states,
                             const CheckpointProgress& progress, uint64_t* opened) {
  for (const auto& [directory, numbers] : progress.copies) {
    EngineOptions options = SmallEngineOptions(image);
    options.database.create_if_missing = false;
    WorkloadDatabase copy(options, directory);
    const absl::Status status = copy.Open();
    const bool first_under_way = progress.under_way == directory && numbers.size() == 1;
    if (first_under_way && (absl::IsNotFound(status) || absl::IsFailedPrecondition(status)))
      continue;
    if (!status.ok())
      return fmt::format("opening the checkpoint {}: {}", directory, status.ToString());
    const std::string dump = DumpDatabase(copy.database()).value_or("unreadable");
    if (std::none_of(numbers.begin(), numbers.end(),
                     [&](size_t number) { return states[number] == dump; })) {
      return fmt::format("the checkpoint {} holds\n{}", directory, dump);
    }
    ++*opened;
  }
  return "";
}

}  // namespace stele::internal
