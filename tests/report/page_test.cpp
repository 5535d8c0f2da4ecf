#include "fedhur/report/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fedhur::report {
namespace {
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// What a browser takes for the data: everything up to the first end of a script.
std::string embedded(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script", at) - at);
}

TEST(Page, IsWholeAndAsksNobodyForAnything) {
  const std::string page(page_template());
  EXPECT_THAT(page, HasSubstr("<!doctype html>"));
  for (const char* part : {"@style@", "@licence@", "@d3@", "@scripts@"}) {
    EXPECT_THAT(page, Not(HasSubstr(part))) << "is not filled in";
  }
  for (const char* reference : {"src=", "@import", "url(http", "<link rel=\"stylesheet"}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("Redistribution and use in source and binary forms"));
  EXPECT_THAT(page, HasSubstr("d3js.org/d3-scale"));
}

TEST(Page, KeepsAnyTextWithinItsData) {
  const json data = {{"title", "</script><script>alert(1)</script><!-- <script \" \\ ' & \u2028"},
                     {"@data@", "@scripts@ $1 \\1 %s"}};
  const std::string page = make_page(data.dump());
  EXPECT_EQ(json::parse(embedded(page)), data);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_EQ(page.find("<script", page.find("id=\"data\"")), page.find("<script>", page.find("}")))
      << "nothing within the data begins an element";
}
}  // namespace
}  // namespace fedhur::report
