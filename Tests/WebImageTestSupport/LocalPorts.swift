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
            let excluded = chosen.union(used())
            let ports = Array(range.shuffled().lazy.filter { !excluded.contains($0) }.prefix(count))
            chosen.formUnion(ports)
            return ports
        }
    }

    /// Returns the local ports of all TCP sockets, including closed connections that still occupy their port.
    ///
    /// An attempt to bind a socket would be simpler, but a process that another thread starts at that moment inherits the
    /// socket until it runs its program. The port would then be occupied for the server under test.
    private static func used() -> Set<UInt16> {
        var ports: Set<UInt16> = []
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            // A kernel without IPv6 has no second table.
            guard let text = try? String(contentsOfFile: table, encoding: .utf8) else { continue }
            // Each line after the title begins with a number and the local address, such as "0: 0100007F:1F90".
            for line in text.split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ", maxSplits: 2)
                guard fields.count == 3, let port = fields[1].split(separator: ":").last else { continue }
                if let number = UInt16(port, radix: 16) { ports.insert(number) }
            }
        }
        return ports
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
