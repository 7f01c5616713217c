// SPDX-License-Identifier: MIT

import Glibc

/// The descriptors one thread sleeps on: PSI triggers, changes of `memory.events`, and a pipe to wake it. Used by that
/// thread alone, except for ``wake(_:)``.
struct PressureWatch: ~Copyable {
    private struct Trigger {
        let file: Int32
        let level: MemoryPressureLevel
    }

    private var triggers: [Trigger] = []
    private var changes: Int32 = -1
    private let wakeUp: Int32
    /// Whether the kernel wakes us under pressure in every PSI file there is; else they have to be read from time to time.
    private(set) var hearsStalls: Bool

    /// `wakeUp` is the end of a pipe that is read; it stays the caller's.
    init(_ files: PressureFiles?, wakeUp: Int32) {
        self.wakeUp = wakeUp
        hearsStalls = files?.takesTriggers ?? true
        guard let files else { return }
        for path in files.stalls where files.takesTriggers && access(path, R_OK) == 0 {
            // Windows of unprivileged triggers are multiples of 2 s (Linux 6.4).
            let lines: [(String, MemoryPressureLevel)] = [
                ("some 150000 2000000", .low), ("some 400000 2000000", .medium), ("full 200000 2000000", .critical),
            ]
            for (line, level) in lines {
                if let file = Self.open(path, line) {
                    triggers.append(Trigger(file: file, level: level))
                } else {
                    hearsStalls = false
                }
            }
        }
        guard let events = files.events else { return }
        changes = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        if changes >= 0, inotify_add_watch(changes, events, UInt32(IN_MODIFY)) < 0 {
            close(changes)
            changes = -1
        }
    }

    deinit {
        for trigger in triggers { close(trigger.file) }
        if changes >= 0 { close(changes) }
    }

    private static func open(_ path: String, _ line: String) -> Int32? {
        let file = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        // The zero at the end belongs to the line.
        let written = line.utf8CString.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        if written > 0 { return file }
        close(file)
        return nil
    }

    /// Sleeps until something happens or `seconds` are over (nil: for as long as it takes); the level that the kernel
    /// told, `.normal` where it told none.
    mutating func wait(seconds: Double?) -> MemoryPressureLevel {
        var entries = triggers.map { pollfd(fd: $0.file, events: Int16(POLLPRI), revents: 0) }
        entries.append(pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0))
        entries.append(pollfd(fd: changes, events: Int16(POLLIN), revents: 0))
        let milliseconds = seconds.map { Int32(min(max(0, ($0 * 1_000).rounded(.up)), 3_600_000)) } ?? -1
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return .normal }
        Self.drain(wakeUp)
        if changes >= 0 { Self.drain(changes) }
        var level = MemoryPressureLevel.normal
        var gone: Set<Int32> = []
        for (trigger, entry) in zip(triggers, entries) {
            // The group was removed, or pressure is no longer accounted.
            if entry.revents & Int16(POLLERR | POLLNVAL) != 0 {
                gone.insert(trigger.file)
            } else if entry.revents & Int16(POLLPRI) != 0 {
                level = max(level, trigger.level)
            }
        }
        for file in gone { close(file) }
        if !gone.isEmpty {
            triggers.removeAll { gone.contains($0.file) }
            hearsStalls = false
        }
        return level
    }

    private static func drain(_ file: Int32) {
        var buffer = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        withUnsafeMutableBytes(of: &buffer) { bytes in
            while read(file, bytes.baseAddress, bytes.count) > 0 {}
        }
    }
}
