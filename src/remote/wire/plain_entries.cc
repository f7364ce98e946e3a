#include "remote/wire/plain_entries.h"

#include <algorithm>

#include "base/coding.h"

namespace stele::internal {
namespace {

// The longest varint of a length that is read here. Four bytes are enough for lengths below 256
// MiB. A request with a longer field is not plain, and protobuf parses it.
constexpr size_t kLengthBytesMax = 4;

// A field's tag, with number and wire type, as one byte, for numbers below 16.
constexpr uint8_t BytesField(int number) { return static_cast<uint8_t>(number << 3 | 2); }
constexpr uint8_t VarintField(int number) { return static_cast<uint8_t>(number << 3); }

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Iterates over the fields of one message.
class Fields {
 public:
  explicit Fields(std::string_view message) : reader_(message) {}

  // Returns false at the end. A number above 15 gives the first byte of its tag, which matches no
  // expected field.
  bool Next(uint8_t* tag) {
    if (!reader_.AtEnd() && reader_.ReadByte(&tag_)) {
      *tag = tag_;
      return true;
    }
    return false;
  }
  bool Read(std::string_view* bytes) {
    uint64_t length;
    const size_t remaining = reader_.remaining();
    return reader_.ReadVarint(&length) && remaining - reader_.remaining() <= kLengthBytesMax &&
           reader_.ReadRaw(length, bytes);
  }
  // If a field occurs twice, protobuf uses the last one. This fails instead.
  bool ReadOnce(std::string_view* bytes) { return IsFirst() && Read(bytes); }
  bool ReadTextOnce(std::string_view* text) { return ReadOnce(text) && IsAscii(*text); }
  bool ReadOnce(int64_t* number) {
    uint64_t raw;
    if (!IsFirst() || !reader_.ReadVarint(&raw)) return false;
    *number = static_cast<int64_t>(raw);
    return true;
  }

 private:
  // True if it is the first field with its number.
  bool IsFirst() {
    const uint32_t bit = uint32_t{1} << (tag_ >> 3);
    const bool is_first = (met_ & bit) == 0;
    met_ |= bit;
    return is_first;
  }

  ByteReader reader_;
  uint8_t tag_ = 0;   // of the field being read
  uint32_t met_ = 0;  // one bit for each number that ReadOnce read
};

bool ReadSetCell(std::string_view message, SetCellView* cell) {
  Fields fields(message);
  uint8_t tag;
  while (fields.Next(&tag)) {
    bool is_read = false;
    if (tag == BytesField(1)) {
      is_read = fields.ReadTextOnce(&cell->family_name);
    } else if (tag == BytesField(2)) {
      is_read = fields.ReadOnce(&cell->column_qualifier);
    } else if (tag == VarintField(3)) {
      is_read = fields.ReadOnce(&cell->timestamp_micros);
    } else if (tag == BytesField(4)) {
      is_read = fields.ReadOnce(&cell->value);
    }
    if (!is_read) return false;
  }
  return true;
}

// Accepts a single SetCell: protobuf would merge two of them.
bool ReadMutation(std::string_view message, SetCellView* cell) {
  Fields fields(message);
  uint8_t tag;
  std::string_view set_cell;
  return fields.Next(&tag) && tag == BytesField(1) && fields.Read(&set_cell) &&
         !fields.Next(&tag) && ReadSetCell(set_cell, cell);
}

// True if one more item is kept.
template <typename Items>
bool HasRoom(const Items& items) {
  return items.size() <= PlainEntries::kCountMax;
}

bool ReadEntry(std::string_view message, PlainEntries* plain) {
  if (!HasRoom(plain->entries)) return true;
  PlainEntries::Entry& entry = plain->entries.emplace_back();
  entry.cell_begin = plain->cells.size();
  Fields fields(message);
  uint8_t tag;
  while (fields.Next(&tag)) {
    std::string_view mutation;
    bool is_read = false;
    if (tag == BytesField(1)) {
      is_read = fields.ReadOnce(&entry.row_key);
    } else if (tag == BytesField(2)) {
      is_read = fields.Read(&mutation) &&
                (!HasRoom(plain->cells) || ReadMutation(mutation, &plain->cells.emplace_back()));
    }
    if (!is_read) return false;
  }
  entry.cell_end = plain->cells.size();
  return true;
}

}  // namespace

bool ReadPlainEntries(std::string_view request, PlainEntries* plain) {
  *plain = {};
  Fields fields(request);
  uint8_t tag;
  while (fields.Next(&tag)) {
    std::string_view entry;
    bool is_read = false;
    if (tag == BytesField(1)) {
      is_read = fields.ReadTextOnce(&plain->table_name);
    } else if (tag == BytesField(2)) {
      is_read = fields.Read(&entry) && ReadEntry(entry, plain);
    } else if (tag == BytesField(3)) {
      is_read = fields.ReadTextOnce(&plain->app_profile_id);
    } else if (tag == BytesField(5)) {
      is_read = fields.ReadTextOnce(&plain->authorized_view_name);
    }
    if (!is_read) return false;
  }
  return true;
}

bool ReadPlainRow(std::string_view request, PlainEntries* plain) {
  *plain = {};
  PlainEntries::Entry& entry = plain->entries.emplace_back();
  Fields fields(request);
  uint8_t tag;
  while (fields.Next(&tag)) {
    std::string_view mutation;
    bool is_read = false;
    if (tag == BytesField(1)) {
      is_read = fields.ReadTextOnce(&plain->table_name);
    } else if (tag == BytesField(2)) {
      is_read = fields.ReadOnce(&entry.row_key);
    } else if (tag == BytesField(3)) {
      is_read = fields.Read(&mutation) && HasRoom(plain->cells) &&
                ReadMutation(mutation, &plain->cells.emplace_back());
    } else if (tag == BytesField(4)) {
      is_read = fields.ReadTextOnce(&plain->app_profile_id);
    } else if (tag == BytesField(6)) {
      is_read = fields.ReadTextOnce(&plain->authorized_view_name);
    }
    if (!is_read) return false;
  }
  entry.cell_end = plain->cells.size();
  return true;
}

}  // namespace stele::internal
