// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageTestBasics

/// Ports of 127.0.0.1 for servers that tests start.
package enum LocalPorts {
    /// The ports below the range that the kernel assigns to connections and to servers without a fixed port
    /// (`net.ipv4.ip_local_port_range`). This way, neither takes a port between its selection and the start of the
    /// server.
    private static let range: Range<UInt16> = 20_000..<32_768
    /// The ports that tests of this process use or used.
    private static let chosen = Lock<Set<UInt16>>([])

    /// Returns different ports that are free.
    package static func free(_ count: Int) -> [UInt16] {
        chosen.withLock { chosen in
            var ports: [UInt16] = []
            for port in range.shuffled() where ports.count < count && !chosen.contains(port) && isFree(port) {
                ports.append(port)
                chosen.insert(port)
            }
            return ports
        }
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: port)
        return withName(&address) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }

    /// Returns a Boolean value that indicates whether a server listens on a port of 127.0.0.1.
    static func isListening(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: port)
        return withName(&address) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }

    /// Blocks until a server listens on all `ports`. Returns `false` if `process`, which runs the server, ends first.
    ///
    /// Neither these servers nor the kernel report the moment at which a port starts to listen. So this function repeats
    /// the attempt to connect, and only the end of the process ends it early.
    package static func waitUntilListening(_ ports: [UInt16], _ process: ChildProcess) -> Bool {
        for port in ports {
            while !isListening(port) {
                guard process.isRunning else { return false }
                usleep(2_000)
            }
        }
        return true
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func withName<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
}
