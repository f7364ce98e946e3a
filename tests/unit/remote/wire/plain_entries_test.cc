// Tests the in-place parser of MutateRows: it reads the same as protobuf, and rejects bytes that
// protobuf would read differently.
#include "remote/wire/plain_entries.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "model/access.h"
#include "remote/wire/bigtable.pb.h"
#include "remote/wire/mutation_translation.h"

namespace stele::internal {
namespace {

namespace wire = ::google::bigtable::v2;

// Converts a plain request to protobuf's message. Nothing is lost except fields that a plain
// request does not have.
wire::MutateRowsRequest MessageOf(const PlainEntries& plain) {
  wire::MutateRowsRequest message;
  message.set_table_name(std::string(plain.table_name));
  message.set_app_profile_id(std::string(plain.app_profile_id));
  message.set_authorized_view_name(std::string(plain.authorized_view_name));
  for (const PlainEntries::Entry& entry : plain.entries) {
    wire::MutateRowsRequest::Entry* const out = message.add_entries();
    out->set_row_key(std::string(entry.row_key));
    for (const SetCellView& cell : plain.CellsOf(entry)) {
      wire::Mutation::SetCell* const set = out->add_mutations()->mutable_set_cell();
      set->set_family_name(std::string(cell.family_name));
      set->set_column_qualifier(std::string(cell.column_qualifier));
      set->set_timestamp_micros(cell.timestamp_micros);
      set->set_value(std::string(cell.value));
    }
  }
  return message;
}

std::string RandomBytes(Random& random, size_t bytes_max) {
  std::string bytes(random.Below(bytes_max + 1), '\0');
  for (char& byte : bytes)
    byte = static_cast<char>(random.OneIn(8) ? random.Below(256) : 'a' + random.Below(26));
  return bytes;
}

int64_t RandomMicros(Random& random) {
  constexpr int64_t kSome[] = {0, -1, -2, 1000, 1'700'000'000'000'000, INT64_MAX, INT64_MIN, 1001};
  return random.OneIn(4) ? static_cast<int64_t>(random.Next())
                         : kSome[random.Below(std::size(kSome))];
}

wire::MutateRowsRequest RandomRequest(Random& random) {
  wire::MutateRowsRequest request;
  request.set_table_name("projects/p/instances/i/tables/" + std::to_string(random.Below(10)));
  if (random.OneIn(3)) request.set_app_profile_id("profile");
  if (random.OneIn(9)) request.set_authorized_view_name("view");
  for (uint64_t entries = random.Below(6); entries > 0; --entries) {
    wire::MutateRowsRequest::Entry* const entry = request.add_entries();
    entry->set_row_key(RandomBytes(random, 20));
    for (uint64_t cells = random.Below(5); cells > 0; --cells) {
      wire::Mutation::SetCell* const set = entry->add_mutations()->mutable_set_cell();
      if (!random.OneIn(9)) set->set_family_name(random.OneIn(9) ? "\xc3\xa9" : "cf");
      set->set_column_qualifier(RandomBytes(random, 9));
      set->set_timestamp_micros(RandomMicros(random));
      set->set_value(RandomBytes(random, random.OneIn(5) ? 300 : 10));
    }
  }
  return request;
}

// Makes changes that only a malicious client, or a client of another version, makes.
std::string Mutated(Random& random, std::string bytes) {
  for (uint64_t times = 1 + random.Below(3); times > 0 && !bytes.empty(); --times) {
    const size_t at = random.Below(bytes.size());
    switch (random.Below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
        break;
      case 1:
        bytes.erase(at, 1 + random.Below(4));
        break;
      case 2:
        bytes.insert(at, RandomBytes(random, 4));
        break;
      case 3:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, bytes.substr(random.Below(bytes.size()), random.Below(40)));
        break;
    }
  }
  return bytes;
}

std::string Text(const absl::StatusOr<RowMutation>& mutation) {
  if (!mutation.ok()) return mutation.status().ToString();
  return mutation->row_key() + "|" + std::to_string(mutation->count()) + "|" +
         std::string(Access::EncodedOps(*mutation));
}

// Parses both ways. Returns whether the request is plain.
bool CheckBothWays(const std::string& bytes, const TableTraits& traits, const std::string& where) {
  PlainEntries plain;
  if (!ReadPlainEntries(bytes, &plain)) return false;
  wire::MutateRowsRequest message;
  EXPECT_TRUE(message.ParseFromString(bytes)) << where;
  EXPECT_EQ(message.SerializeAsString(), MessageOf(plain).SerializeAsString()) << where;
  if (static_cast<size_t>(message.entries_size()) != plain.entries.size()) return true;
  for (int i = 0; i < message.entries_size(); ++i) {
    const wire::MutateRowsRequest::Entry& entry = message.entries(i);
    const PlainEntries::Entry& view = plain.entries[static_cast<size_t>(i)];
    EXPECT_EQ(Text(ToRowMutation(entry.row_key(), entry.mutations(), traits)),
              Text(ToRowMutation(view.row_key, plain.CellsOf(view), traits)))
        << where;
  }
  return true;
}

TEST(PlainEntries, AreWhatProtobufReads) {
  TableTraits small;
  small.granularity = TimestampGranularity::kMicros;
  small.limits = {.row_key_bytes = 10, .qualifier_bytes = 5, .value_bytes = 20, .mutations = 3};
  int plain_count = 0;
  int mutated_count = 0;
  int mutated_plain_count = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    const std::string bytes = RandomRequest(random).SerializeAsString();
    const std::string where = "seed " + std::to_string(seed);
    const TableTraits traits = random.OneIn(2) ? small : TableTraits();
    plain_count += CheckBothWays(bytes, traits, where) ? 1 : 0;
    for (int i = 0; i < 20; ++i, ++mutated_count) {
      mutated_plain_count +=
          CheckBothWays(Mutated(random, bytes), traits, where + ", change " + std::to_string(i))
              ? 1
              : 0;
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(plain_count, 2000);
  EXPECT_GT(mutated_plain_count, mutated_count / 20);
  EXPECT_LT(mutated_plain_count, mutated_count / 2);
}

// Parses a MutateRow with the cells of the request's first entry both ways. Returns whether it is
// plain.
bool CheckRowBothWays(const std::string& bytes, const TableTraits& traits,
                      const std::string& where) {
  PlainEntries plain;
  if (!ReadPlainRow(bytes, &plain)) return false;
  wire::MutateRowRequest message;
  EXPECT_TRUE(message.ParseFromString(bytes)) << where;
  const PlainEntries::Entry& view = plain.entries.front();
  EXPECT_EQ(plain.entries.size(), 1u);
  EXPECT_EQ(message.table_name(), plain.table_name) << where;
  EXPECT_EQ(message.app_profile_id(), plain.app_profile_id) << where;
  EXPECT_EQ(message.authorized_view_name(), plain.authorized_view_name) << where;
  EXPECT_FALSE(message.has_idempotency()) << where;
  EXPECT_EQ(Text(ToRowMutation(message.row_key(), message.mutations(), traits)),
            Text(ToRowMutation(view.row_key, plain.CellsOf(view), traits)))
      << where;
  return true;
}

TEST(PlainRow, IsWhatProtobufReads) {
  TableTraits traits;
  traits.granularity = TimestampGranularity::kMicros;
  traits.limits.mutations = 3;
  int plain_count = 0;
  int mutated_plain_count = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    const wire::MutateRowsRequest rows = RandomRequest(random);
    wire::MutateRowRequest row;
    row.set_table_name(rows.table_name());
    row.set_app_profile_id(rows.app_profile_id());
    row.set_authorized_view_name(rows.authorized_view_name());
    if (rows.entries_size() > 0) {
      row.set_row_key(rows.entries(0).row_key());
      *row.mutable_mutations() = rows.entries(0).mutations();
    }
    if (random.OneIn(9)) row.mutable_idempotency()->set_token("a token");
    const std::string bytes = row.SerializeAsString();
    const std::string where = "seed " + std::to_string(seed);
    plain_count += CheckRowBothWays(bytes, traits, where) ? 1 : 0;
    for (int i = 0; i < 20; ++i)
      mutated_plain_count += CheckRowBothWays(Mutated(random, bytes), traits, where) ? 1 : 0;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(plain_count, 2000);
  EXPECT_GT(mutated_plain_count, 4000);
}

TEST(PlainRow, WithTooManyCellsIsNot) {
  wire::MutateRowRequest request;
  for (size_t i = 0; i < PlainEntries::kCountMax; ++i) request.add_mutations()->mutable_set_cell();
  PlainEntries plain;
  EXPECT_TRUE(ReadPlainRow(request.SerializeAsString(), &plain));
  for (int i = 0; i < 2; ++i) request.add_mutations()->mutable_set_cell();
  EXPECT_FALSE(ReadPlainRow(request.SerializeAsString(), &plain)) << "protobuf counts them";
}

// Returns a request with one entry of one mutation.
std::string RequestWith(const std::string& mutation) {
  wire::MutateRowsRequest::Entry entry;
  entry.set_row_key("r");
  std::string bytes =
      entry.SerializeAsString() + '\x12' + static_cast<char>(mutation.size()) + mutation;
  return '\x12' + (static_cast<char>(bytes.size()) + bytes);
}

TEST(PlainEntries, OnlySetCellsAre) {
  PlainEntries plain;
  wire::Mutation set;
  set.mutable_set_cell()->set_family_name("f");
  EXPECT_TRUE(ReadPlainEntries(RequestWith(set.SerializeAsString()), &plain));
  EXPECT_TRUE(ReadPlainEntries("", &plain));
  wire::Mutation clocked = set;
  clocked.set_timestamp_origin(wire::Mutation::CLIENT_AUTO_GENERATED);
  wire::Mutation deletion;
  deletion.mutable_delete_from_row();
  wire::Mutation foreign;
  foreign.mutable_set_cell()->set_family_name("\xc3\xa9");
  const std::string bytes = set.SerializeAsString();
  const std::string cases[] = {"",
                               clocked.SerializeAsString(),
                               deletion.SerializeAsString(),
                               foreign.SerializeAsString(),
                               bytes + bytes,                         // merged by protobuf
                               bytes + deletion.SerializeAsString(),  // the last of a oneof counts
                               std::string("\x0a\x06\x0a\x01"
                                           "f\x0a\x01"
                                           "g"),                         // a field twice
                               std::string("\x0a\x04\x18\x01\x28\x01"),  // an unknown field
                               std::string("\x0a\x02\x08\x01"),          // a name that is a number
                               std::string("\x0a\x05\x0a"),              // cut off
                               std::string("\x0a\x86\x80\x80\x80\x80\x00\x0a\x04"
                                           "fami",
                                           13)};  // a length in six bytes
  for (const std::string& mutation : cases)
    EXPECT_FALSE(ReadPlainEntries(RequestWith(mutation), &plain))
        << testing::PrintToString(mutation);
}

// A request of empty entries, or of empty cells, takes many times more memory than its bytes.
TEST(PlainEntries, NoMoreAreKeptThanShowThatThereAreTooMany) {
  wire::MutateRowsRequest cells;
  wire::MutateRowsRequest entries;
  cells.add_entries();
  for (size_t i = 0; i < 2 * PlainEntries::kCountMax; ++i) {
    cells.mutable_entries(0)->add_mutations()->mutable_set_cell();
    entries.add_entries();
  }
  entries.set_authorized_view_name("after them");
  PlainEntries plain;
  const std::string cells_bytes = cells.SerializeAsString();  // `plain` points into it
  ASSERT_TRUE(ReadPlainEntries(cells_bytes, &plain));
  EXPECT_EQ(plain.cells.size(), PlainEntries::kCountMax + 1);
  EXPECT_EQ(plain.CellsOf(plain.entries.front()).size(), plain.cells.size());
  // The view's field comes after the entries.
  const std::string entries_bytes = entries.SerializeAsString();
  ASSERT_TRUE(ReadPlainEntries(entries_bytes, &plain));
  EXPECT_EQ(plain.entries.size(), PlainEntries::kCountMax + 1);
  EXPECT_EQ(plain.authorized_view_name, "after them");
}

TEST(PlainEntries, AnEntryWithATokenIsNot) {
  wire::MutateRowsRequest request;
  request.add_entries()->mutable_idempotency()->set_token("12345678");
  PlainEntries plain;
  EXPECT_FALSE(ReadPlainEntries(request.SerializeAsString(), &plain));
}

}  // namespace
}  // namespace stele::internal
