// steled/monitoring/metrics.h: the page /metrics for Prometheus.
//
// Threads:   thread-safe, as its sources are.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "steled/monitoring/http_pages.h"

namespace stele::server {

using MetricSources = std::vector<std::shared_ptr<prometheus::Collectable>>;

// Returns a function that makes the page from the sources' metrics.
std::function<HttpPages::Page()> MetricsPage(MetricSources sources);

// Builds families of figures that are read when a page is made.
class FamilyBuilder {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  void Gauge(const std::string& name, const std::string& help, double value) {
    AddFamily(name, help, prometheus::MetricType::Gauge);
    Add({}, value);
  }
  void Counter(const std::string& name, const std::string& help, double value) {
    AddFamily(name, help, prometheus::MetricType::Counter);
    Add({}, value);
  }
  // A family without metrics; Add() gives it some.
  void AddFamily(const std::string& name, const std::string& help, prometheus::MetricType type);
  // Adds a metric to the last family.
  void Add(const Labels& labels, double value);

  std::vector<prometheus::MetricFamily> Take() { return std::move(families_); }

 private:
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace stele::server
