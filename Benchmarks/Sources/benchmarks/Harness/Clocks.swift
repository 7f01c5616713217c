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
    static func now() -> Double {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
            separator: " ")
        guard words.count > 1, let pages = Double(words[1]) else { return 0 }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }
}
