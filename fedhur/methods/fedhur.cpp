// FedHUR: clients agree on item-item filters as in FedCIA, and every client gets one of its own:
// the global filter plus what those clients know that can help it, from coarse item groups to
// items.
#include <fmt/format.h>

#include <algorithm>

#include "fedhur/methods/common.hpp"
#include "fedhur/methods/fedhur_messages.hpp"

namespace fedhur::methods {
namespace {
using message::Message;

class FedHurClient : public client::Client {
 public:
  FedHurClient(const FedHurConfig& config, const client::ClientContext& context)
      : config_(config), rng_(context.rng), filtered_(config.common, context) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (filtered_.answer(request, reply)) return reply;
    if (request.kind == "query") {
      take_guidance(request, reply);
    } else if (request.kind == "finetune") {
      finetune(request);
    } else {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return filtered_.training(); }

  void take_guidance(const Message& request, Message& reply) {
    Guidance guidance = read_guidance(request, config_, filtered_.training().num_items());
    const FedHurConfig config = config_.in_round(request.round, guidance.weight_share);
    if (config.has_relations()) {  // its groups are checked now, whether there are queries or not
      const Shared<linalg::ItemHierarchy> hierarchy = guidance.build_hierarchy();
      if (config.asks_queries()) {
        reply.arrays.set(
            "projected_query",
            build_queries(*hierarchy, read_scope_filters(request, config, guidance, *hierarchy)));
      }
    }
    guidance_ = std::move(guidance);
  }

  // Q of every scope, one below the other.
  [[nodiscard]] Matrix build_queries(const linalg::ItemHierarchy& hierarchy,
                                     const ScopeFilters& scope_filters) const {
    const Shared<Matrix> uploaded = filtered_.uploaded_embeddings();
    const Matrix& embeddings = *uploaded;
    const auto groups = linalg::average_all_groups(embeddings, hierarchy);
    Matrix queries(hierarchy.num_members(), config_.query.directions);
    Index row = 0;
    for (Index index = 0; index < hierarchy.num_scopes(); ++index) {
      const auto s = static_cast<std::size_t>(index);
      const linalg::Scope& scope = hierarchy.scopes[s];
      const Index m = scope.num_members();
      queries.middleRows(row, m) = client::project_query(
          scope.is_of_items() ? linalg::average_groups(embeddings, scope) : groups[s],
          scope_filters.filters[s], scope_filters.spectral_norms[s],
          client::draw_projection(rng_, index, m, config_.query.directions), config_.query);
      row += m;
    }
    return queries;
  }

  void finetune(const Message& request) {
    if (!guidance_ || guidance_->round != request.round) {
      throw ProtocolError("'finetune' came before 'query'");
    }
    filtered_.finetune(read_personalized_filter(
        request, config_.in_round(request.round, guidance_->weight_share), *guidance_));
    guidance_.reset();
  }

  FedHurConfig config_;
  Rng rng_;
  FilterTraining filtered_;
  // From "query" to "finetune". All clients of a process share its tables; a hierarchy of each
  // one's own would wait with up to 16 bytes per item and level.
  std::optional<Guidance> guidance_;
};

class FedHurServer : public federation::ServerMethod {
 public:
  FedHurServer(const FedHurConfig& config, const ServerContext& context)
      : config_(config),
        context_(context),
        rounds_(config.common, context),
        scorer_(config.scorer.num_features(config.query.directions), config.scorer, context.rng) {
    if (config.retrieval.candidate >= context.num_clients) {
      throw ConfigError(fmt::format("relation.candidate = {}: there are {} clients, from 0 on",
                                    config.retrieval.candidate, context.num_clients));
    }
  }

  // Algorithm 1 of the paper.
  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    if (rounds_.begin(round, federation)) return {};
    FedHurRound now;
    now.trained = rounds_.run(round, federation);
    now.weight_share = config_.share_left(now.trained);
    now.config = config_.in_round(round, now.weight_share);
    now.groups = group_items(now);
    now.targets = ask_queries(now, federation);
    now.personal = personalize(now);
    now.score_loss = server::train_scorer(scorer_, now.personal.retrievals);
    if (context_.watches(round)) context_.watcher->show(now);
    federation::RoundNotes notes = notes_of(now);
    send_residuals(std::move(now), federation);
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
  [[nodiscard]] const Executor& executor() const { return *context_.executor; }
  [[nodiscard]] bool is_single() const { return config_.structure == Structure::single; }

  [[nodiscard]] GroupedItems group_items(const FedHurRound& now) const {
    GroupedItems groups;
    if (!config_.has_relations()) return groups;
    const server::Uploads& uploads = now.trained.uploads;
    groups.hierarchy = std::make_shared<const linalg::ItemHierarchy>(
        is_single() ? linalg::hierarchy_of_items(context_.num_items)
                    : server::build_item_hierarchy(
                          server::average_embeddings(uploads, executor()), config_.hierarchy,
                          context_.rng.stream(Draw::clustering, now.trained.round), executor()));
    groups.embeddings = {uploads, groups.hierarchy, executor()};
    groups.filters = server::build_relation_filters(groups.embeddings, *now.trained.global_factor,
                                                    now.config.level_weights, executor());
    if (config_.asks_queries()) {
      groups.spectral_norms = server::spectral_norms(groups.filters, executor());
    }
    return groups;
  }

  // A client that does not answer gets no filter of its own, but can help the others: its
  // embeddings are there.
  [[nodiscard]] server::Targets ask_queries(const FedHurRound& now,
                                            federation::Federation& federation) const {
    const std::vector<ClientId>& participants = now.trained.clients;
    server::Targets targets;
    if (config_.asks_queries()) {
      const Index members = now.groups.hierarchy->num_members();
      const auto answers =
          ask(federation, participants, make_query_request(now),
              [members, directions = config_.query.directions](const Message& answer) {
                check_table(answer.arrays, "projected_query", members, directions);
              });
      targets.clients = clients_of(answers);
      for (const auto& answer : answers) {
        targets.queries.push_back(answer.message.arrays.shared_matrix("projected_query"));
      }
    } else {
      tell(federation, participants, make_query_request(now));
      targets.clients = participants;
    }
    for (const ClientId target : targets.clients) {
      targets.places.push_back(std::ranges::lower_bound(participants, target) -
                               participants.begin());
    }
    return targets;
  }

  [[nodiscard]] server::Personalization personalize(const FedHurRound& now) const {
    if (!config_.has_relations() || now.targets.clients.empty()) return {};
    const Round round = now.trained.round;
    return server::personalize_filters(
        now.groups.embeddings, now.targets,
        {.retrieval = retrieval_among(now.trained.clients),
         .scorer = config_.scorer,
         .coarse = config_.coarse,
         .basis = is_single() ? &now.trained.filter->basis : nullptr,
         .has_all_clients = std::ssize(now.targets.clients) == context_.num_clients,
         .keeps_pairs = context_.watches(round)},
        scorer_, context_.rng.stream(Draw::scorer_rows, round), executor());
  }

  // Settings know a client by its number, retrieval by its place among the candidates. If it is
  // missing, there are no relations in this round.
  [[nodiscard]] server::RetrievalConfig retrieval_among(
      const std::vector<ClientId>& candidates) const {
    server::RetrievalConfig config = config_.retrieval;
    if (config.relation != server::Relation::candidate) return config;
    const auto found = std::ranges::find(candidates, client_id(config.candidate));
    config.candidate = found - candidates.begin();
    if (found == candidates.end()) config.relation = server::Relation::none;
    return config;
  }

  // Uploads and queries are gone before: with very many items there is no room for them beside the
  // fine-tuned embeddings.
  void send_residuals(FedHurRound now, federation::Federation& federation) const {
    const Message finetune{.kind = "finetune", .round = now.trained.round, .arrays = {}};
    const std::vector<ClientId> targets = std::move(now.targets.clients);
    const std::vector<Shared<Matrix>> residuals = std::move(now.personal.residuals);
    now = {};
    federation.tell(requests_for(targets, finetune, [&](std::size_t k, NamedArrays& arrays) {
      if (config_.has_relations()) arrays.set("residuals", Array(residuals[k]));
    }));
  }

  FedHurConfig config_;
  ServerContext context_;
  FilterRounds rounds_;
  server::Scorer scorer_;
};
}  // namespace

Method make_fedhur() {
  return showing_rounds(describe_method<FedHurConfig, FedHurServer, FedHurClient>(
      "fedhur", "item-item filters, one of its own for every client, by what each still needs"));
}
}  // namespace fedhur::methods
