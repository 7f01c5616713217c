// SPDX-License-Identifier: MIT

import Foundation

/// The kernel files about memory: PSI of the machine and of the control group, and the counters of the control group.
struct PressureFiles: Sendable {
    /// The PSI files, which are `/proc/pressure/memory` and the `memory.pressure` file of the control group.
    var stalls: [String]
    /// The directory of the cgroup v2, or `nil` if the process isn't in one.
    var group: String?
    /// Whether the PSI files accept triggers, with which the kernel wakes the thread. It's `false` for copies of such
    /// files.
    var acceptsTriggers = true

    var events: String? { group.map { $0 + "/memory.events" } }

    /// systemd may specify the PSI file in `MEMORY_PRESSURE_WATCH`. Returns `nil` for `/dev/null`, which means that
    /// pressure must not be watched.
    static func system(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        groups: String? = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)
    ) -> PressureFiles? {
        let named = environment["MEMORY_PRESSURE_WATCH"]
        if named == "/dev/null" { return nil }
        let unified = (groups ?? "").split(separator: "\n").first { $0.hasPrefix("0::/") }
        // The root control group is the machine itself.
        let path = unified.map { String($0.dropFirst(3)) }.flatMap { $0 == "/" ? nil : $0 }
        let group = path.map { "/sys/fs/cgroup" + $0 }
        let own = named.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? group.map { $0 + "/memory.pressure" }
        return PressureFiles(stalls: ["/proc/pressure/memory"] + (own.map { [$0] } ?? []), group: group)
    }

    func sample() -> PressureSample {
        var sample = PressureSample(stalls: stalls.map { Self.read($0).flatMap(Self.stall) })
        guard let group else { return sample }
        sample.events = Self.read(group + "/memory.events").map(Self.events)
        sample.limit = Self.read(group + "/memory.max").flatMap(Self.number)
        sample.throttle = Self.read(group + "/memory.high").flatMap(Self.number)
        guard let current = Self.read(group + "/memory.current").flatMap(Self.number) else { return sample }
        let unused = Self.read(group + "/memory.stat").flatMap { Self.values($0)["inactive_file"] } ?? 0
        sample.workingSet = current > unused ? current - unused : 0
        return sample
    }

    private static func read(_ path: String) -> String? {
        (try? Data(contentsOf: URL(fileURLWithPath: path))).map { String(decoding: $0.prefix(1 << 16), as: UTF8.self) }
    }

    /// Returns the number in a file that contains only a number, or `nil` for `max`.
    static func number(_ text: String) -> UInt64? { UInt64(text.trimmingCharacters(in: .whitespacesAndNewlines)) }

    /// Parses lines of the form `name number`.
    static func values(_ text: String) -> [Substring: UInt64] {
        text.split(separator: "\n").reduce(into: [:]) { fields, line in
            let words = line.split(separator: " ")
            if words.count == 2, let value = UInt64(words[1]) { fields[words[0]] = value }
        }
    }

    static func events(_ text: String) -> PressureSample.Events {
        let fields = values(text)
        return PressureSample.Events(
            high: fields["high"] ?? 0, max: fields["max"] ?? 0,
            oom: max(fields["oom"] ?? 0, fields["oom_kill"] ?? 0))
    }

    /// Parses lines of the form `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the same for `full`.
    static func stall(_ text: String) -> PressureSample.Stall? {
        var totals: [Substring: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let kind = words.first, let total = words.last, total.hasPrefix("total=") {
                totals[kind] = UInt64(total.dropFirst(6))
            }
        }
        return totals["some"].map { PressureSample.Stall(some: $0, full: totals["full"] ?? 0) }
    }
}
