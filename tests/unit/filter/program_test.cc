#include "filter/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "base/status.h"
#include "model/filter_node.h"
#include "support/base_text_cases.h"
#include "support/cell_text.h"

namespace stele::internal {
namespace {

FilterProgram CompileOrDie(const Filter& filter) {
  auto program = FilterProgram::Compile(filter, TestFamilies());
  EXPECT_TRUE(program.ok()) << filter << ": " << program.status();
  return program.ok() ? *std::move(program) : FilterProgram();
}

// What a reader does: project, enter the row, go on as the program says. `log`, if any, gets the hints.
std::vector<OwnedCell> ReadFiltered(FilterProgram* program, const OwnedRow& row, size_t batch_cells, std::string* log) {
  OwnedRow projected{row.row_key, {}};
  for (const OwnedCell& cell : row.cells) {
    if (program->wanted_families()[cell.family - 1]) projected.cells.push_back(cell);
  }
  const auto cursor = NewVectorCursor({projected}, {.batch_cells = batch_cells});
  EXPECT_TRUE(cursor->SeekToEdge());
  std::vector<OwnedCell> passed;
  std::vector<Cell> batch;
  for (FilterProgram::Next next = program->StartRow(row.row_key);;) {
    if (next == FilterProgram::Next::kSkipTo) {
      if (log != nullptr) {
        *log += "skip to " + TestFamilies()[program->skip_family()].name + ":" + Printable(program->skip_qualifier()) + "\n";
      }
      cursor->SkipTo(program->skip_family(), program->skip_qualifier());
    }
    if (next == FilterProgram::Next::kRowDone) {
      if (log != nullptr) *log += "row done\n";
      return passed;
    }
    batch.clear();
    if (!cursor->ReadCells(&batch)) return passed;
    next = program->Run(&batch, 0);
    for (const Cell& cell : batch) {
      passed.push_back(OwnedCell::Copy(cell));
      if (log != nullptr) *log += PrintCell(row.row_key, cell) + "\n";
    }
    cursor->Unpin();
  }
}

// The rest of the command line is a filter; the output is what passes, with the hints in between.
std::string RunCase(const TextCase& text_case) {
  const std::string text = text_case.command_line.substr(text_case.command.size());
  const auto filter = Filter::Parse(text);
  if (!filter.ok()) return filter.status().ToString() + "\n";
  auto program = FilterProgram::Compile(*filter, TestFamilies());
  if (!program.ok()) return program.status().ToString() + "\n";
  std::string log;
  for (const OwnedRow& row : ParseRows(text_case.input_text())) ReadFiltered(&*program, row, 4, &log);
  log += "families";
  for (uint32_t rank = 1; rank <= TestFamilies().size(); ++rank) {
    if (program->wanted_families()[rank - 1]) log += " " + TestFamilies()[rank].name;
  }
  return log + (program->may_pass() ? "\n" : "; nothing can pass\n");
}

TEST(FilterProgramTest, Cases) { RunTextCases("filter/program.txt", RunCase); }

// One filter after the other, each over the whole list of cells.
std::vector<OwnedCell> ApplyByDefinition(const Filter& filter, std::vector<OwnedCell> cells) {
  const FilterNode& node = filter.node();
  const std::string family = node.text;
  const auto family_of = [](const OwnedCell& cell) { return TestFamilies()[cell.family].name; };
  std::map<std::pair<uint32_t, std::string>, int> column_counts;
  int row_count = 0;
  const auto drops = [&](const OwnedCell& cell) {
    switch (node.kind) {
      case FilterKind::kFamily:
        return family_of(cell) != family;
      case FilterKind::kColumn:
        return family_of(cell) != family || cell.qualifier != node.qualifier;
      case FilterKind::kColumnRange:
        return family_of(cell) != family || !node.range.Contains(cell.qualifier);
      case FilterKind::kTimestampRange:
        return cell.timestamp < node.timestamps.start.micros() || (node.timestamps.end && cell.timestamp >= node.timestamps.end->micros());
      case FilterKind::kLatest:
        return ++column_counts[{cell.family, cell.qualifier}] > node.count;
      case FilterKind::kCellsRowLimit:
        return ++row_count > node.count;
      default:
        return false;
    }
  };
  std::vector<OwnedCell> passed;
  for (const OwnedCell& cell : cells) {
    if (!drops(cell)) passed.push_back(cell);
  }
  for (const Filter& child : node.children) passed = ApplyByDefinition(child, std::move(passed));
  return passed;
}

std::string RandomQualifier(Random& random) {
  static const char* const kQualifiers[] = {"", "a", "ab", "b", "c"};
  return kQualifiers[random.Below(5)];
}

ByteRange RandomRange(Random& random) {
  const std::string a = RandomQualifier(random);
  const std::string b = RandomQualifier(random);
  switch (random.Below(7)) {
    case 0:
      return ByteRange::All();
    case 1:
      return ByteRange::StartingAt(a);
    case 2:
      return ByteRange::EndingAt(b);
    case 3:
      return ByteRange::Closed(std::min(a, b), std::max(a, b));
    case 4:
      return ByteRange::Open(std::min(a, b), std::max(a, b));
    case 5:
      return ByteRange::RightOpen(std::min(a, b), std::max(a, b));
    default:
      return ByteRange::LeftOpen(std::min(a, b), std::max(a, b));
  }
}

Filter RandomFilter(Random& random, int depth) {
  static const char* const kFamilies[] = {"a", "b", "b", "b", "c", "unknown"};
  const std::string family = kFamilies[random.Below(random.OneIn(8) ? 6 : 4)];
  switch (random.Below(depth > 0 ? 12 : 7)) {
    case 0:
      return Filter::PassAll();
    case 1:
      return Filter::Latest(1 + static_cast<int>(random.Below(4)));
    case 2:
      return Filter::Family(family);
    case 3:
      return Filter::Column(family, RandomQualifier(random));
    case 4:
      return Filter::ColumnRange(family, RandomRange(random));
    case 5: {
      const auto start = static_cast<int64_t>(random.Below(15));
      stele::TimestampRange range{.start = Timestamp::FromMicros(start)};
      if (random.OneIn(2)) range.end = Timestamp::FromMicros(start + static_cast<int64_t>(random.Below(15)));
      return Filter::TimestampRange(range);
    }
    case 6:
      return Filter::CellsRowLimit(1 + static_cast<int>(random.Below(12)));
    default: {
      std::vector<Filter> children;
      for (uint64_t left = 2 + random.Below(3); left > 0; --left) children.push_back(RandomFilter(random, depth - 1));
      return Filter::Chain(std::move(children));
    }
  }
}

OwnedRow RandomRow(Random& random) {
  std::set<std::tuple<uint32_t, std::string, int64_t>> identities;
  for (uint64_t left = random.Below(80); left > 0; --left) {
    identities.emplace(1 + static_cast<uint32_t>(random.Below(3)), RandomQualifier(random), -static_cast<int64_t>(random.Below(30)));
  }
  OwnedRow row{"row", {}};
  for (const auto& [family, qualifier, negated] : identities) {
    row.cells.push_back({.family = family, .timestamp = -negated, .qualifier = qualifier, .value = std::to_string(row.cells.size())});
  }
  return row;
}

TEST(FilterProgramTest, RandomChainsFollowTheDefinition) {
  uint64_t passed_count = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Filter filter = RandomFilter(random, 2);
    FilterProgram program = CompileOrDie(filter);
    for (int i = 0; i < 3; ++i) {
      const OwnedRow row = RandomRow(random);
      const std::vector<OwnedCell> expected = ApplyByDefinition(filter, row.cells);
      ASSERT_EQ(ReadFiltered(&program, row, 1 + random.Below(9), nullptr), expected) << filter << "\n" << PrintRows({row});
      if (!program.may_pass()) {
        ASSERT_TRUE(expected.empty()) << filter;
      }
      passed_count += expected.size();
    }
  }
  EXPECT_GT(passed_count, 5'000u);
}

TEST(FilterProgramTest, RunLeavesEarlierCellsAlone) {
  FilterProgram program = CompileOrDie(Filter::Family("b"));
  program.StartRow("row");
  std::vector<Cell> cells = {{.family = 1}, {.family = 1}, {.family = 2}};
  program.Run(&cells, 1);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].family, 1u);
  EXPECT_EQ(cells[1].family, 2u);
}

TEST(FilterProgramTest, WhatIsNotOfferedIsUnimplemented) {
  for (const Filter& filter :
       {Filter::BlockAll(), Filter::StripValue(), Filter::ValueRegex("a"), Filter::RowKeyRegex("a"),
        Filter::Interleave(Filter::PassAll(), Filter::PassAll()), Filter::Chain(Filter::PassAll(), Filter::Sink())}) {
    EXPECT_EQ(FilterProgram::Compile(filter, TestFamilies()).status().code(), absl::StatusCode::kUnimplemented) << filter;
  }
}

}  // namespace
}  // namespace stele::internal
