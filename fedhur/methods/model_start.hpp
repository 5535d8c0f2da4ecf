// What matrix factorisation begins with: random item embeddings, or those that sums over all
// clients tell.
#pragma once
#include "fedhur/methods/common.hpp"
#include "fedhur/server/spectral_start.hpp"

namespace fedhur::methods {
enum class Start : std::uint8_t {
  random,
  spectral,  // the leading eigenvectors of the co-occurrences; user vectors are folded in
};
constexpr auto names_of(Start) { return std::array{"random", "spectral"}; }

struct StartConfig {
  Start kind = Start::random;
  server::SubspaceConfig subspace;
  // A spectral start has round 0 for itself, so that it is evaluated and can be the best.
  [[nodiscard]] bool fills_round() const { return kind == Start::spectral; }
};
void declare_settings(Settings& settings, StartConfig& config);

// Spectral: asks for degrees, co-occurrences and scores, and sends "start" with item embeddings,
// which are returned, and the weights of the fold-in. The start is that of the clients that say
// their degrees; one that does not answer later is missing from that sum. Whoever gets "start"
// later begins with it then.
Shared<Matrix> send_start(const StartConfig& config, const ServerContext& context,
                          Index embedding_dim, Real init_std, federation::Federation& federation);
}  // namespace fedhur::methods
