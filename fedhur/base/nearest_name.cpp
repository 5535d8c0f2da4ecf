#include "fedhur/base/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace fedhur {
namespace {
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row.back();
}

// "lr" for "learning_rate".
std::string initials(std::string_view name) {
  std::string letters;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (i == 0 || name[i - 1] == '_') letters += name[i];
  }
  return letters;
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }
}  // namespace

std::string nearest_name(std::string_view wrong, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, wrong.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::size_t distance = edit_distance(wrong, candidate);
    // "loss" is meant for "train.loss": the last part alone counts too.
    distance = std::min(distance, edit_distance(wrong, last_part(candidate)));
    const std::string short_form = initials(last_part(candidate));
    if (short_form.size() > 1 && short_form == last_part(wrong)) distance = 0;
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string hint(std::string_view wrong, std::span<const std::string> candidates,
                 std::string_view fallback) {
  const std::string name = nearest_name(wrong, candidates);
  return name.empty() ? std::string(fallback) : fmt::format("; did you mean '{}'?", name);
}
}  // namespace fedhur
