// One reader per family of formats: text in, rows out. What a file does not have (ratings, times)
// is told by the result; bad rows and bad headers go to the collector.
#pragma once
#include <string_view>

#include "fedhur/data/load.hpp"
#include "fedhur/data/row_collector.hpp"

namespace fedhur::data {
struct Contents {
  bool has_ratings = false;
  bool has_timestamps = false;
};

// `user item rating timestamp` between tabs (u.data) or `::` (ratings.dat); ids are whole numbers.
Contents read_movielens(std::string_view text, std::string_view delimiter, RowCollector& rows);
// `"User-ID";"ISBN";"Book-Rating"` with a header. Rating 0 stands for an implicit interaction.
Contents read_book_crossing(std::string_view text, RowCollector& rows);
// `user,item,rating,timestamp`; a header and a comma at the end of the line may be there or not.
Contents read_amazon(std::string_view text, RowCollector& rows);
// A header that names the columns; RFC 4180 quotes.
Contents read_delimited(std::string_view text, std::string_view delimiter, const LoadConfig& config,
                        RowCollector& rows);
// RecBole's atomic files: a header of name:type between tabs; no quotes.
Contents read_recbole(std::string_view text, RowCollector& rows);
// `client user item split` between tabs, in any order, with a header; ids are whole numbers.
Contents read_split(std::string_view text, RowCollector& rows);
}  // namespace fedhur::data
