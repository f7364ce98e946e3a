// yaml/yaml_tree.h: parses a YAML document as a tree of maps, lists and texts.
//
// Every scalar is text: NO and 010 are not converted, and an empty value is "".
//
// Limits:    1 MiB of text, 20 levels, and 1 MiB that anchors and aliases expand to.
//            Tags and a second document are errors.
// Threads:   a pure function.
// Source:    yaml.org/spec/1.2; libyaml finds the tokens.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/yaml/design_errors.h"

namespace stele::internal::lab {

inline constexpr size_t kYamlBytesMax = size_t{1} << 20;
inline constexpr size_t kYamlDepthMax = 20;

struct YamlNode {
  enum class Kind : uint8_t { kText, kList, kMap };

  Kind kind = Kind::kText;
  Mark mark;
  std::string text;  // of kText
  // Set for a member of a map.
  std::string name;
  Mark name_mark;
  // The elements of a list, or the members of a map in the order of the file.
  std::vector<YamlNode> children;
};

// Parses `text`. Adds the errors of the text to `errors`, also a name that occurs twice in a map.
// Returns nullopt if the text has no tree.
std::optional<YamlNode> ParseYaml(std::string_view text, DesignErrors* errors);

}  // namespace stele::internal::lab
