#include "copy_source.h"

#include <utility>

#include "base/status.h"
#include "copy_plan.h"
#include "location.h"

namespace stele::cli {

absl::StatusOr<CopySource> OpenCopySource(Session& session, const std::string& location,
                                          const DatabaseOptions& options) {
  absl::StatusOr<Database> opened = session.OpenUnlocked(location, options);
  if (!opened.ok()) return opened.status();
  const DatabaseStats::Clock clock = opened->Stats().clock;
  if (clock.is_trusted || clock.now <= clock.collection_time || !options.read_only ||
      !IsDirectory(location))
    return CopySource{.database = *std::move(opened), .clock = nullptr};
  session.Note(fmt::format(
      "the clock is not trusted: {} is copied as of {}, and nothing that expired up to {} is left "
      "out\n",
      location, clock.collection_time.ToString(), clock.now.ToString()));
  DatabaseOptions as_of = options;
  as_of.clock = std::make_shared<ManualClock>(clock.collection_time);
  *opened = Database();  // closes it
  opened = session.OpenUnlocked(location, as_of);
  if (!opened.ok()) return opened.status();
  return CopySource{.database = *std::move(opened), .clock = as_of.clock};
}

absl::StatusOr<Database> OpenCopyDestination(Session& session, const std::string& location,
                                             const CopySource& source,
                                             const DatabaseOptions& options) {
  if (source.clock == nullptr || !IsDirectory(location))
    return session.OpenUnlocked(location, options);
  DatabaseOptions existing = options;
  existing.create_if_missing = false;
  absl::StatusOr<Database> database = session.OpenUnlocked(location, existing);
  if (database.status().code() != absl::StatusCode::kNotFound) return database;
  DatabaseOptions created = options;
  created.clock = source.clock;
  return session.OpenUnlocked(location, created);
}

}  // namespace stele::cli
