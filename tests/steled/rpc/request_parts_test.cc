// Tests how the parts of a request are counted and charged.
#include "steled/rpc/request_parts.h"

#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "remote/wire/bigtable.pb.h"
#include "steled/base/errors.h"
#include "steled/fake_call.h"
#include "steled/rpc/method_table.h"

namespace stele::server {
namespace {

using ReadRowsRequest = ::google::bigtable::v2::ReadRowsRequest;

size_t PartsOf(const std::string& bytes) {
  return CountParts(bytes, *ReadRowsRequest::descriptor());
}

std::string BytesOf(const std::string& text) {
  ReadRowsRequest request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
  return request.SerializeAsString();
}

TEST(RequestParts, AreMessagesTextsAndWhatNobodyKnows) {
  EXPECT_EQ(PartsOf(""), 0u);
  EXPECT_EQ(PartsOf(BytesOf("rows_limit: 7 reversed: true")), 0u) << "numbers have their place";
  EXPECT_EQ(PartsOf(BytesOf("table_name: 't' rows { row_keys: 'a' row_keys: 'b' row_ranges { "
                            "start_key_open: 'c' } }")),
            6u);
  EXPECT_EQ(
      PartsOf(BytesOf(
          "filter { chain { filters { cells_per_row_limit_filter: 1 } filters {} } } rows {}")),
      5u);
  EXPECT_EQ(PartsOf("\xf8\x07\x01\xf9\x07" + std::string(8, 'x') + "\xfd\x07" +
                    std::string(4, 'x') + "\xfa\x07\x02xx"),
            4u)
      << "unknown";
  // A group with a field that has the number of rows but is not rows, followed by rows.
  EXPECT_EQ(PartsOf("\xfb\x07\x12\x02\xff\xff\xfc\x07\x12\x02\x0a" + std::string(1, '\0')), 4u);
}

// Counts the objects that parsing created: messages, strings and unknown fields.
size_t PartsMade(const google::protobuf::UnknownFieldSet& fields) {
  size_t count = static_cast<size_t>(fields.field_count());
  for (int i = 0; i < fields.field_count(); ++i) {
    if (fields.field(i).type() == google::protobuf::UnknownField::TYPE_GROUP)
      count += PartsMade(fields.field(i).group());
  }
  return count;
}

size_t PartsMade(const google::protobuf::Message& message) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  size_t count = PartsMade(reflection.GetUnknownFields(message));
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!is_message && field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
    const int elements = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    count += static_cast<size_t>(elements);
    for (int i = 0; is_message && i < elements; ++i) {
      count += PartsMade(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                              : reflection.GetMessage(message, field));
    }
  }
  return count;
}

TEST(RequestParts, AreNoFewerThanParsingMakes) {
  const std::string base = BytesOf(
      "table_name: 't' rows { row_keys: 'a' row_ranges { start_key_open: 'c' } row_ranges {} } "
      "rows_limit: 5 reversed: true "
      "filter { condition { predicate_filter { sink: true } true_filter { row_sample_filter: 0.5 } "
      "} }");
  const auto seed = static_cast<uint32_t>(testing::UnitTest::GetInstance()->random_seed());
  std::mt19937 random(seed);
  const google::protobuf::LogSilencer silencer;  // about strings that are not UTF-8
  int parsed_count = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string bytes = base;
    for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
      const char byte = static_cast<char>(random() % 4 == 0 ? random() : random() % 64);
      const size_t place = random() % bytes.size();
      if (random() % 2 == 0) {
        bytes[place] = byte;
      } else {
        bytes.insert(place, 1 + random() % 2, byte);
      }
    }
    ReadRowsRequest request;
    if (!request.ParseFromString(bytes)) continue;
    ++parsed_count;
    ASSERT_GE(PartsOf(bytes), PartsMade(request))
        << "seed " << seed << ": " << request.ShortDebugString();
  }
  EXPECT_GT(parsed_count, 1'000);
}

TEST(RequestParts, AreCountedToWhereTheBytesAreDamaged) {
  const std::string whole = BytesOf("rows { row_keys: 'a' row_keys: 'b' } table_name: 't'");
  size_t before = 0;
  for (size_t i = 0; i <= whole.size(); ++i) {
    const size_t part_count = PartsOf(whole.substr(0, i));
    EXPECT_GE(part_count, before) << i;
    before = part_count;
  }
  EXPECT_EQ(before, 4u);
  EXPECT_EQ(PartsOf("\x0a\x01t\x0a\x7f"), 2u);
  EXPECT_EQ(PartsOf("\x12\x04\x0a\x7fxx\x0a\x01t"), 2u) << "longer than what it is in";
  EXPECT_EQ(PartsOf("\xfc\x07\x0a\x01t"), 0u) << "the end of no group";
  std::string groups;
  for (int i = 0; i < 2 * kMessageDepthMax; ++i) groups += "\xfb\x07";
  EXPECT_EQ(PartsOf(groups), static_cast<size_t>(kMessageDepthMax));
}

TEST(RequestParts, AreChargedToTheCallWhereThereAreMany) {
  const auto parse = [](const std::string& bytes, FakeCall* call) {
    ReadRowsRequest request;
    return ParseRequest(bytes, call, &request);
  };
  FakeCall call;
  EXPECT_TRUE(parse(BytesOf("rows { row_keys: 'a' }"), &call).ok());
  EXPECT_EQ(call.reserved_bytes(), 0u);
  ReadRowsRequest many;
  for (int i = 0; i < 10'000; ++i) many.mutable_rows()->add_row_keys("k");
  EXPECT_TRUE(parse(many.SerializeAsString(), &call).ok());
  EXPECT_GT(call.reserved_bytes(), 10'000 * (sizeof(std::string) + sizeof(void*)));
  FakeCall poor;
  poor.SetBytesMax(10'000);
  EXPECT_EQ(TextOf(parse(many.SerializeAsString(), &poor)),
            "Too many parts of requests at once; try again later");
  for (size_t i = 10'000; i <= kPartsMax; ++i) many.mutable_rows()->add_row_keys("k");
  const absl::Status refused = parse(many.SerializeAsString(), &call);
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(TextOf(refused),
            "The request is made of 1500002 parts, at most 1500000 are taken; send several");
}

}  // namespace
}  // namespace stele::server
