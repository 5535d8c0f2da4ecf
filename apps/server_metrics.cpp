#include "apps/server_metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace fedhur::apps {
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
namespace {
MetricFamily family(const std::string& name, const std::string& help, MetricType type,
                    double value) {
  ClientMetric metric;
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  return {"fedhur_" + name, help, type, {metric}};
}

template <class Number>
MetricFamily gauge(const std::string& name, const std::string& help, Number value) {
  return family(name, help, MetricType::Gauge, static_cast<double>(value));
}

MetricFamily counter(const std::string& name, const std::string& help, std::uint64_t value) {
  return family(name + "_total", help, MetricType::Counter, static_cast<double>(value));
}
}  // namespace

std::string to_prometheus(const transport::HubStatus& status, Index num_clients, Index quorum) {
  const auto& counters = status.counters;
  return prometheus::TextSerializer().Serialize({
      gauge("clients", "Clients of the federation", num_clients),
      gauge("quorum", "Fewest answers to go on with", quorum),
      gauge("connected_clients", "Clients whose site is connected", status.connected.size()),
      gauge("absent_clients", "Clients that missed a deadline and are not back",
            status.absent.size()),
      gauge("round", "Round under way, from 1", status.round + 1),
      gauge("exchange", "Exchanges begun, over the whole run", status.sequence),
      gauge("asked_clients", "Clients asked in the exchange under way", status.asked),
      gauge("answered_clients", "Clients that have answered it", status.answered),
      counter("tasks", "Tasks handed to sites", counters.tasks),
      counter("task_bytes", "Bytes of tasks handed to sites", counters.task_bytes),
      counter("replies", "Replies that counted", counters.replies),
      counter("reply_bytes", "Bytes of replies that counted", counters.reply_bytes),
      counter("duplicate_replies", "Replies that had come before", counters.duplicates),
      counter("late_replies", "Replies to exchanges that were over", counters.late),
      counter("refused_replies", "Replies that could not be used", counters.refused),
      counter("resent_tasks", "Tasks sent again after a loss", counters.resent),
      counter("connections", "Connections of sites", counters.connections),
      counter("disconnections", "Connections that have ended", counters.disconnections),
  });
}
}  // namespace fedhur::apps
