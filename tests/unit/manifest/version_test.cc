// Tests CheckVersion: it names each invariant of version.h that is broken alone, and its check of
// intervals agrees with the definition.
#include "manifest/version.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "base/status.h"
#include "support/manifest_history.h"

namespace stele::internal {
namespace {

// A version with one table of two tablets, [-, m) and [m, end), that the test can change.
struct Draft {
  Version version;
  TableState table;  // but its tablets
  std::vector<Tablet> tablets;
  Draft() {
    table.definition = TestDefinition(1, "t", 1, {{"cf", GcRule::None()}});
    tablets = {{KeyRange{"", "m", false}, {}}, {KeyRange{"m", "", true}, {}}};
    version.last_sequence = 100;
    version.next_file_number = 50;
    version.next_table_id = 2;
    version.next_family_id = 2;
  }
  void Add(size_t tablet, KeyRange range, uint64_t first, uint64_t last, uint64_t number = 7) {
    tablets[tablet].stack.push_back(
        {std::make_shared<SstableFile>(TestFile(number, "a", "z")), std::move(range), first, last});
  }
  std::string Verdict() {
    table.tablets = tablets;
    version.tables.Set(1, std::make_shared<TableState>(table));
    const absl::Status status = CheckVersion(version);
    return status.ok() ? "OK" : std::string(ToStd(status.message()));
  }
};

void ExpectVerdict(std::string_view expected_part, const std::function<void(Draft*)>& change) {
  Draft draft;
  change(&draft);
  const std::string verdict = draft.Verdict();
  EXPECT_NE(verdict.find(expected_part), std::string::npos)
      << verdict << "\nshould say: " << expected_part;
}

TEST(VersionTest, EachBrokenInvariantIsNamed) {
  ExpectVerdict("OK", [](Draft*) {});
  ExpectVerdict("does not begin where", [](Draft* d) { d->tablets[1].range.start = "n"; });
  ExpectVerdict("does not begin where", [](Draft* d) { d->tablets[1].range.start = "l"; });
  ExpectVerdict("does not begin where", [](Draft* d) { d->tablets[0].range.start = "a"; });
  ExpectVerdict("end before the end", [](Draft* d) {
    d->tablets[1].range = KeyRange{"m", "z", false};
  });
  ExpectVerdict("end before the end", [](Draft* d) { d->tablets.clear(); });
  ExpectVerdict("does not begin where", [](Draft* d) {
    d->tablets.push_back({KeyRange{"", "", true}, {}});
  });
  ExpectVerdict("its rows are outside the tablet", [](Draft* d) {
    d->Add(0, KeyRange{"a", "n", false}, 1, 2);
  });
  ExpectVerdict("its rows are outside the tablet", [](Draft* d) {
    d->Add(0, KeyRange{"b", "b", false}, 1, 2);
  });
  ExpectVerdict("its last sequence is below its first", [](Draft* d) {
    d->Add(0, KeyRange{"a", "b", false}, 3, 2);
  });
  ExpectVerdict("above the last assigned one", [](Draft* d) {
    d->Add(0, KeyRange{"a", "b", false}, 3, 101);
  });
  ExpectVerdict("number was never assigned", [](Draft* d) {
    d->Add(0, KeyRange{"a", "b", false}, 3, 4, 50);
  });
  ExpectVerdict("is described twice", [](Draft* d) {
    d->Add(0, KeyRange{"a", "b", false}, 3, 4);
    d->Add(1, KeyRange{"m", "n", false}, 3, 4);
  });
  ExpectVerdict("id was never assigned", [](Draft* d) { d->version.next_table_id = 1; });
  ExpectVerdict("family id 1 was never assigned", [](Draft* d) { d->version.next_family_id = 1; });
  ExpectVerdict("not below those of the newer", [](Draft* d) {
    d->Add(0, KeyRange{"a", "c", false}, 3, 4, 8);
    d->Add(0, KeyRange{"b", "d", false}, 4, 5, 9);
  });
  ExpectVerdict("OK", [](Draft* d) {  // without common rows, so the order does not matter
    d->Add(0, KeyRange{"a", "b", false}, 3, 4, 8);
    d->Add(0, KeyRange{"b", "d", false}, 4, 5, 9);
  });
}

TEST(VersionTest, NamesAndFamiliesBelongToOneTable) {
  Draft draft;
  draft.version.next_table_id = 3;
  draft.version.next_family_id = 9;
  TableState other = draft.table;
  other.tablets = draft.tablets;
  other.definition = TestDefinition(2, "t", 1, {{"cf", GcRule::None()}}, 5);
  draft.version.tables.Set(2, std::make_shared<TableState>(other));
  EXPECT_EQ(draft.Verdict(), "tables 1 and 2 have the same name");
  other.definition = TestDefinition(2, "u", 1, {{"cf", GcRule::None()}}, 1);
  draft.version.tables.Set(2, std::make_shared<TableState>(other));
  EXPECT_EQ(draft.Verdict(), "tables 1 and 2 share a family id");
  other.definition = TestDefinition(2, "u", 1, {{"cf", GcRule::None()}}, 5);
  draft.version.tables.Set(2, std::make_shared<TableState>(other));
  EXPECT_EQ(draft.Verdict(), "OK");
  draft.version.ids_by_name.Set("u", 2);
  EXPECT_EQ(draft.version.FindTable("u"), draft.version.tables.at(2).get());
  EXPECT_EQ(draft.version.FindTable("v"), nullptr);
}

// Compares the sweep in CheckVersion with the definition: any two references with common rows have
// disjoint intervals, the newer one first.
TEST(VersionTest, IntervalsAreJudgedAsDefined) {
  Random random(3);
  int good_count = 0;
  for (int round = 0; round < 4000; ++round) {
    Draft draft;
    const uint64_t count = 1 + random.Below(5);
    uint64_t level = 90;
    for (uint64_t i = 0; i < count; ++i) {
      const char start = static_cast<char>('a' + random.Below(6));
      const char end = static_cast<char>(start + 1 + random.Below(4));
      const uint64_t first = random.OneIn(4) ? level : level - 5;
      draft.Add(0, KeyRange{std::string(1, start), std::string(1, end), false}, first,
                first + random.Below(5), 10 + i);
      if (!random.OneIn(4)) level -= 8;
    }
    bool expected = true;
    const std::vector<SstableReference>& stack = draft.tablets[0].stack;
    for (size_t i = 0; i < stack.size(); ++i) {
      for (size_t j = i + 1; j < stack.size(); ++j) {
        expected = expected && (!stack[i].range.Overlaps(stack[j].range) ||
                                stack[j].sequence_last < stack[i].sequence_first);
      }
    }
    good_count += expected ? 1 : 0;
    ASSERT_EQ(draft.Verdict() == "OK", expected) << "round " << round;
  }
  EXPECT_GT(good_count, 500);
  EXPECT_LT(good_count, 3500);
}

}  // namespace
}  // namespace stele::internal
