// What clients upload: how it is written, what the server refuses, and how much one client counts.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/parallel.hpp"
#include "fedhur/client/upload.hpp"
#include "fedhur/federation/server_method.hpp"
#include "fedhur/server/global_information.hpp"

namespace fedhur::methods {
// ---- Checks, for the requests: ProtocolError tells what is wrong with an answer. What has passed
// them is read without surprises.
using UploadCheck = std::function<void(const NamedArrays& upload)>;

// No number that a client uploads is larger: trained embeddings are a hundred times smaller, and
// queries have columns of unit length. Without a bound one hostile client could stop all others,
// since squares and cubes of the eigenvalues of the filter, n d times its square, have to be
// floats.
constexpr Real kLargestUpload = 1e3F;
// So no sum of uploads is larger, whoever takes part.
constexpr double kLargestUploadSum =
    static_cast<double>(kLargestUpload) * static_cast<double>(federation::kMostClients);
// Neither does a count exceed what a double tells from the next.
constexpr double kLargestCount = 1e15;

// A table of this shape with nothing above kLargestUpload.
void check_table(const NamedArrays& upload, const std::string& name, Index rows, Index cols);
// The same of what leaves through client::UploadStage.
void check_item_embeddings(const NamedArrays& upload, Index num_items, Index embedding_dim,
                           const std::string& stem = "item");
void check_data_size(const NamedArrays& upload);  // "num_interactions" is a count
void check_loss(const NamedArrays& upload);       // what put_loss() writes

// Asks clients (all of them) to train. Their answers pass the check and have a loss, and there is
// at least one: else a TransportError, since nothing can be made of none.
[[nodiscard]] std::vector<federation::Answer> ask_to_train(federation::Federation& federation,
                                                           std::span<const ClientId> clients,
                                                           message::Message request,
                                                           const UploadCheck& check);
[[nodiscard]] std::vector<federation::Answer> ask_to_train(federation::Federation& federation,
                                                           message::Message request,
                                                           const UploadCheck& check);

// What the server sees of an uploaded table. ProtocolError unless there is a row per item of that
// length.
[[nodiscard]] Shared<Matrix> read_item_embeddings(const NamedArrays& arrays, Index num_items,
                                                  Index embedding_dim,
                                                  const std::string& stem = "item");

// ---- How much one client can count for, beside the others of its round. Honest ones are far below
// both; with fewer than three there is no telling who is.
struct UploadLimits {
  double norm_cap = 10.0;   // in median norms
  double size_cap = 100.0;  // in median numbers of interactions
};
// Each method declares what it needs.
void declare_norm_cap(Settings& settings, UploadLimits& limits);
void declare_size_cap(Settings& settings, UploadLimits& limits);

// Of the values above 0 the median (of an even number the lower one) times `cap`: what no value
// should exceed. Infinite for fewer than three values, and for a cap of 0.
[[nodiscard]] double largest_beside(std::span<const double> values, double cap);

// Reads what the participants of a round have uploaded, in their order, none counting for more than
// it may; the notes get a warning for each that claimed to.
class UploadReader {
 public:
  // All of them must outlive this.
  UploadReader(const std::vector<federation::Answer>& answers, const UploadLimits& limits,
               const Executor& executor, federation::RoundNotes& notes)
      : answers_(&answers), limits_(limits), executor_(&executor), notes_(&notes) {}

  [[nodiscard]] server::Uploads item_embeddings(Index num_items, Index embedding_dim,
                                                const std::string& stem = "item") const;
  [[nodiscard]] std::vector<double> data_sizes() const;  // numbers of interactions
  // Claims of the participants about how much data they have, lowered to what counts.
  [[nodiscard]] std::vector<double> limit_sizes(std::vector<double> claims,
                                                const std::string& unit = "interactions") const;

 private:
  [[nodiscard]] server::Uploads limit_norms(server::Uploads tables, const std::string& name) const;
  void warn(std::size_t participant, const std::string& what) const;
  const std::vector<federation::Answer>* answers_;
  UploadLimits limits_;
  const Executor* executor_;
  federation::RoundNotes* notes_;
};
}  // namespace fedhur::methods
