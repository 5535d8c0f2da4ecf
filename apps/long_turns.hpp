// How the system shares its cores between this process and others that compute.
#pragma once

namespace fedhur {
// Asks for few long turns instead of many short ones, for all threads that start from here on: each
// change of turns costs what the core's cache knew of the tables. Processes that wait for a person
// or a network have shorter turns, and come first as before. Where the system cannot do that,
// nothing changes.
void take_long_turns();
}  // namespace fedhur
