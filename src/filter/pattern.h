// filter/pattern.h: a regex of a filter, and the few forms that nearly all of them have, which are matched without RE2.
//
// Path:      compile.cc makes it, stage.cc matches, reach.cc asks what can match at all.
// Forms:     texts: "name", or "one|other", any byte of it escaped or not, as clients send a column's name. Prefix: a text and then ".*" or
//            "\C*". All else is RE2's, whose preparation costs more than reading a row does.
// Errors:    InvalidArgument as RE2 words it.
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
  // Matches nothing.
  Pattern() = default;

  // `what` names the filter in errors. RE2 may take `bytes_max`.
  static absl::StatusOr<Pattern> Compile(std::string_view what, const std::string& regex, int64_t bytes_max);
  static bool NeedsRe2(std::string_view regex);

  // All of the bytes.
  bool Matches(std::string_view bytes) const;
  // Nothing outside of them matches: ascending, disjoint, none empty. One where RE2 or a prefix matches.
  std::vector<KeyRange> Ranges() const;

 private:
  enum class Form : uint8_t { kTexts, kPrefix, kRe2 };
  enum class Rest : uint8_t { kAnyButNewline, kAny };  // what may follow a prefix

  // False: it has none of the forms without RE2.
  bool SetPlain(std::string_view regex);

  Form form_ = Form::kTexts;
  Rest rest_ = Rest::kAny;
  std::vector<std::string> texts_;  // kTexts: ascending, distinct; kPrefix: the prefix
  std::unique_ptr<const re2::RE2> re2_;
};

}  // namespace stele::internal
