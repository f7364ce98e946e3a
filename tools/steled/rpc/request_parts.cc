#include "steled/rpc/request_parts.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <vector>

namespace stele::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

class PartCounter {
 public:
  PartCounter(std::string_view message, const Descriptor& type)
      : input_(reinterpret_cast<const uint8_t*>(message.data()), static_cast<int>(message.size())) {
    Enter(&type, static_cast<int>(message.size()));
  }

  size_t Count() {
    while (!levels_.empty() && Step()) {
    }
    return part_count_;
  }

 private:
  // A message, or a group of unknown type.
  struct Level {
    const Descriptor* type;
    bool is_group;
    google::protobuf::io::CodedInputStream::Limit limit_before;
  };

  void Enter(const Descriptor* type, int byte_count) {
    levels_.push_back({type, false, input_.PushLimit(byte_count)});
  }

  // Returns false if protobuf would read no further.
  bool Step() {
    const Level level = levels_.back();
    const uint32_t tag = input_.ReadTag();
    if (tag != 0) return TakeField(level, tag);
    if (level.is_group || input_.BytesUntilLimit() != 0) return false;
    input_.PopLimit(level.limit_before);
    levels_.pop_back();
    return true;
  }

  // True for a number that is stored inside the message and overwritten by later ones. With any
  // other wire type it is an unknown field.
  static bool IsNumber(const FieldDescriptor* field, WireFormatLite::WireType wire_type) {
    return field != nullptr && !field->is_repeated() &&
           field->cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
           field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE &&
           wire_type == WireFormatLite::WireTypeForFieldType(
                            static_cast<WireFormatLite::FieldType>(field->type()));
  }

  bool TakeField(const Level& level, uint32_t tag) {
    const FieldDescriptor* const field =
        level.type == nullptr
            ? nullptr
            : level.type->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    const WireFormatLite::WireType wire_type = WireFormatLite::GetTagWireType(tag);
    if (!IsNumber(field, wire_type) && wire_type != WireFormatLite::WIRETYPE_END_GROUP)
      ++part_count_;
    uint64_t number = 0;
    switch (wire_type) {
      case WireFormatLite::WIRETYPE_VARINT:
        return input_.ReadVarint64(&number);
      case WireFormatLite::WIRETYPE_FIXED64:
        return input_.Skip(8);
      case WireFormatLite::WIRETYPE_FIXED32:
        return input_.Skip(4);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return TakeBytes(field);
      case WireFormatLite::WIRETYPE_START_GROUP:
        levels_.push_back({nullptr, true, 0});
        return levels_.size() <= static_cast<size_t>(kMessageDepthMax);
      case WireFormatLite::WIRETYPE_END_GROUP:
        levels_.pop_back();
        return level.is_group;
    }
    return false;
  }

  bool TakeBytes(const FieldDescriptor* field) {
    uint32_t byte_count = 0;
    if (!input_.ReadVarint32(&byte_count) ||
        byte_count > static_cast<uint32_t>(input_.BytesUntilLimit()))
      return false;
    if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
      return input_.Skip(static_cast<int>(byte_count));
    if (levels_.size() > static_cast<size_t>(kMessageDepthMax)) return false;
    Enter(field->message_type(), static_cast<int>(byte_count));
    return true;
  }

  google::protobuf::io::CodedInputStream input_;
  std::vector<Level> levels_;  // the innermost last
  size_t part_count_ = 0;
};

}  // namespace

size_t CountParts(std::string_view message, const Descriptor& type) {
  return PartCounter(message, type).Count();
}

}  // namespace stele::server
