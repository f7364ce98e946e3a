// tools/stele/key.h: reads the input and prints the output of the verb `key`, for all files that
// implement it.
//
// Errors:    absl::Status; UsageError for a wrong command line.
// Threads:   Confined to one thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "flags.h"
#include "row_text.h"
#include "session.h"
#include "stele/keys.h"

namespace stele::cli {

// One run of the verb: its flags, and the words after the name of the function.
struct KeyRun {
  Session& session;
  const Flags& flags;
  std::vector<std::string> words;
  bool as_json;
};

// Calls `convert` with the bytes of each word from `first` on, or of each line of standard input if
// the only such word is "-". Words are escaped, or hex with --from-hex. `convert` returns the
// results of one word.
absl::Status ForEachKey(
    const KeyRun& run, size_t first,
    const std::function<absl::StatusOr<std::vector<std::string>>(const std::string& bytes)>&
        convert);
// Calls `convert` with each line of standard input. Its errors name the line, and are no errors of
// the command line.
absl::Status ForEachLine(const std::function<absl::Status(const std::string& line)>& convert);
// Prints a result as a line: escaped, hex with --hex, or JSON with --format json.
void PrintKey(const KeyRun& run, std::string_view bytes);

// The fields of a key: "id=a code=5", and {"id":"a","code":5}.
std::string DecodedText(const keys::RowKeySchema& schema, const std::vector<keys::Value>& values);
Json DecodedJson(const keys::RowKeySchema& schema, const std::vector<keys::Value>& values);

absl::Status RunKeyEncode(const KeyRun& run);
absl::Status RunKeyDecode(const KeyRun& run);

}  // namespace stele::cli
