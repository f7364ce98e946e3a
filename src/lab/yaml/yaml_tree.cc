#include "lab/yaml/yaml_tree.h"

#include <yaml.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kNodeBytes = 8;  // added to the size of a node's text

Mark MarkOf(const yaml_mark_t& mark) { return {.line = mark.line + 1, .column = mark.column + 1}; }

// libyaml's reader states only an offset. The bytes before it are UTF-8. Columns count characters.
// Lines end as for libyaml's marks: with \n, \r\n, \r, or U+0085, U+2028, U+2029.
Mark MarkOfByte(std::string_view text, size_t offset) {
  Mark mark = {.line = 1, .column = 1};
  const std::string_view before = text.substr(0, offset);
  for (size_t i = 0; i < before.size(); ++i) {
    const char c = before[i];
    const std::string_view read = before.substr(0, i + 1);
    const bool is_break = c == '\n' || (c == '\r' && !before.substr(i + 1).starts_with('\n')) ||
                          read.ends_with("\xc2\x85") || read.ends_with("\xe2\x80\xa8") ||
                          read.ends_with("\xe2\x80\xa9");
    if (is_break) {
      ++mark.line;
      mark.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      ++mark.column;
    }
  }
  return mark;
}

std::string_view TextOf(const yaml_char_t* text, size_t bytes) {
  return {reinterpret_cast<const char*>(text), bytes};
}

std::string NameOf(const yaml_char_t* text) {
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

// The bytes of a tree, without the memory of its nodes.
size_t BytesOf(const YamlNode& node) {
  size_t bytes = kNodeBytes + node.text.size() + node.name.size();
  for (const YamlNode& child : node.children) bytes += BytesOf(child);
  return bytes;
}

// Builds the tree from libyaml's events.
class TreeBuilder {
 public:
  explicit TreeBuilder(DesignErrors* errors) : errors_(errors) {}

  // Returns false at an error.
  bool Add(const yaml_event_t& event) {
    mark_ = MarkOf(event.start_mark);
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        return ++document_count_ == 1 || Fail("a second document: a design is one document");
      case YAML_ALIAS_EVENT:
        return AddAlias(NameOf(event.data.alias.anchor));
      case YAML_SCALAR_EVENT:
        if (event.data.scalar.tag != nullptr) return FailOfTag();
        return AddText(event.data.scalar);
      case YAML_SEQUENCE_START_EVENT:
        if (event.data.sequence_start.tag != nullptr) return FailOfTag();
        return Begin(YamlNode::Kind::kList, NameOf(event.data.sequence_start.anchor));
      case YAML_MAPPING_START_EVENT:
        if (event.data.mapping_start.tag != nullptr) return FailOfTag();
        return Begin(YamlNode::Kind::kMap, NameOf(event.data.mapping_start.anchor));
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        return End();
      default:
        return true;
    }
  }

  std::optional<YamlNode> TakeRoot() { return std::move(root_); }

 private:
  struct Open {
    YamlNode node;
    std::string anchor;
    std::optional<YamlNode> name;  // of the member that follows
  };

  bool Fail(std::string_view what) {
    errors_->Add(mark_, what);
    return false;
  }
  bool FailOfTag() { return Fail("tags such as !!binary are not supported"); }

  bool AddText(const auto& scalar) {
    YamlNode node{.mark = mark_, .text = std::string(TextOf(scalar.value, scalar.length))};
    if (node.text.find('\0') != std::string::npos) return Fail("a zero byte in a text");
    return Remember(NameOf(scalar.anchor), node) && Place(std::move(node));
  }

  bool Begin(YamlNode::Kind kind, std::string anchor) {
    if (open_.size() == kYamlDepthMax)
      return Fail(fmt::format("more than {} levels of lists and maps", kYamlDepthMax));
    open_.push_back({.node = {.kind = kind, .mark = mark_}, .anchor = std::move(anchor)});
    return true;
  }

  bool End() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    return Remember(closed.anchor, closed.node) && Place(std::move(closed.node));
  }

  bool Remember(const std::string& anchor, const YamlNode& node) {
    if (anchor.empty()) return true;
    if (!CountCopy(node)) return false;
    anchors_[anchor] = node;
    return true;
  }

  // Anchors and aliases copy the nodes that they name.
  bool CountCopy(const YamlNode& node) {
    copied_bytes_ += BytesOf(node);
    return copied_bytes_ <= kYamlBytesMax ||
           Fail(fmt::format("anchors and aliases expand to more than {} bytes", kYamlBytesMax));
  }

  bool AddAlias(const std::string& anchor) {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      return Fail(fmt::format("*{} is not the name of an anchor before it", Printable(anchor)));
    return CountCopy(found->second) && Place(found->second);
  }

  // Puts a complete node into the list or map around it.
  bool Place(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return true;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kMap) {
      if (!parent.name.has_value()) return PlaceName(parent, std::move(node));
      node.name = std::move(parent.name->text);
      node.name_mark = parent.name->mark;
      parent.name.reset();
    }
    parent.node.children.push_back(std::move(node));
    return true;
  }

  bool PlaceName(Open& map, YamlNode name) {
    if (name.kind != YamlNode::Kind::kText) {
      errors_->Add(name.mark, "the name of a member must be a text");
      return false;
    }
    map.name = std::move(name);
    return true;
  }

  DesignErrors* const errors_;
  Mark mark_;
  std::vector<Open> open_;
  std::map<std::string, YamlNode> anchors_;
  size_t copied_bytes_ = 0;
  int document_count_ = 0;
  std::optional<YamlNode> root_;
};

// libyaml's parser, which is freed at the end.
class EventSource {
 public:
  explicit EventSource(std::string_view text) : text_(text) {
    is_ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_ready_) return;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  ~EventSource() {
    if (is_ready_) yaml_parser_delete(&parser_);
  }
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  // Gives all events to the builder. Returns false at an error.
  bool Run(TreeBuilder* builder, DesignErrors* errors) {
    while (is_ready_) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) break;
      const bool is_end = event.type == YAML_STREAM_END_EVENT;
      const bool is_added = builder->Add(event);
      yaml_event_delete(&event);
      if (is_end || !is_added) return is_added;
    }
    errors->Add(ProblemMark(), Problem());
    return false;
  }

 private:
  Mark ProblemMark() const {
    if (!is_ready_) return {};
    if (parser_.error != YAML_READER_ERROR) return MarkOf(parser_.problem_mark);
    return MarkOfByte(text_, parser_.problem_offset);
  }

  std::string Problem() const {
    if (!is_ready_ || parser_.error == YAML_MEMORY_ERROR) return "not enough memory for YAML";
    if (parser_.error == YAML_READER_ERROR) return parser_.problem;
    std::string text = parser_.problem == nullptr ? "not YAML" : parser_.problem;
    if (parser_.context != nullptr) text += fmt::format(" ({})", parser_.context);
    if (parser_.problem_mark.index < text_.size() && text_[parser_.problem_mark.index] == '\t')
      text += ": it is a tab, and YAML indents with spaces";
    return text;
  }

  const std::string_view text_;
  yaml_parser_t parser_ = {};
  bool is_ready_ = false;
};

void CheckNames(const YamlNode& node, DesignErrors* errors) {
  std::map<std::string_view, Mark> names;
  for (const YamlNode& child : node.children) {
    CheckNames(child, errors);
    if (node.kind != YamlNode::Kind::kMap) continue;
    const auto [first, is_new] = names.emplace(child.name, child.name_mark);
    if (!is_new) {
      errors->Add(child.name_mark, fmt::format("\"{}\" is repeated: it is also on line {}",
                                               Printable(child.name), first->second.line));
    }
  }
}

}  // namespace

std::optional<YamlNode> ParseYaml(std::string_view text, DesignErrors* errors) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.size() > kYamlBytesMax) {
    errors->Add({}, fmt::format("{} bytes, at most {}", text.size(), kYamlBytesMax));
    return std::nullopt;
  }
  TreeBuilder builder(errors);
  if (!EventSource(text).Run(&builder, errors)) return std::nullopt;
  std::optional<YamlNode> root = builder.TakeRoot();
  if (!root.has_value()) {
    errors->Add({}, "the file is empty");
    return root;
  }
  CheckNames(*root, errors);
  return root;
}

}  // namespace stele::internal::lab
