// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Testing

/// A pseudoterminal. A process uses `slave` as its terminal, and the output is collected.
final class PseudoTerminal: Sendable {
    private let master: Int32
    /// The end of the terminal for the process.
    let slave: FileHandle

    init(columns: UInt16, rows: UInt16) throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var locked: Int32 = 0
        var number: UInt32 = 0
        // TIOCSPTLCK and TIOCGPTN (ioctl_tty(2)) replace unlockpt and ptsname.
        guard master >= 0, ioctl(master, 0x4004_5431, &locked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw POSIXError(.ENXIO)
        }
        let descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.ENXIO) }
        slave = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0 else { throw POSIXError(.ENOTTY) }
    }

    deinit { close(master) }

    /// Closes this process's copy of the slave, and returns the output in chunks. The stream ends when the last process
    /// closes the slave.
    func output() throws -> AsyncStream<[UInt8]> {
        try slave.close()
        return AsyncStream { continuation in
            DispatchQueue(label: "pseudo-terminal").async { [self] in
                var buffer = [UInt8](repeating: 0, count: 4_096)
                while true {
                    let count = buffer.withUnsafeMutableBytes { read(master, $0.baseAddress, $0.count) }
                    if count > 0 {
                        continuation.yield(Array(buffer[..<count]))
                    } else if count == 0 || errno != EINTR {
                        break
                    }
                }
                continuation.finish()
            }
        }
    }
}
