// tools/stele/flags.h: parses the command line of the lab's verbs. Flags have the form --name value
// or --name=value, and may appear anywhere after the verb.
//
// Errors:    UsageError for an unknown or repeated flag, and for a flag without its value.
// Threads:   values; thread-compatible.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "session.h"

namespace stele::cli {

struct FlagSpec {
  std::string_view name;
  bool has_value = true;
  bool may_repeat = false;
};

class Flags {
 public:
  // Parses the words after the verb. "--" ends the flags. "-" and negative numbers are words.
  // Every verb also has -o FILE and --format text|json.
  static absl::StatusOr<Flags> Parse(std::span<const std::string> args,
                                     std::span<const FlagSpec> specs);

  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  std::optional<std::string> Find(std::string_view name) const;
  std::string Get(std::string_view name, std::string_view otherwise) const;
  // All values of a flag that may repeat, in order.
  std::vector<std::string> All(std::string_view name) const;
  // The words that are not flags, in order.
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
  std::vector<std::string> words_;
};

// Applies the values of -o and --format after the verb; each of the flags may also come before it.
// The session then has one of the formats `accepted`, which are `names` in messages. Errors: usage
// errors.
absl::Status TakeOutput(Session& session, const std::optional<std::string>& output,
                        const std::optional<std::string>& format,
                        std::initializer_list<Format> accepted, std::string_view names);

// The same for a verb that prints text or JSON. Returns true for JSON.
absl::StatusOr<bool> TakeOutputFlags(Session& session, const Flags& flags);

// Returns the number of a flag, or `otherwise` without the flag. Errors: usage errors.
absl::StatusOr<uint64_t> NumberFlag(const Flags& flags, std::string_view name, int64_t least,
                                    int64_t most, uint64_t otherwise);

// Returns how many of `things` --skip-bad leaves out: a number, or all. 0 without the flag. Returns
// a usage error if only one of --skip-bad and --bad-file is given.
absl::StatusOr<uint64_t> ParseSkipBad(const Flags& flags, std::string_view things);

// Returns the paths of the inputs of a design by name, from the values NAME=PATH of --input.
absl::StatusOr<std::map<std::string, std::string>> ParseInputs(
    const std::vector<std::string>& values);

}  // namespace stele::cli
