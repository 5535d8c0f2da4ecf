// Ctrl-C: once to stop after the round, twice to stop at once.
#pragma once

namespace fedhur::apps {
// From now on the first SIGINT, SIGTERM or SIGHUP is only noted (and answered on standard error); a
// SIGINT after that ends the process with code 130. Signals that the parent has this process
// ignore, as nohup does, stay ignored.
void note_interrupts();
// The same without an answer, for programs that end at once or whose words are read by others.
void note_interrupts_silently();
[[nodiscard]] bool was_interrupted();
}  // namespace fedhur::apps
