#include "lab/staging/temporary_database.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {

TemporaryDatabase::~TemporaryDatabase() {
  if (is_open_) database_.Close().IgnoreError();
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

absl::Status TemporaryDatabase::Open(const std::string& location) {
  STELE_ASSIGN_OR_RETURN(database_,
                         Database::Open(location, {.memory_budget_bytes = kBudgetBytes}));
  is_open_ = true;
  return absl::OkStatus();
}

absl::Status TemporaryDatabase::OpenInMemory() { return Open("mem:"); }

absl::Status TemporaryDatabase::OpenBelow(std::string parent) {
  if (parent.empty()) {
    std::error_code error;
    parent = std::filesystem::temp_directory_path(error).string();
    if (error) parent = "/tmp";
  }
  std::string path = parent + "/stele_lab_XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return internal::ErrnoStatus("mkdtemp", path, errno);
  directory_ = std::move(path);
  return Open(directory_ + "/db");
}

}  // namespace stele::internal::lab
