// Tests the conversion of wire messages to the library's values, and the errors that only the wire
// format can contain.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "model/access.h"
#include "remote/wire/bigtable.pb.h"
#include "remote/wire/filter_translation.h"
#include "remote/wire/gc_rule_translation.h"
#include "remote/wire/mutation_translation.h"
#include "remote/wire/names.h"
#include "remote/wire/row_set_translation.h"
#include "remote/wire/schema_translation.h"
#include "remote/wire/table_admin.pb.h"

namespace stele::internal {
namespace {

namespace data_wire = ::google::bigtable::v2;
namespace table_wire = ::google::bigtable::admin::v2;

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

std::string FilterText(const std::string& text,
                       TimestampGranularity granularity = TimestampGranularity::kMillis) {
  const absl::StatusOr<Filter> filter = ToFilter(FromText<data_wire::RowFilter>(text), granularity);
  return filter.ok() ? filter->ToString() : absl::StatusCodeToString(filter.status().code());
}

TEST(Names, TablesAreKeptUnderTheirInstance) {
  EXPECT_EQ(StoredTableName("projects/p/instances/i/tables/t").value(), "p/i/t");
  EXPECT_EQ(StoredTableName("projects/example.com:p/instances/i-1/tables/_t.x").value(),
            "example.com:p/i-1/_t.x");
  EXPECT_EQ(WireTableName("p/i/t"), "projects/p/instances/i/tables/t");
  EXPECT_EQ(WireTableName("t"), "");
  EXPECT_EQ(StoredPrefix("projects/p/instances/i").value(), "p/i/");
  EXPECT_EQ(StoredTableName("projects/{{projectId}}/instances/i/tables/t").value(),
            "{{projectId}}/i/t");
  EXPECT_EQ(WireTableName("{{projectId}}/i/t"), "projects/{{projectId}}/instances/i/tables/t");
  EXPECT_EQ(StoredProjectPrefix("projects/{{projectId}}").value(), "{{projectId}}/");
  EXPECT_EQ(ParseBackupName("projects/{{projectId}}/instances/i/clusters/c/backups/b")->project,
            "{{projectId}}");
  for (const char* const name : {"projects/{{projectID}}/instances/i", "projects/{{}}/instances/i",
                                 "projects/p/instances/{{projectId}}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(StoredPrefix(name).status())) << name;
  }
  EXPECT_EQ(StoredProjectPrefix("projects/p").value(), "p/");
}

TEST(Names, OthersAreRefused) {
  for (const char* const name :
       {"", "t", "projects/p/instances/i/tables/", "projects/p/instances/i/tables/a/b",
        "projects//instances/i/tables/t", "projects/p/instances/i",
        "projects/p/instances/i/tables/t/", "project/p/instances/i/tables/t",
        "projects/p/instances/i/tables/-t"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(StoredTableName(name).status())) << name;
  }
  EXPECT_FALSE(StoredPrefix("projects/p/instances/i/").ok());
  EXPECT_FALSE(CheckTableId(std::string(51, 'a')).ok());
  EXPECT_TRUE(CheckTableId(std::string(50, 'a')).ok());
}

TEST(RowSets, NothingIsEverything) {
  EXPECT_EQ(ToRowSet({}).value(), RowSet::All());
  EXPECT_EQ(ToRowSet(FromText<data_wire::RowSet>("row_ranges {}")).value().ranges().at(0),
            RowRange::All());
}

TEST(RowSets, BoundsAreTheirKinds) {
  const auto range = [](const std::string& text) {
    return ToRowRange(FromText<data_wire::RowRange>(text));
  };
  EXPECT_EQ(range("start_key_closed: 'a' end_key_open: 'b'").value(),
            RowRange::RightOpen("a", "b"));
  EXPECT_EQ(range("start_key_open: 'a' end_key_closed: 'b'").value(), RowRange::LeftOpen("a", "b"));
  EXPECT_EQ(range("start_key_closed: 'a' end_key_closed: 'a'").value(), RowRange::Closed("a", "a"));
  EXPECT_EQ(range("start_key_open: '' end_key_closed: ''").value(), RowRange::All());
  EXPECT_EQ(range("end_key_open: 'b'").value(), RowRange::RightOpen("", "b"));
  for (const char* const empty :
       {"start_key_closed: 'b' end_key_open: 'a'", "start_key_closed: 'a' end_key_open: 'a'",
        "start_key_open: 'a' end_key_closed: 'a'", "start_key_open: 'a' end_key_open: 'a'"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(range(empty).status())) << empty;
  }
  EXPECT_TRUE(
      absl::IsInvalidArgument(ToRowSet(FromText<data_wire::RowSet>("row_keys: ''")).status()));
}

TEST(Filters, EachKindIsItself) {
  EXPECT_EQ(FilterText(""), "all");
  EXPECT_EQ(FilterText("pass_all_filter: true"), "all");
  EXPECT_EQ(FilterText("block_all_filter: true"), "none");
  EXPECT_EQ(FilterText("sink: true"), "sink");
  EXPECT_EQ(FilterText("strip_value_transformer: true"), "strip");
  EXPECT_EQ(FilterText("cells_per_column_limit_filter: 2"), "latest(2)");
  EXPECT_EQ(FilterText("cells_per_row_limit_filter: 3"), "row_limit(3)");
  EXPECT_EQ(FilterText("cells_per_row_offset_filter: 4"), "row_offset(4)");
  EXPECT_EQ(FilterText("family_name_regex_filter: 'f.*'"), "family_regex(\"f.*\")");
  EXPECT_EQ(FilterText("column_qualifier_regex_filter: 'q'"), "column_regex(\"q\")");
  EXPECT_EQ(FilterText("value_regex_filter: 'v'"), "value_regex(\"v\")");
  EXPECT_EQ(FilterText("row_key_regex_filter: 'r'"), "row_regex(\"r\")");
  EXPECT_EQ(FilterText("apply_label_transformer: 'l'"), "label(\"l\")");
  EXPECT_EQ(FilterText("value_bitmask_filter { mask: 'm' }"), "value_bitmask(\"m\")");
  EXPECT_EQ(FilterText("column_range_filter { family_name: 'f' start_qualifier_open: 'a' "
                       "end_qualifier_closed: 'b' }"),
            "column_range(\"f\", (\"a\", \"b\"])");
  EXPECT_EQ(FilterText("column_range_filter { family_name: 'f' end_qualifier_open: '' }"),
            "column_range(\"f\", [, \"\"))");
  EXPECT_EQ(FilterText("value_range_filter { start_value_closed: 'a' end_value_open: 'b' }"),
            "value_range([\"a\", \"b\"))");
  EXPECT_EQ(FilterText("timestamp_range_filter { start_timestamp_micros: 1000 }"),
            "timestamps(1000, )");
  EXPECT_EQ(
      FilterText(
          "timestamp_range_filter { start_timestamp_micros: 1000 end_timestamp_micros: 3000 }"),
      "timestamps(1000, 3000)");
  EXPECT_EQ(FilterText("condition { predicate_filter { block_all_filter: true } true_filter { "
                       "pass_all_filter: true } }"),
            "condition(none, all, none)");
  EXPECT_EQ(
      FilterText(
          "chain { filters {} filters { interleave { filters {} filters { sink: true } } } }"),
      "chain(all, interleave(all, sink))");
}

TEST(Filters, SwitchesAreTrueAndBoundsAligned) {
  for (const char* const field :
       {"pass_all_filter", "block_all_filter", "sink", "strip_value_transformer"}) {
    EXPECT_EQ(FilterText(std::string(field) + ": false"), "INVALID_ARGUMENT") << field;
  }
  const std::string unaligned =
      "timestamp_range_filter { start_timestamp_micros: 1001 end_timestamp_micros: 2000 }";
  EXPECT_EQ(FilterText(unaligned), "INVALID_ARGUMENT");
  EXPECT_EQ(FilterText(unaligned, TimestampGranularity::kMicros), "timestamps(1001, 2000)");
}

TEST(Filters, DepthAndBytesAreBounded) {
  data_wire::RowFilter deep = FromText<data_wire::RowFilter>("pass_all_filter: true");
  for (int i = 0; i < 20; ++i) {
    data_wire::RowFilter outer;
    *outer.mutable_chain()->add_filters() = deep;
    outer.mutable_chain()->add_filters()->set_pass_all_filter(true);
    deep = outer;
  }
  EXPECT_TRUE(ToFilter(deep, TimestampGranularity::kMillis).ok());
  data_wire::RowFilter deeper;
  *deeper.mutable_interleave()->add_filters() = deep;
  EXPECT_TRUE(absl::IsInvalidArgument(ToFilter(deeper, TimestampGranularity::kMillis).status()));
  EXPECT_EQ(FilterText("value_regex_filter: '" + std::string(20'470, 'a') + "'").substr(0, 11),
            "value_regex");
  EXPECT_EQ(FilterText("value_regex_filter: '" + std::string(20'481, 'a') + "'"),
            "INVALID_ARGUMENT");
}

TEST(Schemas, WhatAPropertyTellsOfATypeGoesThereAndBack) {
  Schema schema;
  for (const char* const family : {"b", "i", "s"})
    schema.AddFamily({.name = family, .gc = {}, .value_type = ValueType::kHll});
  schema.SetProperty("hll_input.i", "int64").SetProperty("hll_input.s", "string");
  schema.AddFamily("plain").AddFamily("text").SetProperty("value_type.text", "string");
  const absl::StatusOr<table_wire::CreateTableRequest> request = ToWireCreation(schema);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(ToSchema(*request).value(), schema);
  const auto table =
      ToWireTable("projects/p/instances/i/tables/t", schema, table_wire::Table::SCHEMA_VIEW);
  EXPECT_EQ(ToSchema(table).value(), schema);
  EXPECT_TRUE(
      table.column_families().at("text").value_type().string_type().encoding().has_utf8_bytes());
  EXPECT_FALSE(table.column_families().at("plain").has_value_type());
  for (const char* const wrong :
       {"hll_input.x", "hll_input.text", "value_type.x", "value_type.s"}) {
    EXPECT_TRUE(
        absl::IsUnimplemented(ToWireCreation(Schema(schema).SetProperty(wrong, "string")).status()))
        << wrong;
  }
  EXPECT_TRUE(absl::IsUnimplemented(
      ToWireCreation(Schema(schema).SetProperty("hll_input.i", "float")).status()));
  EXPECT_TRUE(absl::IsUnimplemented(
      ToWireCreation(Schema(schema).SetProperty("value_type.text", "int64")).status()));
}

TEST(Schemas, AStringIsUtf8AndSaysSo) {
  const auto create = [](const std::string& encoding) {
    return ToSchema(FromText<table_wire::CreateTableRequest>(
        "table { column_families { key: 'f' value { value_type { string_type { " + encoding +
        " } } } } }"));
  };
  const Schema strings = Schema().AddFamily("f").SetProperty("value_type.f", "string");
  EXPECT_EQ(create("encoding { utf8_bytes {} }").value(), strings);
  EXPECT_EQ(create("encoding { utf8_raw {} }").value(), strings) << "an older name of the same";
  EXPECT_TRUE(absl::IsInvalidArgument(create("").status())) << create("").status();
  EXPECT_TRUE(absl::IsInvalidArgument(create("encoding {}").status()));
}

TEST(Schemas, AModificationMeetsWhatThoseBeforeItMade) {
  TypedFamilies families = FamiliesOf(Schema().AddFamily("old", GcRule::MaxNumVersions(1)));
  const auto modify = [&](const std::string& text) {
    return ToFamilyChange(FromText<table_wire::ModifyColumnFamiliesRequest::Modification>(text),
                          &families);
  };
  const std::string strings = "value_type { string_type { encoding { utf8_bytes {} } } }";
  const std::string both = "update_mask { paths: 'value_type' paths: 'gc_rule' }";
  EXPECT_EQ(modify("id: 'old' update { gc_rule { max_num_versions: 2 } }").value()->family().gc,
            GcRule::MaxNumVersions(2));
  EXPECT_FALSE(modify("id: 'old' update { " + strings + " } update_mask { paths: 'value_type' }")
                   .value()
                   .has_value())
      << "the rule stays";
  EXPECT_EQ(families.at("old").type_text, "string");
  EXPECT_EQ(families.at("old").schema.gc, GcRule::MaxNumVersions(2));
  EXPECT_EQ(
      modify("id: 'old' update { gc_rule { max_num_versions: 3 } } " + both).value()->family().gc,
      GcRule::MaxNumVersions(3));
  EXPECT_EQ(families.at("old").type_text, "") << "a type that is named and not given";
  EXPECT_TRUE(modify("id: 'old' update { " + strings + " }").ok());
  EXPECT_EQ(families.at("old").type_text, "") << "without a mask an update is about the rule";

  EXPECT_TRUE(
      modify("id: 'new' create { value_type { aggregate_type { hllpp_unique_count {} } } }").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(
      modify("id: 'new' update { " + strings + " } update_mask { paths: 'value_type' }").status()));
  EXPECT_TRUE(absl::IsAlreadyExists(modify("id: 'new' create {}").status()));
  EXPECT_TRUE(modify("id: 'new' drop: true").ok());
  EXPECT_TRUE(absl::IsNotFound(
      modify("id: 'new' update { " + strings + " } update_mask { paths: 'value_type' }").status()));
  EXPECT_TRUE(absl::IsNotFound(modify("id: 'new' drop: true").status()));
  EXPECT_TRUE(modify("id: 'new' create { " + strings + " }").ok());
  EXPECT_EQ(families.at("new").type_text, "string");
}

TEST(Filters, AKindFromTheFutureDoesNotPassEverything) {
  data_wire::RowFilter filter;
  ASSERT_TRUE(filter.ParseFromString(std::string("\xf8\x0c\x01", 3)));  // field 207
  EXPECT_TRUE(absl::IsUnimplemented(ToFilter(filter, TimestampGranularity::kMillis).status()));
}

std::string MutationText(const std::string& text,
                         TimestampGranularity granularity = TimestampGranularity::kMillis) {
  const auto request = FromText<data_wire::MutateRowRequest>("row_key: 'r' " + text);
  const auto mutation =
      ToRowMutation(request.row_key(), request.mutations(), {.granularity = granularity});
  return mutation.ok() ? std::to_string(mutation->count())
                       : std::string(ToStd(mutation.status().message()));
}

bool SameChanges(const std::string& text, const RowMutation& expected,
                 TimestampGranularity granularity = TimestampGranularity::kMillis) {
  const auto request = FromText<data_wire::MutateRowRequest>("row_key: 'r' " + text);
  const auto mutation =
      ToRowMutation(request.row_key(), request.mutations(), {.granularity = granularity});
  return mutation.ok() && Access::EncodedOps(*mutation) == Access::EncodedOps(expected);
}

TEST(MutationTranslation, EachKindIsItself) {
  const Timestamp at = Timestamp::FromMicros(2000);
  EXPECT_TRUE(
      SameChanges("mutations { set_cell { family_name: 'f' column_qualifier: 'q' timestamp_micros: "
                  "2000 value: 'v' } }",
                  RowMutation().SetCell("f", "q", at, "v")));
  EXPECT_TRUE(SameChanges("mutations { set_cell { family_name: 'f' value: 'v' } }",
                          RowMutation().SetCell("f", "", Timestamp(), "v")));
  EXPECT_TRUE(SameChanges("mutations { set_cell { family_name: 'f' timestamp_micros: -1 } }",
                          RowMutation().SetCell("f", "", "")));
  EXPECT_TRUE(SameChanges("mutations { delete_from_row {} }", RowMutation().DeleteFromRow()));
  EXPECT_TRUE(SameChanges("mutations { delete_from_family { family_name: 'f' } }",
                          RowMutation().DeleteFromFamily("f")));
  for (const char* const whole : {"", "time_range {}"}) {
    EXPECT_TRUE(SameChanges(
        std::string("mutations { delete_from_column { family_name: 'f' column_qualifier: 'q' ") +
            whole + " } }",
        RowMutation().DeleteFromColumn("f", "q")));
  }
  EXPECT_TRUE(
      SameChanges("mutations { delete_from_column { family_name: 'f' time_range { "
                  "start_timestamp_micros: 2000 } } }",
                  RowMutation().DeleteFromColumn("f", "", TimestampRange{.start = at})));
  EXPECT_TRUE(
      SameChanges("mutations { add_to_cell { family_name: 'f' column_qualifier { raw_value: 'q' } "
                  "timestamp { raw_timestamp_micros: 2000 } input { int_value: 7 } } }",
                  RowMutation().AddToCell("f", "q", at, 7)));
  // Semantics row 119: no input adds 0.
  EXPECT_TRUE(
      SameChanges("mutations { add_to_cell { family_name: 'f' column_qualifier { raw_value: 'q' } "
                  "timestamp { raw_timestamp_micros: 2000 } } }",
                  RowMutation().AddToCell("f", "q", at, 0)));
  EXPECT_TRUE(SameChanges(
      "mutations { merge_to_cell { family_name: 'f' column_qualifier { raw_value: 'q' } "
      "timestamp { raw_timestamp_micros: 2000 } input { bytes_value: '12345678' } } }",
      RowMutation().MergeToCell("f", "q", at, "12345678")));
}

TEST(MutationTranslation, AClientsOwnClockIsCutAndAUsersIsNot) {
  const std::string set = "set_cell { family_name: 'f' timestamp_micros: 1234567 }";
  EXPECT_TRUE(SameChanges("mutations { " + set + " timestamp_origin: CLIENT_AUTO_GENERATED }",
                          RowMutation().SetCell("f", "", Timestamp::FromMicros(1'234'000), "")));
  EXPECT_TRUE(SameChanges("mutations { " + set + " timestamp_origin: CLIENT_AUTO_GENERATED }",
                          RowMutation().SetCell("f", "", Timestamp::FromMicros(1'234'567), ""),
                          TimestampGranularity::kMicros));
  EXPECT_EQ(MutationText("mutations { " + set + " }"),
            "Error in field 'Mutation list' : Error in element #0 : Timestamp granularity "
            "mismatch. Expected a multiple of 1000 "
            "(millisecond granularity), but got 1234567");
}

TEST(MutationTranslation, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_EQ(MutationText(""), "No mutations provided");
  const std::string at = "Error in field 'Mutation list' : Error in element #1 : ";
  const std::string good = "mutations { delete_from_row {} } ";
  EXPECT_EQ(MutationText(good + "mutations { set_cell { family_name: 'f' timestamp_micros: -2 } }"),
            at + "Timestamps must be >= -1");
  EXPECT_EQ(MutationText(good + "mutations {}").substr(0, at.size()), at);
  const std::string add =
      "mutations { add_to_cell { family_name: 'f' column_qualifier { raw_value: 'q' } ";
  EXPECT_EQ(MutationText(good + add + "input { bytes_value: 'x' } } }"),
            at + "Error in field 'input' : must use `int_value`");
  EXPECT_EQ(MutationText(add + "} }"), "1") << "no input adds 0";
  EXPECT_EQ(MutationText(good + add + "timestamp { raw_timestamp_micros: -1 } } }"),
            at + "Error in field 'timestamp' : must set timestamp >= 0");
  const std::string merge =
      "mutations { merge_to_cell { family_name: 'f' column_qualifier { raw_value: 'q' } ";
  EXPECT_EQ(MutationText(good + merge + "input { int_value: 1 } } }"),
            at + "Error in field 'input' : must use `bytes_value`");
  const RowMutation nothing = RowMutation().MergeToCell("f", "q", Timestamp(), "");
  for (const std::string input : {"input { bytes_value: '' } } }", "} }"}) {
    EXPECT_TRUE(SameChanges(merge + input, nothing))
        << "for the table to check, and to make nothing of";
  }
  for (const char* const range :
       {"start_timestamp_micros: 3000 end_timestamp_micros: 3000",
        "start_timestamp_micros: 3000 end_timestamp_micros: 2000", "start_timestamp_micros: 2500",
        "start_timestamp_micros: -1000"}) {
    const std::string text =
        MutationText(good + "mutations { delete_from_column { family_name: 'f' time_range { " +
                     range + " } } }");
    EXPECT_EQ(text.substr(0, at.size()), at) << range;
  }
}

TEST(MutationTranslation, LimitsAreTheTables) {
  const auto status = [](const std::string& row_key, size_t qualifier_bytes) {
    data_wire::MutateRowRequest request;
    request.add_mutations()->mutable_set_cell()->set_column_qualifier(
        std::string(qualifier_bytes, 'q'));
    return ToRowMutation(row_key, request.mutations(), {}).status().code();
  };
  EXPECT_EQ(status("", 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status(std::string(4096, 'r'), 16'384), absl::StatusCode::kOk);
  EXPECT_EQ(status(std::string(4097, 'r'), 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status("r", 16'385), absl::StatusCode::kInvalidArgument);
}

TEST(MutationTranslation, RulesAndTokens) {
  const auto request = FromText<data_wire::ReadModifyWriteRowRequest>(
      "rules { family_name: 'f' column_qualifier: 'q' increment_amount: 0 } rules { family_name: "
      "'f' append_value: '' }");
  const auto rules = ToRules(request.rules(), {});
  ASSERT_TRUE(rules.ok());
  EXPECT_EQ((*rules)[0].kind(), ReadModifyWriteRule::Kind::kIncrementAmount);
  EXPECT_EQ((*rules)[1].kind(), ReadModifyWriteRule::Kind::kAppendValue);
  EXPECT_FALSE(ToRules({}, {}).ok());
  EXPECT_FALSE(
      ToRules(FromText<data_wire::ReadModifyWriteRowRequest>("rules { family_name: 'f' }").rules(),
              {})
          .ok());
  EXPECT_EQ(ToToken(FromText<data_wire::Idempotency>("token: '12345678'"), 0).value(), "12345678");
  EXPECT_FALSE(ToToken(FromText<data_wire::Idempotency>("token: '1234567'"), 0).ok());
  EXPECT_EQ(ToToken({}, 0).value(), "");
  // A token that the database may have forgotten is not treated as new.
  const auto dated = FromText<data_wire::Idempotency>(
      "token: '12345678' start_time { seconds: 1000000 nanos: 5 }");
  constexpr int64_t kStart = 1'000'000'000'000;
  EXPECT_TRUE(ToToken(dated, kStart + 14 * 60'000'000).ok());
  EXPECT_TRUE(ToToken(dated, kStart - 60'000'000).ok());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(ToToken(dated, kStart + 15 * 60'000'000 + 1'000'000).status()));
}

TEST(GcRules, GoThereAndBack) {
  for (const char* const text :
       {"", "max_num_versions: 3", "max_age { seconds: 864000 }",
        "max_age { seconds: 90 nanos: 1000000 }",
        "union { rules { max_num_versions: 2 } rules { max_age { seconds: 60 } } }",
        "intersection { rules { union { rules { max_num_versions: 2 } rules { max_age { seconds: "
        "60 } } } } "
        "rules { max_age { seconds: 7200 } } }"}) {
    const auto rule = FromText<table_wire::GcRule>(text);
    EXPECT_EQ(ToWireGcRule(ToGcRule(rule).value()).ShortDebugString(), rule.ShortDebugString());
  }
  EXPECT_FALSE(ToGcRule(FromText<table_wire::GcRule>("max_age { seconds: -1 }")).ok());
  EXPECT_FALSE(
      ToGcRule(FromText<table_wire::GcRule>("max_age { seconds: 9223372036854775807 }")).ok());
}

TEST(Schemas, ATableIsMadeWithAThousandSplitsAtMost) {
  table_wire::CreateTableRequest request;
  for (int i = 0; i < 1'000; ++i) request.add_initial_splits()->set_key(std::to_string(i));
  EXPECT_EQ(ToSchema(request).value().splits().size(), 1'000u);
  request.add_initial_splits()->set_key("one more");
  EXPECT_TRUE(absl::IsInvalidArgument(ToSchema(request).status())) << ToSchema(request).status();
}

TEST(Schemas, GoThereAndBack) {
  const auto request = FromText<table_wire::CreateTableRequest>(
      "table { granularity: MICROS deletion_protection: true column_families { key: 'f' value { "
      "gc_rule { max_num_versions: 1 } } } "
      "column_families { key: 's' value { value_type { aggregate_type { input_type { int64_type {} "
      "} sum {} } } } } } "
      "initial_splits { key: 'm' }");
  const Schema schema = ToSchema(request).value();
  EXPECT_EQ(schema.granularity(), TimestampGranularity::kMicros);
  EXPECT_EQ(schema.splits(), std::vector<std::string>({"m"}));
  EXPECT_EQ(schema.family("s")->value_type, ValueType::kInt64Sum);
  const table_wire::Table table = ToWireTable("name", schema, table_wire::Table::SCHEMA_VIEW);
  EXPECT_EQ(table.granularity(), table_wire::Table::MICROS);
  EXPECT_TRUE(table.deletion_protection());
  EXPECT_EQ(table.column_families().at("f").gc_rule().max_num_versions(), 1);
  EXPECT_TRUE(
      table.column_families().at("s").value_type().aggregate_type().state_type().has_int64_type());
  EXPECT_EQ(ToWireTable("name", schema, table_wire::Table::NAME_ONLY).column_families_size(), 0);
  EXPECT_EQ(ToWireTable("name", schema, table_wire::Table::REPLICATION_VIEW).column_families_size(),
            0);
}

TEST(Schemas, ABackupPolicyStaysWithItsTable) {
  table_wire::CreateTableRequest request;
  request.mutable_table()
      ->mutable_automated_backup_policy()
      ->mutable_retention_period()
      ->set_seconds(3 * 86'400);
  const absl::StatusOr<Schema> schema = ToSchema(request);
  ASSERT_TRUE(schema.ok()) << schema.status();
  const table_wire::Table shown = ToWireTable("t", *schema, table_wire::Table::FULL);
  EXPECT_EQ(shown.automated_backup_policy().retention_period().seconds(), 3 * 86'400);
  EXPECT_EQ(shown.automated_backup_policy().frequency().seconds(), 86'400);
  const absl::StatusOr<table_wire::CreateTableRequest> copy = ToWireCreation(*schema);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_FALSE(copy->table().has_automated_backup_policy());
  Schema damaged;
  damaged.SetProperty("automated_backup_policy", "x");
  EXPECT_FALSE(ToWireTable("t", damaged, table_wire::Table::FULL).has_automated_backup_policy());
}

TEST(Schemas, WhatIsNotOfferedIsSaid) {
  for (const char* const setting :
       {"change_stream_config {}", "row_key_schema {}", "tiered_storage_config {}",
        "column_families { key: 'f' value { value_type { int64_type {} } } }"}) {
    const auto request =
        FromText<table_wire::CreateTableRequest>(std::string("table { ") + setting + " }");
    EXPECT_TRUE(absl::IsUnimplemented(ToSchema(request).status())) << setting;
  }
}

TEST(WireForm, FiltersComeBack) {
  const Timestamp at = Timestamp::FromMillis(2);
  for (const char* const text : {"all",
                                 "none",
                                 "latest(2)",
                                 "family_regex(\"f.*\")",
                                 "column_regex(\"q\")",
                                 "column_range(\"f\", [\"\", \"b\"))",
                                 "column_range(\"f\", (\"a\", \"\"])",
                                 "column_range(\"f\", [, ])",
                                 "value_range([\"a\", ))",
                                 "value_range((\"a\", \"b\"])",
                                 "value_regex(\"v\")",
                                 "value_bitmask(\"m\")",
                                 "timestamps(1000, )",
                                 "timestamps(1000, 3000)",
                                 "row_regex(\"r\")",
                                 "sample(0.25)",
                                 "row_limit(3)",
                                 "row_offset(4)",
                                 "strip",
                                 "label(\"l\")",
                                 "sink",
                                 "condition(none, all, latest(1))",
                                 "chain(all, interleave(strip, sink))"}) {
    const Filter filter = Filter::Parse(text).value();
    EXPECT_EQ(ToFilter(ToWireFilter(filter), TimestampGranularity::kMillis).value(), filter)
        << text;
  }
  EXPECT_EQ(ToWireFilter(Filter::Family("f")).ShortDebugString(),
            "column_range_filter { family_name: \"f\" }");
  EXPECT_EQ(ToWireFilter(Filter::Column("f", "")).ShortDebugString(),
            "column_range_filter { family_name: \"f\" start_qualifier_closed: \"\" "
            "end_qualifier_closed: \"\" }");
  EXPECT_EQ(ToWireFilter(Filter::TimestampRange({.start = Timestamp(), .end = Timestamp()}))
                .ShortDebugString(),
            "block_all_filter: true");
  EXPECT_EQ(ToWireFilter(Filter::TimestampRange({.end = at})).ShortDebugString(),
            "timestamp_range_filter { end_timestamp_micros: 2000 }");
}

TEST(WireForm, ChangesComeBack) {
  const Timestamp at = Timestamp::FromMillis(2);
  const RowMutation mutation = RowMutation("r")
                                   .SetCell("f", "q", at, "v")
                                   .AddToCell("f", "q", at, 7)
                                   .MergeToCell("f", "q", at, "12345678")
                                   .DeleteFromColumn("f", "q")
                                   .DeleteFromColumn("f", "q", {.start = at})
                                   .DeleteFromColumn("f", "q", {.end = at})
                                   .DeleteFromFamily("f")
                                   .DeleteFromRow();
  Mutations wire_form;
  AddToWire(mutation, 0, &wire_form);
  EXPECT_EQ(Access::EncodedOps(*ToRowMutation("r", wire_form, {})), Access::EncodedOps(mutation));
  wire_form.Clear();
  AddToWire(RowMutation("r").SetCell("f", "q", "v"), 5000, &wire_form);
  EXPECT_EQ(wire_form[0].set_cell().timestamp_micros(), 5000);
  EXPECT_EQ(wire_form[0].timestamp_origin(), data_wire::Mutation::CLIENT_AUTO_GENERATED);
}

TEST(WireForm, OnlyWhatAddsMayNotBeRepeated) {
  const Timestamp at;
  EXPECT_TRUE(IsIdempotent(RowMutation()
                               .SetCell("f", "q", "v")
                               .SetCell("f", "q", at, "v")
                               .DeleteFromColumn("f", "q")
                               .DeleteFromRow()));
  EXPECT_FALSE(IsIdempotent(RowMutation().DeleteFromRow().AddToCell("f", "q", at, 1)));
  EXPECT_FALSE(IsIdempotent(RowMutation().AddToCell("f", "q", at, "item")));
  EXPECT_FALSE(IsIdempotent(RowMutation().MergeToCell("f", "q", at, "state")));
  const TimestampRange only{.start = at, .end = Timestamp::FromMillis(1)};
  EXPECT_TRUE(IsIdempotent(
      RowMutation().DeleteFromColumn("f", "q", only).MergeToCell("f", "q", at, "state")));
  EXPECT_TRUE(IsIdempotent(RowMutation().DeleteFromColumn("f", "q").AddToCell("f", "q", at, 1)));
  EXPECT_FALSE(IsIdempotent(RowMutation()
                                .DeleteFromColumn("f", "q", only)
                                .MergeToCell("f", "q", Timestamp::FromMillis(1), "state")));
  EXPECT_FALSE(IsIdempotent(
      RowMutation().DeleteFromColumn("f", "other").MergeToCell("f", "q", at, "state")));
  EXPECT_FALSE(IsIdempotent(RowMutation()
                                .DeleteFromColumn("f", "q")
                                .AddToCell("f", "q", at, 1)
                                .AddToCell("f", "q", at, 1)));
}

TEST(WireForm, RangesOfOneRowAreKeys) {
  data_wire::RowSet rows;
  AddToWire(KeyRange::Single("k"), &rows);
  AddToWire(KeyRange{"a", "b", false}, &rows);
  AddToWire(KeyRange{"", "", true}, &rows);
  AddToWire(KeyRange{"", std::string(1, '\0'), false}, &rows);
  EXPECT_EQ(rows.ShortDebugString(),
            "row_keys: \"k\" row_ranges { start_key_closed: \"a\" end_key_open: \"b\" } row_ranges "
            "{ } row_ranges { end_key_open: \"\\000\" }");
}

TEST(WireForm, SchemasComeBack) {
  const Schema schema = Schema()
                            .AddFamily("a", GcRule::Union(GcRule::MaxNumVersions(3),
                                                          GcRule::MaxAge(std::chrono::hours(48))))
                            .AddFamily({.name = "s", .value_type = ValueType::kInt64Max})
                            .SetGranularity(TimestampGranularity::kMicros)
                            .SetProperty(std::string(kDeletionProtection), "true");
  const auto creation = ToWireCreation(schema);
  ASSERT_TRUE(creation.ok());
  EXPECT_EQ(ToSchema(creation->table()).value(), schema);
  EXPECT_EQ(ToWireCreation(Schema().AddSplit("m"))->initial_splits(0).key(), "m");
  EXPECT_TRUE(
      absl::IsUnimplemented(ToWireCreation(Schema().SetProperty("colour", "red")).status()));
  EXPECT_TRUE(absl::IsUnimplemented(ToWireCreation(Schema().SetLimits({.mutations = 1})).status()));
  EXPECT_EQ(ToWireChange(FamilyChange::Drop("f")).ShortDebugString(), "id: \"f\" drop: true");
  EXPECT_EQ(
      ToWireChange(FamilyChange::Update("f", GcRule::MaxNumVersions(2))).ShortDebugString(),
      "id: \"f\" update { gc_rule { max_num_versions: 2 } } update_mask { paths: \"gc_rule\" }");
}

}  // namespace
}  // namespace stele::internal
