#include "fedhur/methods/uploads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "fedhur/base/settings.hpp"
#include "fedhur/linalg/low_rank.hpp"

namespace fedhur::methods {
using client::TableNames;
using federation::Answer;
using message::Message;
namespace {
// Both factors of a table that came at reduced rank, in shapes that make one.
struct Factors {
  const Matrix& coordinates;
  const Matrix& directions;
};
Factors read_factors(const NamedArrays& arrays, const TableNames& names, Index num_items,
                     Index embedding_dim) {
  const Index rank = arrays.matrix(names.coordinates).cols();
  if (rank < 1 || rank >= embedding_dim) {
    throw ProtocolError(fmt::format("'{}' has {} columns, expected 1 to {}", names.coordinates,
                                    rank, embedding_dim - 1));
  }
  return {*arrays.shaped_matrix(names.coordinates, num_items, rank),
          *arrays.shaped_matrix(names.directions, rank, embedding_dim)};
}

[[noreturn]] void refuse_values(std::string_view name, double magnitude) {
  if (magnitude <= static_cast<double>(std::numeric_limits<Real>::max())) {
    throw ProtocolError(fmt::format("'{}' holds values of magnitude {}, expected at most {}", name,
                                    static_cast<Real>(magnitude), kLargestUpload));
  }
  throw ProtocolError(fmt::format("'{}' holds values that are not finite", name));
}

// No entry of the product exceeds the longest row times the longest column: that is known without
// multiplying. The directions that clients send are orthonormal, so that it is not much above.
double largest_product(const Factors& factors) {
  if (!is_finite(factors.coordinates) || !is_finite(factors.directions)) {
    return std::numeric_limits<double>::infinity();
  }
  return std::sqrt(factors.coordinates.cast<double>().rowwise().squaredNorm().maxCoeff()) *
         std::sqrt(factors.directions.cast<double>().colwise().squaredNorm().maxCoeff());
}

double read_count(const NamedArrays& upload, const std::string& name) {
  const double count = upload.number(name);
  if (!(count >= 0.0 && count <= kLargestCount)) {
    throw ProtocolError(fmt::format("'{}' is {}, expected a count", name, count));
  }
  return count;
}
}  // namespace

void check_table(const NamedArrays& upload, const std::string& name, Index rows, Index cols) {
  const Matrix& table = *upload.shaped_matrix(name, rows, cols);
  if (is_within(table, kLargestUpload)) return;
  refuse_values(name, is_finite(table) ? static_cast<double>(table.cwiseAbs().maxCoeff())
                                       : std::numeric_limits<double>::infinity());
}

void check_item_embeddings(const NamedArrays& upload, Index num_items, Index embedding_dim,
                           const std::string& stem) {
  const TableNames names(stem);
  if (!upload.contains(names.coordinates)) {
    check_table(upload, names.whole, num_items, embedding_dim);
    return;
  }
  const double largest = largest_product(read_factors(upload, names, num_items, embedding_dim));
  if (!(largest <= static_cast<double>(kLargestUpload))) refuse_values(names.whole, largest);
}

void check_data_size(const NamedArrays& upload) { (void)read_count(upload, "num_interactions"); }

void check_loss(const NamedArrays& upload) {
  (void)read_count(upload, "num_samples");
  const double sum = upload.number("loss_sum");
  if (!(std::abs(sum) <= kLargestCount)) {
    throw ProtocolError(fmt::format("'loss_sum' is {}, expected a sum of losses", sum));
  }
}

std::vector<Answer> ask_to_train(federation::Federation& federation,
                                 std::span<const ClientId> clients, Message request,
                                 const UploadCheck& check) {
  const Round round = request.round;
  auto answers = ask(federation, clients, std::move(request), [check](const Message& answer) {
    check(answer.arrays);
    check_loss(answer.arrays);
  });
  if (answers.empty()) {
    throw TransportError(fmt::format("round {}: no client could be trained", round + 1));
  }
  return answers;
}

std::vector<Answer> ask_to_train(federation::Federation& federation, Message request,
                                 const UploadCheck& check) {
  return ask_to_train(federation, all_clients(federation), std::move(request), check);
}

Shared<Matrix> read_item_embeddings(const NamedArrays& arrays, Index num_items, Index embedding_dim,
                                    const std::string& stem) {
  const TableNames names(stem);
  if (!arrays.contains(names.coordinates)) {
    return arrays.shaped_matrix(names.whole, num_items, embedding_dim);
  }
  const Factors factors = read_factors(arrays, names, num_items, embedding_dim);
  return std::make_shared<const Matrix>(linalg::expand(factors.coordinates, factors.directions));
}

void declare_norm_cap(Settings& settings, UploadLimits& limits) {
  settings.add("upload.norm_cap", limits.norm_cap, {.least = 1, .has_zero = true},
               "a table is scaled down to this times the median norm of the round's participants; "
               "0: any norm. On MovieLens 100K no honest table has more than 2.6 times the median "
               "([when clients lie](methods.md#when-clients-are-missing-or-lie))");
}
void declare_size_cap(Settings& settings, UploadLimits& limits) {
  settings.add("upload.size_cap", limits.size_cap, {.least = 1, .has_zero = true},
               "a number of interactions counts for at most this times the median; 0: any number. "
               "With one user per client and a long tail of users the most active may reach it");
}

double largest_beside(std::span<const double> values, double cap) {
  constexpr std::size_t kFewest = 3;
  std::vector<double> positive;
  std::ranges::copy_if(values, std::back_inserter(positive), [](double v) { return v > 0.0; });
  if (cap == 0.0 || values.size() < kFewest || positive.empty()) {
    return std::numeric_limits<double>::infinity();
  }
  const auto median = positive.begin() + (std::ssize(positive) - 1) / 2;
  std::ranges::nth_element(positive, median);
  return cap * *median;
}

server::Uploads UploadReader::item_embeddings(Index num_items, Index embedding_dim,
                                              const std::string& stem) const {
  server::Uploads tables(answers_->size());
  executor_->for_each(static_cast<Index>(tables.size()), [&](Index i) {
    const auto k = static_cast<std::size_t>(i);
    tables[k] = read_item_embeddings((*answers_)[k].message.arrays, num_items, embedding_dim, stem);
  });
  return limit_norms(std::move(tables), TableNames(stem).whole);
}

server::Uploads UploadReader::limit_norms(server::Uploads tables, const std::string& name) const {
  if (limits_.norm_cap == 0.0) return tables;
  std::vector<double> norms(tables.size());
  executor_->for_each(static_cast<Index>(tables.size()), [&](Index i) {
    const auto k = static_cast<std::size_t>(i);
    norms[k] = std::sqrt(tables[k]->cast<double>().squaredNorm());
  });
  const double largest = largest_beside(norms, limits_.norm_cap);
  for (std::size_t k = 0; k < tables.size(); ++k) {
    if (norms[k] <= largest) continue;
    tables[k] = std::make_shared<const Matrix>(*tables[k] * static_cast<Real>(largest / norms[k]));
    warn(k, fmt::format("'{}' has norm {:.3g}, {:.3g} times the median; scaled down", name,
                        norms[k], limits_.norm_cap * norms[k] / largest));
  }
  return tables;
}

std::vector<double> UploadReader::limit_sizes(std::vector<double> claims,
                                              const std::string& unit) const {
  const double largest = largest_beside(claims, limits_.size_cap);
  for (std::size_t k = 0; k < claims.size(); ++k) {
    if (claims[k] <= largest) continue;
    warn(k, fmt::format("claims {:.6g} {}, {:.3g} times the median; {:.6g} count", claims[k], unit,
                        limits_.size_cap * claims[k] / largest, largest));
    claims[k] = largest;
  }
  return claims;
}

std::vector<double> UploadReader::data_sizes() const {
  std::vector<double> claims;
  for (const Answer& answer : *answers_) {
    claims.push_back(answer.message.arrays.number("num_interactions"));
  }
  return limit_sizes(std::move(claims));
}

void UploadReader::warn(std::size_t participant, const std::string& what) const {
  notes_->warnings.push_back(
      fmt::format("client {}: {}", index_of((*answers_)[participant].client), what));
}
}  // namespace fedhur::methods
