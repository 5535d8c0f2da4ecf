#include "fedhur/client/private_state.hpp"

namespace fedhur::client {
void PrivateState::write(ByteSink& sink, const PrivateState* previous) const {
  sink.put_name(kind_);
  encode(arrays_, sink, previous == nullptr ? nullptr : &previous->arrays_);
}

PrivateState PrivateState::read(ByteReader& reader, const PrivateState* previous) {
  PrivateState state(reader.get_name());
  state.arrays_ = decode_arrays(reader, previous == nullptr ? nullptr : &previous->arrays_);
  return state;
}
}  // namespace fedhur::client
