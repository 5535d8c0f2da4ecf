// gnuplot as a child process: a script in, a picture out.
#pragma once
#include <string>

namespace fedhur::apps {
// What the script writes to standard output. Error if gnuplot is not installed (with the package to
// install) or refuses the script (with what it says).
[[nodiscard]] std::string run_gnuplot(const std::string& script);
}  // namespace fedhur::apps
