#include "lab/yaml/member_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/status.h"
#include "lab/template/template_check.h"

namespace stele::internal::lab {

std::optional<std::string> TextOfNode(const YamlNode& node, DesignErrors* errors) {
  if (node.kind == YamlNode::Kind::kText) return node.text;
  errors->Add(node.mark, "a text is expected here");
  return std::nullopt;
}

std::optional<Template> TemplateOfNode(const YamlNode& node, DesignErrors* errors) {
  const std::optional<std::string> text = TextOfNode(node, errors);
  if (!text.has_value()) return std::nullopt;
  auto parsed = Template::Parse(*text);
  const absl::Status status = parsed.ok() ? CheckFunctions(*parsed) : parsed.status();
  if (!status.ok()) {
    errors->Add(node.mark, ToStd(status.message()));
    return std::nullopt;
  }
  const absl::Status units = CheckUnits(*parsed);
  if (!units.ok() && errors->AddForFile(node.mark, ToStd(units.message()))) return std::nullopt;
  return *std::move(parsed);
}

MemberReader::MemberReader(const YamlNode& node, std::string_view what,
                           std::initializer_list<std::string_view> names, DesignErrors* errors)
    : node_(node), what_(what), errors_(errors) {
  if (node.kind != YamlNode::Kind::kMap) {
    errors->Add(node.mark, fmt::format("{} must be a map", what));
    return;
  }
  for (const YamlNode& child : node.children) {
    if (std::find(names.begin(), names.end(), child.name) != names.end()) continue;
    errors->Add(child.name_mark, fmt::format("\"{}\" is no member of {}; the members are {}",
                                             Printable(child.name), what, fmt::join(names, ", ")));
  }
}

const YamlNode* MemberReader::Find(std::string_view name) const {
  if (node_.kind != YamlNode::Kind::kMap) return nullptr;
  for (const YamlNode& child : node_.children) {
    if (child.name == name) return &child;
  }
  return nullptr;
}

const YamlNode* MemberReader::Require(std::string_view name) const {
  const YamlNode* const member = Find(name);
  if (member == nullptr && node_.kind == YamlNode::Kind::kMap)
    errors_->Add(node_.mark, fmt::format("{} has no \"{}\"", what_, name));
  return member;
}

std::optional<std::string> MemberReader::Text(std::string_view name) const {
  const YamlNode* const member = Find(name);
  return member == nullptr ? std::nullopt : TextOfNode(*member, errors_);
}

std::optional<Template> MemberReader::TemplateOf(std::string_view name) const {
  const YamlNode* const member = Find(name);
  return member == nullptr ? std::nullopt : TemplateOfNode(*member, errors_);
}

std::optional<bool> MemberReader::Bool(std::string_view name) const {
  const std::optional<std::string> text = Text(name);
  if (!text.has_value()) return std::nullopt;
  if (*text == "true" || *text == "false") return *text == "true";
  errors_->Add(Find(name)->mark, fmt::format("{} must be true or false", name));
  return std::nullopt;
}

std::optional<int64_t> MemberReader::Number(std::string_view name, int64_t least,
                                            int64_t most) const {
  const std::optional<std::string> text = Text(name);
  if (!text.has_value()) return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error == std::errc() && end == text->data() + text->size() && number >= least &&
      number <= most)
    return number;
  errors_->Add(Find(name)->mark,
               fmt::format("{} must be a whole number from {} to {}", name, least, most));
  return std::nullopt;
}

std::vector<const YamlNode*> MemberReader::Children(std::string_view name, YamlNode::Kind kind,
                                                    std::string_view expected) const {
  std::vector<const YamlNode*> children;
  const YamlNode* const member = Find(name);
  if (member == nullptr) return children;
  if (member->kind != kind) {
    errors_->Add(member->mark, fmt::format("{} must be a {}", name, expected));
    return children;
  }
  for (const YamlNode& child : member->children) children.push_back(&child);
  return children;
}

std::vector<const YamlNode*> MemberReader::MembersOf(std::string_view name) const {
  return Children(name, YamlNode::Kind::kMap, "map");
}

std::vector<const YamlNode*> MemberReader::ElementsOf(std::string_view name) const {
  return Children(name, YamlNode::Kind::kList, "list");
}

bool MemberReader::IsEmptyList(std::string_view name) const {
  const YamlNode* const member = Find(name);
  return member != nullptr && member->kind == YamlNode::Kind::kList && member->children.empty();
}

std::vector<std::string> MemberReader::Texts(std::string_view name) const {
  std::vector<std::string> texts;
  for (const YamlNode* const element : ElementsOf(name)) {
    if (const auto text = TextOfNode(*element, errors_)) texts.push_back(*text);
  }
  return texts;
}

}  // namespace stele::internal::lab
