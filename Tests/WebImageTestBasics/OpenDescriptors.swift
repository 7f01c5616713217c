// SPDX-License-Identifier: MIT

import Foundation

/// The open descriptors of this process, selected by their targets. A plain count would include the descriptors of
/// tests that run at the same time.
public enum OpenDescriptors {
    private static let directory = "/proc/self/fd"

    /// Returns the sockets that are connected to `port` of 127.0.0.1.
    public static func connections(toPort port: UInt16) -> [Int32] {
        all.filter { isConnection($0, port: port) }
    }

    /// Returns the open files in the directory `path` and its subdirectories, including files that were removed.
    public static func files(under path: String) -> [String] {
        all.compactMap(target).filter { $0.hasPrefix(path + "/") }
    }

    /// Returns the target of `descriptor` as the kernel reports it, `socket:[number]` or a path, or `nil` if the
    /// descriptor is closed.
    public static func target(_ descriptor: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(descriptor)")
    }

    private static var all: [Int32] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).compactMap { Int32($0) }
    }

    private static func isConnection(_ descriptor: Int32, port: UInt16) -> Bool {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let hasPeer = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
        }
        return hasPeer && address.sin_family == sa_family_t(AF_INET) && UInt16(bigEndian: address.sin_port) == port
    }
}
