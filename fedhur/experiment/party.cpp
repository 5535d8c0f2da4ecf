#include "fedhur/experiment/party.hpp"

#include <fmt/format.h>

#include <numeric>
#include <thread>

#include "fedhur/linalg/blas.hpp"

namespace fedhur::experiment {
using client::PrivateState;
using message::Message;

Member::Member(std::unique_ptr<client::Client> half, data::ClientData data,
               std::vector<Index> cutoffs, Shared<evaluate::ItemBins> bins)
    : half_(std::move(half)),
      data_(std::move(data)),
      cutoffs_(std::move(cutoffs)),
      bins_(std::move(bins)) {}

Message Member::answer(const Message& request) {
  if (request.kind == "evaluate") {
    const auto quality = evaluate::rank_all_users(half_->recommender(), data_, cutoffs_,
                                                  bins_ ? *bins_ : evaluate::ItemBins());
    return evaluate::quality_reply(quality, request.round);
  }
  if (request.kind != "keep") return half_->answer(request);
  best_ = half_->model();
  return {.kind = request.kind, .round = request.round, .arrays = {}};
}

namespace {
Message make_keep(Round round) { return {.kind = "keep", .round = round, .arrays = {}}; }
}  // namespace

void keep_models(federation::Federation& federation, Round round) {
  tell_all(federation, make_keep(round));
}

void ensure_kept(federation::Federation& federation, Round round) {
  (void)ask_all(federation, make_keep(round));
}

Party::Party(const ExperimentConfig& config, std::vector<data::ClientData> data, Index num_items,
             const Executor& executor, std::vector<ClientId> ids,
             const Shared<evaluate::ItemBins>& bins)
    : ids_(std::move(ids)), members_(data.size()) {
  for (std::size_t i = ids_.size(); i < data.size(); ++i) {
    ids_.push_back(client_id(static_cast<Index>(i)));
  }
  executor.for_each(static_cast<Index>(data.size()), [&](Index place) {
    const auto i = static_cast<std::size_t>(place);
    auto half = config.configured_method.make_client(
        {.id = ids_[i], .train = data[i].train, .num_items = num_items, .rng = Rng(config.seed)});
    members_[i] = std::make_unique<Member>(std::move(half), std::move(data[i]),
                                           config.evaluation.cutoffs, bins);
  });
}

std::vector<federation::ClientMethod*> Party::methods() const {
  std::vector<federation::ClientMethod*> methods;
  for (const auto& member : members_) methods.push_back(member.get());
  return methods;
}

// What a client has in common with the one before it, such as a table that all were sent, is stored
// once.
void Party::save(ByteSink& sink, const Each& each) const {
  sink.put(static_cast<std::uint32_t>(size()));
  PrivateState previous;
  const PrivateState* previous_best = nullptr;
  for (std::size_t i = 0; i < size(); ++i) {
    each(i);
    PrivateState state = members_[i]->half().save();
    state.write(sink, &previous);
    previous = std::move(state);
    const auto& best = members_[i]->best_model();
    sink.put(static_cast<std::uint8_t>(best ? 1 : 0));
    if (!best) continue;
    best->write(sink, previous_best);
    previous_best = &*best;
  }
}

void Party::restore(ByteReader& reader, const Each& each) {
  if (const auto count = reader.get<std::uint32_t>(); count != size()) {
    throw ProtocolError(fmt::format("it is of {} clients, expected {}", count, size()));
  }
  PrivateState previous;
  PrivateState previous_best;
  for (std::size_t i = 0; i < size(); ++i) {
    each(i);
    previous = PrivateState::read(reader, &previous);
    members_[i]->half().restore(previous);
    const bool has_best = reader.get<std::uint8_t>() != 0;
    if (has_best) previous_best = PrivateState::read(reader, &previous_best);
    members_[i]->set_best_model(has_best ? std::optional(previous_best) : std::nullopt);
  }
}

std::unique_ptr<federation::ServerMethod> make_server(const ExperimentConfig& config,
                                                      Index num_clients, Index num_items,
                                                      const Executor& executor,
                                                      const methods::RoundWatcher* watcher) {
  if (num_clients > federation::kMostClients) {
    throw ConfigError(fmt::format("{} clients: expected at most {}, for which sums have room",
                                  num_clients, federation::kMostClients));
  }
  return config.configured_method.make_server({.num_clients = num_clients,
                                               .num_items = num_items,
                                               .rng = Rng(config.seed),
                                               .executor = &executor,
                                               .watcher = watcher});
}

Index num_threads(Index wanted) {
  return wanted > 0 ? wanted : std::max<Index>(1, std::thread::hardware_concurrency());
}

Executor make_executor(Index threads) {
  linalg::prepare_blas(num_threads(threads));
  return Executor(num_threads(threads));
}
}  // namespace fedhur::experiment
