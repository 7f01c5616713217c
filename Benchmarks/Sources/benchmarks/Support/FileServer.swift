// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// An nginx server of Debian on a free port of 127.0.0.1 that serves the files of its own directory. It stops when the
/// object is deallocated.
final class FileServer: Sendable {
    private static let program = "/usr/sbin/nginx"

    let names: [String]
    private let port: UInt16
    private let id: pid_t

    /// Starts a server of `files`, whose names are numbers.
    init(_ files: [Data], settings: Settings) throws {
        guard access(Self.program, X_OK) == 0 else {
            throw Skipped(reason: "\(Self.program) isn’t installed (Scripts/setup benchmarks)")
        }
        let folder = try settings.makeFolder("server")
        try FileManager.default.createDirectory(atPath: folder + "/site", withIntermediateDirectories: true)
        for (index, bytes) in files.enumerated() { try bytes.write(to: URL(filePath: "\(folder)/site/\(index).jpg")) }
        names = files.indices.map { "\($0).jpg" }
        port = try Self.freePort()
        try Data(Self.configuration(port).utf8).write(to: URL(filePath: folder + "/nginx.conf"))
        id = try Self.start([Self.program, "-p", folder, "-c", "nginx.conf", "-e", "error.log"])
        for _ in 0..<2_000 where !isListening() { usleep(2_000) }
        guard isListening() else { throw Skipped(reason: "nginx didn’t start (see \(folder)/error.log)") }
    }

    deinit {
        kill(id, SIGKILL)
        var status: Int32 = 0
        waitpid(id, &status, 0)
    }

    var urls: [String] { names.map { "http://127.0.0.1:\(port)/\($0)" } }

    private static func configuration(_ port: UInt16) -> String {
        """
        daemon off; master_process off; pid nginx.pid;
        events { worker_connections 1024; }
        http {
            access_log off; sendfile on; keepalive_requests 1000000; root site;
            types { image/jpeg jpg; }
            client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
            server { listen 127.0.0.1:\(port); }
        }

        """
    }

    private static func start(_ words: [String]) throws -> pid_t {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for word in arguments { free(word) } }
        arguments.append(nil)
        var id: pid_t = 0
        let code = posix_spawn(&id, words[0], nil, nil, arguments, environ)
        guard code == 0 else { throw Skipped(reason: "can’t start \(words[0]): errno \(code)") }
        return id
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withName(&address) {
            bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
        guard isNamed else { throw Skipped(reason: "no port is available") }
        return UInt16(bigEndian: address.sin_port)
    }

    private func isListening() -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = Self.loopback(port)
        return Self.withName(&address) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
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

/// Calls `body` with C strings for `texts`, which are valid during the call.
func withCTexts<Result>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies.map { $0.map { UnsafePointer($0) } })
}
