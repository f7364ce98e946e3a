// model/text.h: quoting and a scanner for the text forms of rules and filters.
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

// Returns the bytes in double quotes. '"' and '\\' get a backslash; bytes outside printable ASCII
// become \xNN.
std::string Quoted(std::string_view bytes);

class TextScanner {
 public:
  // `what` names the text in messages, for example "filter". Both must outlive the scanner.
  TextScanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  // All of these skip white space first.
  bool AtEnd();
  bool Accept(std::string_view token);  // consumes the token if it is next
  absl::Status Expect(std::string_view token);
  std::string_view Word();    // [a-z_]*, may be empty
  std::string_view Number();  // [-+.0-9a-z]*, may be empty: a number with its unit
  absl::StatusOr<int64_t> Int64();
  absl::StatusOr<std::string> QuotedString();
  bool NextIs(char c);

  absl::Status Error(std::string_view problem) const;
  // The same for a token that Word() or Number() returned.
  absl::Status ErrorAt(std::string_view token, std::string_view problem) const;

 private:
  void SkipSpace();
  template <typename Predicate>
  std::string_view TakeWhile(Predicate predicate);
  absl::Status ReadEscape(std::string* out);
  absl::Status ErrorFrom(size_t offset, std::string_view problem) const;

  std::string_view text_;
  std::string_view what_;
  size_t offset_ = 0;
};

}  // namespace stele::internal
