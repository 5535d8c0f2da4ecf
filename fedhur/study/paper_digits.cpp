// What the paper prints, digit by digit.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "fedhur/study/paper.hpp"

namespace fedhur::study {
namespace {
struct PrintedQuality {
  std::string_view table, row, data;
  double recall, mrr, ndcg;  // at 10
};
// FedRAP's MRR on ML-100K: the paper prints its recall there once more.
constexpr double kMisprinted = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kQualities = {
    PrintedQuality{"overall", "MF (local)", "ml-100k", .0756, .3232, .1504},
    PrintedQuality{"overall", "MF (local)", "ml-1m", .0641, .3601, .1816},
    PrintedQuality{"overall", "MF (local)", "book", .0412, .0643, .0371},
    PrintedQuality{"overall", "MF (local)", "bx", .0068, .0070, .0047},
    PrintedQuality{"overall", "MF (local)", "beauty", .0484, .0783, .0447},
    PrintedQuality{"overall", "FedMF", "ml-100k", .1813, .5501, .3198},
    PrintedQuality{"overall", "FedMF", "ml-1m", .1285, .5664, .3254},
    PrintedQuality{"overall", "FedMF", "book", .1064, .1265, .0846},
    PrintedQuality{"overall", "FedMF", "bx", .0243, .0182, .0150},
    PrintedQuality{"overall", "FedMF", "beauty", .0514, .0632, .0418},
    PrintedQuality{"overall", "FedNCF", "ml-100k", .1680, .5568, .3170},
    PrintedQuality{"overall", "FedNCF", "ml-1m", .1298, .5590, .3265},
    PrintedQuality{"overall", "FedNCF", "book", .1067, .1333, .0875},
    PrintedQuality{"overall", "FedNCF", "bx", .0211, .0205, .0153},
    PrintedQuality{"overall", "FedNCF", "beauty", .0616, .0791, .0506},
    PrintedQuality{"overall", "PFedRec", "ml-100k", .1681, .5685, .3233},
    PrintedQuality{"overall", "PFedRec", "ml-1m", .1177, .5367, .3192},
    PrintedQuality{"overall", "PFedRec", "book", .0300, .0414, .0239},
    PrintedQuality{"overall", "PFedRec", "bx", .0094, .0089, .0062},
    PrintedQuality{"overall", "PFedRec", "beauty", .0401, .0515, .0334},
    PrintedQuality{"overall", "GPFedRec", "ml-100k", .1162, .4550, .2395},
    PrintedQuality{"overall", "GPFedRec", "ml-1m", .0798, .4269, .2396},
    PrintedQuality{"overall", "GPFedRec", "book", .0464, .0667, .0396},
    PrintedQuality{"overall", "GPFedRec", "bx", .0231, .0205, .0155},
    PrintedQuality{"overall", "GPFedRec", "beauty", .0414, .0642, .0375},
    PrintedQuality{"overall", "FedRAP", "ml-100k", .0600, kMisprinted, .1260},
    PrintedQuality{"overall", "FedRAP", "ml-1m", .0592, .3082, .1572},
    PrintedQuality{"overall", "FedRAP", "book", .0281, .0469, .0259},
    PrintedQuality{"overall", "FedRAP", "bx", .0041, .0041, .0029},
    PrintedQuality{"overall", "FedRAP", "beauty", .0343, .0587, .0334},
    PrintedQuality{"overall", "FedCIA", "ml-100k", .1903, .5855, .3440},
    PrintedQuality{"overall", "FedCIA", "ml-1m", .1392, .5947, .3611},
    PrintedQuality{"overall", "FedCIA", "book", .1012, .1245, .0816},
    PrintedQuality{"overall", "FedCIA", "bx", .0263, .0257, .0186},
    PrintedQuality{"overall", "FedCIA", "beauty", .0660, .0815, .0541},
    PrintedQuality{"overall", "FedCA", "ml-100k", .1184, .4107, .2008},
    PrintedQuality{"overall", "FedCA", "ml-1m", .0806, .4167, .1989},
    PrintedQuality{"overall", "FedCA", "book", .0381, .0569, .0335},
    PrintedQuality{"overall", "FedCA", "bx", .0060, .0058, .0039},
    PrintedQuality{"overall", "FedCA", "beauty", .0466, .0686, .0407},
    PrintedQuality{"overall", "FedHUR", "ml-100k", .1973, .6146, .3693},
    PrintedQuality{"overall", "FedHUR", "ml-1m", .1407, .6038, .3640},
    PrintedQuality{"overall", "FedHUR", "book", .1075, .1350, .0875},
    PrintedQuality{"overall", "FedHUR", "bx", .0284, .0288, .0208},
    PrintedQuality{"overall", "FedHUR", "beauty", .0711, .0886, .0581},
    PrintedQuality{"relations", "none", "ml-100k", .1903, .5855, .3440},
    PrintedQuality{"relations", "single similarity", "ml-100k", .1904, .5948, .3442},
    PrintedQuality{"relations", "hierarchical similarity", "ml-100k", .1962, .6064, .3582},
    PrintedQuality{"relations", "single complementarity", "ml-100k", .1933, .6045, .3567},
    PrintedQuality{"relations", "hierarchical complementarity", "ml-100k", .1950, .6108, .3657},
    PrintedQuality{"relations", "single both", "ml-100k", .1930, .5902, .3473},
    PrintedQuality{"relations", "hierarchical both", "ml-100k", .1948, .6074, .3619},
    PrintedQuality{"relations", "single utility", "ml-100k", .1954, .6047, .3549},
    PrintedQuality{"relations", "hierarchical utility", "ml-100k", .1973, .6146, .3693},
    PrintedQuality{"query", "H", "ml-100k", .1932, .6074, .3507},
    PrintedQuality{"query", "H - HF", "ml-100k", .1956, .6081, .3626},
    PrintedQuality{"query", "H - FH", "ml-100k", .1919, .5846, .3471},
    PrintedQuality{"query", "H - (HF + FH)/2", "ml-100k", .1973, .6146, .3693},
    PrintedQuality{"scorer", "s", "ml-100k", .1960, .6062, .3571},
    PrintedQuality{"scorer", "rho", "ml-100k", .1962, .5935, .3522},
    PrintedQuality{"scorer", "nu, s", "ml-100k", .1934, .6065, .3523},
    PrintedQuality{"scorer", "rho, s", "ml-100k", .1954, .6062, .3599},
    PrintedQuality{"scorer", "rho, nu", "ml-100k", .1967, .6095, .3621},
    PrintedQuality{"scorer", "rho, nu, s", "ml-100k", .1973, .6146, .3693},
};

struct PrintedCost {
  std::string_view row;
  double mib_up, mib_down, round_seconds, fine_tuning_seconds, seconds;
};
constexpr std::array kCosts = {
    PrintedCost{"FedCIA", .82, .82, 20.10, 11.68, 610.04},
    PrintedCost{"FedHUR", .92, 1.16, 29.06, 11.66, 700.05},
};

struct PrintedCorrelations {
  std::string_view part, metric;
  PublishedCorrelation similarity, utility;
};
constexpr std::array kCorrelations = {
    PrintedCorrelations{"train", "recall@10", {-.1125, -.1835}, {.1073, .1632}},
    PrintedCorrelations{"train", "mrr@10", {.1087, .0871}, {-.1106, -.1002}},
    PrintedCorrelations{"train", "ndcg@10", {-.0517, -.1333}, {.0332, .0950}},
    PrintedCorrelations{"valid", "recall@10", {-.2606, -.1738}, {.2634, .1772}},
    PrintedCorrelations{"valid", "mrr@10", {-.3300, -.2886}, {.3327, .3030}},
    PrintedCorrelations{"valid", "ndcg@10", {-.2797, -.2761}, {.2802, .2775}},
    PrintedCorrelations{"test", "recall@10", {-.2520, -.3219}, {.2553, .3127}},
    PrintedCorrelations{"test", "mrr@10", {-.2235, -.2220}, {.2232, .2156}},
    PrintedCorrelations{"test", "ndcg@10", {-.3248, -.3469}, {.3224, .3376}},
};

struct PrintedData {
  std::string_view name, sizes;
  bool is_published = true;  // the selection itself, so that it can be made again
};
constexpr std::array kData = {
    PrintedData{"ml-100k", "943 users, 1,682 items, 100,000 interactions"},
    PrintedData{"ml-1m", "6,040 users, 3,706 items, 1,000,209 interactions"},
    PrintedData{"book", "11,000 users, 9,332 items, 200,860 interactions"},
    PrintedData{"bx", "12,794 users, 13,775 items, 146,101 interactions", false},
    PrintedData{"beauty", "5,083 users, 11,479 items, 90,952 interactions", false},
};

std::optional<double> known(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}
}  // namespace

std::optional<double> published(const std::string& table, const std::string& row,
                                const std::string& data, const std::string& metric) {
  for (const PrintedQuality& printed : kQualities) {
    if (printed.table != table || printed.row != row || printed.data != data) continue;
    if (metric == "recall@10") return known(printed.recall);
    if (metric == "mrr@10") return known(printed.mrr);
    if (metric == "ndcg@10") return known(printed.ndcg);
  }
  if (table != "efficiency" || data != "ml-100k") return std::nullopt;
  for (const PrintedCost& printed : kCosts) {
    if (printed.row != row) continue;
    if (metric == "mib_up") return printed.mib_up;
    if (metric == "mib_down") return printed.mib_down;
    if (metric == "round_seconds") return printed.round_seconds;
    if (metric == "fine_tuning_seconds") return printed.fine_tuning_seconds;
    if (metric == "seconds") return printed.seconds;
  }
  return std::nullopt;
}

std::optional<PublishedCorrelation> published_correlation(const std::string& data,
                                                          const std::string& relation,
                                                          const std::string& part,
                                                          const std::string& metric) {
  if (data != "ml-100k") return std::nullopt;
  const auto* const found =
      std::ranges::find_if(kCorrelations, [&](const PrintedCorrelations& printed) {
        return printed.part == part && printed.metric == metric;
      });
  if (found == kCorrelations.end()) return std::nullopt;
  if (relation == "similarity") return found->similarity;
  if (relation == "utility") return found->utility;
  return std::nullopt;
}

std::string note_on_published_data(const std::string& data) {
  const auto* const found = std::ranges::find(kData, data, &PrintedData::name);
  if (found == kData.end()) return "";
  std::string note = "the paper's data: " + std::string(found->sizes);
  if (!found->is_published) {
    note +=
        "; how they were selected is not published, and what can be had is near them, not equal";
  }
  return note;
}
}  // namespace fedhur::study
