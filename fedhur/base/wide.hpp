// FEDHUR_WIDE before a function: compiled for the baseline and for AVX2, chosen when the program
// starts. For loops whose results are the same either way. Sanitizers do not like the indirect
// functions behind it, and clang builds are only for checking.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FEDHUR_WIDE __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define FEDHUR_WIDE
#endif
