// state/database_directory.h: the directory of an open database: its path and file system, the
// database's id, and the numbers of its files.
//
// Threads:   thread-safe, except SetId, which recovery calls before the database is shared.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "io/file_names.h"
#include "io/file_system.h"

namespace stele::internal {

class DatabaseDirectory {
 public:
  // `held` is the file system for everything in the directory, even after it is renamed
  // (FileSystem::PinDirectory). Null: `file_system` is used.
  DatabaseDirectory(std::string path, FileSystem* file_system, std::shared_ptr<FileSystem> held)
      : path_(std::move(path)),
        held_(std::move(held)),
        file_system_(held_ != nullptr ? held_.get() : file_system) {}

  const std::string& path() const { return path_; }
  std::string PathOf(std::string_view file_name) const { return JoinPath(path_, file_name); }
  FileSystem* file_system() const { return file_system_; }

  uint64_t id() const { return id_; }
  void SetId(uint64_t id) { id_ = id; }

  // Relaxed: the numbers need only differ.
  uint64_t NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t next_file_number() const { return next_file_number_.load(std::memory_order_relaxed); }
  // The next number is at least `next`.
  void RaiseFileNumber(uint64_t next) {
    uint64_t now = next_file_number();
    while (now < next &&
           !next_file_number_.compare_exchange_weak(now, next, std::memory_order_relaxed)) {
    }
  }
  // Returns the first of `count` consecutive numbers.
  uint64_t NewFileNumbers(uint64_t count) {
    return next_file_number_.fetch_add(count, std::memory_order_relaxed);
  }

 private:
  const std::string path_;
  const std::shared_ptr<FileSystem> held_;
  FileSystem* const file_system_;
  uint64_t id_ = 0;
  std::atomic<uint64_t> next_file_number_{1};
};

}  // namespace stele::internal
