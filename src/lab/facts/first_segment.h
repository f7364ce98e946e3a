// facts/first_segment.h: facts about the first segments of a table's keys.
//
// Threads:   confined to one thread. Keys come in order.
// Memory:    at most 12 MB.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "lab/facts/frequent_items.h"

namespace stele::internal::lab {

class FirstSegment {
 public:
  void Add(std::string_view segment);
  // Call it after the last key.
  void Finish() { EndRun(); }

  uint64_t rows() const { return rows_; }
  uint64_t distinct() const { return runs_; }
  uint64_t times() const { return times_; }
  uint64_t reversed_times() const { return reversed_times_; }
  // The rows of the most frequent value, and this value.
  uint64_t largest_rows() const { return largest_rows_; }
  const std::string& largest() const { return largest_; }

  // Numbers of at most 18 digits.
  struct Numbers {
    uint64_t rows = 0;
    uint64_t distinct = 0;
    uint64_t min = UINT64_MAX;
    uint64_t max = 0;
  };
  const Numbers& numbers() const { return numbers_; }

  // The values of one to three digits, all of one width. `rows` is 0 if there are other values.
  struct Buckets {
    uint64_t rows = 0;
    uint64_t largest = 0;  // rows of the most frequent value
    uint64_t count = 0;    // values 0 to count-1, or 1 to count; 0 if there are gaps
  };
  Buckets buckets() const;

  // Values that look like hashes of one form.
  struct Hashes {
    uint64_t rows = 0;
    uint64_t rows_with_letter = 0;
    std::array<uint64_t, 256> characters = {};
    double Entropy() const;  // in bits per character
  };
  const Hashes& hex() const { return hex_; }  // also in the form of UUIDs
  const Hashes& base64() const { return base64_; }
  // The mean length of the common prefix of neighbouring different values.
  double MeanCommonPrefix() const;

  // Host names as written, and with reversed labels.
  struct Hosts {
    uint64_t rows = 0;  // host names whose last label is a top-level domain
    FrequentItems domains;
  };
  const Hosts& hosts() const { return hosts_; }
  const Hosts& reversed_hosts() const { return reversed_hosts_; }
  uint64_t either_hosts() const { return either_hosts_; }

 private:
  // Adds the rows of the current value to all counts.
  void EndRun();
  void AddNumbers();
  void AddHashes();
  void AddHosts();

  std::string current_;
  uint64_t current_rows_ = 0;
  uint64_t rows_ = 0;
  uint64_t runs_ = 0;
  uint64_t times_ = 0;
  uint64_t reversed_times_ = 0;
  uint64_t largest_rows_ = 0;
  std::string largest_;
  std::string previous_;
  uint64_t common_prefix_bytes_ = 0;
  Numbers numbers_;
  std::array<uint64_t, 1000> bucket_rows_ = {};
  uint64_t bucket_width_ = 0;
  bool has_only_buckets_ = true;
  Hashes hex_;
  Hashes base64_;
  Hosts hosts_;
  Hosts reversed_hosts_;
  uint64_t either_hosts_ = 0;
};

}  // namespace stele::internal::lab
