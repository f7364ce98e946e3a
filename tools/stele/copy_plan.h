// tools/stele/copy_plan.h: which tables a copy is about, and whether the destination can take them. Nothing is written before all are found
// good.
//
// Errors:    UsageError, NotFound, FailedPrecondition for a destination that does not fit, whatever the databases answer.
// Threads:   one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "session.h"
#include "stele/stele.h"

namespace stele::cli {

struct CopyRequest {
  std::string source;  // locations, as Database::Open takes them
  std::string destination;
  std::vector<std::string> tables;  // none: all
  std::string to;                   // the copy's name, of one table; "": as at the source
  RowRange rows;
  std::string mark_path;  // "": beside the directory of the destination, or of the source
  size_t batch_rows = 10'000;
  size_t workers = 4;
  bool verify = false;
};

inline constexpr std::string_view kInMemory = "mem:";
bool IsRemote(std::string_view location);
// A directory: neither remote nor in memory.
bool IsDirectory(std::string_view location);

struct CopyTable {
  std::string source_name;
  std::string destination_name;
  Table source;
  Schema source_schema;
  Table destination;  // once MakeTables was called
  Schema destination_schema;
  bool is_new = false;  // not there before
};

// What is to be copied: the source's side, and the names at the destination.
absl::StatusOr<std::vector<CopyTable>> FindTables(const CopyRequest& request, const Database& source);
// The destination's side: refuses what would not fit. Writes nothing.
absl::Status FitTables(Session& session, const CopyRequest& request, const Database& destination, std::vector<CopyTable>& tables);
// Makes the tables that are new.
absl::Status MakeTables(Database& destination, std::vector<CopyTable>& tables);

}  // namespace stele::cli
