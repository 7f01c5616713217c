// SPDX-License-Identifier: MIT

import CFiles
import Foundation
import Glibc

/// Functions that report and release memory of this process.
package enum SystemMemory {
    /// Returns freed memory to the system.
    package static func trimHeap() { wi_trim_heap() }

    /// Makes the allocator return freed memory to the system soon, at the cost of some time per large block.
    ///
    /// The setting applies to the whole process, so only programs call this method, before they start threads.
    package static func prefersSmallHeap() { wi_limit_heap() }

    /// Returns the memory limit of this process in bytes.
    ///
    /// The limit is the size of the RAM or the smallest cgroup limit above this process, whichever is less. The cgroup
    /// limits are `memory.max` (cgroup v2) and `memory.limit_in_bytes` (cgroup v1).
    package static func limit() -> Int {
        let ram = physical()
        let groups = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
        return smallest(ram: ram, groups: groups) { try? String(contentsOfFile: $0, encoding: .utf8) }
    }

    /// Returns the size of the RAM in bytes.
    package static func physical() -> Int {
        let (bytes, overflow) = max(sysconf(Int32(_SC_PHYS_PAGES)), 1).multipliedReportingOverflow(
            by: max(sysconf(Int32(_SC_PAGESIZE)), 1))
        return overflow ? .max : bytes
    }

    /// Returns a limit in bytes. `groups` has the contents of `/proc/self/cgroup`, which are lines of the form
    /// `number:controllers:path`.
    static func smallest(ram: Int, groups: String, read: (String) -> String?) -> Int {
        var limit = ram
        for line in groups.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].hasPrefix("/") else { continue }
            let isUnified = parts[0] == "0" && parts[1].isEmpty
            guard isUnified || parts[1].split(separator: ",").contains("memory") else { continue }
            let base = isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory"
            let file = isUnified ? "memory.max" : "memory.limit_in_bytes"
            var path = parts[2].split(separator: "/")
            while true {
                let folder = ([base] + path.map(String.init)).joined(separator: "/")
                let text = read("\(folder)/\(file)")?.trimmingCharacters(in: .whitespacesAndNewlines)
                if let bytes = text.flatMap(Int.init), bytes > 0 { limit = min(limit, bytes) }
                if path.popLast() == nil { break }
            }
        }
        return limit
    }
}
