// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImage
import WebImageTestSupport

/// The error that is thrown when a server of the tests can't be started.
struct ServerStartError: Error, CustomStringConvertible {
    let description: String
}

/// A memcached process on a port of 127.0.0.1.
final class MemcachedProcess: Sendable {
    /// The reason to skip tests that need memcached, or `nil` if it's installed.
    static var missing: String? {
        access(executable, X_OK) == 0 ? nil : "\(executable) is not installed (Scripts/setup test)"
    }

    private static let executable = "/usr/bin/memcached"
    private let process: ChildProcess
    let port: UInt16

    /// Starts a server on a free port or on the given one, and waits until it accepts connections.
    init(port: UInt16? = nil) throws {
        guard let port = port ?? LocalPorts.free(1).first else {
            throw ServerStartError(description: "no free port")
        }
        self.port = port
        process = try ChildProcess(
            Self.executable, ["-l", "127.0.0.1", "-p", "\(port)", "-U", "0", "-m", "64", "-t", "1", "-u", "nobody"],
            in: FileManager.default.temporaryDirectory, output: "webimage-memcached-\(port).log")
        guard LocalPorts.waitUntilListening([port], process) else {
            throw ServerStartError(description: "memcached doesn't start on port \(port)")
        }
    }

    deinit { stop() }

    /// Kills the process.
    func stop() {
        process.send(SIGCONT)
        process.stop()
    }

    /// Stops the process without ending it, so its connections stay open but nothing is read.
    func pause() { process.pause() }
    /// Continues the process after ``pause()``.
    func resume() { process.send(SIGCONT) }
}

/// A TCP server on 127.0.0.1 that sends the same bytes to each connection after its first bytes, and reads everything.
final class RubbishServer: Sendable {
    let port: UInt16
    private let socketDescriptor: Int32

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - port: The port, or 0 for a port that the kernel selects when the socket is bound, so that no other socket can
    ///     take it before.
    ///   - answer: The bytes to send after each received block.
    ///   - pause: The time between single bytes in microseconds, or `nil` to send all bytes together.
    init(port: UInt16 = 0, answer: [UInt8], pause: UInt32? = nil) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound, listen(descriptor, 64) == 0 else {
            let code = errno
            close(descriptor)
            throw ServerStartError(description: "port \(port): errno \(code)")
        }
        self.port = UInt16(bigEndian: address.sin_port)
        socketDescriptor = descriptor
        Thread.detachNewThread {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { Self.serve(connection, answer, pause) }
            }
        }
    }

    deinit { stop() }

    func stop() { shutdown(socketDescriptor, Int32(SHUT_RDWR)) }

    private static func serve(_ connection: Int32, _ answer: [UInt8], _ pause: UInt32?) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        reading: while recv(connection, &buffer, buffer.count, 0) > 0 {
            guard let pause else {
                guard send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) > 0 else { break }
                continue
            }
            for byte in answer {
                guard [byte].withUnsafeBytes({ send(connection, $0.baseAddress, 1, Int32(MSG_NOSIGNAL)) }) == 1
                else { break reading }
                // The server under test is slow by definition: each byte arrives after a pause of real time.
                usleep(pause)
            }
        }
        close(connection)
    }
}
