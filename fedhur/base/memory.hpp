// How the process treats memory that it has freed.
#pragma once
#include "fedhur/base/index.hpp"

namespace fedhur {
// Rounds free and take the same large tables again and again. By default the C library gives each
// back to the system, which then zeroes it anew; from here on this process keeps it. For the start
// of a program that trains.
void keep_freed_memory();

// The C library gives each new thread a store of freed memory of its own, up to eight per core. A
// process whose threads mostly wait, as those of a network do, then has the same buffers several
// times over. From here on there are no more stores than threads that compute. Before threads
// start.
void share_freed_memory(Index num_threads);
}  // namespace fedhur
