// Where results and messages go. Results must arrive, messages may be lost.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fedhur::apps {
// Nobody reads standard output any more, as in `fedhur ... | head`.
struct ReaderLeft : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// To standard output, at once. Error with the system's reason if that fails, ReaderLeft if the
// other end of the pipe is closed.
void print(std::string_view text);
// To standard error, whatever happens.
void say(std::string_view text);

// A closed standard stream would be taken by the next file that is opened, and what is printed
// would end up in there. Also has writes to a closed pipe fail instead of ending the process.
void secure_standard_streams();

// Columns of the terminal behind a file descriptor; 0 if there is none.
[[nodiscard]] int terminal_width(int descriptor);

// ConfigError if the file cannot be the output: it is one of the inputs, exists (unless `force`),
// is a folder, or its folder does not exist.
void check_output_file(const std::filesystem::path& file, bool force,
                       const std::vector<std::filesystem::path>& inputs);
}  // namespace fedhur::apps
