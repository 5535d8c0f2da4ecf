// How the process treats memory that it has freed.
#pragma once

namespace fedhur {
// Rounds free and take the same large tables again and again. By default the C library gives each
// back to the system, which then zeroes it anew; from here on this process keeps it. For the start
// of a program that trains.
void keep_freed_memory();
}  // namespace fedhur
