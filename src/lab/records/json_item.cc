#include "lab/records/json_item.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/status.h"
#include "lab/mapping/lab_json.h"

namespace stele::internal::lab {
namespace {

using nlohmann::json;

// Builds an item from the parser's events. Each returns false to stop.
class ItemBuilder : public nlohmann::json_sax<json> {
 public:
  explicit ItemBuilder(Item* item) : item_(*item) {}

  const absl::Status& status() const { return status_; }

  bool null() override { return Add(AttributeType::kNull, ""); }
  bool boolean(bool value) override { return Add(AttributeType::kBool, value ? "true" : "false"); }
  // The parser reports 0 here only for the text -0.
  bool number_integer(json::number_integer_t value) override {
    return AddNumber(value == 0 ? "-0" : std::to_string(value));
  }
  bool number_unsigned(json::number_unsigned_t value) override {
    return AddNumber(std::to_string(value));
  }
  bool number_float(json::number_float_t /*value*/, const std::string& text) override {
    return AddNumber(text);
  }
  bool string(std::string& text) override {
    return Add(AttributeType::kString, item_.Keep(std::move(text)));
  }
  bool binary(json::binary_t& /*bytes*/) override { return false; }
  bool key(std::string& name) override {
    name_ = item_.Keep(std::move(name));
    return true;
  }
  bool start_object(size_t /*count*/) override {
    if (!has_root_) {
      has_root_ = true;
      open_.push_back(kRoot);
      return true;
    }
    return Begin(AttributeType::kMap);
  }
  bool end_object() override { return CheckNames() && End(); }
  bool start_array(size_t /*count*/) override { return Begin(AttributeType::kList); }
  bool end_array() override { return End(); }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const json::exception& /*error*/) override {
    return Fail(fmt::format("byte {}: not JSON, or a number above 1.8e308", position));
  }

 private:
  static constexpr uint32_t kRoot = UINT32_MAX;

  bool Fail(std::string_view what) {
    if (status_.ok()) status_ = InvalidArgument("{}", what);
    return false;
  }
  bool AddNumber(std::string text) {
    return Add(AttributeType::kNumber, item_.Keep(std::move(text)));
  }
  bool Add(AttributeType type, std::string_view text) {
    if (!has_root_) return Fail("not a JSON object");
    item_.Begin(name_, type, text);
    name_ = {};
    return true;
  }
  bool Begin(AttributeType type) {
    if (!has_root_) return Fail("not a JSON object");
    if (open_.size() == kJsonItemDepthMax)
      return Fail(fmt::format("more than {} levels", kJsonItemDepthMax));
    open_.push_back(item_.Begin(name_, type));
    name_ = {};
    return true;
  }
  bool End() {
    if (open_.back() != kRoot) item_.End(open_.back());
    open_.pop_back();
    return true;
  }
  // Checks the members of the object that ends.
  bool CheckNames() {
    names_.clear();
    const uint32_t begin = open_.back() == kRoot ? 0 : open_.back() + 1;
    for (uint32_t i = begin; i < item_.size(); i = item_[i].next) names_.push_back(item_[i].name);
    std::sort(names_.begin(), names_.end());
    const auto twice = std::adjacent_find(names_.begin(), names_.end());
    return twice == names_.end() ||
           Fail(fmt::format("the name \"{}\" occurs twice", Printable(*twice)));
  }

  Item& item_;
  absl::Status status_;
  bool has_root_ = false;
  std::vector<uint32_t> open_;
  std::string_view name_;
  std::vector<std::string_view> names_;
};

void AppendMembers(const Item& item, uint32_t index, std::string* out) {
  const bool is_map = item[index].type == AttributeType::kMap;
  *out += is_map ? '{' : '[';
  for (uint32_t i = Item::first_member(index); i < item[index].next; i = item[i].next) {
    if (i != Item::first_member(index)) *out += ',';
    if (is_map) {
      AppendJsonString(item[i].name, out);
      *out += ':';
    }
    AppendPlainJson(item, i, out);
  }
  *out += is_map ? '}' : ']';
}

}  // namespace

absl::Status ParseJsonItem(std::string_view text, Item* item) {
  item->Clear();
  ItemBuilder builder(item);
  const bool is_parsed = json::sax_parse(text.begin(), text.end(), &builder);
  if (!builder.status().ok()) return builder.status();
  return is_parsed ? absl::OkStatus() : InvalidArgument("not a JSON object");
}

void AppendPlainJson(const Item& item, uint32_t index, std::string* out) {
  const Item::Node& node = item[index];
  switch (node.type) {
    case AttributeType::kMap:
    case AttributeType::kList:
      return AppendMembers(item, index, out);
    case AttributeType::kString:
      return AppendJsonString(node.text, out);
    case AttributeType::kNull:
      out->append("null");
      return;
    default:
      out->append(node.text);
  }
}

}  // namespace stele::internal::lab
