// rules/item_rules.cc: the texts of the rules that `import dynamodb` checks on items.
//
// survey/item_survey.cc and survey/imported_tables.cc check these rules and define their limits.
#include "lab/rules/rule_list.h"

namespace stele::internal::lab {
namespace {

constexpr LintRule kItemRules[] = {
    {.id = "DDB-ADJACENCY",
     .severity = LintSeverity::kInfo,
     .summary = "Items are the edges of a graph (adjacency list).",
     .explanation = "The sort key of an item is the partition key of another item. Or an item has\n"
                    "two equal keys, and other items have the same partition key. A row may have\n"
                    "any number of columns, so a relation can be a column of a wide row.",
     .before = "PK GAME#1, SK USER#2        PK USER#2, SK #METADATA\n",
     .after = "row GAME#1, column user:2   or a row GAME#1|USER#2 and a row USER#2|GAME#1\n",
     .on_bigtable = "the same. Only one row is written atomically."},
    {.id = "DDB-DATE-ATTR",
     .severity = LintSeverity::kInfo,
     .summary = "An attribute is the time of a change.",
     .explanation =
         "The name is one such as CreatedAt, UpdatedOn or LastModified, at least 20 items have\n"
         "the attribute, and 95 % of its values are times. Every cell has a timestamp.\n"
         "--timestamp NAME sets it from one of the attributes.",
     .before = "CreatedAt = 2024-11-20T10:00:00Z\n",
     .after = "the cells have the timestamp 2024-11-20T10:00:00Z\n",
     .on_bigtable = "the same."},
    {.id = "DDB-DATE-STRING",
     .severity = LintSeverity::kInfo,
     .summary = "Sort keys are times, but there is at most one item per day.",
     .explanation =
         "The sort keys of 95 % of the items, which are at least 20, are numbers that are\n"
         "times of 10 or 13 digits, and 95 % of the days of a partition key have one item.\n"
         "A date is shorter, and people can read it.",
     .before = "PK sensor7, SK 1714521600\n",
     .after = "row sensor7#20240501\n",
     .on_bigtable = "the same."},
    {.id = "DDB-GSI",
     .severity = LintSeverity::kInfo,
     .summary = "An index becomes a table.",
     .explanation =
         "--gsi or the data model names an index. It becomes a table of its own, and no\n"
         "write of the main table changes it: the application writes both.",
     .before = "--gsi by-city=City,Name\n",
     .after = "one WriteBatch with a row of users and a row of users.by-city\n",
     .on_bigtable = "two writes, which are not atomic together."},
    {.id = "DDB-REVERSE-TS-SK",
     .severity = LintSeverity::kInfo,
     .summary = "Sort keys end with a reversed time.",
     .explanation =
         "In at least 20 items the last part of the sort key, after #, is a maximum minus a\n"
         "time. Scans read backwards, so the time itself is enough for the newest first.",
     .before = "SK Comment#9223370611524018122\n",
     .after = "row video7#Comment#1425330757685, read with reverse\n",
     .on_bigtable = "scans read backwards there, too."},
    {.id = "DDB-SHARD-SUFFIX",
     .severity = LintSeverity::kInfo,
     .summary = "Partition keys have the number of a shard.",
     .explanation =
         "At least 95 % of 20 or more partition keys begin or end with a number of up to three\n"
         "digits and one of # . _ -. There are 2 to 256 numbers, and each other part occurs with\n"
         "two of them. Tablets are split by load, so a number is seldom needed.",
     .before = "PK 2024-05-01.17\n",
     .after = "row 2024-05-01#order9     or, for keys that grow, a bucket: stele key salt\n",
     .on_bigtable = "the same."},
    {.id = "DDB-SPLIT-COUNTER",
     .severity = LintSeverity::kInfo,
     .summary = "A counter is an item of its own.",
     .explanation =
         "An item has one attribute besides its keys, a number. Another item with the same\n"
         "partition key has two or more. A change of one cell does not rewrite the row.",
     .before = "PK 0123, SK Likes: Count 7        PK 0123, SK Video: Title, Length\n",
     .after = "row 0123: n:likes = 7, v:title, v:length\n",
     .on_bigtable = "the same."},
    {.id = "DDB-SPLIT-VALUE",
     .severity = LintSeverity::kInfo,
     .summary = "Values are divided into parts, or are stored elsewhere.",
     .explanation =
         "A sort key ends with part, chunk or piece and a number, or a text begins with\n"
         "s3:// or https://storage. An item of DynamoDB has at most 400 KB. A cell may have\n"
         "10 MB and more.",
     .before = "SK photo#part#1, SK photo#part#2\n",
     .after = "column v:photo\n",
     .on_bigtable = "a cell has at most 100 MB, and 10 MB are recommended."},
    {.id = "DDB-TABLE-PER-PERIOD",
     .severity = LintSeverity::kWarning,
     .summary = "There is a table for each period.",
     .explanation =
         "Three or more tables that were imported have the same families and similar names,\n"
         "as in SIZE-TABLES-MANY. The period can be a part of the row key. `stele archive` moves\n"
         "old cells to another database, and an age rule removes them.",
     .before = "events_2023_01, events_2023_02, events_2023_03\n",
     .after = "events                with keys ...#20230214\n",
     .on_bigtable = "the same. Small tables are also balanced less well."},
    {.id = "DDB-TTL",
     .severity = LintSeverity::kInfo,
     .summary = "An attribute looks like an expiry time.",
     .explanation =
         "A number with a name such as ttl or expiresAt is a time in seconds in 95 % of the\n"
         "items that have it, and --ttl is not given. With --ttl NAME the rows expire.",
     .before = "ttl = 1714521600\n",
     .after = "import dynamodb ... --ttl ttl\n",
     .on_bigtable = "the same: cells with that timestamp, in a family with maxage."},
    {.id = "DDB-VERSION-COPIES",
     .severity = LintSeverity::kWarning,
     .summary = "Old versions are items.",
     .explanation =
         "Items with the same partition key have the sort keys v0_X and v1_X, v2_X and so on.\n"
         "A cell keeps its versions itself.",
     .before = "SK v0_Equipment, SK v1_Equipment, SK v2_Equipment\n",
     .after = "versions of the cells of one row, in a family with maxversions=3\n",
     .on_bigtable = "the same."},
};

}  // namespace

std::span<const LintRule> ItemRules() { return kItemRules; }

}  // namespace stele::internal::lab
