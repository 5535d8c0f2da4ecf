// Little helpers for the tests of data sets.
#pragma once
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fedhur/base/error.hpp"
#include "fedhur/data/interactions.hpp"
#include "fedhur/data/load.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::data {
// Files of a test; gone when it ends.
class DataFolder {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  // Writes a file, with the folders on its way, and returns where it lies.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view bytes) const {
    const std::filesystem::path file = path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream stream(file, std::ios::binary);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
    return file;
  }

 private:
  tests::TempFolder folder_;
};

inline std::string gzip(std::string text) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// The message of the error that `action` throws; empty text and a failed test if it throws none.
template <class Expected>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  ADD_FAILURE() << "expected an error";
  return {};
}

inline Dataset parse_as(Format format, std::string text, bool skip_bad_rows = false) {
  LoadConfig config;
  config.format = format;
  config.skip_bad_rows = skip_bad_rows;
  return parse(std::move(text), "file", config);
}

inline std::string problem_with(Format format, const std::string& text) {
  return message_of<DataError>([&] { (void)parse_as(format, text); });
}

// "user item rating timestamp" of every row by the source's names, for short comparisons.
inline std::vector<std::string> rows_of(const Dataset& dataset) {
  std::vector<std::string> rows;
  for (const Interaction& row : dataset.interactions) {
    rows.push_back(dataset.user_names[static_cast<std::size_t>(index_of(row.user))] + " " +
                   dataset.item_names[static_cast<std::size_t>(index_of(row.item))] + " " +
                   std::to_string(static_cast<int>(row.rating * 10.0F)) + " " +
                   std::to_string(row.timestamp));
  }
  return rows;
}

// Rows as pairs of user and item number; names are made up.
inline Dataset dataset_of(std::initializer_list<std::pair<Index, Index>> pairs) {
  Dataset dataset;
  dataset.name = "small";
  Index num_users = 0;
  Index num_items = 0;
  for (const auto& [user, item] : pairs) {
    dataset.interactions.push_back({.user = user_id(user), .item = item_id(item)});
    num_users = std::max(num_users, user + 1);
    num_items = std::max(num_items, item + 1);
  }
  for (Index u = 0; u < num_users; ++u) dataset.user_names.push_back("u" + std::to_string(u));
  for (Index i = 0; i < num_items; ++i) {
    dataset.item_names.push_back("i" + std::to_string(i));
    dataset.item_titles.push_back("title " + std::to_string(i));
  }
  return dataset;
}
}  // namespace fedhur::data
