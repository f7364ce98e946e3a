// lab/lint_fixture.h: tables for tests of the advisor, and its findings about them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "stele/lab/lint.h"
#include "stele/stele.h"

namespace stele::internal::lab {

// A database in memory with the table "t", which accepts large keys and cells.
class LintFixture {
 public:
  explicit LintFixture(std::vector<FamilySchema> families = {{.name = "f"}})
      : database_(*Database::Open("mem:")) {
    if (!families.empty()) AddTable("t", families);
  }

  LintFixture& AddTable(const std::string& name, const std::vector<FamilySchema>& families,
                        const std::string& property = "", const std::string& value = "") {
    Schema schema;
    schema.SetGranularity(TimestampGranularity::kMicros)
        .SetLimits({.row_key_bytes = 65'535, .qualifier_bytes = 65'535});
    for (const FamilySchema& family : families) schema.AddFamily(family);
    if (!property.empty()) schema.SetProperty(property, value);
    EXPECT_TRUE(database_.CreateTable(name, schema).ok());
    return *this;
  }
  // Writes a row of one cell.
  LintFixture& Key(std::string_view row_key) { return Cell(row_key, "f", "q", "v"); }
  LintFixture& Cell(std::string_view row_key, std::string_view family, std::string_view qualifier,
                    std::string_view value, int versions = 1) {
    RowMutation row{std::string(row_key)};
    for (int i = 0; i < versions; ++i)
      row.SetCell(family, qualifier, Timestamp::FromMicros(1'700'000'000'000'000 + i), value);
    Table table = *database_.OpenTable("t");
    EXPECT_TRUE(table.Apply(row).ok());
    return *this;
  }
  // Writes the keys that `key` makes of first to last.
  LintFixture& Keys(int first, int last, const std::function<std::string(int)>& key) {
    for (int i = first; i <= last; ++i) Key(key(i));
    return *this;
  }

  stele::lab::LintReport Lint(const stele::lab::LintOptions& options = {}) {
    const auto report = stele::lab::Lint({.database = database_}, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(stele::lab::LintReport());
  }
  Database& database() { return database_; }

 private:
  Database database_;
};

}  // namespace stele::internal::lab
