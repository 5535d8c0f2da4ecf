#include "apps/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "apps/command.hpp"

namespace fedhur::apps {
namespace {
// The one global: a signal handler can reach nothing else. Lock-free, so that a handler may use it.
std::atomic<bool> signal_seen = false;
static_assert(std::atomic<bool>::is_always_lock_free);

// Only what is async-signal-safe: write and _exit. Whether it was the first.
bool handle_silently(int signal) {
  if (!signal_seen.exchange(true)) return true;
  if (signal == SIGINT) ::_exit(ExitCode::interrupted);
  return false;
}

void handle_signal(int signal) {
  constexpr std::string_view kStopping =
      "\nfedhur: stopping after this round; Ctrl-C again stops at once\n";
  const int saved = errno;
  if (handle_silently(signal) && ::write(STDERR_FILENO, kStopping.data(), kStopping.size()) < 0) {
    // Standard error is closed.
  }
  errno = saved;
}

void handle_interrupts_by(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    if (::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    (void)sigemptyset(&action.sa_mask);
    (void)::sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void note_interrupts() { handle_interrupts_by(handle_signal); }
void note_interrupts_silently() {
  handle_interrupts_by([](int signal) { (void)handle_silently(signal); });
}

bool was_interrupted() { return signal_seen.load(); }
}  // namespace fedhur::apps
