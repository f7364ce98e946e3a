// values/key_hashes.h: finds keys that occur twice, among any number of keys, and whether they
// occur with the same value.
//
// A key is represented by a 128-bit hash, and a value by a 64-bit hash. Hashes that do not fit into
// memory are written as sorted runs to a temporary file. It has no name, so the system frees it at
// the latest when the process ends.
//
// Errors:    errors of the temporary file.
// Threads:   confined to one thread.
// Memory:    `memory_bytes`, until Clear().
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele::internal::lab {

class KeyHashes {
 public:
  static constexpr size_t kMemoryBytes = size_t{96} << 20;

  explicit KeyHashes(size_t memory_bytes = kMemoryBytes)
      : entries_max_(memory_bytes / kEntryBytes) {}

  // `position` is any number, for example of a line.
  absl::Status Add(std::string_view key, uint64_t position, std::string_view value = {});

  struct Repeated {
    uint64_t first;        // the smallest position of the key
    uint64_t position;     // another one
    bool has_same_value;   // the value is that of the first one
    uint64_t first_value;  // the hashes of the two values
    uint64_t value;
  };
  // Calls `on_first` for each key, with its smallest position, and `on_repeated` for each other
  // position. Call one of the two functions at the end; a second call repeats the first one.
  absl::Status FinishEach(const std::function<void(uint64_t position)>& on_first,
                          const std::function<void(const Repeated&)>& on_repeated);
  // Returns the number of different keys. Calls `on_repeated` with the positions of a Repeated.
  absl::StatusOr<uint64_t> Finish(
      const std::function<void(uint64_t first, uint64_t repeated)>& on_repeated);
  // Removes all keys, and frees their memory and the file.
  void Clear();

 private:
  struct Entry {
    uint64_t high;
    uint64_t low;
    uint64_t position;
    uint64_t value;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  static constexpr size_t kEntryBytes = sizeof(Entry);
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  class Runs;

  absl::Status Spill();

  const size_t entries_max_;
  std::vector<Entry> entries_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::vector<uint64_t> run_ends_;  // in entries of the file
};

}  // namespace stele::internal::lab
