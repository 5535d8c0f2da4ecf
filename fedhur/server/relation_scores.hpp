// How much a candidate has to offer to a target, within one scope: rows are targets, columns
// candidates.
#pragma once
#include <vector>

#include "fedhur/base/matrix.hpp"

namespace fedhur::server {
// Z_j Z_j^T of every candidate as a row of packed numbers, off-diagonal ones times sqrt(2), so that
// the product of two rows is the inner product of the two matrices.
[[nodiscard]] Matrix pack_grams(const std::vector<Matrix>& group_embeddings);

struct DirectScores {
  MatrixOf<double> scores;  // s
  Matrix strengths;         // rho, a row of t per pair, target by target; empty if not wanted
};

// Eq. (projected_retrieval_score): s_kj = sum_c ||q_kc^T Z_j||^2. There may be fewer targets (at
// least one) than candidates. `grams` are pack_grams() of the group embeddings, or empty: then, and
// where it is cheaper, they are not used.
[[nodiscard]] DirectScores score_candidates(const std::vector<Matrix>& queries,
                                            const std::vector<Matrix>& group_embeddings,
                                            const Matrix& grams, bool wants_strengths);

// s_kj / ||Z_j||_F^2 and rho_kjc / ||Z_j||_F: the share of a candidate's energy that answers,
// whatever the size of its embeddings. Zeros for a candidate of zeros.
void divide_by_energy(DirectScores& direct, const std::vector<Matrix>& group_embeddings);

// nu_j = ||Z_j||_F / sqrt(m d)
[[nodiscard]] Eigen::VectorXd candidate_scales(const std::vector<Matrix>& group_embeddings);

// The relations that utility is compared with: the cosine of two tables, and 1 - |cos| of the mean
// principal angle between the spaces of their leading principal directions.
[[nodiscard]] MatrixOf<double> score_similarity(const std::vector<Matrix>& group_embeddings);
[[nodiscard]] MatrixOf<double> score_complementarity(const std::vector<Matrix>& group_embeddings,
                                                     Index num_directions);
}  // namespace fedhur::server
