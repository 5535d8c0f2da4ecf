#include "fedhur/server/server_step.hpp"

#include "fedhur/base/error.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::server {
namespace {
std::string velocity_of(const std::string& name) { return name + "_velocity"; }
}  // namespace

void declare_rate(Settings& settings, Real& rate) {
  settings.add("server.rate", rate, above(0),
               "the server goes this many times the way from what it sent last to the average of "
               "the round; 1 is the average. More gives items back what those clients learned that "
               "have them, and wants small local steps",
               "eta");
}

void declare_settings(Settings& settings, ServerStepConfig& config) {
  declare_rate(settings, config.rate);
  settings.add("server.momentum", config.momentum, from_below(0, 1),
               "share of the server's last step that is added to the next", "mu");
}

void ServerStep::take(Matrix& table, Matrix average) {
  expects(table.rows() == average.rows() && table.cols() == average.cols(),
          "an average has the shape of its table");
  if (config_.is_average()) {
    table = std::move(average);
    return;
  }
  average -= table;
  if (config_.momentum == 0.0F) {
    table += config_.rate * average;
    return;
  }
  if (velocity_.size() > 0) average += config_.momentum * velocity_;
  velocity_ = std::move(average);
  table += config_.rate * velocity_;
}

void ServerStep::save(NamedArrays& state, const std::string& name, const Matrix& table) const {
  if (config_.is_average()) return;
  state.set(name, table);
  if (velocity_.size() > 0) state.set(velocity_of(name), velocity_);
}

void ServerStep::restore(const NamedArrays& state, const std::string& name, Matrix& table) {
  if (config_.is_average()) return;
  table = *state.shaped_matrix(name, table.rows(), table.cols());
  velocity_ = state.contains(velocity_of(name))
                  ? *state.shaped_matrix(velocity_of(name), table.rows(), table.cols())
                  : Matrix();
}
}  // namespace fedhur::server
