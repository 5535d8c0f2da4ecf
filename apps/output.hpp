// Where results and messages go. Results must arrive, messages may be lost.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fedhur::apps {
// The reader of standard output has closed it, as in `fedhur ... | head`.
struct ReaderLeft : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// To standard output, at once. Error with the system's reason if that fails, ReaderLeft if the
// other end of the pipe is closed.
void print(std::string_view text);
// The same of one JSON value on a line; bytes that are not UTF-8 are replaced.
void print_json(const nlohmann::ordered_json& json);
// To standard error, whatever happens.
void say(std::string_view text);

// Opens closed standard streams: the next file that is opened would take their number, and what is
// printed would end up in it. Also has writes to a closed pipe fail instead of ending the process.
void secure_standard_streams();

// Columns of the terminal behind a file descriptor; 0 if there is none.
[[nodiscard]] int terminal_width(int descriptor);

// ConfigError if the file cannot be the output: it is one of the inputs, exists (unless `force`),
// is a folder, or its folder does not exist.
void check_output_file(const std::filesystem::path& file, bool force,
                       const std::vector<std::filesystem::path>& inputs);
}  // namespace fedhur::apps
