// design/design_model.h: the contents of a design file, after its checks.
//
// Threads:   values; thread-compatible.
// Source:    docs/lab/designs.md describes the file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/template/template.h"
#include "lab/yaml/design_errors.h"
#include "stele/keys.h"
#include "stele/schema.h"

namespace stele::internal::lab {

enum class RecordFormat : uint8_t { kCsv, kTsv, kJsonLines, kDynamoDb };
// csv tsv jsonl dynamodb.
std::string_view FormatName(RecordFormat format);
std::optional<RecordFormat> FormatOfName(std::string_view name);
// Returns the format that the ending of a file's name states, before .gz or .zst.
std::optional<RecordFormat> FormatOfFile(std::string_view file);

struct DesignInput {
  std::string name;
  std::string file;                         // "": --input gives it
  std::optional<RecordFormat> format = {};  // not set: by the ending of the file
  std::vector<std::string> columns = {};    // of CSV and TSV without a header line
  Mark columns_mark = {};                   // of `columns`, if there are some
};

// The row key: one template, or a row key schema whose fields have templates.
struct DesignKey {
  Template text;
  std::optional<keys::RowKeySchema> schema = {};
  std::vector<Template> from = {};  // of each field of the schema
  std::string delimiter;            // between segments; "": the key is one segment
};

struct DesignCell {
  std::string family;
  Template qualifier;
  Template value;
};

// The row that a record of an input becomes.
struct DesignRow {
  std::string input;
  std::vector<std::pair<std::string, std::string>> when = {};  // fields and their values
  std::optional<Template> timestamp = {};
  std::vector<DesignCell> cells = {};
};

struct DesignColumn {
  std::string family;
  std::string qualifier;
};

// The field of a query that fans out: the bucket of a request.
inline constexpr std::string_view kBucketField = "@bucket";

// The rows are those of the first member that is set: row, rows, prefix, start and end. Otherwise
// the query reads all rows.
struct DesignRead {
  std::optional<Template> row = {};
  std::vector<Template> rows = {};
  std::optional<Template> prefix = {};
  std::optional<Template> start = {};
  std::optional<Template> end = {};
  int64_t limit = 0;  // 0: none
  bool reverse = false;
  std::vector<DesignColumn> columns = {};  // empty: all
  int64_t versions = 0;                    // 0: all
  std::optional<Template> filter = {};
  Mark filter_mark = {};  // of the read if there is no filter
  int64_t fan_out = 0;    // 0: one request
};

struct DesignQuery {
  std::string name;
  int64_t weight = 1;
  std::optional<DesignRead> read = {};
  std::string write_input;  // if `read` is not set
  std::vector<DesignColumn> answer = {};
};

struct DesignTable {
  std::string name;
  Mark mark = {};
  Mark key_mark = {};
  std::map<std::string, Mark, std::less<>> family_marks = {};
  Schema schema = {};  // without properties
  DesignKey key;
  std::vector<DesignRow> rows = {};
  std::vector<DesignQuery> queries = {};
};

struct LintIgnore {
  std::string id;
  std::string table;  // "": all
  std::string reason;
  Mark mark = {};
};

struct LintParameter {
  std::string name;  // RULE.PARAM
  std::string value;
  Mark mark = {};
};

// The findings that are accepted, and the values of parameters of rules.
struct LintSettings {
  std::vector<LintIgnore> ignored = {};
  std::vector<LintParameter> parameters = {};
};

struct DesignModel {
  std::string file;  // the name in messages
  std::vector<DesignInput> inputs = {};
  std::vector<DesignTable> tables = {};
  Mark tables_mark = {};  // of the member "tables"
  LintSettings lint = {};
};

}  // namespace stele::internal::lab
