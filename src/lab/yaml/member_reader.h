// yaml/member_reader.h: reads the members of a map of a design file, and reports the others.
//
// Errors:    are added to DesignErrors, with the position of the member. A reader continues after
//            an error, so that one run reports several.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/template/template.h"
#include "lab/yaml/design_errors.h"
#include "lab/yaml/yaml_tree.h"

namespace stele::internal::lab {

class MemberReader {
 public:
  // `what` names the map in messages. Reports a node that is no map, and members whose name is not
  // in `names`.
  MemberReader(const YamlNode& node, std::string_view what,
               std::initializer_list<std::string_view> names, DesignErrors* errors);

  // Returns a member, or null.
  const YamlNode* Find(std::string_view name) const;
  // The same for a member that must exist.
  const YamlNode* Require(std::string_view name) const;

  // These return the member's value if the member exists and has this form.
  std::optional<std::string> Text(std::string_view name) const;
  std::optional<Template> TemplateOf(std::string_view name) const;
  std::optional<bool> Bool(std::string_view name) const;
  std::optional<int64_t> Number(std::string_view name, int64_t least, int64_t most) const;
  // The members of a map, and the elements of a list; empty if the member is missing.
  std::vector<const YamlNode*> MembersOf(std::string_view name) const;
  std::vector<const YamlNode*> ElementsOf(std::string_view name) const;
  std::vector<std::string> Texts(std::string_view name) const;
  // True for a list without elements. False if the member is missing.
  bool IsEmptyList(std::string_view name) const;

  Mark mark() const { return node_.mark; }

 private:
  std::vector<const YamlNode*> Children(std::string_view name, YamlNode::Kind kind,
                                        std::string_view expected) const;

  const YamlNode& node_;
  const std::string what_;
  DesignErrors* const errors_;
};

// Returns the text of a node. Reports a list and a map.
std::optional<std::string> TextOfNode(const YamlNode& node, DesignErrors* errors);
// Parses the text of a node as a template. Reports one whose functions can never work.
std::optional<Template> TemplateOfNode(const YamlNode& node, DesignErrors* errors);

}  // namespace stele::internal::lab
