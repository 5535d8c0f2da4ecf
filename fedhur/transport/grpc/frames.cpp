#include "fedhur/transport/grpc/frames.hpp"

#include <algorithm>

namespace fedhur::transport {
void put_progress(std::span<const ClientProgress> progress, RepeatedProgress& frame) {
  frame.Clear();
  for (const ClientProgress& client : progress) {
    v1::Progress& entry = *frame.Add();
    entry.set_client(static_cast<std::uint32_t>(client.client));
    entry.set_received(client.received);
    entry.set_answered(client.answered);
  }
}

std::vector<ClientProgress> progress_of(const RepeatedProgress& frame) {
  std::vector<ClientProgress> progress;
  for (const v1::Progress& entry : frame) {
    progress.push_back({.client = static_cast<ClientId>(entry.client()),
                        .received = entry.received(),
                        .answered = entry.answered()});
  }
  return progress;
}

void put_clients(std::span<const ClientId> clients, RepeatedClients& frame) {
  frame.Clear();
  for (const ClientId client : clients) frame.Add(static_cast<std::uint32_t>(client));
}

std::vector<ClientId> clients_of(const RepeatedClients& frame) {
  std::vector<ClientId> clients;
  for (const std::uint32_t client : frame) clients.push_back(static_cast<ClientId>(client));
  return clients;
}

void put_piece(const Piece& piece, v1::Chunk& chunk) {
  chunk.set_total_size(piece.total_size);
  chunk.set_offset(piece.offset);
  chunk.set_payload(piece.payload.data(), piece.payload.size());
  chunk.set_digest(piece.digest.data(), piece.digest.size());
}

Piece piece_of(const v1::Chunk& chunk) {
  return {.total_size = chunk.total_size(),
          .offset = chunk.offset(),
          .payload = std::as_bytes(std::span(chunk.payload())),
          .digest = std::as_bytes(std::span(chunk.digest()))};
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string result(text.substr(0, longest));
  std::ranges::replace_if(
      result, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > longest ? result + "..." : result;
}
}  // namespace fedhur::transport
