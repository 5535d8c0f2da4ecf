// The tree is the way of the data: who may include whom, read from the #include lines themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {
// A folder includes itself, what its row names, and what those include: always rows above its own.
struct Row {
  std::string_view folder;
  std::string_view may_include;
};
constexpr std::array kRows = {
    Row{"base", ""},
    Row{"linalg", "base"},
    Row{"data", "base"},
    Row{"model", "linalg data"},
    Row{"message", "base"},
    Row{"federation", "message"},
    Row{"client", "model message federation"},
    Row{"evaluate", "client federation data"},
    Row{"server", "linalg"},
    Row{"methods", "client server federation evaluate"},
    Row{"report", "evaluate federation server"},
    Row{"pki", "base"},
    Row{"transport", "federation message pki"},
    Row{"experiment", "methods report transport"},
    Row{"tune", "experiment"},
    Row{"study", "experiment"},
    Row{"apps", "tune study"},
};

// Each library has one home: the folders or files (by the beginning of their path) that include it.
struct Library {
  std::string_view include;  // how its include paths begin
  std::string_view homes;
};
constexpr std::array kLibraries = {
    Library{"Eigen/", "fedhur/ apps/"},
    Library{"unsupported/Eigen/", "fedhur/evaluate/statistics.cpp"},
    Library{"fmt/", "fedhur/ apps/"},
    Library{"openssl/", "fedhur/base/hash.cpp fedhur/pki/ fedhur/transport/"},
    Library{"xxhash.h", "fedhur/base/checksum.cpp"},
    Library{"zlib.h", "fedhur/data/"},
    Library{"nlohmann/",
            "fedhur/pki/ fedhur/report/ fedhur/experiment/ fedhur/tune/ fedhur/study/ apps/"},
    Library{"toml++/", "fedhur/experiment/toml_value"},
    Library{"CLI/", "apps/"},
    Library{"spdlog/", "apps/"},
    Library{"prometheus/", "apps/server_metrics.cpp"},
    Library{"httplib.h", "apps/loopback_server.cpp"},
    Library{"grpc", "fedhur/transport/"},
    Library{"absl/", "fedhur/transport/grpc/"},  // only what grpc itself brings
    Library{"google/protobuf/", "fedhur/transport/"},
};

// Not libraries: the operating system and the compiler.
constexpr std::array<std::string_view, 15> kSystem = {
    "sys/",     "sched.h",     "unistd.h",    "fcntl.h",   "signal.h",
    "poll.h",   "netdb.h",     "netinet/",    "arpa/",     "ifaddrs.h",
    "malloc.h", "xmmintrin.h", "immintrin.h", "pthread.h", "spawn.h",
};

// Nothing under fedhur/ prints, reads the environment or ends the process.
constexpr std::array<std::string_view, 8> kForbiddenNames = {
    "std::cout", "std::cerr", "std::clog",  "stdout",
    "stderr",    "environ",   "std::abort", "std::terminate",
};
constexpr std::array<std::string_view, 10> kForbiddenCalls = {
    "getenv",     "secure_getenv", "exit",    "_exit", "_Exit",
    "quick_exit", "printf",        "vprintf", "puts",  "putchar",
};

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

const Row* find_row(std::string_view folder) {
  const auto* row = std::ranges::find(kRows, folder, &Row::folder);
  return row == kRows.end() ? nullptr : row;
}

bool may_include(std::string_view from, std::string_view to) {
  if (from == to) return true;
  const Row* row = find_row(from);
  return row != nullptr && std::ranges::any_of(words_of(row->may_include), [&](const auto& next) {
           return may_include(next, to);
         });
}

// "fedhur/client/client.hpp" lives in client, "apps/main.cpp" in apps.
std::string folder_of(const std::string& path) {
  const std::filesystem::path parts(path);
  auto part = parts.begin();
  if (part != parts.end() && *part == "fedhur") ++part;
  return part == parts.end() || std::next(part) == parts.end() ? "" : part->string();
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The text with comments and the insides of literals blanked; lines stay lines.
std::string code_of(std::string_view text) {
  std::string code(text);
  const auto blank = [&code](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < std::min(last, code.size()); ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
  };
  const auto end_of = [&text](std::string_view mark, std::size_t from) {
    const auto found = text.find(mark, from);
    return found == std::string_view::npos ? text.size() : found + mark.size();
  };
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t next = i + 1;
    if (text.substr(i, 2) == "//") {
      next = std::min(text.find('\n', i), text.size());
      blank(i, next);
    } else if (text.substr(i, 2) == "/*") {
      next = end_of("*/", i + 2);
      blank(i, next);
    } else if (text.substr(i, 2) == "R\"") {
      const auto open = std::min(text.find('(', i), text.size() - 1);
      next = end_of(")" + std::string(text.substr(i + 2, open - i - 2)) + "\"", open);
      blank(i + 2, next - 1);
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_name_character(text[i - 1])))) {
      while (next < text.size() && text[next] != text[i]) next += text[next] == '\\' ? 2U : 1U;
      blank(i + 1, next);
      ++next;
    }
    i = next;
  }
  return code;
}

bool uses(std::string_view code, std::string_view name, bool only_calls) {
  for (auto at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
    const char before = at == 0 ? ' ' : code[at - 1];
    if (is_name_character(before) || before == '.' || before == '>') continue;
    auto after = at + name.size();
    if (after < code.size() && is_name_character(code[after])) continue;
    while (only_calls && after < code.size() && code[after] == ' ') ++after;
    if (!only_calls || (after < code.size() && code[after] == '(')) return true;
  }
  return false;
}

std::string check_quoted(const std::string& path, const std::string& include) {
  const auto from = folder_of(path);
  const auto to = folder_of(include);
  if (find_row(from) == nullptr) return "folder '" + from + "' has no row in the table";
  if (find_row(to) == nullptr) return "\"" + include + "\" is not the path of a file from the root";
  return may_include(from, to) ? "" : from + " may not include " + to + " (" + include + ")";
}

std::string check_angled(const std::string& path, const std::string& include) {
  const auto begins = [](std::string_view text) {
    return [text](std::string_view beginning) { return text.starts_with(beginning); };
  };
  if (path.starts_with("fedhur/") && include == "iostream") return "the library does not print";
  const auto* library = std::ranges::find_if(kLibraries, begins(include), &Library::include);
  if (library != kLibraries.end()) {
    if (std::ranges::any_of(words_of(library->homes), begins(path))) return "";
    return "<" + include + "> belongs into " + std::string(library->homes);
  }
  const bool is_standard = include.find_first_of("./") == std::string::npos;
  if (is_standard || std::ranges::any_of(kSystem, begins(include))) return "";
  return "<" + include + "> is of a library without a home in the table";
}

// Everything wrong in one file, each as "path:line: what".
std::vector<std::string> find_faults(const std::string& path, const std::string& text) {
  std::vector<std::string> faults;
  int line_number = 0;
  const auto note = [&](const std::string& fault) {
    if (!fault.empty()) faults.push_back(path + ":" + std::to_string(line_number) + ": " + fault);
  };
  std::istringstream lines(text);
  std::istringstream code_lines(code_of(text));
  for (std::string line, code; std::getline(lines, line) && std::getline(code_lines, code);) {
    ++line_number;
    std::erase_if(code, [](char c) { return c == '\r'; });
    const auto first = code.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    if (code[first] == '#') {
      const auto word = line.find_first_not_of(' ', first + 1);
      if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
      const auto open = line.find_first_of("<\"", word);
      if (open == std::string::npos) continue;
      const char closing = line[open] == '<' ? '>' : '"';
      const auto include = line.substr(open + 1, line.find(closing, open + 1) - open - 1);
      note(closing == '>' ? check_angled(path, include) : check_quoted(path, include));
    } else if (path.starts_with("fedhur/")) {
      for (const auto name : kForbiddenNames) {
        if (uses(code, name, false)) note("the library does not use " + std::string(name));
      }
      for (const auto name : kForbiddenCalls) {
        if (uses(code, name, true)) note("the library does not call " + std::string(name));
      }
    }
  }
  return faults;
}

std::string lines_of(const std::vector<std::string>& faults) {
  std::string text;
  for (const auto& fault : faults) text += fault + "\n";
  return text;
}

std::size_t count_faults(const std::string& path, const std::string& text) {
  return find_faults(path, text).size();
}

TEST(IncludeArrows, AreThoseOfTheTable) {
  const std::filesystem::path root = FEDHUR_SOURCE_DIR;
  std::vector<std::string> faults;
  std::set<std::string> folders;
  for (const auto* top : {"fedhur", "apps"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / top)) {
      const auto extension = entry.path().extension();
      if (extension != ".hpp" && extension != ".cpp") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      const auto path = entry.path().lexically_relative(root).generic_string();
      folders.insert(folder_of(path));
      std::ranges::copy(find_faults(path, text), std::back_inserter(faults));
    }
  }
  std::ranges::sort(faults);
  EXPECT_TRUE(faults.empty()) << lines_of(faults);
  EXPECT_TRUE(folders.contains("base") && folders.contains("data") && folders.contains("apps"))
      << "the test has not found the sources below " << root;
  for (const auto& folder : folders) EXPECT_NE(find_row(folder), nullptr) << folder;
}

TEST(IncludeArrows, OfTheTableLeadOnlyToRowsAbove) {
  for (const auto& row : kRows) {
    for (const auto& next : words_of(row.may_include)) {
      ASSERT_NE(find_row(next), nullptr) << next;
      EXPECT_LT(find_row(next), &row) << row.folder << " includes " << next;
    }
  }
}

TEST(IncludeArrows, KeepClientAndServerAndMethodsAndTransportApart) {
  EXPECT_FALSE(may_include("client", "server"));
  EXPECT_FALSE(may_include("server", "client"));
  EXPECT_FALSE(may_include("methods", "transport"));
  EXPECT_FALSE(may_include("transport", "methods"));
  EXPECT_TRUE(may_include("client", "base")) << "by way of model and linalg";
  EXPECT_TRUE(may_include("apps", "transport")) << "by way of experiment";
}

TEST(IncludeArrows, ForbiddenOnesAreFound) {
  const std::string server = "#include \"fedhur/server/scorer.hpp\"\n";
  EXPECT_EQ(
      find_faults("fedhur/client/client.cpp", "\n" + server),
      std::vector<std::string>{
          "fedhur/client/client.cpp:2: client may not include server (fedhur/server/scorer.hpp)"});
  EXPECT_EQ(count_faults("fedhur/methods/fedhur.cpp", server), 0U);
  EXPECT_EQ(count_faults("fedhur/server/scorer.cpp", server), 0U);
  EXPECT_EQ(count_faults("fedhur/base/random.hpp", "#  include \"fedhur/linalg/adam.hpp\""), 1U);
  EXPECT_EQ(count_faults("fedhur/transport/in_process/x.cpp", "#include \"fedhur/methods/m.hpp\""),
            1U);
  EXPECT_EQ(count_faults("fedhur/experiment/assemble.cpp", "#include \"apps/main.hpp\""), 1U);
  EXPECT_EQ(count_faults("fedhur/client/client.cpp", "#include \"client.hpp\""), 1U);
  EXPECT_EQ(count_faults("fedhur/new_folder/x.cpp", "#include \"fedhur/base/ids.hpp\""), 1U);
  EXPECT_EQ(count_faults("fedhur/client/client.cpp", "// " + server + "/*\n" + server + "*/"), 0U);
}

TEST(IncludeArrows, LibrariesStayAtHome) {
  EXPECT_EQ(count_faults("fedhur/base/hash.cpp", "#include <openssl/evp.h>"), 0U);
  EXPECT_EQ(count_faults("fedhur/base/random.cpp", "#include <openssl/evp.h>"), 1U);
  EXPECT_EQ(count_faults("fedhur/model/neural_cf.cpp", "#include <toml++/toml.h>"), 1U);
  EXPECT_EQ(count_faults("fedhur/experiment/assemble.cpp", "#include <spdlog/spdlog.h>"), 1U);
  EXPECT_EQ(count_faults("apps/main.cpp", "#include <CLI/CLI.hpp>\n#include <iostream>"), 0U);
  EXPECT_EQ(count_faults("fedhur/data/load.cpp", "#include <boost/any.hpp>"), 1U);
  EXPECT_EQ(count_faults("fedhur/base/file.cpp", "#include <vector>\n#include <sys/stat.h>"), 0U);
}

TEST(Library, NeitherPrintsNorReadsTheEnvironmentNorEndsTheProcess) {
  const std::string path = "fedhur/data/load.cpp";
  for (const auto* code : {"#include <iostream>", "std::cout << 1;", "f(stderr);", "::exit (1);",
                           "if (std::getenv(\"HOME\")) {}", "std::exit(2);", "printf(\"%d\", 1);",
                           "const char c = '\"'; std::exit(1);", "x = 1'000; std::abort();"}) {
    EXPECT_EQ(count_faults(path, code), 1U) << code;
  }
  for (const auto* code :
       {"// never std::exit(1)", "on_exit(1);", "loop.exit();", "std::snprintf(b, n);",
        "throw DataError(\"exit(1) \\\" std::cout\");", "int exit_code = 0;",
        "/* getenv(\"HOME\") */", "R\"x(std::cout \" )x\"", "std::cout_like();"}) {
    EXPECT_EQ(count_faults(path, code), 0U) << code;
  }
  EXPECT_EQ(count_faults("apps/main.cpp", "std::cout << std::getenv(\"HOME\");"), 0U);
}
}  // namespace
