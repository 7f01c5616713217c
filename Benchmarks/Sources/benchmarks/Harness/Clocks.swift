// SPDX-License-Identifier: MIT

import Glibc

/// The clocks a benchmark reads, in seconds.
enum Clocks {
    static func wall() -> Double { read(CLOCK_MONOTONIC) }
    /// Time all threads of this process have spent on a core.
    static func processCPU() -> Double { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Memory of this process, from `/proc/self`.
enum ResidentMemory {
    /// Bytes in memory now.
    static func now() -> Double { read("VmRSS:") }
    /// Most bytes that were in memory at once.
    static func peak() -> Double { read("VmHWM:") }

    private static func read(_ name: String) -> Double {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split {
                $0 == " " || $0 == "\t"
            }
            if words.count > 1, words[0] == name { return (Double(words[1]) ?? 0) * 1_024 }
        }
        return 0
    }
}

/// Descriptors that this process has open.
enum OpenDescriptors {
    static func now() -> Double {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0.0
        while readdir(folder) != nil { count += 1 }
        // Itself, its parent, and the one that reads.
        return count - 3
    }
}
