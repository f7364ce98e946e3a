// Tests the figures that are read when the page of metrics is made: tables, the process, and the
// transport.
#include <gtest/gtest.h>
#include <prometheus/metric_family.h>

#include <ctime>
#include <map>
#include <memory>
#include <string>

#include "stele/database.h"
#include "steled/monitoring/database_metrics.h"
#include "steled/monitoring/process_metrics.h"
#include "steled/state/open_tables.h"
#include "steled/state/records.h"

namespace stele::server {
namespace {

// The values of a family by the first label's value; "" if there is no label.
std::map<std::string, double> ValuesOf(prometheus::Collectable* source, const std::string& name) {
  std::map<std::string, double> values;
  for (const prometheus::MetricFamily& family : source->Collect()) {
    if (family.name != name) continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      const std::string label = metric.label.empty() ? "" : metric.label.front().value;
      values[label] = family.type == prometheus::MetricType::Counter ? metric.counter.value
                                                                     : metric.gauge.value;
    }
  }
  return values;
}

class TableMetricsTest : public testing::Test {
 protected:
  void Create(const std::string& table_id, int rows) {
    absl::StatusOr<Table> table = tables_.Create("p/i/" + table_id, Schema().AddFamily("f"));
    ASSERT_TRUE(table.ok()) << table.status();
    for (int row = 0; row < rows; ++row) {
      const RowMutation mutation =
          RowMutation("row" + std::to_string(row)).SetCell("f", "q", Timestamp::FromMillis(1), "v");
      ASSERT_TRUE(table->Apply(mutation).ok());
    }
  }
  std::map<std::string, double> Writes() {
    return ValuesOf(metrics_.get(), "stele_table_writes_total");
  }

  OpenTables tables_{Database::Open("mem:").value()};
  const std::shared_ptr<prometheus::Collectable> metrics_ = NewTableMetrics(&tables_);
};

TEST_F(TableMetricsTest, EachTableHasItsFigures) {
  Create("a", 2);
  Create("b", 3);
  EXPECT_EQ(Writes(), (std::map<std::string, double>{{"projects/p/instances/i/tables/a", 2},
                                                     {"projects/p/instances/i/tables/b", 3}}));
}

TEST_F(TableMetricsTest, TablesBeyondTheMostShareASeries) {
  // The table of the server takes no place. Its name comes first.
  ASSERT_TRUE(tables_.Create(std::string(kRecordTable), Schema()).ok());
  const auto most = static_cast<int>(kTableSeriesMax);
  for (int i = 0; i < most; ++i) Create("t" + std::to_string(i), 1);
  EXPECT_EQ(Writes().size(), kTableSeriesMax);
  EXPECT_FALSE(Writes().contains("other"));
  Create("a-later-one", 5);
  Create("b-later-one", 6);
  EXPECT_EQ(Writes().size(), kTableSeriesMax + 1);
  EXPECT_EQ(Writes()["other"], 11) << "a table keeps its series";
  ASSERT_TRUE(tables_.Delete("p/i/t0").ok());
  EXPECT_EQ(Writes()["projects/p/instances/i/tables/a-later-one"], 5) << "its place is free";
  EXPECT_EQ(Writes()["other"], 6);
}

TEST(ProcessMetrics, HaveTheNamesOfPrometheus) {
  const auto metrics = NewProcessMetrics();
  const auto value = [&metrics](const std::string& name) {
    return ValuesOf(metrics.get(), name)[""];
  };
  EXPECT_GT(value("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(value("process_virtual_memory_bytes"), value("process_resident_memory_bytes"));
  EXPECT_GE(value("process_threads"), 1);
  EXPECT_GE(value("process_open_fds"), 3);
  EXPECT_GE(value("process_max_fds"), value("process_open_fds"));
  EXPECT_GE(value("process_cpu_seconds_total"), 0);
  const auto now = static_cast<double>(time(nullptr));
  EXPECT_NEAR(value("process_start_time_seconds"), now, 86'400);
  EXPECT_EQ(ValuesOf(metrics.get(), "steled_build_info"),
            (std::map<std::string, double>{{STELE_VERSION, 1}}));
}

TEST(TransportMetrics, AreThoseOfTheTransport) {
  const auto metrics = NewTransportMetrics(
      [] {
        return TransportFigures{.connections = 2,
                                .accepted = 5,
                                .streams = 7,
                                .paused_calls = 1,
                                .request_bytes = 4096};
      },
      {.connections = 16, .request_bytes = 8192});
  const auto value = [&metrics](const std::string& name) {
    return ValuesOf(metrics.get(), name)[""];
  };
  EXPECT_EQ(value("steled_connections"), 2);
  EXPECT_EQ(value("steled_connections_limit"), 16);
  EXPECT_EQ(value("steled_connections_accepted_total"), 5);
  EXPECT_EQ(value("steled_streams"), 7);
  EXPECT_EQ(value("steled_paused_calls"), 1);
  EXPECT_EQ(value("steled_request_memory_bytes"), 4096);
  EXPECT_EQ(value("steled_request_memory_limit_bytes"), 8192);
}

}  // namespace
}  // namespace stele::server
