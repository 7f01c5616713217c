// SPDX-License-Identifier: MIT

import Glibc

/// The file descriptors that one thread waits for: PSI triggers, changes of `memory.events`, and a pipe that wakes the
/// thread.
///
/// This value is confined to that thread.
struct PressureFileWatcher: ~Copyable {
    private struct Trigger {
        let file: Int32
        let level: MemoryPressureLevel
    }

    private var triggers: [Trigger] = []
    private var changes: Int32 = -1
    private let wakeUp: Int32
    /// Whether every existing PSI file has triggers. Otherwise, the files must be read periodically.
    private(set) var hearsStalls: Bool

    /// If `files` is `nil`, only the pipe is watched. The caller continues to own its read end `wakeUp`.
    init(_ files: PressureFiles?, wakeUp: Int32) {
        self.wakeUp = wakeUp
        hearsStalls = files?.acceptsTriggers ?? true
        guard let files else { return }
        for path in files.stalls where files.acceptsTriggers && access(path, R_OK) == 0 {
            // The windows of unprivileged triggers must be multiples of 2 s (Linux 6.4).
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
        // The trigger includes its terminating null byte.
        let written = line.utf8CString.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        if written > 0 { return file }
        close(file)
        return nil
    }

    /// Returns the level that the kernel signaled, or `.normal` if it signaled none. `nil` waits indefinitely.
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
            // The group was removed, or the kernel no longer accounts its pressure.
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
