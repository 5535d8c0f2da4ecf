#include "fedhur/experiment/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fedhur/base/file.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
namespace {
constexpr std::uint32_t kCheckpointMagic = 0x334b4846;  // "FHK3"
constexpr const char* kSuffix = ".ckpt";

void put_numbers(ByteSink& sink, const std::map<std::string, double>& numbers) {
  sink.put(static_cast<std::uint32_t>(numbers.size()));
  for (const auto& [name, value] : numbers) {
    sink.put_name(name);
    sink.put(value);
  }
}

std::map<std::string, double> get_numbers(ByteReader& reader) {
  std::map<std::string, double> numbers;
  const auto count = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string name = reader.get_name();
    numbers[name] = reader.get<double>();
  }
  return numbers;
}

void put_progress(ByteSink& sink, const Progress& progress) {
  sink.put(static_cast<std::int64_t>(progress.next_round));
  sink.put(static_cast<std::int64_t>(progress.best_round));
  sink.put(progress.best_score);
  put_numbers(sink, progress.best_valid);
  put_numbers(sink, progress.best_test);
  put_numbers(sink, progress.seconds);
  sink.put(progress.bytes_up);
  sink.put(progress.bytes_down);
  encode(progress.inside, sink);
  sink.put(progress.next_sequence);
}

Progress get_progress(ByteReader& reader) {
  Progress progress;
  progress.next_round = reader.get<std::int64_t>();
  progress.best_round = reader.get<std::int64_t>();
  progress.best_score = reader.get<double>();
  progress.best_valid = get_numbers(reader);
  progress.best_test = get_numbers(reader);
  progress.seconds = get_numbers(reader);
  progress.bytes_up = reader.get<double>();
  progress.bytes_down = reader.get<double>();
  progress.inside = decode_arrays(reader);
  progress.next_sequence = reader.get<std::uint64_t>();
  return progress;
}

// Newest first.
std::vector<fs::path> checkpoint_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == kSuffix) files.push_back(entry.path());
  }
  std::sort(files.rbegin(), files.rend());
  return files;
}

Progress restore_from(const fs::path& path, federation::ServerMethod& server, Party& party) {
  const std::vector<std::byte> bytes = read_checked_file(path);
  ByteReader reader(bytes);
  if (reader.get<std::uint32_t>() != kCheckpointMagic) throw ProtocolError("not a checkpoint");
  Progress progress = get_progress(reader);
  const NamedArrays server_state = decode_arrays(reader);
  party.restore(reader);
  server.restore(server_state);
  const auto missed = reader.take(reader.remaining());
  progress.missed.assign(missed.begin(), missed.end());
  return progress;
}
}  // namespace

void write_checkpoint(const fs::path& folder, const Progress& progress,
                      const federation::ServerMethod& server, const Party& party) {
  const fs::path path = folder / fmt::format("round-{:06}{}", progress.next_round, kSuffix);
  CheckedFileWriter writer(path);
  writer.put(kCheckpointMagic);
  put_progress(writer, progress);
  encode(server.save(), writer);
  party.save(writer);
  writer.put_bytes(progress.missed);
  writer.commit();
  for (const fs::path& file : checkpoint_files(folder)) {
    if (file != path) fs::remove(file);
  }
}

std::optional<Progress> restore_checkpoint(const fs::path& folder, federation::ServerMethod& server,
                                           Party& party) {
  const std::vector<fs::path> files = checkpoint_files(folder);
  if (files.empty()) return std::nullopt;
  // Written whole or not at all, so damage comes from outside: better to say so than to start anew.
  try {
    return restore_from(files.front(), server, party);
  } catch (const ProtocolError& error) {
    throw DataError(fmt::format("{}: {}; remove it to go on from the start", files.front().string(),
                                error.what()));
  }
}
}  // namespace fedhur::experiment
