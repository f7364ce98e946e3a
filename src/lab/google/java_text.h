// google/java_text.h: the parts of Java that decide the bytes of Google's migration job: numbers as
// text, and the order of a HashMap.
//
// Source:    java.math.BigDecimal.toString and hashCode, java.util.HashMap.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal::lab {

// A number as Google's job reads it: a long if the text has no '.', otherwise a BigDecimal.
struct JavaNumber {
  std::string text;   // toString()
  uint32_t hash = 0;  // hashCode()
};
// Returns nullopt for a number that makes the job fail: one without '.' that has an exponent or
// does not fit into 64 bits. `number` must be a valid number of DynamoDB.
std::optional<JavaNumber> ToJavaNumber(std::string_view number);

// String.hashCode(): over UTF-16 units. `utf8` must be valid.
uint32_t JavaStringHash(std::string_view utf8);

// Returns the order in which a HashMap iterates over keys that were inserted in the order of
// `hashes`, as indexes into `hashes`.
std::vector<size_t> HashMapOrder(const std::vector<uint32_t>& hashes);

// Appends a JSON string with the escapes of the job's JSON library.
void AppendJavaJsonString(std::string_view utf8, std::string* out);

}  // namespace stele::internal::lab
