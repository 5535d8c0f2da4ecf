#include "fedhur/methods/averaging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "fedhur/base/fixed_point_sum.hpp"

namespace fedhur::methods {
using federation::Answer;
using message::Message;

// ---- The client's side.
namespace {
double norm(const Matrix& table) { return std::sqrt(table.cast<double>().squaredNorm()); }

std::string norm_of(const std::string& name) { return name + "_norm"; }
}  // namespace

Message& WaitingUpload::waiting_in(Round round) {
  if (!waiting_ || waiting_->round != round) {
    waiting_ = Message{.kind = "upload", .round = round, .arrays = {}};
  }
  return *waiting_;
}

void WaitingUpload::offer_items(const Shared<Matrix>& table, Message& reply,
                                const std::string& stem) {
  const client::UploadedTable uploaded = stage_.prepare(table, reply.round);
  uploaded.put(waiting_in(reply.round), stem);
  reply.arrays.set_number(norm_of(stem), norm(*uploaded.matrix()));
}

void WaitingUpload::offer(const std::string& name, Shared<Matrix> table, Message& reply) {
  reply.arrays.set_number(norm_of(name), norm(*table));
  waiting_in(reply.round).arrays.set(name, Array(std::move(table)));
}

void WaitingUpload::offer_touched(Matrix touched, Round round) {
  waiting_in(round).arrays.set("touched", std::move(touched));
}

bool WaitingUpload::answer(const Message& request, Message& reply) {
  if (request.kind != "upload") return false;
  if (!waiting_ || waiting_->round != request.round) {
    throw ProtocolError("'upload' came before 'train'");
  }
  reply.arrays = std::move(waiting_->arrays);
  waiting_.reset();
  return true;
}

// ---- The server's side.
void declare_item_rows(Settings& settings, ItemRows& item_rows) {
  settings.add(
      "average.item_rows", item_rows,
      "`touched`: a row is averaged over those that had the item in a triple of the round. Clients "
      "then upload which items these were, which tells the server something about interactions");
}

namespace {
// What each participant counts for, by what all have said of themselves.
struct Shares {
  std::map<ClientId, Real> factors;            // in [0, 1], relative to the largest
  std::map<std::string, double> largest_norm;  // by table

  [[nodiscard]] double total(const std::vector<Answer>& answers) const {
    double sum = 0.0;
    for (const Answer& answer : answers) sum += static_cast<double>(factors.at(answer.client));
    return sum;
  }
};

// Relative to the largest; all alike if nobody has a row to train on, since then the tables are as
// they were.
std::map<ClientId, Real> factors_of(const std::vector<Answer>& trained, std::vector<double> sizes) {
  const double largest = std::ranges::max(sizes);
  std::map<ClientId, Real> factors;
  for (std::size_t k = 0; k < trained.size(); ++k) {
    factors[trained[k].client] = largest > 0.0 ? static_cast<Real>(sizes[k] / largest) : 1.0F;
  }
  return factors;
}

// Sums of what arrives. The server may give up an exchange while a table is being added, so all
// that this takes is owned by it.
class Averages {
 public:
  struct Table {
    std::string name;
    bool is_of_items;
    Index rows;
    Index cols;
  };

  Averages(Shares shares, std::vector<Table> tables, const AveragingRules& rules)
      : shares_(std::move(shares)), tables_(std::move(tables)), rules_(rules) {
    for (const Table& table : tables_) {
      sums_.push_back(std::make_unique<FixedPointSum>(table.rows, table.cols, kLargestUploadSum));
    }
    if (rules_.item_rows == ItemRows::touched) {
      row_factors_ = std::make_unique<FixedPointSum>(tables_.front().rows, 1,
                                                     static_cast<double>(federation::kMostClients));
    }
  }

  void check(const NamedArrays& upload) const {
    for (const Table& table : tables_) {
      if (table.is_of_items) {
        check_item_embeddings(upload, table.rows, table.cols, table.name);
      } else {
        check_table(upload, table.name, table.rows, table.cols);
      }
    }
    if (!row_factors_) return;
    const Matrix& touched = *upload.finite_matrix("touched", tables_.front().rows, 1);
    const auto is_flag = [](Real value) { return value == 0.0F || value == 1.0F; };
    if (!std::all_of(touched.data(), touched.data() + touched.size(), is_flag)) {
      throw ProtocolError("'touched' holds numbers that are not 0 or 1");
    }
  }

  void add(Answer& answer) {
    const NamedArrays& upload = answer.message.arrays;
    const Real factor = shares_.factors.at(answer.client);
    if (row_factors_) row_factors_->add(upload.matrix("touched"), factor);
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const Table& table = tables_[i];
      Shared<Matrix> own = table.is_of_items
                               ? read_item_embeddings(upload, table.rows, table.cols, table.name)
                               : upload.shared_matrix(table.name);
      const Real kept = limit_norm(answer.client, table, *own);
      if (row_factors_ && table.is_of_items) own = touched_rows(*own, upload.matrix("touched"));
      sums_[i]->add(*own, factor * kept);
    }
    answer.message.arrays = {};
  }

  // Those of the clients that have answered.
  [[nodiscard]] Matrix average(std::size_t i, const Matrix& present,
                               const std::vector<Answer>& answers) const {
    const Table& table = tables_[i];
    if (!row_factors_ || !table.is_of_items) {
      const double total = shares_.total(answers);
      return total > 0.0 ? sums_[i]->times(1.0 / total) : present;
    }
    const Matrix sum = sums_[i]->times(1.0);
    const MatrixOf<double> factors = row_factors_->in_doubles();
    Matrix average = present;
    for (Index row = 0; row < average.rows(); ++row) {
      if (!(factors(row, 0) > 0.0)) continue;
      average.row(row) = (sum.row(row).cast<double>() / factors(row, 0)).cast<Real>();
    }
    return average;
  }

  // In the order of clients and tables.
  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> warnings;
    for (const auto& [key, warning] : warnings_) warnings.push_back(warning);
    return warnings;
  }

 private:
  [[nodiscard]] static Shared<Matrix> touched_rows(const Matrix& table, const Matrix& touched) {
    return std::make_shared<const Matrix>(touched.col(0).asDiagonal() * table);
  }

  // How much of a table counts.
  [[nodiscard]] Real limit_norm(ClientId client, const Table& table, const Matrix& own) {
    const double largest = shares_.largest_norm.at(table.name);
    if (std::isinf(largest)) return 1.0F;
    const double size = norm(own);
    if (size <= largest) return 1.0F;
    const std::lock_guard lock(mutex_);
    warnings_[{client, table.name}] = fmt::format(
        "client {}: '{}' has norm {:.3g}, {:.3g} times the median; scaled down", index_of(client),
        whole_name(table), size, rules_.limits.norm_cap * size / largest);
    return static_cast<Real>(largest / size);
  }

  [[nodiscard]] static std::string whole_name(const Table& table) {
    return table.is_of_items ? client::TableNames(table.name).whole : table.name;
  }

  Shares shares_;
  std::vector<Table> tables_;
  AveragingRules rules_;
  std::vector<std::unique_ptr<FixedPointSum>> sums_;
  std::unique_ptr<FixedPointSum> row_factors_;  // of the clients that touched a row
  std::mutex mutex_;
  std::map<std::pair<ClientId, std::string>, std::string> warnings_;
};

void check_norm(const NamedArrays& claims, const std::string& name) {
  const double value = claims.number(name);
  if (value >= 0.0 && value <= kLargestCount) return;
  throw ProtocolError(fmt::format("'{}' is {}, expected the norm of a table", name, value));
}

// What a client that has trained says of itself.
void check_claims(const NamedArrays& claims, const std::vector<Averages::Table>& tables,
                  AverageWeights weights) {
  if (weights == AverageWeights::data) check_data_size(claims);
  for (const Averages::Table& table : tables) check_norm(claims, norm_of(table.name));
}

Shares shares_of(const std::vector<Answer>& trained, const std::vector<Averages::Table>& tables,
                 const AveragingRules& rules, const ServerContext& context,
                 federation::RoundNotes& notes) {
  Shares shares;
  std::vector<double> sizes(trained.size(), 1.0);
  if (rules.weights == AverageWeights::data) {
    sizes = UploadReader(trained, rules.limits, *context.executor, notes).data_sizes();
  }
  shares.factors = factors_of(trained, std::move(sizes));
  for (const Averages::Table& table : tables) {
    std::vector<double> norms;
    for (const Answer& answer : trained) {
      norms.push_back(answer.message.arrays.number(norm_of(table.name)));
    }
    shares.largest_norm[table.name] = largest_beside(norms, rules.limits.norm_cap);
  }
  return shares;
}
}  // namespace

std::vector<Matrix> train_and_average(const AveragingRules& rules, const ServerContext& context,
                                      Message request, const std::vector<AveragedTable>& tables,
                                      federation::Federation& federation,
                                      federation::RoundNotes& notes) {
  const Round round = request.round;
  std::vector<Averages::Table> shapes;
  for (const AveragedTable& table : tables) {
    shapes.push_back({table.name, table.is_of_items, table.present->rows(), table.present->cols()});
  }
  const auto trained = ask_to_train(federation, std::move(request),
                                    [shapes, weights = rules.weights](const NamedArrays& claims) {
                                      check_claims(claims, shapes, weights);
                                    });
  notes.loss = mean_loss(trained);
  const auto averages =
      std::make_shared<Averages>(shares_of(trained, shapes, rules, context, notes), shapes, rules);
  const auto answers = sum_of(
      federation, clients_of(trained), {.kind = "upload", .round = round, .arrays = {}},
      [averages](const Message& answer) { averages->check(answer.arrays); },
      [averages](Answer& answer) { averages->add(answer); });
  if (answers.empty()) {
    throw TransportError(fmt::format("round {}: no client has uploaded", round + 1));
  }
  std::ranges::copy(averages->warnings(), std::back_inserter(notes.warnings));
  std::vector<Matrix> result;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    result.push_back(averages->average(i, *tables[i].present, answers));
  }
  return result;
}

// ---- Methods that do nothing else.
AveragingServer::AveragingServer(const AveragingConfig& config, const ServerContext& context)
    : config_(config),
      context_(context),
      step_(config.step),
      item_embeddings_(draw_item_embeddings(context, config.embedding_dim, config.init_std)) {}

federation::RoundNotes AveragingServer::run_round(Round round, federation::Federation& federation) {
  federation::RoundNotes notes;
  if (round == 0 && config_.start.fills_round()) {
    item_embeddings_ =
        *send_start(config_.start, context_, config_.embedding_dim, config_.init_std, federation);
    return notes;
  }
  if (round == 0) send_embeddings(round, federation);  // the shared start
  std::vector<Matrix> averages =
      train_and_average(config_.rules, context_, {.kind = "train", .round = round, .arrays = {}},
                        {{.name = "item", .present = &item_embeddings_}}, federation, notes);
  step_.take(item_embeddings_, std::move(averages.front()));
  send_embeddings(round, federation);
  return notes;
}

NamedArrays AveragingServer::save() const {
  NamedArrays state;
  if (config_.rules.item_rows == ItemRows::touched) state.set("item_embeddings", item_embeddings_);
  step_.save(state, "item_embeddings", item_embeddings_);
  return state;
}

void AveragingServer::restore(const NamedArrays& state) {
  if (config_.rules.item_rows == ItemRows::touched) {
    item_embeddings_ =
        *state.shaped_matrix("item_embeddings", item_embeddings_.rows(), item_embeddings_.cols());
  }
  step_.restore(state, "item_embeddings", item_embeddings_);
}

void AveragingServer::send_embeddings(Round round, federation::Federation& federation) const {
  Message update{.kind = "update", .round = round, .arrays = {}};
  update.arrays.set("item_embeddings", item_embeddings_);
  tell_all(federation, std::move(update));
}
}  // namespace fedhur::methods
