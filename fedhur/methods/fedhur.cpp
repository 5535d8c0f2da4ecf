// FedHUR: clients agree on item-item filters as in FedCIA, and every client gets one of its own:
// the global filter plus what those clients know that can help it, from coarse item groups to
// items.
#include <fmt/format.h>

#include <algorithm>

#include "fedhur/linalg/symmetric.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/fedhur_config.hpp"
#include "fedhur/methods/fedhur_messages.hpp"
#include "fedhur/methods/fedhur_watch.hpp"
#include "fedhur/server/group_embeddings.hpp"
#include "fedhur/server/personalization.hpp"

namespace fedhur::methods {
namespace {
using linalg::ItemHierarchy;
using linalg::RelationFilter;
using message::Message;
using server::GlobalFilter;
using server::Uploads;

class FedHurClient : public FilterClient {
 public:
  FedHurClient(const FedHurConfig& config, const client::ClientContext& context)
      : FilterClient(config.common, context), config_(config), rng_(context.rng) {}

 private:
  void follow(const Message& request, Message& reply) override {
    if (request.kind == "query") {
      const Guidance guidance =
          read_guidance(request, config_.in_round(request.round), training().num_items());
      if (config_.asks_queries()) reply.arrays.set("projected_query", build_queries(guidance));
      query_ = request;
    } else if (request.kind == "finetune") {
      if (query_.kind.empty() || query_.round != request.round) {
        throw ProtocolError("'finetune' came before 'query'");
      }
      const FedHurConfig config = config_.in_round(request.round);
      const Guidance guidance =
          read_guidance(query_, config, training().num_items(), Purpose::finetune);
      finetune(read_personalized_filter(request, config, guidance));
      query_ = {};
    } else {
      client::refuse(request);
    }
  }

  // Q of every scope, one below the other.
  [[nodiscard]] Matrix build_queries(const Guidance& guidance) {
    const Shared<Matrix> uploaded = uploaded_embeddings();
    const Matrix& embeddings = *uploaded;
    const auto groups = linalg::average_all_groups(embeddings, *guidance.hierarchy);
    Matrix queries(guidance.hierarchy->num_members(), config_.query.directions);
    Index row = 0;
    for (Index s = 0; s < guidance.hierarchy->num_scopes(); ++s) {
      const linalg::Scope& scope = guidance.hierarchy->scopes[static_cast<std::size_t>(s)];
      const Index m = scope.num_members();
      queries.middleRows(row, m) = client::project_query(
          scope.is_of_items() ? linalg::average_groups(embeddings, scope)
                              : groups[static_cast<std::size_t>(s)],
          guidance.filters[static_cast<std::size_t>(s)],
          guidance.spectral_norms[static_cast<std::size_t>(s)],
          client::draw_projection(rng_, s, m, config_.query.directions), config_.query);
      row += m;
    }
    return queries;
  }

  FedHurConfig config_;
  Rng rng_;
  // Between it and "finetune", to be read again: its arrays are shared by all clients of a process,
  // while a hierarchy of each one's own would wait with up to 16 bytes per item and level.
  Message query_;
};

class FedHurServer : public federation::ServerMethod {
 public:
  FedHurServer(const FedHurConfig& config, const ServerContext& context)
      : config_(config),
        rounds_(config.common, context),
        scorer_(config.scorer.num_features(config.query.directions), config.scorer, context.rng) {
    if (config.retrieval.candidate >= context.num_clients) {
      throw ConfigError(fmt::format("relation.candidate = {}: there are {} clients, from 0 on",
                                    config.retrieval.candidate, context.num_clients));
    }
  }

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    federation::RoundNotes notes;
    const Personalized personalized = find_residuals(round, federation, notes);
    const Message finetune{.kind = "finetune", .round = round, .arrays = {}};
    federation.tell(
        requests_for(personalized.targets, finetune, [&](std::size_t k, NamedArrays& arrays) {
          if (config_.has_relations()) {
            arrays.set("residuals", Array(personalized.residuals[k]));
          }
        }));
    return notes;
  }

  [[nodiscard]] NamedArrays save() const override {
    NamedArrays state;
    rounds_.save(state);
    scorer_.save(state);
    return state;
  }
  void restore(const NamedArrays& state) override {
    rounds_.restore(state);
    scorer_.restore(state);
  }

 private:
  // What the server learns from the uploads of a round.
  struct Mined {
    const GlobalFilter* global = nullptr;
    Matrix global_item_embeddings;  // E_g
    Matrix global_factor;           // V Lambda^(1/2)
    ItemHierarchy hierarchy;
    std::optional<server::GroupEmbeddings> group_embeddings;
    std::vector<RelationFilter> filters;  // F_g by scope
    std::vector<double> spectral_norms;
  };
  // Those participants who get a filter of their own. All participants are candidates.
  struct Targets {
    std::vector<ClientId> clients;        // in ascending order
    std::vector<Index> own;               // the place of each among the candidates
    std::vector<Shared<Matrix>> queries;  // Q, scope below scope; of Relation::utility alone
    [[nodiscard]] Index count() const { return std::ssize(clients); }
  };
  using Residuals = std::vector<Shared<Matrix>>;  // by target, packed scope by scope
  struct Personalized {
    std::vector<ClientId> targets;
    Residuals residuals;
  };

  // All of the round that comes before fine-tuning. Uploads and queries are gone afterwards: with
  // very many items there is no room for them beside the fine-tuned embeddings.
  [[nodiscard]] Personalized find_residuals(Round round, federation::Federation& federation,
                                            federation::RoundNotes& notes) {
    const Participants participants = rounds_.train(round, federation, notes);

    const GlobalFilter& global = rounds_.update_filter(participants.uploads);
    notes.numbers["trace_kept"] = global.trace_kept;
    const Mined mined = mine(round, participants.uploads, global);

    const Targets targets = ask_queries(round, federation, participants.clients, mined);

    std::vector<server::Retrieval> retrievals(mined.hierarchy.scopes.size());
    Residuals residuals =
        personalize(round, mined, participants.clients, targets, retrievals, notes);
    learn(retrievals, notes);
    show(round, participants, mined, targets, retrievals, residuals);
    return {targets.clients, std::move(residuals)};
  }

  [[nodiscard]] const Executor& executor() const { return *rounds_.context().executor; }
  [[nodiscard]] bool is_single() const { return config_.structure == Structure::single; }

  [[nodiscard]] Mined mine(Round round, const Uploads& uploads, const GlobalFilter& global) const {
    Mined mined;
    mined.global = &global;
    mined.global_factor = global.factor();
    if (!config_.has_relations()) return mined;
    mined.global_item_embeddings = server::average_embeddings(uploads, executor());
    mined.hierarchy = is_single()
                          ? linalg::hierarchy_of_items(rounds_.context().num_items)
                          : server::build_item_hierarchy(
                                mined.global_item_embeddings, config_.hierarchy,
                                rounds_.context().rng.stream(Draw::clustering, round), executor());
    mined.group_embeddings.emplace(uploads, mined.hierarchy, executor());
    mined.filters = server::build_relation_filters(
        *mined.group_embeddings, mined.hierarchy, mined.global_factor,
        config_.in_round(round).level_weights, executor());
    mined.spectral_norms.resize(mined.filters.size());
    if (config_.asks_queries()) {
      executor().for_each(mined.hierarchy.num_scopes(), [&](Index scope) {
        const auto s = static_cast<std::size_t>(scope);
        mined.spectral_norms[s] = mined.filters[s].spectral_norm();
      });
    }
    return mined;
  }

  // What was mined goes to the participants. Whoever is asked what it needs and does not say it is
  // helped by nobody, but can help the others: its embeddings are there.
  [[nodiscard]] Targets ask_queries(Round round, federation::Federation& federation,
                                    const std::vector<ClientId>& participants,
                                    const Mined& mined) const {
    Message request{.kind = "query", .round = round, .arrays = {}};
    put_guidance(request, config_, mined.global_factor, mined.hierarchy, mined.filters,
                 mined.spectral_norms);
    Targets targets;
    if (config_.asks_queries()) {
      const auto answers = ask(federation, participants, std::move(request),
                               [members = mined.hierarchy.num_members(),
                                directions = config_.query.directions](const Message& answer) {
                                 check_table(answer.arrays, "projected_query", members, directions);
                               });
      targets.clients = clients_of(answers);
      for (const auto& answer : answers) {
        targets.queries.push_back(answer.message.arrays.shared_matrix("projected_query"));
      }
    } else {
      tell(federation, participants, std::move(request));
      targets.clients = participants;
    }
    for (const ClientId target : targets.clients) {
      targets.own.push_back(std::ranges::lower_bound(participants, target) - participants.begin());
    }
    return targets;
  }

  // Scores, weights and residual filters, scope by scope. What nobody will look at is dropped at
  // once: scores and weights are K x K for each of very many scopes.
  [[nodiscard]] Residuals personalize(Round round, const Mined& mined,
                                      const std::vector<ClientId>& candidates,
                                      const Targets& targets,
                                      std::vector<server::Retrieval>& retrievals,
                                      federation::RoundNotes& notes) const {
    if (!config_.has_relations() || targets.clients.empty()) return {};
    const ItemHierarchy& hierarchy = mined.hierarchy;
    const server::RetrievalConfig retrieval_config = retrieval_among(candidates);
    const auto training_targets = draw_training_targets(round, hierarchy.num_scopes(),
                                                        targets.count(), std::ssize(candidates));
    std::vector<Matrix> residuals(targets.clients.size());
    for (Matrix& own : residuals) own.resize(1, num_residual_numbers(mined));
    std::vector<Index> first_member = {0};
    std::vector<Index> first_number = {0};
    for (const linalg::Scope& scope : hierarchy.scopes) {
      first_member.push_back(first_member.back() + scope.num_members());
      first_number.push_back(first_number.back() + linalg::packed_size(scope.num_members()));
    }
    Eigen::VectorXd entropy(hierarchy.num_scopes());
    std::vector<server::WeightSummary> summaries(hierarchy.scopes.size());
    executor().for_each(hierarchy.num_scopes(), [&](Index scope) {
      const auto s = static_cast<std::size_t>(scope);
      auto [R, retrieval] = server::personalize_scope(
          mined.group_embeddings->of_scope(scope),
          queries_of(targets, first_member[s], hierarchy.scopes[s].num_members()),
          mixing_of(hierarchy.scopes[s], mined), retrieval_config, scorer_, config_.scorer,
          training_targets[s]);
      for (std::size_t k = 0; k < residuals.size(); ++k) {
        residuals[k].middleCols(first_number[s], R.cols()) = R.row(static_cast<Index>(k));
      }
      entropy(scope) = server::relation_entropy(retrieval.aggregation_weights);
      summaries[s] = summarize(retrieval.aggregation_weights, targets);
      if (rounds_.watcher(round) == nullptr) retrieval.forget_pairs();
      retrievals[s] = std::move(retrieval);
    });
    notes.numbers["relation_entropy"] = entropy.mean();
    note_relations(hierarchy, summaries, notes);
    Residuals shared;
    for (Matrix& own : residuals) {
      shared.push_back(std::make_shared<const Matrix>(std::move(own)));
    }
    return shared;
  }

  // Q of one scope and all targets.
  [[nodiscard]] static std::vector<Matrix> queries_of(const Targets& targets, Index first_member,
                                                      Index num_members) {
    std::vector<Matrix> own;
    for (const auto& query : targets.queries) {
      own.emplace_back(query->middleRows(first_member, num_members));
    }
    return own;
  }

  // Settings know a client by its number, retrieval by its place among the candidates. Nobody in
  // particular can help where the one who should is not there.
  [[nodiscard]] server::RetrievalConfig retrieval_among(
      const std::vector<ClientId>& candidates) const {
    server::RetrievalConfig config = config_.retrieval;
    if (config.relation != server::Relation::candidate) return config;
    const auto found = std::ranges::find(candidates, client_id(config.candidate));
    config.candidate = found - candidates.begin();
    if (found == candidates.end()) config.relation = server::Relation::none;
    return config;
  }

  // Weights among some of the clients are not those of the federation: of these only what targets
  // keep to themselves.
  [[nodiscard]] server::WeightSummary summarize(const MatrixOf<double>& weights,
                                                const Targets& targets) const {
    if (targets.count() == rounds_.context().num_clients) return server::summarize_weights(weights);
    double own = 0.0;
    for (Index k = 0; k < targets.count(); ++k) {
      own += weights(k, targets.own[static_cast<std::size_t>(k)]);
    }
    return {.blocks = {}, .counts = {}, .own = own / static_cast<double>(targets.count())};
  }

  // The one scope of all items is mixed in the global basis.
  [[nodiscard]] server::Mixing mixing_of(const linalg::Scope& scope, const Mined& mined) const {
    if (is_single()) return {.basis = &mined.global->basis};
    return {.averages_parameters = config_.coarse == Coarse::parameters && scope.level == 0};
  }

  [[nodiscard]] Index num_residual_numbers(const Mined& mined) const {
    return is_single() ? linalg::packed_size(mined.global->basis.cols())
                       : mined.hierarchy.num_packed();
  }

  // Pairs of a scope and a target whose candidates the scorer is trained on.
  [[nodiscard]] std::vector<std::vector<Index>> draw_training_targets(Round round, Index num_scopes,
                                                                      Index num_targets,
                                                                      Index num_candidates) const {
    std::vector<std::vector<Index>> targets(static_cast<std::size_t>(num_scopes));
    if (!config_.scorer.is_used()) return targets;
    Rng rng = rounds_.context().rng.stream(Draw::scorer_rows, round);
    const Index count = std::max<Index>(1, config_.scorer.training_rows / num_candidates);
    for (Index i = 0; i < std::min(count, num_scopes * num_targets); ++i) {
      const auto scope =
          static_cast<std::size_t>(rng.below(static_cast<std::uint64_t>(num_scopes)));
      targets[scope].push_back(
          static_cast<Index>(rng.below(static_cast<std::uint64_t>(num_targets))));
    }
    return targets;
  }

  // The scorer learns from this round and serves the next.
  void learn(const std::vector<server::Retrieval>& retrievals, federation::RoundNotes& notes) {
    Index num_rows = 0;
    for (const auto& retrieval : retrievals) num_rows += retrieval.scorer_features.rows();
    if (num_rows == 0) return;
    Matrix features(num_rows, config_.scorer.num_features(config_.query.directions));
    Vector targets(num_rows);
    Index row = 0;
    for (const auto& retrieval : retrievals) {
      const Index count = retrieval.scorer_features.rows();
      if (count == 0) continue;
      features.middleRows(row, count) = retrieval.scorer_features;
      targets.segment(row, count) = retrieval.score_targets;
      row += count;
    }
    notes.numbers["score_loss"] = scorer_.update(features, targets);
  }

  void show(Round round, const Participants& participants, const Mined& mined,
            const Targets& targets, const std::vector<server::Retrieval>& retrievals,
            const Residuals& residuals) const {
    const RoundWatcher* watcher = rounds_.watcher(round);
    if (watcher == nullptr) return;
    rounds_.show(*watcher, participants);
    watcher->show_json("config",
                       describe_config(config_.in_round(round), mined.hierarchy.num_levels(),
                                       rounds_.describe("fedhur", round, participants)));
    if (residuals.empty()) return;
    show_relations(*watcher, {.config = config_.in_round(round),
                              .rng = rounds_.context().rng,
                              .hierarchy = mined.hierarchy,
                              .filters = mined.filters,
                              .targets = targets.clients,
                              .queries = targets.queries,
                              .retrievals = retrievals,
                              .residuals = residuals});
  }

  FedHurConfig config_;
  FilterRounds rounds_;
  server::Scorer scorer_;
};
}  // namespace

Method make_fedhur() {
  return showing_rounds(describe_method<FedHurConfig, FedHurServer, FedHurClient>(
      "fedhur", "item-item filters, one of its own for every client, by what each still needs"));
}
}  // namespace fedhur::methods
