#include "fedhur/data/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "fedhur/base/error.hpp"
#include "fedhur/base/strings.hpp"
#include "fedhur/data/records.hpp"
#include "fedhur/data/stored_file.hpp"

namespace fedhur::data {
namespace {
bool is_control_byte(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }
}  // namespace

Catalogue catalogue_of(const Dataset& dataset) {
  return {.names = dataset.item_names, .titles = dataset.item_titles};
}

std::string to_text(const Catalogue& catalogue) {
  std::string text = "item\ttitle\n";
  for (std::size_t i = 0; i < catalogue.names.size(); ++i) {
    const std::string& name = catalogue.names[i];
    if (name.empty() || std::ranges::any_of(name, is_control_byte)) {
      throw DataError(
          fmt::format("the item {} cannot be part of a catalogue: expected a name "
                      "without control characters",
                      excerpt(name)));
    }
    text += name;
    text += '\t';
    for (const char c : catalogue.titles[i]) text += is_control_byte(c) ? ' ' : c;
    text += '\n';
  }
  return text;
}

Catalogue parse_catalogue(std::string_view text, const std::filesystem::path& name) {
  RecordReader reader(text, "\t", Quoting::none);
  const auto read_fields = [&] {
    if (!reader.problem().empty()) fail_at(name, reader.line(), reader.problem());
    return reader.fields();
  };
  if (!reader.next()) throw DataError(fmt::format("{} is empty: expected items", name.string()));
  const auto header = read_fields();
  const bool has_titles = header.size() == 2 && header[1] == "title";
  if (header.empty() || header[0] != "item" || (header.size() != 1 && !has_titles)) {
    fail_at(name, reader.line(), "expected a header 'item', or 'item' and 'title' between tabs");
  }
  Catalogue catalogue;
  std::unordered_map<std::string, std::size_t> lines;
  while (reader.next()) {
    const auto fields = read_fields();
    if (fields.size() != (has_titles ? 2U : 1U)) {
      fail_at(name, reader.line(),
              fmt::format("found {} fields, expected {}", fields.size(), has_titles ? 2 : 1));
    }
    const auto [known, is_new] = lines.emplace(std::string(fields[0]), reader.line());
    if (fields[0].empty()) fail_at(name, reader.line(), "the item has no name");
    if (!is_new) {
      fail_at(name, reader.line(),
              fmt::format("item {} was in line {} already", excerpt(fields[0]), known->second));
    }
    catalogue.names.emplace_back(fields[0]);
    catalogue.titles.push_back(has_titles ? to_utf8(fields[1]) : std::string());
  }
  if (catalogue.names.empty()) {
    throw DataError(fmt::format("{} has a header and no items", name.string()));
  }
  return catalogue;
}

Catalogue load_catalogue(const std::filesystem::path& path) {
  return parse_catalogue(text_of(read_stored_file(path), path), path);
}

Dataset renumber(Dataset dataset, const Catalogue& catalogue, bool skips_unknown) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (std::size_t i = 0; i < catalogue.names.size(); ++i) numbers.emplace(catalogue.names[i], i);
  std::vector<Interaction> rows;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < dataset.interactions.size(); ++i) {
    Interaction row = dataset.interactions[i];
    const std::string& name = dataset.item_names[slot(row.item)];
    const auto found = numbers.find(name);
    if (found == numbers.end()) {
      if (!skips_unknown) {
        throw DataError(fmt::format("{}: item {} is not among the {} of the federation's catalogue",
                                    dataset.name, excerpt(name), catalogue.names.size()));
      }
      ++dataset.skipped_rows;
      continue;
    }
    row.item = item_id(static_cast<Index>(found->second));
    rows.push_back(row);
    if (!dataset.parts.empty()) parts.push_back(dataset.parts[i]);
  }
  dataset.interactions = std::move(rows);
  dataset.parts = std::move(parts);
  dataset.item_names = catalogue.names;
  dataset.item_titles = catalogue.titles;
  return dataset;
}
}  // namespace fedhur::data
