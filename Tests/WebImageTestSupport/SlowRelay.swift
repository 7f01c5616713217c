// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageHTTPTesting
import WebImageTestBasics

/// A relay between clients and a port of 127.0.0.1. After a gate opens, it sends data to the clients one byte at a
/// time.
public final class SlowRelay: Sendable {
    /// The port that clients connect to.
    public let port: UInt16
    private let listener: ListeningSocket

    /// Starts a relay to the port `target`, which slows down when `slowdown` opens.
    public init(to target: UInt16, slowdown: TestGate, millisecondsPerByte: UInt32 = 20) throws {
        listener = try ListeningSocket()
        port = listener.port
        Thread { [listener] in
            while true {
                let client = listener.acceptOne()
                guard client >= 0 else { return }
                let server = Self.connect(to: target)
                guard server >= 0 else {
                    close(client)
                    continue
                }
                let ends = EndCounter(client, server)
                Thread {
                    Self.pass(from: client, to: server)
                    ends.end()
                }.start()
                Thread {
                    Self.pass(from: server, to: client, slowdown, millisecondsPerByte * 1_000)
                    ends.end()
                }.start()
            }
        }.start()
    }

    deinit { listener.stop() }

    private static func connect(to port: UInt16) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if !isConnected { close(descriptor) }
        return isConnected ? descriptor : -1
    }

    private static func pass(from source: Int32, to target: Int32, _ slowdown: TestGate? = nil, _ pause: UInt32 = 0) {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(source, &bytes, slowdown?.isOpen == true ? 1 : bytes.count, 0)
            guard count > 0 else { break }
            // The gate may have opened while `recv` waited.
            if slowdown?.isOpen != true {
                guard send(target, bytes, count, Int32(MSG_NOSIGNAL)) == count else { break }
                continue
            }
            for index in 0..<count {
                // The relay must send at this pace, so a signal can't replace the pause.
                usleep(pause)
                guard send(target, [bytes[index]], 1, Int32(MSG_NOSIGNAL)) == 1 else { return end(source, target) }
            }
        }
        end(source, target)
    }

    private static func end(_ source: Int32, _ target: Int32) {
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }
}

/// Closes two sockets when both threads that use them have finished.
private final class EndCounter: Sendable {
    private let sockets: [Int32]
    private let left = Shared(2)

    init(_ sockets: Int32...) { self.sockets = sockets }

    func end() {
        let isLast = left.update { left in
            left -= 1
            return left == 0
        }
        if isLast { for socket in sockets { close(socket) } }
    }
}
