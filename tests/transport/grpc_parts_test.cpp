// What can be said of the carrier without opening a connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedhur/base/error.hpp"
#include "fedhur/transport/grpc/frames.hpp"
#include "fedhur/transport/grpc/gatekeeper.hpp"
#include "fedhur/transport/grpc/link.hpp"

namespace fedhur::transport {
namespace {
using ::grpc::Status;
using ::grpc::StatusCode;
using std::chrono::milliseconds;

TEST(Address, HasAHostAndAPort) {
  EXPECT_EQ(parse_address("server.example.org:7000").host, "server.example.org");
  EXPECT_EQ(parse_address("server.example.org:7000").port, 7000);
  EXPECT_EQ(parse_address("10.0.0.5:0").port, 0);
  EXPECT_EQ(parse_address("[fe80::1]:65535").host, "fe80::1");
  for (const char* wrong :
       {"", ":", ":7000", "host", "host:", "host:x", "host:65536", "host:-1", "host:70 00",
        "dns:///host:7000", "unix:/tmp/socket:1", "ho st:1", "fe80::1:7000", "[host]:1", "[]:1"}) {
    EXPECT_THROW((void)parse_address(wrong), ConfigError) << wrong;
  }
}

TEST(Address, IsLoopbackOnlyIfItCannotBeReachedFromElsewhere) {
  for (const char* host : {"localhost", "LocalHost", "127.0.0.1", "127.255.3.4", "::1"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "128.0.0.1", "10.127.0.1", "localhost.example.org",
                           "127.0.0.1.example.org", "127.1", ""}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
  EXPECT_NO_THROW(check_security("127.0.0.1:1", {}));
  EXPECT_NO_THROW(check_security("example.org:1", TlsFiles{}));
  EXPECT_THROW(check_security("example.org:1", {}), ConfigError);
}

TEST(Address, OfAPeerIsWrittenAsPeopleDo) {
  EXPECT_EQ(readable_address("ipv4:10.0.0.7:40122"), "10.0.0.7:40122");
  EXPECT_EQ(readable_address("ipv6:%5B::1%5D:40122"), "[::1]:40122");
  EXPECT_EQ(readable_address("unknown\n"), "unknown?");
}

TEST(Printable, TextHasNothingThatCouldForgeALine) {
  EXPECT_EQ(printable("a\nb\x1b[31m\xff~"), "a?b?[31m?~");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("abc", 3), "abc");
}

TEST(Backoff, WaitsLongerAndLongerUpToALimitAndNeverAsLongAsOthers) {
  Backoff backoff(1);
  Backoff other(2);
  milliseconds longest{200};
  for (int i = 0; i < 20; ++i) {
    const milliseconds pause = backoff.next();
    EXPECT_LE(pause, longest);
    EXPECT_GE(2 * pause, longest - milliseconds(2));
    EXPECT_NE(pause, other.next());
    longest = std::min(2 * longest, milliseconds(15'000));
  }
  backoff.reset();
  EXPECT_LE(backoff.next(), milliseconds(200));
}

TEST(Explanation, TellsWhatAPersonCanDoAboutIt) {
  HubConnectionConfig config;
  config.server = "s:1";
  config.security = TlsFiles{};
  const auto unavailable = [&](const std::string& text, bool has_answered = false) {
    return explain(Status(StatusCode::UNAVAILABLE, text), config, has_answered);
  };
  const std::string prefix = "failed to connect to all addresses; last error: UNKNOWN: ";
  EXPECT_EQ(unavailable(prefix + "ipv4:127.0.0.1:1: Failed to connect to remote host: refused"),
            "cannot reach s:1: Failed to connect to remote host: refused");
  EXPECT_EQ(unavailable(prefix + "ipv4:127.0.0.1:1: Peer name s is not in peer certificate"),
            "the TLS handshake with s:1 has failed: Peer name s is not in peer certificate");
  EXPECT_THAT(unavailable(prefix + "ipv4:127.0.0.1:1: Socket closed"),
              testing::HasSubstr("maybe since it does not accept this site's certificate"));
  EXPECT_EQ(unavailable("Socket closed", true), "the connection to s:1 is lost: Socket closed");
  EXPECT_EQ(unavailable("last error: odd"), "cannot reach s:1: odd");
  EXPECT_EQ(explain(Status::OK, config, true), "s:1 has ended the connection");
  EXPECT_EQ(explain(Status(StatusCode::RESOURCE_EXHAUSTED, "too many"), config, true),
            "s:1: too many");
  EXPECT_FALSE(is_final(Status(StatusCode::UNAVAILABLE, "")));
  EXPECT_FALSE(is_final(Status(StatusCode::RESOURCE_EXHAUSTED, "")));
  EXPECT_TRUE(is_final(Status(StatusCode::PERMISSION_DENIED, "")));
}
}  // namespace
}  // namespace fedhur::transport
