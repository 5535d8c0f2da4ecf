#include "fedhur/pki/identity.hpp"

#include <gtest/gtest.h>

#include "fedhur/base/error.hpp"

namespace fedhur::pki {
namespace {
using Hosts = std::vector<std::string>;

TEST(Hosts, AreNamesAndAddresses) {
  EXPECT_EQ(parse_hosts("fed.example.org"), Hosts{"fed.example.org"});
  EXPECT_EQ(parse_hosts("localhost,127.0.0.1,::1"), (Hosts{"localhost", "127.0.0.1", "::1"}));
  EXPECT_EQ(parse_hosts("Fed.Example.ORG,fed.example.org"), Hosts{"fed.example.org"});
  EXPECT_EQ(parse_hosts("0:0:0:0:0:0:0:1,::1"), Hosts{"::1"});
  EXPECT_EQ(parse_hosts("fed_server"), Hosts{"fed_server"});
  EXPECT_TRUE(is_ip_address("10.0.0.5"));
  EXPECT_FALSE(is_ip_address("fed.example.org"));
}

TEST(Hosts, RefuseWhatIsNone) {
  for (const char* text :
       {"", ",", "a,,b", "a:50051", "10.0.0.5:50051", "10.0.0.256", "1.2.3", "5", "a b", "a..b",
        ".a", "-a", "a-", "*.example.org", "[::1]", "b\xc3\xbc", "DNS:a", "a/b", "a\nb"}) {
    EXPECT_THROW((void)parse_hosts(text), ConfigError) << text;
  }
  EXPECT_THROW((void)parse_hosts(std::string("127.0.0.1\0x", 11)), ConfigError);
  EXPECT_THROW((void)parse_hosts(std::string(64, 'a')), ConfigError);
  EXPECT_NO_THROW((void)parse_hosts(std::string(63, 'a')));
  std::string many = "h0";
  for (int i = 1; i <= 100; ++i) many += ",h" + std::to_string(i);
  EXPECT_THROW((void)parse_hosts(many), ConfigError);
}

TEST(Name, IsPrintableAndShort) {
  for (const std::string name : {"hospital-a", "Klinik Köln", "a", "*", "CN=x, O=y"}) {
    EXPECT_FALSE(find_name_fault(name)) << name;
  }
  for (const std::string name :
       {"", " a", "a ", "a\nb", "a\x1b[31m", "a\x7f", "\xff", "\xc2\x9b"}) {
    EXPECT_TRUE(find_name_fault(name)) << name;
  }
  EXPECT_TRUE(find_name_fault(std::string("a\0b", 3)));
  std::string umlauts;
  for (int i = 0; i < 64; ++i) umlauts += "ö";
  EXPECT_FALSE(find_name_fault(umlauts));
  EXPECT_TRUE(find_name_fault(umlauts + "o"));
}
}  // namespace
}  // namespace fedhur::pki
