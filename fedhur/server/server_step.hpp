// How far the server goes from what it sent last towards what the clients made of it.
#pragma once
#include <string>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/named_arrays.hpp"

namespace fedhur::server {
struct ServerStepConfig {
  Real rate = 1.0F;      // eta
  Real momentum = 0.0F;  // mu

  // The new table is the average itself.
  [[nodiscard]] bool is_average() const { return rate == 1.0F && momentum == 0.0F; }
};
void declare_rate(Settings& settings, Real& rate);
void declare_settings(Settings& settings, ServerStepConfig& config);

// V <- mu V + (average - E), E <- E + eta V, for one table E. V begins at zero.
class ServerStep {
 public:
  explicit ServerStep(const ServerStepConfig& config) : config_(config) {}
  void take(Matrix& table, Matrix average);

  // What the next step needs of this table, unless every step ends at the average; `name` is that
  // of the table.
  void save(NamedArrays& state, const std::string& name, const Matrix& table) const;
  void restore(const NamedArrays& state, const std::string& name, Matrix& table);

 private:
  ServerStepConfig config_;
  Matrix velocity_;  // V; empty without momentum and before the first step
};
}  // namespace fedhur::server
