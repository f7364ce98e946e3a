#include "filter/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "base/random.h"
#include "base/status.h"
#include "model/validate.h"
#include "support/base_sanitized.h"
#include "support/base_text_cases.h"
#include "support/cell_text.h"
#include "support/model_naive_filter.h"

namespace stele::internal {
namespace {

FilterProgram CompileOrDie(const Filter& filter) {
  auto program = FilterProgram::Compile(filter, TestFamilies());
  EXPECT_TRUE(program.ok()) << filter << ": " << program.status();
  return program.ok() ? *std::move(program) : FilterProgram();
}

TEST(FilterProgramTest, OfNewestCellIsTheProgramOfItsFilter) {
  for (const std::string& family :
       {TestFamilies()[1].name, TestFamilies()[2].name, std::string("?")}) {
    for (const char* qualifier : {"", "q"}) {
      const FilterProgram expected =
          CompileOrDie(Filter::Chain(Filter::Column(family, qualifier), Filter::Latest(1)));
      const FilterProgram program = FilterProgram::OfNewestCell(family, qualifier, TestFamilies());
      EXPECT_EQ(program.may_pass(), expected.may_pass());
      EXPECT_EQ(program.wanted_families(), expected.wanted_families());
      EXPECT_TRUE(program.latest_only());
      EXPECT_TRUE(program.in_place());
      EXPECT_EQ(program.is_decided_by_newest(), expected.is_decided_by_newest());
      ASSERT_EQ(program.sole_column() == nullptr, expected.sole_column() == nullptr);
      if (program.sole_column() == nullptr) continue;
      EXPECT_EQ(program.sole_column()->family, expected.sole_column()->family);
      EXPECT_EQ(program.sole_column()->first, qualifier);
    }
  }
}

bool IsWanted(const FilterProgram& program, uint32_t family) {
  return program.wanted_families().empty() || program.wanted_families()[family - 1];
}

NaiveCell ToNaive(const FilterProgram& program, const Cell& cell) {
  NaiveCell naive{TestFamilies()[cell.family].name, std::string(cell.qualifier), cell.timestamp,
                  std::string(cell.value)};
  for (const std::string& label : program.LabelsOf(cell)) naive.label += label;
  return naive;
}

// Prints a cell as a line. A label comes last, after a blank.
std::string PrintPassed(const FilterProgram& program, std::string_view row_key, const Cell& cell) {
  std::string line = PrintCell(row_key, cell);
  for (const std::string& label : program.LabelsOf(cell)) line += " #" + label;
  return line + "\n";
}

// Uses a filter program as a reader does: projects, enters the row, and continues as the program
// decides. Appends the program's hints to `log`, if there is one.
class ProgramReader {
 public:
  ProgramReader(FilterProgram* program, const OwnedRow& row, size_t batch_cells, std::string* log)
      : program_(program), row_(row), batch_cells_(batch_cells), log_(log) {}

  NaiveRow Read() {
    const FilterProgram::Next start = program_->StartRow(row_.row_key);
    if (start == FilterProgram::Next::kRowDone) {
      Log("row done\n");
    } else if (program_->in_place()) {
      ReadOnce(start, true);
    } else {
      for (uint32_t pass = 0; pass < program_->pass_count(); ++pass) {
        const bool is_last = pass + 1 == program_->pass_count();
        if (program_->pass_count() > 1) Log(is_last ? "answer\n" : "decide\n");
        if (!program_->StartPass(pass)) {
          Log("not needed\n");
        } else {
          ReadOnce(program_->Entry(), is_last);
        }
      }
    }
    return std::move(passed_);
  }

 private:
  // Returns the cells that a source may return. It omits families that the filter does not want.
  // Unless the test prints the cells, it also omits versions outside the relevant time range, and
  // all but the newest version where that is enough.
  OwnedRow Projected() const {
    OwnedRow projected{row_.row_key, {}};
    for (const OwnedCell& cell : row_.cells) {
      const bool is_older = !projected.cells.empty() &&
                            CompareColumn(projected.cells.back().View(), cell.View()) == 0;
      const bool is_needed =
          program_->timestamps().Contains(cell.timestamp) && !(program_->latest_only() && is_older);
      if (IsWanted(*program_, cell.family) && (is_needed || log_ != nullptr))
        projected.cells.push_back(cell);
    }
    return projected;
  }

  void ReadOnce(FilterProgram::Next next, bool is_last) {
    const auto cursor = NewVectorCursor({Projected()}, {.batch_cells = batch_cells_});
    EXPECT_TRUE(cursor->SeekToEdge());
    std::vector<Cell> batch;
    while (next != FilterProgram::Next::kRowDone) {
      if (next == FilterProgram::Next::kSkipTo) {
        Log("skip to " + TestFamilies()[program_->skip_family()].name + ":" +
            Printable(program_->skip_qualifier()) + "\n");
        cursor->SkipTo(program_->skip_family(), program_->skip_qualifier());
      }
      batch.clear();
      if (!cursor->ReadCells(&batch)) return;
      std::vector<Cell> out;
      if (program_->in_place()) {
        next = program_->Run(&batch, 0);
        out = batch;
      } else {
        EXPECT_LE(batch.size(), program_->cells_at_once());
        next = program_->RunPass(batch, &out);
      }
      EXPECT_TRUE(is_last || out.empty());
      for (const Cell& cell : out) {
        passed_.push_back(ToNaive(*program_, cell));
        Log(PrintPassed(*program_, row_.row_key, cell));
      }
      cursor->Unpin();
    }
    Log("row done\n");
  }

  void Log(const std::string& line) {
    if (log_ != nullptr) *log_ += line;
  }

  FilterProgram* program_;
  const OwnedRow& row_;
  const size_t batch_cells_;
  std::string* log_;
  NaiveRow passed_;
};

// The rest of the command line is a filter. The output is the cells that pass, with the hints in
// between.
std::string RunCase(const TextCase& text_case) {
  const std::string text = text_case.command_line.substr(text_case.command.size());
  const auto filter = Filter::Parse(text);
  if (!filter.ok()) return filter.status().ToString() + "\n";
  auto program = FilterProgram::Compile(*filter, TestFamilies());
  if (!program.ok()) return program.status().ToString() + "\n";
  std::string log;
  for (const OwnedRow& row : ParseRows(text_case.input_text()))
    ProgramReader(&*program, row, 4, &log).Read();
  log += "families";
  for (uint32_t family_index = 1; family_index <= TestFamilies().size(); ++family_index) {
    if (IsWanted(*program, family_index)) log += " " + TestFamilies()[family_index].name;
  }
  if (program->latest_only()) log += "; newest versions alone";
  const KeyRange& rows = program->rows();
  if (rows != KeyRange::All())
    log += "; rows " + Printable(rows.start) + " to " +
           (rows.unbounded_end ? "the end" : Printable(rows.end));
  return log + (program->may_pass() ? "\n" : "; nothing can pass\n");
}

TEST(FilterProgramTest, Cases) { RunTextCases("filter/program.txt", RunCase); }

const FilterWords& Words() {
  static const auto* const words =
      new FilterWords{.families = {"a", "b", "b", "c", "unknown"},
                      .qualifiers = {"", "a", "ab", "b", "c", std::string("\0\n", 2)},
                      .values = {"", "x", "y\nz", "abc", std::string("\0\xff", 2)},
                      .row_keys = {"row", "r\xffow", "s", "rown"},
                      .timestamps = {0, 3, 5, 8, 12, 20, 29}};
  return *words;
}

template <typename Word>
const Word& Pick(Random& random, const std::vector<Word>& words) {
  return words[random.Below(words.size())];
}

OwnedRow RandomRow(Random& random) {
  std::set<std::tuple<uint32_t, std::string, int64_t>> cell_keys;
  for (uint64_t left = random.Below(80); left > 0; --left) {
    cell_keys.emplace(1 + static_cast<uint32_t>(random.Below(3)), Pick(random, Words().qualifiers),
                      -static_cast<int64_t>(random.Below(30)));
  }
  OwnedRow row{Pick(random, Words().row_keys), {}};
  for (const auto& [family, qualifier, negated] : cell_keys) {
    const std::string value =
        random.OneIn(2) ? Pick(random, Words().values) : std::to_string(row.cells.size());
    row.cells.push_back(
        {.family = family, .timestamp = -negated, .qualifier = qualifier, .value = value});
  }
  return row;
}

NaiveRow ToNaive(const OwnedRow& row) {
  NaiveRow naive;
  for (const OwnedCell& cell : row.cells) {
    naive.push_back({TestFamilies()[cell.family].name, cell.qualifier, cell.timestamp, cell.value});
  }
  return naive;
}

// The projection, the hints, the passes and the batch boundaries do not change the result.
TEST(FilterProgramTest, RandomFiltersFollowTheDefinition) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 1; seed <= (kReduced ? 500 : 6'000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Filter filter = RandomFilter(random, Words(), 1 + static_cast<int>(random.Below(4)));
    ASSERT_EQ(ValidateFilter(filter, TimestampGranularity::kMicros), absl::OkStatus()) << filter;
    FilterProgram program = CompileOrDie(filter);
    for (int i = 0; i < 3; ++i) {
      const OwnedRow row = RandomRow(random);
      const NaiveRow expected = FilterNaively(filter, row.row_key, ToNaive(row));
      const NaiveRow passed = ProgramReader(&program, row, 1 + random.Below(9), nullptr).Read();
      ASSERT_EQ(InOrder(passed), InOrder(expected)) << filter << "\n" << PrintRows({row});
      const auto stands_behind = [](const NaiveCell& a, const NaiveCell& b) {
        return std::tie(a.family, a.qualifier, b.timestamp) >
               std::tie(b.family, b.qualifier, a.timestamp);
      };
      ASSERT_EQ(std::adjacent_find(passed.begin(), passed.end(), stands_behind), passed.end())
          << filter;
      if (!program.may_pass() || !program.rows().Contains(row.row_key)) {
        ASSERT_TRUE(expected.empty()) << filter;
      }
      seen["cells"] += static_cast<int>(expected.size());
      seen["rows outside"] += !program.rows().Contains(row.row_key);
      seen["in place"] += program.in_place() && !expected.empty();
      seen["not in place"] += !program.in_place() && !expected.empty();
      seen["several decisions"] += program.pass_count() > 2 && !expected.empty();
      seen["latest only"] += program.latest_only() && !program.in_place() && !expected.empty();
      seen["timestamps"] += program.timestamps() != TimestampSpan() && !expected.empty();
    }
  }
  for (const char* what : {"cells", "rows outside", "in place", "not in place", "several decisions",
                           "latest only", "timestamps"}) {
    EXPECT_GE(seen[what], kReduced ? 5 : 50) << what;
  }
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

Filter Doubled(const Filter& filter) { return Filter::Interleave(filter, filter); }

// Sixteen copies of a cell are far below the bound; two to the sixteenth are above it.
TEST(FilterProgramTest, TooMuchWorkForACellIsRefused) {
  const Filter both = Doubled(Filter::PassAll());
  EXPECT_TRUE(
      FilterProgram::Compile(Filter::Chain(std::vector<Filter>(4, both)), TestFamilies()).ok());
  for (const Filter& filter : {Filter::Chain(std::vector<Filter>(16, both)),
                               Filter::Chain(std::vector<Filter>(500, both))}) {
    const absl::Status status = FilterProgram::Compile(filter, TestFamilies()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_NE(status.message().find("at most 65536"), absl::string_view::npos) << status;
  }
  std::vector<Filter> columns;
  for (int i = 0; i < 1000; ++i) columns.push_back(Filter::Column("a", std::to_string(i)));
  EXPECT_TRUE(FilterProgram::Compile(Filter::Interleave(columns), TestFamilies()).ok());
}

TEST(FilterProgramTest, TooManyDecisionsInARowAreRefused) {
  const Filter condition = Filter::Condition(Filter::PassAll(), Filter::PassAll());
  const auto chain = [&](size_t count) {
    return Filter::Chain(std::vector<Filter>(count, condition));
  };
  EXPECT_TRUE(FilterProgram::Compile(chain(64), TestFamilies()).ok());
  EXPECT_EQ(FilterProgram::Compile(chain(65), TestFamilies()).status().code(),
            absl::StatusCode::kInvalidArgument);
  // Conditions that do not depend on each other are evaluated together.
  const auto beside = FilterProgram::Compile(
      Filter::Interleave(std::vector<Filter>(100, condition)), TestFamilies());
  ASSERT_TRUE(beside.ok()) << beside.status();
  EXPECT_EQ(beside->pass_count(), 2u);
}

// An expression is validated at every position, also after a filter that passes nothing.
void ExpectRegexJudged(const Filter& filter, bool is_good) {
  for (const Filter& outer :
       {filter, Filter::Chain(Filter::BlockAll(), filter),
        Filter::Interleave(filter, Filter::PassAll()), Filter::Condition(filter, Filter::PassAll()),
        Filter::Condition(Filter::PassAll(), filter),
        Filter::Condition(Filter::BlockAll(), Filter::PassAll(), filter)}) {
    const absl::Status status = FilterProgram::Compile(outer, TestFamilies()).status();
    EXPECT_EQ(status.code(), is_good ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument)
        << outer << ": " << status;
  }
}

// Rows 91, 93 and 94 of docs/reference/semantics.md.
TEST(FilterProgramTest, WhatRE2RefusesIsRefused) {
  const std::string good[] = {"",
                              "x",
                              "(?i)X",
                              "\\Qx\\E",
                              "\\pL",
                              "\\C*",
                              "[^a]*",
                              "a|b",
                              "\xff",
                              std::string("a\0b", 3),
                              "\\x80",
                              "x{1000}",
                              std::string(20'000, 'x')};
  const std::string bad[] = {
      "(", "[", ")", "(x)\\1", "x{1001}", "*", "((((x{1000}){1000}){1000}){1000})"};
  for (const bool is_good : {true, false}) {
    for (const std::string& regex :
         is_good ? std::vector<std::string>(std::begin(good), std::end(good))
                 : std::vector<std::string>(std::begin(bad), std::end(bad))) {
      ExpectRegexJudged(Filter::FamilyRegex(regex), is_good);
      ExpectRegexJudged(Filter::ColumnRegex(regex), is_good);
      ExpectRegexJudged(Filter::ValueRegex(regex), is_good);
      ExpectRegexJudged(Filter::RowKeyRegex(regex), is_good);
    }
  }
  const absl::Status status =
      FilterProgram::Compile(Filter::ColumnRegex("a(b"), TestFamilies()).status();
  EXPECT_EQ(status.message(), "filter: column regex \"a(b\": missing ): a(b");
}

TEST(FilterProgramTest, ManyLargeRegexesAreRefused) {
  std::string many = "x{1000}";
  for (int i = 0; i < 5; ++i) many += many;
  const Filter large = Filter::ValueRegex(many);
  EXPECT_TRUE(
      FilterProgram::Compile(Filter::Chain(std::vector<Filter>(8, large)), TestFamilies()).ok());
  EXPECT_EQ(FilterProgram::Compile(Filter::Chain(std::vector<Filter>(300, large)), TestFamilies())
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

// A row is sampled once: the result is the same for each of its batches and for each program with
// the seed.
TEST(FilterProgramTest, ASampleKeepsItsPartOfTheRows) {
  int kept = 0;
  int kept_of_both = 0;
  int differ = 0;
  const auto compile = [](const Filter& filter, uint64_t seed) {
    return FilterProgram::Compile(filter, TestFamilies(), seed);
  };
  auto program = compile(Filter::RowSample(0.25), 7);
  auto same = compile(Filter::RowSample(0.25), 7);
  auto both = compile(Filter::Chain(Filter::RowSample(0.5), Filter::RowSample(0.5)), 7);
  auto other = compile(Filter::RowSample(0.25), 99);
  ASSERT_TRUE(program.ok() && same.ok() && both.ok() && other.ok());
  for (int i = 0; i < 10'000; ++i) {
    const std::string row_key = "row" + std::to_string(i);
    const FilterProgram::Next next = program->StartRow(row_key);
    kept += next == FilterProgram::Next::kContinue;
    kept_of_both += both->StartRow(row_key) == FilterProgram::Next::kContinue;
    differ += next != other->StartRow(row_key);
    ASSERT_EQ(next, same->StartRow(row_key));
  }
  EXPECT_NEAR(kept, 2500, 200);
  EXPECT_NEAR(kept_of_both, 2500, 200);  // each sample is independent
  EXPECT_NEAR(differ, 3750, 250);
}

}  // namespace
}  // namespace stele::internal
