#include "fedhur/base/random.hpp"

#include <bit>
#include <cmath>
#include <numbers>

namespace fedhur {
namespace {
// SplitMix64: turns a counter into well mixed bits; seeds the main generator and hashes keys.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
}  // namespace

Rng::Rng(std::uint64_t seed) : seed_(seed), state_{} {
  std::uint64_t x = seed;
  for (auto& word : state_) {
    word = mix(x);
    x += 0x9e3779b97f4a7c15ULL;
  }
}

Rng Rng::derive(std::initializer_list<std::uint64_t> keys) const {
  std::uint64_t hash = mix(seed_);
  for (const std::uint64_t key : keys) hash = mix(hash ^ mix(key + 0x632be59bd9b4e019ULL));
  return Rng(hash);
}

std::uint64_t Rng::next() {  // xoshiro256++ (Blackman and Vigna)
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17U;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t bound) {  // Lemire's multiply and reject
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<Wide>(next()) * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

double Rng::uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

double Rng::normal() {  // Box-Muller; the sine half is dropped so that a draw has no hidden state
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::pair<double, double> Rng::normal_pair() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

double Rng::gamma(double shape) {  // Marsaglia and Tsang; shapes below 1 by boosting
  if (shape < 1.0) {
    const double boost = std::pow(1.0 - uniform(), 1.0 / shape);
    return gamma(shape + 1.0) * boost;
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double cube = 1.0 + c * x;
    if (cube <= 0.0) continue;
    const double v = cube * cube * cube;
    if (std::log(1.0 - uniform()) < 0.5 * x * x + d * (1.0 - v + std::log(v))) return d * v;
  }
}
}  // namespace fedhur
