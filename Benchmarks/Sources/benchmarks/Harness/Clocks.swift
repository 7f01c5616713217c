// SPDX-License-Identifier: MIT

import Glibc

/// The clocks for measurements, in seconds.
enum Clocks {
    static func wall() -> Double { read(CLOCK_MONOTONIC) }
    /// Returns the processor time of all threads of the process.
    static func processCPU() -> Double { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The resident memory of the process, from `/proc/self`.
enum ResidentMemory {
    /// Returns the current resident memory, in bytes.
    static func now() -> Double { read("VmRSS:") }
    /// Returns the peak resident memory, in bytes.
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

/// The open file descriptors of the process.
enum OpenDescriptors {
    static func now() -> Double {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0.0
        while readdir(folder) != nil { count += 1 }
        // Subtract the entries `.` and `..` and the descriptor of this directory stream.
        return count - 3
    }
}
