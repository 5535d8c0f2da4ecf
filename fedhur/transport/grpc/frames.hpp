// Between the messages of federation.proto and what the rest of the transport knows.
#pragma once
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fedhur/transport/grpc/federation.pb.h"
#include "fedhur/transport/network/chunks.hpp"
#include "fedhur/transport/network/task.hpp"

namespace fedhur::transport {
// Of what federation.proto says and how its two ends behave. A change that an older end does not
// understand takes the next number.
inline constexpr std::uint32_t kProtocol = 4;
// A chunk and everything around it; nothing here is larger.
inline constexpr int kLargestFrame = 2 << 20;
// How long either end waits for the other: for each step of the handshake, and afterwards for any
// frame, of which a large chunk may take long to arrive.
inline constexpr std::chrono::seconds kHandshakeTime{30};
inline constexpr std::chrono::seconds kSilence{120};

using RepeatedProgress = google::protobuf::RepeatedPtrField<v1::Progress>;
using RepeatedClients = google::protobuf::RepeatedField<std::uint32_t>;

void put_progress(std::span<const ClientProgress> progress, RepeatedProgress& frame);
[[nodiscard]] std::vector<ClientProgress> progress_of(const RepeatedProgress& frame);
void put_clients(std::span<const ClientId> clients, RepeatedClients& frame);
[[nodiscard]] std::vector<ClientId> clients_of(const RepeatedClients& frame);

void put_piece(const Piece& piece, v1::Chunk& chunk);
[[nodiscard]] Piece piece_of(const v1::Chunk& chunk);  // points into the chunk

// Text from outside for logs, and for frames, which take valid UTF-8 only: ASCII without control
// characters, and not too long.
[[nodiscard]] std::string printable(std::string_view text, std::size_t longest = 500);
}  // namespace fedhur::transport
