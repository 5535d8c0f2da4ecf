// Who may connect, over TLS with certificates of a real authority.
#include <grpcpp/support/status.h>

#include <array>
#include <cstdio>

#include "tests/transport/grpc_pki.hpp"
#include "tests/transport/grpc_raw.hpp"

namespace fedhur::transport {
namespace {
using ::grpc::StatusCode;
using testing::HasSubstr;
using testing::StartsWith;

std::string prefix(StatusCode code) { return fmt::format("{}:", static_cast<int>(code)); }

std::shared_ptr<::grpc::ChannelCredentials> credentials(const TlsFiles& own,
                                                        const std::filesystem::path& ca) {
  return ::grpc::SslCredentials({.pem_root_certs = read_text_file(ca),
                                 .pem_private_key = read_text_file(own.key),
                                 .pem_cert_chain = read_text_file(own.certificate)});
}

// Clients 0 to 2 are honest and connected, 3 has not been seen.
class GrpcIdentity : public GrpcTest {
 protected:
  void SetUp() override {
    start_hub(4);
    server_config_.security = authority_.server();
    start_server();
    sites_.push_back(run(two_, secure_config(two_, authority_.site("two", "0-1"))));
    sites_.push_back(run(one_, secure_config(one_, authority_.site("one", "2"))));
    ASSERT_TRUE(eventually([&] { return hub().status().connected.size() == 3; }));
    expect_undisturbed();
  }
  void TearDown() override {
    expect_undisturbed();
    for (const auto& site : sites_) EXPECT_FALSE(site->is_over());
    sites_.clear();
    GrpcTest::TearDown();
  }

  [[nodiscard]] HubConnectionConfig secure_config(const Household& household,
                                                  const TlsFiles& files) const {
    HubConnectionConfig config = site_config(household.ids());
    config.security = files;
    return config;
  }
  // The honest ones answer, and have never lost their connection.
  void expect_undisturbed() {
    const std::vector<ClientId> honest = {client_id(0), client_id(1), client_id(2)};
    EXPECT_EQ(federation::ask(hub(), honest, make_message("work", 1)).size(), 3U);
    for (const auto& site : sites_) EXPECT_FALSE(site->lines.have("trying again"));
  }
  // A peer with this identity asks for client 3; how the server ends it.
  [[nodiscard]] std::string end_of(
      const std::shared_ptr<::grpc::ChannelCredentials>& peer_credentials) const {
    RawSite peer(port_, peer_credentials);
    (void)peer.send(hello_frame({client_id(3)}));
    return peer.end();
  }
  [[nodiscard]] bool handshake_is_logged() const {
    return eventually([&] { return lines().have("a TLS handshake has failed"); });
  }
  // A failed handshake tells the peer only that it failed.
  void expect_no_handshake(const std::shared_ptr<::grpc::ChannelCredentials>& peer_credentials) {
    EXPECT_THAT(end_of(peer_credentials), StartsWith(prefix(StatusCode::UNAVAILABLE)));
    EXPECT_TRUE(handshake_is_logged());
    EXPECT_FALSE(std::ranges::any_of(hub().status().connected,
                                     [](ClientId client) { return client == client_id(3); }));
  }
  [[nodiscard]] const TestAuthority& authority() const { return authority_; }

 private:
  TestAuthority authority_;
  Household two_{{0, 1}};
  Household one_{{2}};
  std::vector<std::unique_ptr<RunningSite>> sites_;
};

TEST_F(GrpcIdentity, SitesWithACertificateAreLetIn) {
  Household household({3});
  const auto site = run(household, secure_config(household, authority().site("three", "3-9")));
  ASSERT_TRUE(all_connect());
  expect_exchange();
  expect_exchange(1'250'000);
  EXPECT_TRUE(lines().have("three (127.0.0.1:"));
}

TEST_F(GrpcIdentity, SitesThatNameNoClientsGetThoseOfTheirCertificate) {
  HubConnectionConfig config = site_config({});
  config.security = authority().site("many", "1-2,77");
  const auto welcome = HubConnection(config, {}).connect({});
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->clients, (std::vector{client_id(1), client_id(2)}));
  config.security = authority().site("nobody", "77-99");
  EXPECT_THROW((void)HubConnection(config, {}).connect({}), TransportError);
  EXPECT_TRUE(
      lines().have("the certificate of nobody allows clients 77-99, this federation has 4"));
}

TEST_F(GrpcIdentity, NoCertificateIsRefused) {
  const auto ca = authority().folder() / pki::kCaCertificate;
  expect_no_handshake(::grpc::SslCredentials(
      {.pem_root_certs = read_text_file(ca), .pem_private_key = {}, .pem_cert_chain = {}}));
}

TEST_F(GrpcIdentity, PlaintextIsRefused) {
  EXPECT_THAT(end_of(::grpc::InsecureChannelCredentials()),
              StartsWith(prefix(StatusCode::UNAVAILABLE)));
}

TEST_F(GrpcIdentity, CertificatesOfAnotherAuthorityAreRefused) {
  const TestAuthority other;
  const auto ca = authority().folder() / pki::kCaCertificate;
  expect_no_handshake(credentials(other.site("three", "3"), ca));
}

TEST_F(GrpcIdentity, ExpiredCertificatesAreRefused) {
  const TlsFiles files = authority().expired_site("three", "3");
  expect_no_handshake(credentials(files, files.ca));
  // An honest site says it without asking the server.
  HubConnectionConfig config = site_config({client_id(3)});
  config.security = files;
  try {
    const HubConnection site(config, {});
    ADD_FAILURE() << "it was taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the certificate of three"));
  }
}

TEST_F(GrpcIdentity, ServersAreNoSitesAndSitesNoServers) {
  const TlsFiles server = authority().server();
  expect_no_handshake(credentials(server, server.ca));
  HubConnectionConfig config = site_config({client_id(3)});
  config.security = server;
  EXPECT_THROW(HubConnection(config, {}), ConfigError);

  GrpcServerConfig false_server = server_config_;
  false_server.listen = "127.0.0.1:0";
  false_server.welcome.num_clients = 4;
  false_server.security = authority().site("three", "3");
  EXPECT_THROW(GrpcServer(false_server, hub(), {}), ConfigError);
}

TEST_F(GrpcIdentity, ClientsThatTheCertificateDoesNotNameAreRefused) {
  const TlsFiles files = authority().site("two more", "0-1");
  const std::string end = end_of(credentials(files, files.ca));
  EXPECT_THAT(end, StartsWith(prefix(StatusCode::PERMISSION_DENIED)));
  EXPECT_THAT(end, HasSubstr("the certificate of two more does not allow client 3, only 0-1"));
  EXPECT_TRUE(lines().have("refused two more (127.0.0.1:"));
  Household household({0, 3});
  EXPECT_THAT(run(household, secure_config(household, files))->outcome(),
              HasSubstr("refuses this site: the certificate of two more does not allow client 3"));
}

TEST_F(GrpcIdentity, RevokedCertificatesAreRefused) {
  const TlsFiles files = authority().site("three", "3");
  authority().revoke(files);
  const std::string end = end_of(credentials(files, files.ca));
  EXPECT_THAT(end, StartsWith(prefix(StatusCode::UNAUTHENTICATED)));
  EXPECT_THAT(end, HasSubstr("the certificate of three with serial number"));
  EXPECT_TRUE(lines().have("was revoked"));
}

TEST_F(GrpcIdentity, CertificatesCanBeRevokedWhileTheirSiteIsConnected) {
  const TlsFiles files = authority().site("three", "3");
  Household household({3});
  const auto site = run(household, secure_config(household, files));
  ASSERT_TRUE(all_connect());
  expect_exchange();
  authority().revoke(files);
  EXPECT_THAT(site->outcome(),
              HasSubstr("refuses this site: the certificate of three with serial"));
  EXPECT_TRUE(eventually([&] { return hub().status().connected.size() == 3; }));
}

TEST_F(GrpcIdentity, SilentPeersLoseTheirConnectionWithTheirCertificate) {
  const TlsFiles files = authority().site("three", "3");
  RawSite peer(port_, credentials(files, files.ca));
  ASSERT_TRUE(peer.join({client_id(3)}));
  ASSERT_TRUE(eventually([&] { return hub().status().connected.size() == 4; }));
  authority().revoke(files);
  EXPECT_TRUE(eventually([&] { return hub().status().connected.size() == 3; }));
}

TEST_F(GrpcIdentity, ARevocationListThatCannotBeReadDoesNotLetAnybodyIn) {
  const TlsFiles files = authority().site("three", "3");
  authority().revoke(files);
  EXPECT_THAT(end_of(credentials(files, files.ca)), HasSubstr("was revoked"));
  write_file_atomically(authority().folder() / pki::kRevocations, "nonsense");
  EXPECT_THAT(end_of(credentials(files, files.ca)), HasSubstr("was revoked"));
  EXPECT_TRUE(lines().have("the revocations read before stay in force"));
}

// What a site sees that does not trust its server: it goes on trying, since that may heal.
class GrpcDistrust : public GrpcTest {
 protected:
  std::string reason(const TlsFiles& server, const TlsFiles& site, const std::string& host) {
    start_hub(1);
    server_config_.security = server;
    start_server();
    Household household({0});
    HubConnectionConfig config = site_config(household.ids());
    config.server = fmt::format("{}:{}", host, port_);
    config.security = site;
    const auto running = run(household, config);
    EXPECT_TRUE(eventually([&] { return running->lines.have("trying again"); }));
    EXPECT_FALSE(running->stop());
    EXPECT_TRUE(hub().status().connected.empty());
    return running->lines.text();
  }
};

TEST_F(GrpcDistrust, OfAServerWithAnotherName) {
  const TestAuthority authority;
  EXPECT_THAT(
      reason(authority.server("elsewhere.example.org"), authority.site("a", "0"), "localhost"),
      HasSubstr("has failed: Peer name localhost is not in peer certificate"));
  EXPECT_THAT(reason(authority.server("localhost"), authority.site("a", "0"), "127.0.0.1"),
              HasSubstr("the TLS handshake with 127.0.0.1"));
}

TEST_F(GrpcDistrust, OfAServerOfAnotherAuthority) {
  const TestAuthority authority;
  const TestAuthority other;
  EXPECT_THAT(reason(other.server(), authority.site("a", "0"), "localhost"),
              HasSubstr("the TLS handshake with localhost"));
}

TEST_F(GrpcDistrust, IsToldFromAServerThatIsNotThere) {
  const TestAuthority authority;
  start_hub(1);
  server_config_.security = authority.server();
  start_server();
  stop_server();
  Household household({0});
  HubConnectionConfig config = site_config(household.ids());
  config.security = authority.site("a", "0");
  const auto running = run(household, config);
  EXPECT_TRUE(eventually([&] { return running->lines.have("cannot reach 127.0.0.1"); }));
}

// Exit code and output of a program.
std::pair<int, std::string> output_of(const std::string& command) {
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), size);
  }
  return {pclose(pipe), output};
}

TEST_F(GrpcIdentity, OnlyTls13IsSpoken) {
  if (output_of("openssl version").first != 0) GTEST_SKIP() << "needs the program openssl";
  const TlsFiles files = authority().site("three", "3");
  const auto connect = [&](const std::string& version) {
    return output_of(fmt::format(
        "openssl s_client -{} -connect 127.0.0.1:{} -alpn h2 -CAfile {} -cert {} -key {} "
        "</dev/null",
        version, port_, files.ca.string(), files.certificate.string(), files.key.string()));
  };
  const auto [good_code, good] = connect("tls1_3");
  EXPECT_EQ(good_code, 0) << good;
  EXPECT_THAT(good, HasSubstr("New, TLSv1.3, Cipher is TLS_"));
  for (const char* old : {"tls1_2", "tls1_1", "tls1"}) {
    const auto [code, output] = connect(old);
    EXPECT_NE(code, 0) << old;
    EXPECT_THAT(output, HasSubstr("Cipher is (NONE)")) << old;
  }
}
}  // namespace
}  // namespace fedhur::transport
