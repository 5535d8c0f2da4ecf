#include "fedhur/experiment/stored_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fedhur/base/file.hpp"
#include "fedhur/base/nearest_name.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
using client::PrivateState;
namespace {
constexpr std::uint32_t kModelMagic = 0x31444846;  // "FHD1"

constexpr const char* kNoModel = "none";  // kind of a client that has no model

void put_names(ByteSink& sink, const std::vector<std::string>& names) {
  sink.put(static_cast<std::uint32_t>(names.size()));
  for (const std::string& name : names) {
    sink.put(static_cast<std::uint32_t>(name.size()));
    sink.put_bytes(std::as_bytes(std::span(name)));
  }
}

std::vector<std::string> get_names(ByteReader& reader) {
  std::vector<std::string> names(reader.get<std::uint32_t>());
  for (std::string& name : names) {
    const auto bytes = reader.take(reader.get<std::uint32_t>());
    name.assign(reinterpret_cast<const char*>(bytes.data()),
                bytes.size());  // NOLINT: bytes of text
  }
  return names;
}

using Integers = MatrixOf<std::int32_t>;

Integers to_integers(const std::vector<std::int32_t>& values) {
  return Eigen::Map<const Integers>(values.data(), static_cast<Index>(values.size()), 1);
}

// Everything the data holds of the client's users, held-out rows included: none of it is news to
// them.
void put_seen_items(PrivateState& state, const data::ClientData& data) {
  std::vector<std::int32_t> users;
  std::vector<std::int32_t> counts;
  std::vector<std::int32_t> items;
  for (std::size_t row = 0; row < data.users.size(); ++row) {
    users.push_back(static_cast<std::int32_t>(data.users[row]));
    const std::size_t before = items.size();
    for (const auto* part : {&data.train, &data.valid, &data.test}) {
      for (const ItemId item : part->of(static_cast<Index>(row))) {
        items.push_back(static_cast<std::int32_t>(item));
      }
    }
    counts.push_back(static_cast<std::int32_t>(items.size() - before));
  }
  state.set("users", to_integers(users));
  state.set("seen_counts", to_integers(counts));
  state.set("seen_items", to_integers(items));
}

data::UserItems get_seen_items(const PrivateState& state, Index num_items) {
  const Integers& counts = state.integers("seen_counts");
  const Integers& items = state.integers("seen_items");
  std::vector<std::vector<ItemId>> lists;
  Index next = 0;
  for (Index row = 0; row < counts.size(); ++row) {
    auto& list = lists.emplace_back();
    for (std::int32_t i = 0; i < counts(row); ++i, ++next) {
      if (next >= items.size() || items(next) < 0 || items(next) >= num_items) {
        throw DataError("the model's list of seen items is not whole");
      }
      list.push_back(item_id(items(next)));
    }
  }
  return data::UserItems(lists);
}
}  // namespace

void write_model(const fs::path& folder, const data::Dataset& dataset, const Party& party) {
  fs::create_directories(folder);
  CheckedFileWriter writer(folder / "model.bin");
  writer.put(kModelMagic);
  put_names(writer, dataset.user_names);
  put_names(writer, dataset.item_names);
  put_names(writer, dataset.item_titles);
  writer.put(static_cast<std::uint32_t>(party.size()));
  PrivateState previous;
  for (std::size_t i = 0; i < party.size(); ++i) {
    PrivateState state = party[i].best_model().value_or(PrivateState(kNoModel));
    put_seen_items(state, party[i].data());
    state.write(writer, &previous);
    previous = std::move(state);
  }
  writer.commit();
}

StoredModel::StoredModel(const fs::path& folder) {
  const fs::path path = folder / "model.bin";
  try {
    const std::vector<std::byte> bytes = read_checked_file(path);
    ByteReader reader(bytes);
    if (reader.get<std::uint32_t>() != kModelMagic)
      throw DataError(path.string() + ": not a model");
    user_names_ = get_names(reader);
    item_names_ = get_names(reader);
    item_titles_ = get_names(reader);
    places_.resize(user_names_.size());
    PrivateState previous;
    const auto num_clients = reader.get<std::uint32_t>();
    for (std::size_t client = 0; client < num_clients; ++client) {
      PrivateState state = PrivateState::read(reader, &previous);
      previous = state;
      const Integers& users = state.integers("users");
      for (Index row = 0; row < users.size(); ++row) {
        places_.at(static_cast<std::size_t>(users(row))) = {client, row};
      }
      data::UserItems seen = get_seen_items(state, num_items());
      const bool has_model = state.kind() != kNoModel;
      clients_.push_back({has_model ? client::make_recommender(state) : nullptr, std::move(seen)});
    }
  } catch (const ProtocolError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::vector<Recommendation> StoredModel::recommend(UserId user, Index k, bool include_seen) const {
  const Place& place = places_.at(static_cast<std::size_t>(user));
  const ClientModel& client = clients_[place.client];
  if (!client.recommender) {
    throw DataError(
        fmt::format("there is no model for user '{}': the user's client was away whenever the best "
                    "one was to be kept",
                    user_names_[static_cast<std::size_t>(user)]));
  }
  Matrix scores(1, num_items());
  client.recommender->score(place.row, scores);
  const std::span<Real> row(scores.data(), static_cast<std::size_t>(scores.size()));
  if (!include_seen) evaluate::mask(row, client.seen.of(place.row));
  std::vector<Recommendation> recommendations;
  for (const ItemId item : evaluate::top_items(row, k)) {
    const auto index = static_cast<std::size_t>(item);
    recommendations.push_back({item, item_names_[index], item_titles_[index], row[index]});
  }
  return recommendations;
}

bool StoredModel::has_model(UserId user) const {
  return clients_[places_.at(static_cast<std::size_t>(user)).client].recommender != nullptr;
}

UserId StoredModel::find_user(const std::string& name) const {
  const auto found = std::find(user_names_.begin(), user_names_.end(), name);
  if (found == user_names_.end()) {
    throw ConfigError(fmt::format(
        "no user '{}' among the {} of this run{}", name, user_names_.size(),
        hint(name, user_names_, fmt::format("; its ids look like '{}'", user_names_.front()))));
  }
  return user_id(found - user_names_.begin());
}

std::vector<Recommendation> StoredModel::seen(UserId user) const {
  const Place& place = places_.at(static_cast<std::size_t>(user));
  std::vector<Recommendation> items;
  for (const ItemId item : clients_[place.client].seen.of(place.row)) {
    const auto index = static_cast<std::size_t>(item);
    items.push_back({item, item_names_[index], item_titles_[index], 0});
  }
  return items;
}
}  // namespace fedhur::experiment
