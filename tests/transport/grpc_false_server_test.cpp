// Sites do not trust their server blindly either.
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "tests/transport/grpc_raw.hpp"

namespace fedhur::transport {
namespace {
using testing::HasSubstr;
using Stream = ::grpc::ServerReaderWriter<v1::FromServer, v1::FromSite>;

// Sends the frames of the test to every site that connects.
class FalseServer : public v1::Federation::Service {
 public:
  explicit FalseServer(std::vector<v1::FromServer> frames) : frames_(std::move(frames)) {
    ::grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FalseServer() override { server_->Shutdown(std::chrono::system_clock::now()); }
  ::grpc::Status Connect(::grpc::ServerContext* /*context*/, Stream* stream) override {
    for (const v1::FromServer& frame : frames_) (void)stream->Write(frame);
    for (v1::FromSite frame; stream->Read(&frame);) {
    }
    return ::grpc::Status::OK;
  }
  [[nodiscard]] int port() const { return port_; }

 private:
  std::vector<v1::FromServer> frames_;
  int port_ = 0;
  std::unique_ptr<::grpc::Server> server_;
};

v1::FromServer good_welcome() {
  v1::FromServer frame;
  frame.mutable_welcome()->set_run_id("run-1");
  frame.mutable_welcome()->set_num_clients(2);
  frame.mutable_welcome()->add_clients(1);
  return frame;
}

std::vector<v1::FromServer> task_frames(Sequence sequence, std::size_t size) {
  std::vector<v1::FromServer> frames;
  for (const v1::FromSite& frame :
       reply_frames(client_id(1), sequence, std::vector<std::byte>(size))) {
    *frames.emplace_back().mutable_chunk() = frame.chunk();
  }
  return frames;
}

// How a site of client 1 ends that is told this.
std::string outcome_of(std::vector<v1::FromServer> frames) {
  const FalseServer server(std::move(frames));
  Household household({1});
  HubConnectionConfig config;
  config.server = fmt::format("127.0.0.1:{}", server.port());
  config.clients = household.ids();
  config.largest_task = 2'000'000;
  config.give_up_after = 0ms;
  return RunningSite(household, config).outcome();
}

std::string outcome_after_welcome(const std::vector<v1::FromServer>& frames) {
  std::vector<v1::FromServer> all = {good_welcome()};
  all.insert(all.end(), frames.begin(), frames.end());
  return outcome_of(all);
}

TEST(GrpcFalseServer, CannotBeginWithoutAProperWelcome) {
  EXPECT_THAT(outcome_of({v1::FromServer()}), HasSubstr("expected Welcome"));
  EXPECT_THAT(outcome_of(task_frames(1, 10)), HasSubstr("expected Welcome"));
  for (const auto& spoil : std::vector<std::function<void(v1::Welcome&)>>{
           [](v1::Welcome& welcome) { welcome.clear_run_id(); },
           [](v1::Welcome& welcome) { welcome.clear_clients(); },
           [](v1::Welcome& welcome) { welcome.set_clients(0, 0); },
           [](v1::Welcome& welcome) { welcome.add_clients(1); },
           [](v1::Welcome& welcome) { welcome.set_num_clients(1); }}) {
    v1::FromServer welcome = good_welcome();
    spoil(*welcome.mutable_welcome());
    EXPECT_THAT(outcome_of({welcome}), HasSubstr("expected a name and the clients"));
  }
}

TEST(GrpcFalseServer, CannotPassOffAnotherCatalogue) {
  v1::FromServer welcome = good_welcome();
  welcome.mutable_welcome()->set_catalogue_sha256(sha256_hex(*bytes_of("right")));
  welcome.mutable_welcome()->set_catalogue("wrong");
  EXPECT_THAT(outcome_of({welcome}), HasSubstr("the catalogue is not the one of the run"));
  welcome.mutable_welcome()->clear_catalogue();
  EXPECT_THAT(outcome_of({welcome, task_frames(0, 5).front()}),
              HasSubstr("the catalogue is not the one of the run"));
  EXPECT_THAT(outcome_of({welcome, task_frames(1, 5).front()}),
              HasSubstr("expected the catalogue"));
}

TEST(GrpcFalseServer, CannotSendWhatIsNoTask) {
  EXPECT_THAT(outcome_after_welcome({good_welcome()}),
              HasSubstr("expected Chunk, Beat or Farewell"));
  EXPECT_THAT(outcome_after_welcome({task_frames(0, 10)}), HasSubstr("a task without a number"));
  EXPECT_THAT(outcome_after_welcome({task_frames(1, 2'000'001)}),
              HasSubstr("a message of 2000001 bytes, expected at most 2000000"));
  auto frames = task_frames(1, 1'500'000);
  frames[1].mutable_chunk()->set_sequence(2);
  EXPECT_THAT(outcome_after_welcome(frames), HasSubstr("a piece of task 2 amid task 1"));
  frames = task_frames(1, 1'500'000);
  frames[1].mutable_chunk()->set_offset(7);
  EXPECT_THAT(outcome_after_welcome(frames), HasSubstr("a piece at byte 7"));
}
}  // namespace
}  // namespace fedhur::transport
