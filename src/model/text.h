// model/text.h: the text forms of rules and filters: quoting, and a scanner for their parsers.
//
// Errors:    InvalidArgument naming the position, counted in bytes from 0.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele::internal {

// In double quotes; '"' and '\\' behind a backslash, bytes outside printable ASCII as \xNN.
std::string Quoted(std::string_view bytes);

class TextScanner {
 public:
  // `what` names the text in messages: "filter". Both must outlive the scanner.
  TextScanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  // All of them skip white space first.
  bool AtEnd();
  bool Accept(std::string_view token);  // takes it if it is next
  absl::Status Expect(std::string_view token);
  std::string_view Word();    // [a-z_]*, may be empty
  std::string_view Number();  // [-+.0-9a-z]*, may be empty: a number with what hangs on it
  absl::StatusOr<int64_t> Int64();
  absl::StatusOr<std::string> QuotedString();
  bool NextIs(char c);

  absl::Status Error(std::string_view problem) const;

 private:
  void SkipSpace();
  template <typename Predicate>
  std::string_view TakeWhile(Predicate predicate);
  absl::Status ReadEscape(std::string* out);

  std::string_view text_;
  std::string_view what_;
  size_t offset_ = 0;
};

}  // namespace stele::internal
