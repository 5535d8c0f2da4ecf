// A published split laid over the original file, so that rows keep their ratings, names and titles.
#pragma once
#include <filesystem>

#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
// The rows, parts and clients of the `split` file at `path`, with the names, titles, ratings and
// times that `dataset` has for them. The file may number users and items by the source's ids, by
// these less one, or from 0 in the data set's order; whichever fits all rows is taken. DataError if
// none does.
[[nodiscard]] Dataset apply_split_file(const Dataset& dataset, const std::filesystem::path& path);
}  // namespace fedhur::data
