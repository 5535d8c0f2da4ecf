// What can go wrong, by whose mistake it was; the apps turn each kind into an exit code.
#pragma once
#include <stdexcept>
#include <string>

namespace fedhur {
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ConfigError : Error {  // a setting or argument is wrong
  using Error::Error;
};
struct DataError : Error {  // a file holds what it should not
  using Error::Error;
};
struct FileError : Error {  // the system refuses to read or write: no space, no permission
  using Error::Error;
};
struct ProtocolError : Error {  // a message is not what the receiver asked for
  using Error::Error;
};
struct TransportError : Error {  // too few clients can be reached
  using Error::Error;
};

// A precondition that only a programming mistake can break.
inline void expects(bool condition, const char* what) {
  if (!condition) throw std::logic_error(std::string("broken precondition: ") + what);
}
}  // namespace fedhur
