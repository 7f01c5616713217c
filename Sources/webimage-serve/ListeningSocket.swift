// SPDX-License-Identifier: MIT

#if Server
    import Foundation
    import Glibc

    /// A socket that accepts connections.
    struct ListeningSocket {
        /// The reason why the socket can't be opened.
        struct Failure: Error, CustomStringConvertible {
            /// A message that names the address and the problem.
            let description: String
        }

        let descriptor: Int32
        /// The address for the log: `HOST:PORT`, `unix:PATH`, or `systemd`.
        let address: String

        /// Takes the socket of a systemd socket unit (sd_listen_fds(3)). Returns `nil` if there's none.
        static func inherited(_ environment: [String: String]) throws -> ListeningSocket? {
            // A process can inherit the variables from a service that isn't the recipient of the sockets.
            guard let count = environment["LISTEN_FDS"], environment["LISTEN_PID"] == "\(getpid())" else { return nil }
            guard count == "1" else {
                throw Failure(description: "systemd passed \(count) sockets (use one ListenStream in the socket unit)")
            }
            var isListening: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            guard getsockopt(3, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening == 1 else {
                throw Failure(description: "the socket of systemd doesn’t listen (set Accept=no in the socket unit)")
            }
            _ = fcntl(3, F_SETFD, FD_CLOEXEC)
            _ = fcntl(3, F_SETFL, fcntl(3, F_GETFL) | O_NONBLOCK)
            return ListeningSocket(descriptor: 3, address: "systemd")
        }

        /// Opens a socket at `HOST:PORT`, `[HOST]:PORT`, `:PORT`, or `unix:PATH`.
        static func open(_ text: String) throws -> ListeningSocket {
            if text.hasPrefix("unix:") { return try openUnix(String(text.dropFirst("unix:".count))) }
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
                throw Failure(description: "“\(text)” isn’t an address (use HOST:PORT, :PORT, or unix:PATH)")
            }
            var host = text[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
            var list: UnsafeMutablePointer<addrinfo>?
            let code = getaddrinfo(host.isEmpty ? nil : String(host), "\(port)", &hints, &list)
            guard code == 0 else {
                throw Failure(description: "“\(text)” can’t be resolved (\(String(cString: gai_strerror(code))))")
            }
            defer { freeaddrinfo(list) }
            var entries: [addrinfo] = []
            var next = list
            while let entry = next {
                entries.append(entry.pointee)
                next = entry.pointee.ai_next
            }
            // An IPv6 socket also accepts IPv4 connections if no host is named.
            entries.sort { $0.ai_family == AF_INET6 && $1.ai_family != AF_INET6 }
            for entry in entries {
                guard let name = entry.ai_addr, let descriptor = bound(name, entry.ai_addrlen, entry.ai_family) else {
                    continue
                }
                return ListeningSocket(descriptor: descriptor, address: "\(host):\(Self.port(of: descriptor))")
            }
            throw Failure(description: "can’t listen on “\(text)” (\(String(cString: strerror(errno))))")
        }

        private static func bound(_ name: UnsafePointer<sockaddr>, _ size: socklen_t, _ family: Int32) -> Int32? {
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let descriptor = socket(family, type, 0)
            guard descriptor >= 0 else { return nil }
            var (one, zero): (Int32, Int32) = (1, 0)
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
            if family == AF_INET6 {
                setsockopt(
                    descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &zero, socklen_t(MemoryLayout<Int32>.size))
            }
            guard bind(descriptor, name, size) == 0, listen(descriptor, SOMAXCONN) == 0 else {
                let code = errno
                close(descriptor)
                errno = code
                return nil
            }
            return descriptor
        }

        private static func openUnix(_ path: String) throws -> ListeningSocket {
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            let capacity = MemoryLayout.size(ofValue: name.sun_path)
            guard !path.isEmpty, path.utf8.count < capacity else {
                throw Failure(
                    description: "the path of the socket has \(path.utf8.count) bytes (the limit is \(capacity - 1))")
            }
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let descriptor = withUnsafePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name -> Int32? in
                    // The socket of a server that ended still exists. A running server accepts the connection.
                    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
                    defer { close(probe) }
                    if connect(probe, name, size) != 0, errno == ECONNREFUSED { unlink(path) }
                    return bound(name, size, AF_UNIX)
                }
            }
            guard let descriptor else {
                throw Failure(description: "can’t listen on “unix:\(path)” (\(String(cString: strerror(errno))))")
            }
            chmod(path, 0o660)
            return ListeningSocket(descriptor: descriptor, address: "unix:\(path)")
        }

        private static func port(of descriptor: Int32) -> UInt16 {
            var name = sockaddr_storage()
            var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return withUnsafeMutablePointer(to: &name) { pointer in
                _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
                // The port is in the same place for IPv4 and IPv6.
                return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
            }
        }
    }
#endif
