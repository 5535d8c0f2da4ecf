// The server's half of a method: one round at a time.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "fedhur/base/named_arrays.hpp"
#include "fedhur/federation/federation.hpp"

namespace fedhur::federation {
// What a round tells about itself, for the report.
struct RoundNotes {
  double loss = 0.0;                      // mean over this round's training samples
  std::map<std::string, double> numbers;  // whatever else the method measures
  // How it looked inside, for methods with item groups or relations between clients: "item_groups"
  // (a row per item, a column per level of groups) and what server::put_summaries() puts.
  NamedArrays inside{};
  std::vector<std::string> warnings{};  // for the log: "client 7: ..."
};

class ServerMethod {
 public:
  virtual ~ServerMethod() = default;
  // Afterwards every client is in the state it recommends with.
  virtual RoundNotes run_round(Round round, Federation& federation) = 0;
  // Whether further rounds would change nothing.
  [[nodiscard]] virtual bool is_finished() const { return false; }
  // Everything the next round needs from this one; restore() continues as if never interrupted.
  [[nodiscard]] virtual NamedArrays save() const { return {}; }
  virtual void restore(const NamedArrays& /*state*/) {}
};
}  // namespace fedhur::federation
