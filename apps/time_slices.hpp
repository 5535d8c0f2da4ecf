// How the system shares its cores between this process and others that compute.
#pragma once

namespace fedhur {
// Asks for few long turns instead of many short ones, for all threads that start from here on:
// several that compute on one core then take less time each (docs/results/federation.md). Where the
// system cannot do that, nothing changes.
void take_long_turns();
}  // namespace fedhur
