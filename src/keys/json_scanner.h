// keys/json_scanner.h: reads JSON that consists of objects, arrays and strings only.
//
// Errors:    InvalidArgument with the position, counted in bytes from 0.
// Threads:   Confined to one thread.
// Limits:    objects and arrays nest at most 20 deep.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele::internal {

class JsonScanner {
 public:
  // `what` names the text in messages. Both must outlive the scanner.
  JsonScanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  // Reads an object. Calls `member` with each name, after which the value must be read. A repeated
  // name is an error.
  absl::Status Object(const std::function<absl::Status(std::string_view name)>& member);
  // Reads an array. Calls `element` to read each of its values.
  absl::Status Array(const std::function<absl::Status()>& element);
  absl::StatusOr<std::string> String();
  // Fails unless only white space is left.
  absl::Status ExpectEnd();

  absl::Status Error(std::string_view problem) const;

 private:
  void SkipSpace();
  bool Accept(char c);
  absl::Status Expect(char c);
  absl::Status Elements(char open, char close, const std::function<absl::Status()>& element);
  absl::Status ReadEscape(std::string* out);
  absl::StatusOr<uint32_t> HexDigits();

  const std::string_view text_;
  const std::string_view what_;
  size_t offset_ = 0;
  int depth_ = 0;
};

// Returns UTF-8 as a JSON string in quotes.
std::string JsonString(std::string_view utf8);

}  // namespace stele::internal
