#include "tests/support/private_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "fedhur/base/file.hpp"
#include "fedhur/base/random.hpp"

namespace fedhur::tests {
namespace fs = std::filesystem;
using client::PrivateState;
namespace {
constexpr std::size_t kWindow = 4;  // neighbours that tell

template <class T>
std::string raw_bytes(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  std::string text(bytes.size(), '\0');
  std::memcpy(text.data(), bytes.data(), bytes.size());
  return text;
}

template <class T>
std::string numbers_as(std::span<const std::int64_t> numbers) {
  std::vector<T> values;
  for (const std::int64_t number : numbers) values.push_back(static_cast<T>(number));
  return raw_bytes(std::span<const T>(values));
}

std::vector<std::string> in_all_types(std::span<const std::int64_t> numbers) {
  return {numbers_as<std::int32_t>(numbers), numbers_as<std::int64_t>(numbers),
          numbers_as<float>(numbers), numbers_as<double>(numbers)};
}

std::vector<std::string> read_texts(ByteReader& reader) {
  std::vector<std::string> texts(reader.get<std::uint32_t>());
  for (std::string& text : texts) {
    const auto bytes = reader.take(reader.get<std::uint32_t>());
    text = raw_bytes(bytes);
  }
  return texts;
}

std::uint32_t biased_exponent(Real value) {
  return (std::bit_cast<std::uint32_t>(value) >> 23U) & 0xffU;
}

// Two numbers of a block whose largest exponent is `largest`, as message/packing.hpp says.
std::string packed_pair(Real first, Real second, std::uint32_t largest) {
  const auto bits_of = [largest](Real value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint64_t offset = largest - biased_exponent(value);
    return (std::uint64_t{bits >> 31U} << 27U) | (offset << 23U) | (bits & 0x7fffffU);
  };
  const std::uint64_t both = bits_of(first) | (bits_of(second) << 28U);
  return raw_bytes(std::span<const std::uint64_t>(&both, 1)).substr(0, 7);
}

std::vector<unsigned> numbers_of(std::span<const std::byte> bytes) {
  std::vector<unsigned> numbers;
  for (const std::byte byte : bytes) numbers.push_back(std::to_integer<unsigned>(byte));
  return numbers;
}

std::uint64_t beginning_of(const void* bytes) {
  std::uint64_t first = 0;
  std::memcpy(&first, bytes, sizeof(first));
  return first;
}
}  // namespace

bool holds(std::span<const std::byte> bytes, const void* pattern, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(pattern);
  return std::search(bytes.begin(), bytes.end(), first, first + size) != bytes.end();
}

ModelContent read_model_content(const fs::path& model_folder) {
  const std::vector<std::byte> bytes = read_checked_file(model_folder / "model.bin");
  ByteReader reader(bytes);
  (void)reader.get<std::uint32_t>();  // what kind of file it is
  ModelContent content;
  content.user_names = read_texts(reader);
  content.item_names = read_texts(reader);
  (void)read_texts(reader);  // titles
  PrivateState previous;
  const auto num_clients = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < num_clients; ++i) {
    previous = PrivateState::read(reader, &previous);
    content.clients.push_back(previous);
  }
  return content;
}

std::vector<Matrix> user_tables(const PrivateState& client) {
  std::vector<Matrix> tables = {client.matrix("user_vectors")};
  if (client.kind() == "neural_cf") tables.push_back(client.matrix("gmf_user_vectors"));
  return tables;
}

void PrivatePatterns::add(std::string bytes, const char* kind, const std::string& user) {
  if (bytes.size() < sizeof(std::uint64_t)) return;  // too little to tell anything
  auto& same = by_beginning_[beginning_of(bytes.data())];
  same.push_back({std::move(bytes), kind, user});
  ++size_;
}

void PrivatePatterns::add_vector(std::span<const Real> vector, const std::string& user) {
  for (std::size_t first = 0; first + kWindow <= vector.size(); ++first) {
    const auto window = vector.subspan(first, kWindow);
    if (std::ranges::find(window, Real{0}) != window.end()) continue;
    add(raw_bytes(window), "vector", user);
    std::array<std::uint32_t, kWindow> exponents{};
    std::ranges::transform(window, exponents.begin(), biased_exponent);
    const auto [least, most] = std::ranges::minmax(exponents);
    // The block may have a larger number; more than 14 below it nothing is packed.
    for (std::uint32_t largest = most; largest <= least + 14; ++largest) {
      add(packed_pair(window[0], window[1], largest) + packed_pair(window[2], window[3], largest),
          "packed vector", user);
    }
  }
}

void PrivatePatterns::add_interaction(std::int64_t user_number, std::int64_t item,
                                      const std::string& user) {
  for (const auto& pair : {std::array{user_number, item}, std::array{item, user_number}}) {
    for (std::string& bytes : in_all_types(pair)) add(std::move(bytes), "interaction", user);
  }
}

void PrivatePatterns::add_items(std::span<const std::int32_t> items, const ModelContent& model,
                                const std::string& user) {
  for (std::size_t first = 0; first + kWindow <= items.size(); ++first) {
    std::vector<std::int64_t> numbers;
    std::vector<std::string> names;
    for (const std::int32_t item : items.subspan(first, kWindow)) {
      numbers.push_back(item);
      names.push_back(model.item_names[static_cast<std::size_t>(item)]);
    }
    for (std::string& bytes : in_all_types(numbers)) add(std::move(bytes), "list of items", user);
    for (const char* separator : {",", ", ", "\",\"", "\", \"", " ", "\t", "\n", ";"}) {
      add(fmt::format("{}", fmt::join(numbers, separator)), "list of items", user);
      add(fmt::format("{}", fmt::join(names, separator)), "list of items", user);
    }
  }
}

void PrivatePatterns::add_model(const ModelContent& model) {
  for (const std::string& name : model.user_names) add(name, "user id", name);
  for (const PrivateState& client : model.clients) {
    const auto& users = client.integers("users");
    const auto& counts = client.integers("seen_counts");
    const auto& items = client.integers("seen_items");
    Index next = 0;
    for (Index row = 0; row < users.size(); ++row) {
      const std::string& user = model.user_names[static_cast<std::size_t>(users(row))];
      for (const Matrix& table : user_tables(client)) {
        add_vector({table.data() + row * table.cols(), static_cast<std::size_t>(table.cols())},
                   user);
      }
      const std::span<const std::int32_t> own(items.data() + next,
                                              static_cast<std::size_t>(counts(row)));
      next += counts(row);
      add_items(own, model, user);
      if (users(row) < static_cast<std::int32_t>(model.item_names.size())) continue;
      for (const std::int32_t item : own) {
        // Number 0 is nothing but zeros, of which every file is full.
        if (item > 0) add_interaction(users(row), item, user);
      }
    }
  }
}

std::map<std::string, std::string> PrivatePatterns::find_in(
    std::span<const std::byte> bytes) const {
  std::map<std::string, std::string> found;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size(); ++at) {
    const auto same = by_beginning_.find(beginning_of(bytes.data() + at));
    if (same == by_beginning_.end()) continue;
    for (const Pattern& pattern : same->second) {
      const bool is_there =
          pattern.bytes.size() <= bytes.size() - at &&
          std::memcmp(pattern.bytes.data(), bytes.data() + at, pattern.bytes.size()) == 0;
      if (!is_there) continue;
      const auto shown = bytes.subspan(at, pattern.bytes.size());
      found.try_emplace(pattern.kind, fmt::format("{} at {}: {:02x}", pattern.user, at,
                                                  fmt::join(numbers_of(shown), " ")));
    }
  }
  return found;
}

std::map<std::string, std::vector<std::byte>> files_below(const fs::path& folder) {
  std::map<std::string, std::vector<std::byte>> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[fs::relative(entry.path(), folder).string()] = read_file(entry.path());
  }
  return files;
}

std::string telling_rows() {
  constexpr int kPeople = 500;
  constexpr std::size_t kThings = 300;
  constexpr std::size_t kEach = 12;
  std::string text = "user,item\n";
  Rng rng(11);
  std::vector<int> things(kThings);
  std::iota(things.begin(), things.end(), 0);
  for (int person = 0; person < kPeople; ++person) {
    rng.shuffle(std::span(things));
    for (std::size_t i = 0; i < kEach; ++i) {
      text += fmt::format("person-{:04}-x,thing-{:03}\n", person, things[i]);
    }
  }
  return text;
}
}  // namespace fedhur::tests
