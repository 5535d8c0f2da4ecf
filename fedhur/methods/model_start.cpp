#include "fedhur/methods/model_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fedhur/base/fixed_point_sum.hpp"
#include "fedhur/methods/uploads.hpp"

namespace fedhur::methods {
using federation::Answer;
using federation::Federation;
using message::Message;
namespace {
// What clients answer to a question of the start: an array of this name and shape.
struct Summand {
  std::string name;
  Index rows = 1;
  Index cols = 1;
  double least = 0.0;  // no number is outside of these
  double most = 0.0;
};

void check_numbers(const NamedArrays& upload, const Summand& summand) {
  const MatrixOf<double>& numbers = upload.doubles(summand.name);
  if (numbers.rows() != summand.rows || numbers.cols() != summand.cols) {
    throw ProtocolError(fmt::format("'{}' is {} x {}, expected {} x {}", summand.name,
                                    numbers.rows(), numbers.cols(), summand.rows, summand.cols));
  }
  for (Index i = 0; i < numbers.size(); ++i) {
    const double number = numbers.data()[i];
    if (number >= summand.least && number <= summand.most) continue;
    throw ProtocolError(fmt::format("'{}' holds {}, expected numbers from {} to {}", summand.name,
                                    number, summand.least, summand.most));
  }
}

void expect_answers(const std::vector<Answer>& answers) {
  if (answers.empty()) throw TransportError("round 1: no client could be asked for the start");
}

struct AddedNumbers {
  std::vector<MatrixOf<double>> totals;  // of each summand
  std::vector<ClientId> clients;         // who answered
};

AddedNumbers add_numbers(const std::vector<Summand>& summands, std::span<const ClientId> clients,
                         Message request, Federation& federation) {
  const auto sums = std::make_shared<std::vector<std::unique_ptr<FixedPointSum>>>();
  for (const Summand& summand : summands) {
    const double most = std::max(-summand.least, summand.most);
    sums->push_back(std::make_unique<FixedPointSum>(summand.rows, summand.cols,
                                                    most * static_cast<double>(clients.size())));
  }
  const auto answers = sum_of(
      federation, clients, std::move(request),
      [summands](const Message& answer) {
        for (const Summand& summand : summands) check_numbers(answer.arrays, summand);
      },
      [summands, sums](Answer& answer) {
        for (std::size_t i = 0; i < summands.size(); ++i) {
          (*sums)[i]->add(answer.message.arrays.doubles(summands[i].name));
        }
        answer.message.arrays = {};
      });
  expect_answers(answers);
  AddedNumbers added{.totals = {}, .clients = clients_of(answers)};
  for (const auto& sum : *sums) added.totals.push_back(sum->in_doubles());
  return added;
}

Matrix add_products(const Matrix& table, std::span<const ClientId> clients,
                    Federation& federation) {
  Message request{.kind = "co_occurrences", .round = 0, .arrays = {}};
  request.arrays.set("table", table);
  const auto sum = std::make_shared<FixedPointSum>(table.rows(), table.cols(), kLargestUploadSum);
  expect_answers(sum_of(
      federation, clients, std::move(request),
      [rows = table.rows(), cols = table.cols()](const Message& answer) {
        check_table(answer.arrays, "product", rows, cols);
      },
      [sum](Answer& answer) {
        sum->add(answer.message.arrays.matrix("product"));
        answer.message.arrays = {};
      }));
  return sum->times(1.0);
}

Message make_message(const char* kind, const server::StartTables& start) {
  Message message{.kind = kind, .round = 0, .arrays = {}};
  message.arrays.set("item_embeddings", start.item_embeddings);
  message.arrays.set("fold_in_weights", start.fold_in_weights);
  return message;
}

// No client has more users than all clients have interactions, a user's vector is the projection of
// a vector of at most unit length, and no item's is longer than the root of its degree.
server::StartMeans average_scores(const server::StartTables& start, const Eigen::VectorXd& degrees,
                                  std::span<const ClientId> clients, Federation& federation) {
  constexpr double kRounding = 2.0;  // of what travels with few bits
  const double num_users_most = std::max(1.0, degrees.sum());
  const double margin_most =
      2.0 * kRounding * num_users_most * std::sqrt(std::max(1.0, degrees.maxCoeff()));
  const auto sums = add_numbers({{.name = "margins", .least = -margin_most, .most = margin_most},
                                 {.name = "squares", .most = kRounding * num_users_most},
                                 {.name = "num_users", .most = num_users_most}},
                                clients, make_message("start_scores", start), federation)
                        .totals;
  const double num_users = sums[2](0, 0);
  if (!(num_users > 0.0)) return {};
  return {.margin = sums[0](0, 0) / num_users, .square = sums[1](0, 0) / num_users};
}
}  // namespace

void declare_settings(Settings& settings, StartConfig& config) {
  settings.add("model.start", config.kind,
               "item embeddings begin as `random` numbers, or (`spectral`) as the leading "
               "eigenvectors of normalised co-occurrences, a sum over clients, with user vectors "
               "folded in. `spectral` is round 1 of the run and is evaluated; clients upload how "
               "many of their users have each item");
  declare_settings(settings, config.subspace);
}

Shared<Matrix> send_start(const StartConfig& config, const ServerContext& context,
                          Index embedding_dim, Real init_std, Federation& federation) {
  if (config.kind == Start::random) {
    return send_start(context, embedding_dim, init_std, federation);
  }
  const AddedNumbers counted = add_numbers(
      {{.name = "degrees",
        .rows = context.num_items,
        .most = federation::most_users(federation.num_clients())}},
      all_clients(federation), {.kind = "degrees", .round = 0, .arrays = {}}, federation);
  const Eigen::VectorXd degrees = counted.totals.front().col(0);
  server::StartTables start = server::make_start(
      server::leading_eigenvectors(
          degrees, embedding_dim, config.subspace, context.rng.stream(Draw::subspace, 1),
          [&](const Matrix& table) { return add_products(table, counted.clients, federation); }),
      degrees);
  server::scale_start(start, average_scores(start, degrees, counted.clients, federation));
  Message message = make_message("start", start);
  const Shared<Matrix> embeddings = message.arrays.shared_matrix("item_embeddings");
  tell_all(federation, std::move(message));
  return embeddings;
}
}  // namespace fedhur::methods
