// SPDX-License-Identifier: MIT

import Foundation

/// Descriptors of this process by what they are open on: a mere count also sees those of tests that run beside.
public enum OpenDescriptors {
    private static let folder = "/proc/self/fd"

    /// Sockets whose peer is `port` of 127.0.0.1.
    public static func connections(toPort port: UInt16) -> [Int32] {
        all.filter { isConnection($0, port: port) }
    }

    /// What lies, or lay until it was removed, in `path` or a folder within.
    public static func files(under path: String) -> [String] {
        all.compactMap(target).filter { $0.hasPrefix(path + "/") }
    }

    /// What `descriptor` is open on, as the kernel tells it: `socket:[number]` or a path. Nil when it is closed.
    public static func target(_ descriptor: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(descriptor)")
    }

    private static var all: [Int32] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { Int32($0) }
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
