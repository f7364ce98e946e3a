// import/bad_items.h: counts and lists the bad items of an import, and writes them to a file.
//
// Errors:    errors of the file; ResourceExhausted for more than kPositionsMax bad items.
// Threads:   confined to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "lab/values/item.h"

namespace stele::internal::lab {

class BadItems {
 public:
  static constexpr size_t kListedMax = 20;
  static constexpr size_t kPositionsMax = 4'000'000;

  // Writes each bad item to `path` as {"file":..,"line":..,"error":..,"raw_base64":..}; "": no
  // file. The items go to a new file in the same directory, which Close() renames to `path`.
  // Without Close(), an existing file is not changed. A device or a pipe is written directly.
  explicit BadItems(std::string path) : path_(std::move(path)) {}
  ~BadItems();

  absl::Status Add(uint64_t position, const std::string& file, uint64_t line_number,
                   const absl::Status& reason, std::string_view raw);
  // Creates the new file. So a path that cannot be written is an error before the first row is
  // written.
  absl::Status Prepare();
  // Completes the file. It is empty if no item is bad. Call it when the import has succeeded.
  absl::Status Close();

  uint64_t count() const { return positions_.size(); }
  // The first bad items, a line each: "FILE:LINE: reason".
  const std::vector<std::string>& listed() const { return listed_; }
  // True if the item at this position is bad. Call it for every item, in ascending order of the
  // positions.
  bool SkipIfBad(uint64_t position);
  // Call it before a new pass over the items.
  void StartOver() { next_ = 0; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  absl::Status Open();
  absl::Status Write(std::string_view text);

  const std::string path_;
  std::string new_path_;  // written, and renamed to path_ at the end; "": written in place
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::vector<uint64_t> positions_;
  std::vector<std::string> listed_;
  size_t next_ = 0;
};

// Builds the message for an input in which no item has the key attribute that a flag names.
class LackedKeys {
 public:
  // `sort_key` "": the table has none.
  LackedKeys(std::string partition_key, std::string sort_key)
      : keys_{Key{"--partition-key", std::move(partition_key)},
              Key{"--sort-key", std::move(sort_key)}} {}

  // Adds a bad item.
  void Add(const Item& item);
  // Returns the message if all `item_count` items lack the same key attribute, else "".
  std::string Text(uint64_t item_count) const;

 private:
  static constexpr size_t kNamesMax = 10;

  struct Key {
    std::string_view flag;
    std::string name;
    uint64_t lacked_count = 0;
  };

  std::array<Key, 2> keys_;
  std::vector<std::string> names_;  // of attributes, in the order of the items
  bool has_more_names_ = false;
};

}  // namespace stele::internal::lab
