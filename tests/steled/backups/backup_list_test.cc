// Tests ListBackups' filter and order with three backups.
#include "steled/backups/backup_list.h"

#include <google/protobuf/util/time_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

using google::bigtable::admin::v2::Backup;

Backup BackupOf(const std::string& backup_id, const std::string& table, const std::string& start,
                int64_t bytes) {
  Backup backup;
  backup.set_name("projects/p/instances/i/clusters/c/backups/" + backup_id);
  backup.set_source_table("projects/p/instances/i/tables/" + table);
  backup.set_state(bytes == 0 ? Backup::CREATING : Backup::READY);
  backup.set_size_bytes(bytes);
  EXPECT_TRUE(google::protobuf::util::TimeUtil::FromString(start, backup.mutable_start_time()));
  backup.mutable_expire_time()->set_seconds(backup.start_time().seconds() + 7 * 3'600);
  if (bytes > 0) backup.mutable_end_time()->set_seconds(backup.start_time().seconds() + 60);
  return backup;
}

const std::vector<Backup>& All() {
  static const auto* const all =
      new std::vector<Backup>{BackupOf("first", "Orders", "2026-01-01T00:00:00Z", 1'000),
                              BackupOf("second", "users", "2026-02-01T00:00:00.5Z", 0),
                              BackupOf("third", "orders_old", "2026-03-01T00:00:00Z", 50)};
  return *all;
}

std::string IdsOf(const std::vector<Backup>& backups) {
  std::string ids;
  for (const Backup& backup : backups)
    ids += (ids.empty() ? "" : " ") + backup.name().substr(backup.name().rfind('/') + 1);
  return ids;
}

std::string Filtered(const std::string& text) {
  const absl::StatusOr<BackupFilter> filter = BackupFilter::Parse(text);
  if (!filter.ok()) return fmt::format("{}", filter.status().raw_code());
  std::vector<Backup> backups;
  std::copy_if(All().begin(), All().end(), std::back_inserter(backups),
               [&](const Backup& backup) { return filter->Matches(backup); });
  return IdsOf(backups);
}

std::string Ordered(const std::string& text) {
  const absl::StatusOr<BackupOrder> order = BackupOrder::Parse(text);
  if (!order.ok()) return fmt::format("{}", order.status().raw_code());
  std::vector<Backup> backups = All();
  std::sort(backups.begin(), backups.end(), *order);
  return IdsOf(backups);
}

TEST(BackupList, AFilterIsComparisons) {
  const std::string name = "projects/p/instances/i/clusters/c/backups/second";
  EXPECT_EQ(Filtered(""), "first second third");
  EXPECT_EQ(Filtered(" \t"), "first second third");
  EXPECT_EQ(Filtered("name:" + name), "second");
  EXPECT_EQ(Filtered("name:ir"), "first third");
  EXPECT_EQ(Filtered("name:\"ir\""), "") << "in quotes it is the whole of it";
  EXPECT_EQ(Filtered("name:\"" + name + "\""), "second");
  EXPECT_EQ(Filtered("name = " + name), "second");
  EXPECT_EQ(Filtered("NAME != \"" + name + "\""), "first third");
  EXPECT_EQ(Filtered("source_table:ORDERS"), "first third") << "the letters' case does not count";
  EXPECT_EQ(Filtered("state:READY"), "first third");
  EXPECT_EQ(Filtered("state=creating"), "second");
  EXPECT_EQ(Filtered("start_time < \"2026-02-01T00:00:00.5Z\""), "first");
  EXPECT_EQ(Filtered("start_time <= 2026-02-01T01:00:00.5+01:00"), "first second");
  EXPECT_EQ(Filtered("expire_time>\"2026-02-01T07:00:00Z\""), "third");
  EXPECT_EQ(Filtered("end_time>=\"2026-01-01T00:01:00Z\""), "first third");
  EXPECT_EQ(Filtered("size_bytes > 50"), "first");
  EXPECT_EQ(Filtered("size_bytes:50"), "third");
}

TEST(BackupList, ComparisonsAreJoinedByAnd) {
  EXPECT_EQ(Filtered("(source_table:orders) AND (start_time > \"2026-01-02T00:00:00Z\")"), "third");
  EXPECT_EQ(Filtered("((state:READY and (size_bytes<2000)) AND name:first)"), "first");
  EXPECT_EQ(Filtered("source_table:\"a \\\"b\\\" ) AND\" AND state:READY"), "")
      << "what is in quotes is no part of the filter";
}

TEST(BackupList, WhatIsNoFilterIsRefused) {
  for (const char* const text :
       {"state", "state:", "state:GONE", "cluster:c", "(state:READY", "state:READY)",
        "state:READY AND", "state:READY state:READY", "size_bytes > many", "size_bytes > 10GB",
        "start_time > yesterday", "name:\"open", "name", "()", ":x", "AND"}) {
    EXPECT_EQ(Filtered(text), "3") << text;
  }
  EXPECT_EQ(Filtered("state:READY OR state:CREATING"), "12");
  EXPECT_EQ(Filtered("NOT state:READY"), "12");
  EXPECT_EQ(Filtered("-state:READY"), "12");
  EXPECT_EQ(Filtered(std::string(5'000'000, '(')), "3") << "deeper than a stack";
}

TEST(BackupList, AnOrderIsFields) {
  EXPECT_EQ(Ordered(""), "third second first") << "the newest first";
  EXPECT_EQ(Ordered("start_time"), "first second third");
  EXPECT_EQ(Ordered("size_bytes desc"), "first third second");
  EXPECT_EQ(Ordered("state desc, source_table DESC"), "third first second");
  EXPECT_EQ(Ordered("name asc,"), "first second third");
  for (const char* const text : {"cluster", "name up", "name desc desc", ",", "name,,state"})
    EXPECT_EQ(Ordered(text), "3") << text;
}

}  // namespace
}  // namespace stele::server
