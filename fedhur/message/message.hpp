// The one thing that crosses between server and clients: a kind, a round and named matrices.
#pragma once
#include <string>

#include "fedhur/base/ids.hpp"
#include "fedhur/base/named_arrays.hpp"

namespace fedhur::message {
struct Message {
  std::string kind;  // what is asked or answered: "train", "update", "evaluate", ...
  Round round = 0;
  NamedArrays arrays;
};
}  // namespace fedhur::message
