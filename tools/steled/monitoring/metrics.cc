#include "steled/monitoring/metrics.h"

#include <prometheus/text_serializer.h>

#include <utility>

namespace stele::server {

std::function<HttpPages::Page()> MetricsPage(MetricSources sources) {
  return [sources = std::move(sources)] {
    std::vector<prometheus::MetricFamily> families;
    for (const auto& source : sources) {
      for (prometheus::MetricFamily& family : source->Collect())
        families.push_back(std::move(family));
    }
    return HttpPages::Page{.type = "text/plain; version=0.0.4; charset=utf-8",
                           .body = prometheus::TextSerializer().Serialize(families)};
  };
}

void FamilyBuilder::AddFamily(const std::string& name, const std::string& help,
                              prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  families_.push_back(std::move(family));
}

void FamilyBuilder::Add(const Labels& labels, double value) {
  prometheus::MetricFamily& family = families_.back();
  prometheus::ClientMetric metric;
  for (const auto& [name, text] : labels) metric.label.push_back({name, text});
  const bool is_counter = family.type == prometheus::MetricType::Counter;
  (is_counter ? metric.counter.value : metric.gauge.value) = value;
  family.metric.push_back(std::move(metric));
}

}  // namespace stele::server
