// SPDX-License-Identifier: MIT
// Loads a shared library when a program uses it for the first time.
//
// The libraries of the traits bring up to 90 further libraries, whose relocation takes most of the start time of a
// process. A module of a trait therefore isn't linked to its library. It lists the functions that it calls, and calls
// them through a table:
//
//     #define FUNCTIONS(X) X(heif_context_alloc) X(heif_context_free)
//     WI_LIBRARY_TABLE(heif, FUNCTIONS)                              in a header of the module
//     WI_LIBRARY(heif, FUNCTIONS, "HEIF", "libheif.so.1")            in one of its sources
//     if (wi_library_load(&wi_heif_library)) … heif.heif_context_alloc()
#pragma once

/// The state of a library.
typedef struct {
    /// The file name that the dynamic linker searches (SONAME).
    const char *file;
    /// The names of the functions, and the table that receives their addresses.
    const char *const *names;
    void **addresses;
    unsigned count;
    /// 0 before the first use, 1 if the library is loaded, and 2 if it can't be loaded.
    int state;
    char message[200];
} wi_library;

/// Loads a library with all functions of its table, unless it's loaded already. Threads can call it at the same time.
///
/// Returns 1, or 0 if the library or one of the functions is missing. Then `message` describes the failure, and later
/// calls fail immediately.
int wi_library_load(wi_library *library);

#define WI_LIBRARY_MEMBER(function) __typeof__(&function) function;
#define WI_LIBRARY_NAME(function) #function,

/// Declares the table `name` with the functions of a list, and the library `wi_name_library`.
#define WI_LIBRARY_TABLE(name, functions)                                                                              \
    extern struct wi_##name##_functions { functions(WI_LIBRARY_MEMBER) } name __attribute__((visibility("hidden")));   \
    extern wi_library wi_##name##_library __attribute__((visibility("hidden")));

/// Defines the table and the library. A note in the program names the library for packaging tools, as specified in
/// https://uapi-group.org/specifications/specs/elf_dlopen_metadata/.
#define WI_LIBRARY(name, functions, feature, soname)                                                                   \
    WI_LIBRARY_WITHOUT_NOTE(name, functions, soname)                                                                   \
    WI_LIBRARY_NOTE(name, "[{\"feature\":\"" feature "\",\"priority\":\"required\",\"soname\":[\"" soname "\"]}]")

/// Defines the table and the library. Use it for a library that is a dependency of another one with a note.
#define WI_LIBRARY_WITHOUT_NOTE(name, functions, soname)                                                               \
    struct wi_##name##_functions name;                                                                                 \
    static const char *const name##_names[] = {functions(WI_LIBRARY_NAME)};                                            \
    wi_library wi_##name##_library = {soname, name##_names, (void **)&name, sizeof name / sizeof(void *), 0, ""};

#define WI_LIBRARY_NOTE(name, text)                                                                                    \
    __attribute__((used, retain, section(".note.dlopen"), aligned(4))) static const struct {                           \
        struct {                                                                                                       \
            unsigned name_size, text_size, type;                                                                       \
        } head;                                                                                                        \
        char owner[4];                                                                                                 \
        __attribute__((aligned(4))) char content[sizeof text];                                                         \
    } name##_note = {{4, sizeof text, 0x407c0c0a}, "FDO", text};
