// filter/pattern.h: a compiled regex of a filter. Nearly all regexes have a simple form and are
// matched without RE2.
//
// Used by:   filter/stage.cc matches with it. filter/compile.cc makes it.
// Forms:     texts: "name" or "one|other", where any byte may be escaped, as clients send the name
//            of a column. Prefix: a text followed by ".*" or "\C*". RE2 handles the rest; compiling
//            with RE2 costs more than reading a row.
// Errors:    InvalidArgument with RE2's message.
// Threads:   immutable.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/row_ranges.h"

namespace stele::internal {

class Pattern {
 public:
  // Matches no bytes.
  Pattern() = default;

  // `what` names the filter in errors. RE2 may use `bytes_max` bytes of memory.
  static absl::StatusOr<Pattern> Compile(std::string_view what, const std::string& regex,
                                         int64_t bytes_max);
  static bool NeedsRe2(std::string_view regex);

  // True if the regex matches all of the bytes.
  bool Matches(std::string_view bytes) const;
  // Returns ranges that contain everything that matches: ascending, disjoint, not empty. It is a
  // single range for a prefix or an RE2 regex.
  std::vector<KeyRange> Ranges() const;

 private:
  enum class Form : uint8_t { kTexts, kPrefix, kRe2 };
  enum class Rest : uint8_t { kAnyButNewline, kAny };  // the text that may follow a prefix

  // Returns false if the regex does not have one of the simple forms.
  bool SetPlain(std::string_view regex);

  Form form_ = Form::kTexts;
  Rest rest_ = Rest::kAny;
  std::vector<std::string> texts_;  // kTexts: ascending, distinct; kPrefix: the prefix
  std::unique_ptr<const re2::RE2> re2_;
};

}  // namespace stele::internal
