// tools/stele/copy_source.h: opens the two databases of a copy, so that a wrong clock of this
// machine loses no cell.
//
// Errors:    those of OpenLocation.
// Threads:   confined to one thread.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "session.h"
#include "stele/stele.h"

namespace stele::cli {

struct CopySource {
  Database database;
  // The clock of its reads. Null: the system's.
  std::shared_ptr<TimestampClock> clock;
};

// Opens the source. A clock that is ahead and not trusted would hide cells of families with MaxAge.
// A directory that is opened read-only is then read as of its collection time, and a note says so.
absl::StatusOr<CopySource> OpenCopySource(Session& session, const std::string& location,
                                          const DatabaseOptions& options);

// Opens the destination. A new database gets the source's clock: it would trust the system's, and
// remove the cells that the source has hidden.
absl::StatusOr<Database> OpenCopyDestination(Session& session, const std::string& location,
                                             const CopySource& source,
                                             const DatabaseOptions& options = {});

}  // namespace stele::cli
