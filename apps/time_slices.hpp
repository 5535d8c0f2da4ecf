// How long the scheduler lets this process run at a time.
#pragma once

namespace fedhur {
// Asks Linux for batch scheduling with the longest time slices. Processes that train next to each
// other on a core then take less time (docs/results/federation.md). Holds for threads that start
// later, too. Does nothing where the system has no such setting, or where the user has chosen
// another policy.
void use_long_time_slices();
}  // namespace fedhur
