// Tests edits: an encoded edit decodes to the same edit, other bytes are rejected without harm, and
// an edit that does not fit a version is rejected with the reason.
#include "manifest/edit.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/coding.h"
#include "base/random.h"
#include "base/status.h"
#include "manifest/edit_coding.h"
#include "manifest/stack_edits.h"
#include "manifest/token_table.h"
#include "model/validate.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

std::string Message(const absl::Status& status) { return std::string(ToStd(status.message())); }

TEST(EditTest, RandomEditsComeBackAsTheyWere) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    VersionHistory history(seed);
    for (int step = 0; step < 60; ++step) {
      const Edit edit = history.Next();
      const std::string bytes = EncodeEdit(edit);
      const auto decoded = DecodeEdit(bytes);
      ASSERT_TRUE(decoded.ok()) << decoded.status();
      ASSERT_EQ(EditText(*decoded), EditText(edit));
      ASSERT_EQ(EncodeEdit(*decoded), bytes);
    }
  }
}

TEST(EditTest, ASnapshotMakesTheVersionFromNothing) {
  for (uint64_t seed = 100; seed < 120; ++seed) {
    VersionHistory history(seed);
    for (int step = 0; step < 40; ++step) history.Next();
    const Version& version = *history.version();
    ASSERT_TRUE(CheckVersion(version).ok()) << CheckVersion(version);
    std::string bytes;
    ASSERT_TRUE(EncodeSnapshot(version, [&bytes](std::string_view part) {
                  bytes.append(part);
                  return absl::OkStatus();
                }).ok());
    ASSERT_EQ(bytes, EncodeEdit(SnapshotEdit(version)));
    const auto decoded = DecodeEdit(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    const auto rebuilt = Apply(Version(), *decoded);
    ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
    EXPECT_EQ(VersionText(**rebuilt), VersionText(version));
    for (const auto& [id, table] : version.tables) {
      if (id == kTokenTableId) continue;
      EXPECT_EQ(version.FindTable(table->definition->name), table.get());
    }
    // A file that several references share is shared again after decoding.
    EXPECT_TRUE(CheckVersion(**rebuilt).ok());
  }
}

TEST(EditTest, ANameBelongsToOneTable) {
  auto version = std::make_shared<const Version>();
  const auto apply = [&version](TableEdit table) {
    Edit edit;
    edit.tables.push_back(std::move(table));
    edit.next_table_id = edit.tables.back().table_id + 1;
    edit.next_family_id = 10 * edit.next_table_id;
    auto next = Apply(*version, edit);
    if (next.ok()) version = *std::move(next);
    return next.status();
  };
  const auto definition = [](uint32_t id, const std::string& name, uint64_t epoch) {
    return TestDefinition(id, name, epoch, {{"cf", GcRule::None()}}, 10 * id);
  };
  EXPECT_EQ(apply(NewTable(definition(1, "a", 1))), absl::OkStatus());
  EXPECT_EQ(apply(NewTable(definition(2, "b", 1))), absl::OkStatus());
  EXPECT_EQ(Message(apply(NewTable(definition(3, "a", 1)))), "table 3: table 1 has the same name");
  EXPECT_EQ(Message(apply({.table_id = 2, .definition = definition(2, "a", 2)})),
            "table 2: table 1 has the same name");
  ASSERT_NE(version->FindTable("a"), nullptr);
  EXPECT_EQ(version->FindTable("a")->definition->id, 1u);
  EXPECT_EQ(apply({.table_id = 1, .drop = true}), absl::OkStatus());
  EXPECT_EQ(version->FindTable("a"), nullptr);
  EXPECT_EQ(apply({.table_id = 2, .definition = definition(2, "a", 2)}), absl::OkStatus());
  ASSERT_NE(version->FindTable("a"), nullptr);
  EXPECT_EQ(version->FindTable("a")->definition->id, 2u);
  EXPECT_EQ(version->FindTable("b"), nullptr);
}

TEST(EditTest, RulesAndTypesOfEveryKindComeBack) {
  Schema schema;
  schema.AddFamily("a", GcRule::None())
      .AddFamily("b", GcRule::MaxNumVersions(7))
      .AddFamily("c", GcRule::MaxAge(std::chrono::milliseconds(5)));
  schema.AddFamily("d", GcRule::Intersection(GcRule::MaxNumVersions(1),
                                             GcRule::Union(GcRule::MaxNumVersions(9),
                                                           GcRule::MaxAge(std::chrono::hours(1)))));
  schema.SetCompression(Compression::kNone)
      .SetGranularity(TimestampGranularity::kMicros)
      .AddSplit("m")
      .AddSplit("q")
      .SetProperty("k", "");
  schema.SetLimits({.row_key_bytes = 10,
                    .qualifier_bytes = 20,
                    .value_bytes = 30,
                    .row_bytes = 40,
                    .mutations = 50});
  const std::vector<FamilyEntry> families = {
      {4, "a"}, {2, "b", 300}, {9, "c"}, {1, "d", UINT64_MAX}};
  Edit edit;
  edit.tables.push_back(NewTable(MakeDefinition(3, "table", 12, schema, families), {"m", "q"}));
  const auto decoded = DecodeEdit(EncodeEdit(edit));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  const TableDefinition& definition = *decoded->tables.at(0).definition;
  EXPECT_EQ(definition.schema, schema);
  EXPECT_EQ(definition.families.ids(), (std::vector<uint32_t>{1, 2, 4, 9})) << "by id";
  const std::vector<uint64_t> unfenced_through = {UINT64_MAX, 300, 0, 0};
  for (uint32_t family_index = 1; family_index <= 4; ++family_index)
    EXPECT_EQ(definition.families[family_index].unfenced_through,
              unfenced_through[family_index - 1]);
  EXPECT_EQ(definition.epoch, 12u);
  EXPECT_EQ(definition.name, "table");
  ASSERT_EQ(definition.retentions.size(), 4u);
  EXPECT_EQ(definition.retentions[1].rule(), GcRule::MaxNumVersions(7));
}

TEST(EditTest, TheKeyOfTheTokensComesBackAndNeverChanges) {
  Edit edit;
  edit.token_key = SipKey{.first = 1, .second = UINT64_MAX};
  const absl::StatusOr<Edit> decoded = DecodeEdit(EncodeEdit(edit));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->token_key, edit.token_key);
  const auto version = Apply(Version(), edit);
  ASSERT_TRUE(version.ok()) << version.status();
  EXPECT_EQ(SnapshotEdit(**version).token_key, edit.token_key);
  EXPECT_TRUE(Apply(**version, edit).ok());
  edit.token_key->first = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(Apply(**version, edit).status()));
}

TEST(EditTest, TheTokensTableHasTheDefinitionOfTheFormat) {
  Edit edit;
  edit.tables.push_back(
      {.table_id = kTokenTableId, .flushed_through = 7, .tablets = {{.range = KeyRange::All()}}});
  const auto version = Apply(Version(), DecodeEdit(EncodeEdit(edit)).value());
  ASSERT_TRUE(version.ok()) << version.status();
  EXPECT_EQ(CheckVersion(**version), absl::OkStatus());
  const TableState& table = *(*version)->tables.at(kTokenTableId);
  EXPECT_EQ(table.definition, TokenTableDefinition());
  EXPECT_EQ(table.flushed_through, 7u);
  EXPECT_EQ((*version)->FindTable(table.definition->name), nullptr);
  EXPECT_EQ(SnapshotEdit(**version).tables.at(0).definition, nullptr);

  Edit drop;
  drop.tables.push_back({.table_id = kTokenTableId, .drop = true});
  EXPECT_TRUE(absl::IsInvalidArgument(Apply(**version, drop).status()));
  Edit redefine;
  redefine.tables.push_back({.table_id = kTokenTableId, .definition = TokenTableDefinition()});
  EXPECT_TRUE(absl::IsInvalidArgument(Apply(**version, redefine).status()));
}

TEST(EditTest, EveryTruncationIsRefusedOrAnEdit) {
  VersionHistory history(5);
  for (int step = 0; step < 30; ++step) {
    const std::string bytes = EncodeEdit(history.Next());
    for (size_t length = 0; length < bytes.size(); ++length) {
      const auto decoded = DecodeEdit(std::string_view(bytes).substr(0, length));
      if (!decoded.ok()) {
        ASSERT_TRUE(absl::IsInvalidArgument(decoded.status()));
        continue;
      }
      // Bytes cut between two fields are still an edit, but it must contain less.
      ASSERT_LT(EncodeEdit(*decoded).size(), bytes.size());
    }
  }
}

TEST(EditTest, PartsOfAnyLengthMakeTheSameEdit) {
  Random random(6);
  VersionHistory history(6);
  for (int step = 0; step < 60; ++step) {
    const std::string bytes = EncodeEdit(history.Next());
    EditDecoder decoder;
    for (size_t begin = 0; begin < bytes.size();) {
      const size_t length = 1 + random.Below(random.OneIn(2) ? 3 : 200);
      ASSERT_TRUE(decoder.Add(std::string_view(bytes).substr(begin, length)).ok());
      begin += length;
    }
    const auto decoded = decoder.Finish();
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    ASSERT_EQ(EncodeEdit(*decoded), bytes);
  }
}

// Returns a field: its tag, the length of its content, and the content.
std::string Field(uint64_t tag, const std::string& content) {
  std::string bytes;
  AppendVarint(bytes, tag);
  AppendBytes(bytes, content);
  return bytes;
}

TEST(EditTest, UnknownTagsAndWhatBelongsToNothingAreRefused) {
  for (const uint64_t tag : {uint64_t{0}, uint64_t{19}, uint64_t{1} << 40}) {
    EXPECT_NE(Message(DecodeEdit(Field(tag, "")).status()).find("unknown edit tag"),
              std::string::npos)
        << tag;
  }
  const std::string table = Field(2, "\x01");
  const std::string tablet = Field(14, std::string("\x01\x00", 2));
  const std::string reference = Field(18, "\x05\x02\x01\x01");
  EXPECT_TRUE(DecodeEdit(table + tablet + reference).ok());
  for (const std::string& bytes :
       {tablet, reference, table + reference, table + tablet + table + reference,
        table + Field(15, ""), table + Field(16, "m"), table + Field(17, "\x01k"), Field(11, "")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(DecodeEdit(bytes).status()));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeEdit(Field(4, "\x01\x01")).status()))
      << "more than the field holds";
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeEdit(Field(4, "")).status())) << "less";
  std::string rule("\x01m\x01", 3);  // a family's name, id, type
  rule += std::string(1, '\0');
  for (int i = 0; i < 100'000; ++i) rule += "\x03\x02";  // endlessly nested unions of two
  const std::string traits = Field(12, std::string("\x01t\x01\x00\x00\x01\x01\x01\x01\x01", 10));
  EXPECT_TRUE(DecodeEdit(table + traits).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeEdit(table + traits + Field(15, rule)).status()));
}

TEST(EditTest, KeysThatNoRowHasAreRefused) {
  const auto decode = [](size_t range_bytes, size_t row_bytes) {
    Edit edit;
    edit.new_files.push_back(TestFile(7, std::string(row_bytes, 'k'), std::string(row_bytes, 'k')));
    edit.tables.push_back({.table_id = 1});
    edit.tables[0].tablets.push_back(
        {KeyRange{"", std::string(range_bytes, 'z'), false}, {{7, KeyRange::All(), 1, 1}}});
    return DecodeEdit(EncodeEdit(edit)).status();
  };
  EXPECT_TRUE(decode(kRowKeyBytesMax + 1, kRowKeyBytesMax).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(decode(kRowKeyBytesMax + 2, kRowKeyBytesMax)));
  EXPECT_TRUE(absl::IsInvalidArgument(decode(kRowKeyBytesMax + 1, kRowKeyBytesMax + 1)));
}

// Many references that mean "the whole tablet" in six bytes share one copy of its keys.
TEST(EditTest, ReferencesToAllOfATabletShareItsKeys) {
  Edit edit;
  TabletEdit& tablet = edit.tables.emplace_back(TableEdit{.table_id = 1}).tablets.emplace_back();
  tablet.range = {std::string(kRowKeyBytesMax, 'a'), std::string(kRowKeyBytesMax, 'b'), false};
  for (uint64_t i = 0; i < 1000; ++i) tablet.stack.push_back({i, tablet.range, i, i});
  const std::string bytes = EncodeEdit(edit);
  EXPECT_LT(bytes.size(), 150'000u);
  const auto decoded = DecodeEdit(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  const std::vector<ReferenceEdit>& stack = decoded->tables.at(0).tablets.at(0).stack;
  ASSERT_EQ(stack.size(), 1000u);
  for (const ReferenceEdit& reference : stack) ASSERT_EQ(&*reference.range, &*stack[0].range);
  EXPECT_EQ(stack[0].range, tablet.range);
}

TEST(EditTest, ADefinitionNoUserCouldMakeIsRefused) {
  const auto decode = [](const std::shared_ptr<const TableDefinition>& definition) {
    Edit edit;
    edit.tables.push_back(NewTable(definition));
    return DecodeEdit(EncodeEdit(edit)).status();
  };
  EXPECT_TRUE(decode(TestDefinition(1, "t", 1, {{"cf", GcRule::None()}})).ok());
  EXPECT_TRUE(
      absl::IsInvalidArgument(decode(TestDefinition(1, "no spaces", 1, {{"cf", GcRule::None()}}))));
  EXPECT_TRUE(
      absl::IsInvalidArgument(decode(TestDefinition(1, "t", 1, {{"c f", GcRule::None()}}))));
  EXPECT_TRUE(absl::IsInvalidArgument(
      decode(TestDefinition(1, "t", 1, {{"cf", GcRule::MaxNumVersions(0)}}))));
  Schema schema;
  schema.AddFamily("a").AddFamily("b");
  EXPECT_TRUE(
      absl::IsInvalidArgument(decode(MakeDefinition(1, "t", 1, schema, {{5, "a"}, {5, "b"}}))));
}

class ApplyTest : public ::testing::Test {
 protected:
  ApplyTest() {
    Edit edit;
    edit.tables.push_back(NewTable(TestDefinition(1, "t", 1, {{"cf", GcRule::None()}}), {"m"}));
    edit.new_files.push_back(TestFile(5, "a", "z"));
    edit.last_sequence = 9;
    edit.next_file_number = 6;
    edit.next_table_id = 2;
    edit.next_family_id = 2;
    edit.tables[0].flushed_through = 9;
    edit.tables[0].tablets[0].stack.push_back({5, KeyRange{"a", "m", false}, 1, 9});
    version_ = Apply(Version(), edit).value();
  }
  // Returns the error for an edit that changes table 1.
  std::string Refusal(const std::function<void(Edit*, TableEdit*)>& change) {
    Edit edit;
    edit.tables.emplace_back().table_id = 1;
    change(&edit, &edit.tables[0]);
    const auto next = Apply(*version_, edit);
    return next.ok() ? "OK" : Message(next.status());
  }
  std::shared_ptr<const Version> version_;
};

TEST_F(ApplyTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(Refusal([](Edit*, TableEdit*) {}), "OK");
  EXPECT_EQ(Refusal([](Edit*, TableEdit* t) { t->table_id = 2; }), "table 2: it does not exist");
  EXPECT_EQ(Refusal([](Edit*, TableEdit* t) { t->table_id = 2, t->drop = true; }),
            "table 2: it does not exist");
  EXPECT_EQ(Refusal([](Edit*, TableEdit* t) { t->drop = true, t->flushed_through = 10; }),
            "table 1: it is both dropped and changed");
  EXPECT_EQ(Refusal([](Edit*, TableEdit* t) { t->flushed_through = 8; }),
            "table 1: its flushed_through goes back");
  EXPECT_EQ(Refusal([](Edit*, TableEdit* t) {
              t->definition = TestDefinition(1, "t", 1, {{"cf", GcRule::None()}});
            }),
            "table 1: its schema epoch does not increase");
  EXPECT_EQ(Refusal([](Edit*, TableEdit* t) {
              t->definition = TestDefinition(2, "t", 2, {{"cf", GcRule::None()}});
            }),
            "table 1: it gets another table's definition");
  EXPECT_EQ(Refusal([](Edit*, TableEdit* t) {
              t->definition = TestDefinition(1, "t", 2, {{"other", GcRule::None()}});
            }),
            "table 1: family \"other\" has the used id 1");
  EXPECT_EQ(Refusal([](Edit*, TableEdit* t) {
              t->tablets.push_back({KeyRange{"m", "", true}, {{6, KeyRange{"m", "", true}, 1, 2}}});
            }),
            "table 1: file 6 is not known");
  EXPECT_EQ(Refusal([](Edit* e, TableEdit*) { e->new_files.push_back(TestFile(6, "a", "b")); }),
            "the edit describes 1 files and refers to 0 of them");
  EXPECT_EQ(Refusal([](Edit* e, TableEdit*) {
              e->new_files = {TestFile(6, "a", "b"), TestFile(6, "a", "b")};
            }),
            "the edit describes a file twice");
  EXPECT_EQ(Refusal([](Edit* e, TableEdit* t) {
              e->new_files.push_back(TestFile(5, "a", "b"));
              t->tablets.push_back({KeyRange{"m", "", true}, {{5, KeyRange{"m", "", true}, 1, 2}}});
            }),
            "table 1: file 5 is described twice");
}

// Table 1 has a tablet up to m and one from m on. `cut` contains the ranges of an edit's tablets,
// such as "m-p" or "m-".
TEST_F(ApplyTest, TabletsAreCutAnewWhereTheirRunsFit) {
  const auto ranges = [](const std::string& text) {
    std::vector<TabletEdit> tablets;
    for (size_t at = 0; at < text.size();) {
      const size_t space = std::min(text.find(' ', at), text.size());
      const std::string word = text.substr(at, space - at);
      const std::string end = word.substr(word.find('-') + 1);
      tablets.push_back({KeyRange{word.substr(0, word.find('-')), end, end.empty()}, {}});
      at = space + 1;
    }
    return tablets;
  };
  const auto after = [&](const std::string& cut) {
    Edit edit;
    edit.tables.push_back({.table_id = 1, .tablets = ranges(cut)});
    const auto next = Apply(*version_, edit);
    if (!next.ok()) return std::string("refused");
    EXPECT_TRUE(CheckVersion(**next).ok()) << cut << CheckVersion(**next);
    std::string text;
    for (const Tablet& tablet : (*next)->tables.at(1)->tablets)
      text += (text.empty() ? "" : " ") + tablet.range.start + "-" + tablet.range.end;
    return text;
  };
  EXPECT_EQ(after("-m"), "-m m-");
  EXPECT_EQ(after("-"), "-");
  EXPECT_EQ(after("-c c-m"), "-c c-m m-");
  EXPECT_EQ(after("m-p p-"), "-m m-p p-");
  EXPECT_EQ(after("p- m-p"), "-m m-p p-");
  EXPECT_EQ(after("-c c-p p-"), "-c c-p p-") << "a split and a merge at once";
  EXPECT_EQ(after("-c c-m m-p p-"), "-c c-m m-p p-");
  for (const char* cut : {"-c", "c-m", "-p", "m-p", "p-", "-c d-m", "-m -m", "-c -m", "-m m-p q-",
                          "-m m-m m-", "-d c-m", "- m-", "-m -", "x-y"}) {
    EXPECT_EQ(after(cut), "refused") << cut;
  }
  version_ = std::make_shared<const Version>();
  EXPECT_EQ(after("-"), "refused") << "no such table";
}

TEST_F(ApplyTest, IdsAreNotUsedAgain) {
  Edit drop;
  drop.tables.emplace_back().table_id = 1;
  drop.tables[0].drop = true;
  version_ = Apply(*version_, drop).value();
  EXPECT_TRUE(version_->Files().empty());
  Edit again;
  again.tables.push_back(NewTable(TestDefinition(1, "t", 1, {{"cf", GcRule::None()}}, 2)));
  EXPECT_EQ(Message(Apply(*version_, again).status()), "table 1: its id was used before");
  again.tables[0] = NewTable(TestDefinition(2, "t", 1, {{"cf", GcRule::None()}}, 1));
  EXPECT_EQ(Message(Apply(*version_, again).status()), "table 2: family \"cf\" has the used id 1");
}

TEST_F(ApplyTest, TheGreatestMarksStay) {
  Edit clock;
  clock.clock_mark = 7;
  version_ = Apply(*version_, clock).value();
  Edit edit;
  edit.last_sequence = 4;
  edit.clock_mark = -3;
  edit.next_file_number = 2;
  edit.next_table_id = 1;
  edit.next_family_id = 50;
  const auto next = Apply(*version_, edit).value();
  EXPECT_EQ(next->last_sequence, 9u);
  EXPECT_EQ(next->clock_mark, 7) << "a time before the epoch is no mark";
  EXPECT_EQ(next->next_file_number, 6u);
  EXPECT_EQ(next->next_table_id, 2u);
  EXPECT_EQ(next->next_family_id, 50u);
}

TEST_F(ApplyTest, AClockMarkMayBeCorrected) {
  Edit edit;
  for (const int64_t mark : {900, 7}) {
    edit.clock_mark = mark;
    version_ = Apply(*version_, edit).value();
    EXPECT_EQ(version_->clock_mark, mark);
  }
  edit.clock_mark = 0;
  EXPECT_EQ(Apply(*version_, edit).value()->clock_mark, 7);
}

TEST_F(ApplyTest, TheOldVersionStays) {
  const std::string before = VersionText(*version_);
  Edit edit;
  TableEdit& table = edit.tables.emplace_back();
  table.table_id = 1;
  table.tablets = Excise(*version_->tables.at(1), KeyRange::All());
  ASSERT_EQ(table.tablets.size(), 1u);
  const auto next = Apply(*version_, edit).value();
  EXPECT_TRUE(next->Files().empty());
  EXPECT_EQ(VersionText(*version_), before);
}

}  // namespace
}  // namespace stele::internal
