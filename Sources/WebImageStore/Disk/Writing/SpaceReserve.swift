// SPDX-License-Identifier: MIT

import WebImageCore

/// The free space of the file system, and the part of it that the cache leaves to others.
final class SpaceReserve {
    private let state: DiskCacheState
    /// The number of free bytes, which is unlimited until it has been read.
    private var free = Int.max
    private var floor = 0

    init(_ state: DiskCacheState) { self.state = state }

    func read() {
        guard let space = try? state.files.freeSpace(at: state.layout.root) else { return }
        free = space.free
        let fraction = state.configuration.minimumFreeFraction
        floor = Int(saturating: Double(space.total) * min(max(fraction.isNaN ? 0 : fraction, 0), 1))
    }

    /// Before this method returns `false`, it queries the file system because other processes may have freed space.
    func hasRoom(for count: Int) -> Bool {
        if free - count >= floor { return true }
        read()
        return free - count >= floor
    }

    /// Returns the number of bytes that are missing if `count` bytes are written. It's negative if there's enough space.
    func shortage(for count: Int = 0) -> Int { floor + count - free }

    /// Records bytes that the writer freed, or, with a negative number, wrote.
    func add(_ count: Int) {
        if free != .max { free += count }
    }
}
