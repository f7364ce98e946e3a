// staging/temporary_database.h: a database that is deleted with its object.
//
// Errors:    those of the file system and of the database.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "stele/database.h"

namespace stele::internal::lab {

class TemporaryDatabase {
 public:
  static constexpr uint64_t kBudgetBytes = uint64_t{64} << 20;

  TemporaryDatabase() = default;
  ~TemporaryDatabase();
  TemporaryDatabase(const TemporaryDatabase&) = delete;
  TemporaryDatabase& operator=(const TemporaryDatabase&) = delete;

  // Opens the database, once, in memory.
  absl::Status OpenInMemory();
  // The same in a new directory in `parent`; "": the directory for temporary files.
  absl::Status OpenBelow(std::string parent);

  bool is_open() const { return is_open_; }
  const Database& database() const { return database_; }
  Database& database() { return database_; }

 private:
  absl::Status Open(const std::string& location);

  std::string directory_;  // "": none
  Database database_;
  bool is_open_ = false;
};

}  // namespace stele::internal::lab
