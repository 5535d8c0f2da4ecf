#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/tune/search_space.hpp"

namespace fedhur::tune {
namespace {
bool is_in(const ConfigValue& value, const Dimension& dimension) {
  if (const auto* range = std::get_if<Range>(&dimension.values)) {
    const double number = number_of(value);
    return number >= number_of(range->low) && number <= number_of(range->high);
  }
  const auto& choices = std::get<Choices>(dimension.values);
  return std::find(choices.begin(), choices.end(), value) != choices.end();
}

// The point at which the settings are already, if it is in the space.
std::optional<Point> own_point(const SearchSpace& space, const ConfigTable& table) {
  const auto settings = experiment::resolve(table).settings;
  Point point;
  for (const Dimension& dimension : space) {
    const ConfigValue* value = find_value(settings, dimension.key);
    if (value != nullptr && is_in(*value, dimension)) point.push_back(*value);
  }
  return point.size() == space.size() ? std::optional(point) : std::nullopt;
}

// Four digits are enough to search with, and can be read.
double rounded(double number) { return std::stod(fmt::format("{:.4g}", number)); }

ConfigValue draw_from(const Range& range, Rng& rng) {
  const bool is_whole = std::holds_alternative<std::int64_t>(range.low);
  const double low = number_of(range.low);
  const double high = number_of(range.high);
  // A whole number stands for all up to the next one, so that the last is as likely as others.
  const double end = is_whole ? high + 1.0 : high;
  const double share = rng.uniform();
  const double drawn = range.is_log ? low * std::pow(end / low, share) : low + share * (end - low);
  if (is_whole) return static_cast<std::int64_t>(std::clamp(std::floor(drawn), low, high));
  return std::clamp(rounded(drawn), low, high);
}

Point draw_point(const SearchSpace& space, Rng& rng) {
  Point point;
  for (const Dimension& dimension : space) {
    if (const auto* range = std::get_if<Range>(&dimension.values)) {
      point.push_back(draw_from(*range, rng));
    } else {
      const auto& choices = std::get<Choices>(dimension.values);
      point.push_back(choices[rng.below(choices.size())]);
    }
  }
  return point;
}

Point grid_point(const SearchSpace& space, std::uint64_t number) {
  Point point;
  for (const Dimension& dimension : space) {
    const auto& choices = std::get<Choices>(dimension.values);
    point.push_back(choices[number % choices.size()]);
    number /= choices.size();
  }
  return point;
}

// The numbers below `size` in random order, as many as are asked for: Fisher and Yates with a map
// in place of the whole list.
class Shuffle {
 public:
  explicit Shuffle(std::uint64_t size) : size_(size) {}
  [[nodiscard]] bool is_over() const { return drawn_ == size_; }
  [[nodiscard]] std::uint64_t next(Rng& rng) {
    const std::uint64_t place = drawn_ + rng.below(size_ - drawn_);
    const std::uint64_t value = at(place);
    moved_[place] = at(drawn_++);
    return value;
  }

 private:
  [[nodiscard]] std::uint64_t at(std::uint64_t place) const {
    const auto found = moved_.find(place);
    return found == moved_.end() ? place : found->second;
  }
  std::uint64_t size_;
  std::uint64_t drawn_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> moved_;
};

bool contains(const std::vector<Point>& points, const Point& point) {
  return std::find(points.begin(), points.end(), point) != points.end();
}
}  // namespace

std::optional<std::uint64_t> grid_size(const SearchSpace& space) {
  std::uint64_t size = 1;
  for (const Dimension& dimension : space) {
    const auto* choices = std::get_if<Choices>(&dimension.values);
    if (choices == nullptr) return std::nullopt;
    if (size > std::numeric_limits<std::uint64_t>::max() / choices->size()) {
      throw ConfigError("the search space has more points than can be counted");
    }
    size *= choices->size();
  }
  return size;
}

std::vector<Point> draw_points(const SearchSpace& space, const ConfigTable& settings,
                               std::size_t count, Rng rng) {
  std::vector<Point> points;
  if (const auto own = own_point(space, settings); own && count > 0) points.push_back(*own);
  if (const auto size = grid_size(space)) {
    Shuffle shuffle(*size);
    while (points.size() < count && !shuffle.is_over()) {
      Point point = grid_point(space, shuffle.next(rng));
      if (points.empty() || point != points.front()) points.push_back(std::move(point));
    }
    return points;
  }
  constexpr int kMostRepetitions = 1000;  // in a row: then there is hardly anything new
  int num_repetitions = 0;
  while (points.size() < count && num_repetitions < kMostRepetitions) {
    Point point = draw_point(space, rng);
    const bool is_new = !contains(points, point);
    num_repetitions = is_new ? 0 : num_repetitions + 1;
    if (is_new) points.push_back(std::move(point));
  }
  return points;
}
}  // namespace fedhur::tune
