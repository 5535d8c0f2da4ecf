// Replays a fuzzer's seeds, so that every build and every compiler guards what they once showed.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "fedhur/base/file.hpp"

namespace fedhur::tests {
// Expects that no input below tests/corpus/<name> is a finding; returns how many there are.
inline int replay_corpus(const std::string& name, void (*take)(std::span<const std::uint8_t>)) {
  int num_inputs = 0;
  const auto folder = std::filesystem::path(FEDHUR_SOURCE_DIR) / "tests" / "corpus" / name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto bytes = read_file(entry.path());
    const auto* const first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    EXPECT_NO_THROW(take({first, bytes.size()})) << entry.path();
    ++num_inputs;
  }
  return num_inputs;
}
}  // namespace fedhur::tests
