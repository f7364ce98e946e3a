// tools/stele/copy_plan.h: selects the tables of a copy and checks that the destination can store
// them. The checks finish before anything is written.
//
// Errors:    UsageError; NotFound; FailedPrecondition if the destination does not fit; errors of
//            the databases.
// Threads:   Confined to one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "session.h"
#include "stele/stele.h"

namespace stele::cli {

struct CopyRequest {
  std::string source;  // a location, as for Database::Open; so is destination
  std::string destination;
  std::vector<std::string> tables;  // empty: all
  // The name of the copy, if one table is copied; "": the source's name.
  std::string to;
  RowRange rows;
  std::string state_path;  // "": next to the directory of the destination, or of the source
  size_t batch_rows = 10'000;
  size_t workers = 4;
  bool verify = false;
};

inline constexpr std::string_view kInMemory = "mem:";
// Returns whether the location is a directory: not remote and not in memory.
bool IsDirectory(std::string_view location);

struct CopyTable {
  std::string source_name;
  std::string destination_name;
  Table source;
  Schema source_schema;
  Table destination;  // set by MakeTables
  Schema destination_schema;
  bool is_new = false;  // the destination did not have it
};

// Returns the source tables of the request, with their names at the destination.
absl::StatusOr<std::vector<CopyTable>> FindTables(const CopyRequest& request,
                                                  const Database& source);
// Opens the destination tables, and rejects those that do not fit. Writes nothing.
absl::Status FitTables(Session& session, const CopyRequest& request, const Database& destination,
                       std::vector<CopyTable>& tables);
// Creates the tables that are new.
absl::Status MakeTables(Database& destination, std::vector<CopyTable>& tables);

}  // namespace stele::cli
