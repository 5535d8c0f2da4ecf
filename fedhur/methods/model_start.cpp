#include "fedhur/methods/model_start.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fedhur/methods/uploads.hpp"

namespace fedhur::methods {
using federation::Answer;
using federation::Federation;
using message::Message;
namespace {
std::vector<Answer> ask_for_start(Federation& federation, Message request,
                                  const UploadCheck& check) {
  auto answers = ask_all(federation, std::move(request),
                         [check](const Message& answer) { check(answer.arrays); });
  if (answers.empty()) throw TransportError("round 1: no client could be asked for the start");
  return answers;
}

void check_number(const NamedArrays& upload, const std::string& name, double least) {
  const double number = upload.number(name);
  if (number >= least && number <= kLargestCount) return;
  throw ProtocolError(fmt::format("'{}' is {}, expected a number from {} to {}", name, number,
                                  least, kLargestCount));
}

void check_degrees(const NamedArrays& upload, Index num_items) {
  const MatrixOf<double>& degrees = upload.doubles("degrees");
  if (degrees.rows() != num_items || degrees.cols() != 1) {
    throw ProtocolError(fmt::format("'degrees' is {} x {}, expected {} x 1", degrees.rows(),
                                    degrees.cols(), num_items));
  }
  const auto is_count = [](double count) { return count >= 0.0 && count <= kLargestCount; };
  if (std::all_of(degrees.data(), degrees.data() + degrees.size(), is_count)) return;
  throw ProtocolError("'degrees' holds numbers that are no counts");
}

Eigen::VectorXd add_degrees(Federation& federation, Index num_items) {
  const auto answers =
      ask_for_start(federation, {.kind = "degrees", .round = 0, .arrays = {}},
                    [num_items](const NamedArrays& upload) { check_degrees(upload, num_items); });
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(num_items);
  for (const Answer& answer : answers) sum += answer.message.arrays.doubles("degrees").col(0);
  return sum;
}

Matrix add_products(const Matrix& table, const Executor& executor, Federation& federation) {
  Message request{.kind = "co_occurrences", .round = 0, .arrays = {}};
  request.arrays.set("table", table);
  const auto answers =
      ask_for_start(federation, std::move(request),
                    [rows = table.rows(), cols = table.cols()](const NamedArrays& upload) {
                      check_table(upload, "product", rows, cols);
                    });
  server::Uploads products;
  for (const Answer& answer : answers) {
    products.push_back(answer.message.arrays.shared_matrix("product"));
  }
  return server::average_embeddings(products, std::vector<double>(products.size(), 1.0), executor);
}

Message make_message(const char* kind, const server::StartTables& start) {
  Message message{.kind = kind, .round = 0, .arrays = {}};
  message.arrays.set("item_embeddings", start.item_embeddings);
  message.arrays.set("fold_in_weights", start.fold_in_weights);
  return message;
}

server::StartMeans average_scores(const server::StartTables& start, Federation& federation) {
  const auto answers =
      ask_for_start(federation, make_message("start_scores", start), [](const NamedArrays& upload) {
        check_number(upload, "margins", -kLargestCount);
        check_number(upload, "squares", 0.0);
        check_number(upload, "num_users", 0.0);
      });
  server::StartMeans means;
  double num_users = 0.0;
  for (const Answer& answer : answers) {
    means.margin += answer.message.arrays.number("margins");
    means.square += answer.message.arrays.number("squares");
    num_users += answer.message.arrays.number("num_users");
  }
  if (!(num_users > 0.0)) return {};
  means.margin /= num_users;
  means.square /= num_users;
  return means;
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
  const Executor& executor = *context.executor;
  const Eigen::VectorXd degrees = add_degrees(federation, context.num_items);
  server::StartTables start = server::make_start(
      server::leading_eigenvectors(
          degrees, embedding_dim, config.subspace, context.rng.stream(Draw::subspace, 1),
          [&](const Matrix& table) { return add_products(table, executor, federation); }),
      degrees);
  server::scale_start(start, average_scores(start, federation));
  Message message = make_message("start", start);
  const Shared<Matrix> embeddings = message.arrays.shared_matrix("item_embeddings");
  tell_all(federation, std::move(message));
  return embeddings;
}
}  // namespace fedhur::methods
