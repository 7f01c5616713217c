// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// An nginx of one's own in a temporary folder, on free ports of 127.0.0.1: HTTP/1.1, and HTTP/2 over TLS with a
/// port for every kind of certificate.
public final class Nginx: Sendable {
    /// What could not be done.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason, with nginx's words.
        public let description: String
    }

    /// Why tests with nginx are skipped; nil where it is there.
    public static var missing: String? {
        for program in [executable, "/usr/bin/openssl"] where access(program, X_OK) != 0 {
            return "\(program) is not installed (Scripts/setup test)"
        }
        return nil
    }

    private static let executable = "/usr/sbin/nginx"

    /// Its folder; `site` in it is served.
    public let folder: URL
    /// Certificates of the TLS ports.
    public let certificates: TestCertificates
    private let process: ChildProcess
    private let plainPort: UInt16
    private let securePorts: [TestCertificates.Kind: UInt16]

    /// Starts a server of `files` (names to contents). Whatever lies under `/slow/` comes with 10 kB/s.
    public init(files: [String: Data]) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "webimage-nginx-\(UUID())")
        let site = folder.appending(path: "site")
        try FileManager.default.createDirectory(at: site.appending(path: "slow"), withIntermediateDirectories: true)
        for (name, bytes) in files { try bytes.write(to: site.appending(path: name)) }
        certificates = try TestCertificates(in: folder)
        let ports = Self.freePorts(TestCertificates.Kind.allCases.count + 1)
        guard let last = ports.last, ports.count == TestCertificates.Kind.allCases.count + 1 else {
            throw Failure(description: "no free ports")
        }
        plainPort = last
        securePorts = Dictionary(uniqueKeysWithValues: zip(TestCertificates.Kind.allCases, ports))
        let configuration = Self.configuration(certificates, plainPort, securePorts)
        try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
        process = try ChildProcess(
            Self.executable, ["-p", folder.path(), "-c", "nginx.conf", "-e", "error.log"], in: folder,
            output: "output.log")
        try waitUntilListening()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// A URL over plain HTTP/1.1.
    public func url(_ path: String) -> URL { url("http", plainPort, path) }

    /// A URL over TLS, with HTTP/2 offered.
    public func secureURL(_ path: String, _ kind: TestCertificates.Kind = .good) -> URL {
        url("https", securePorts[kind] ?? 0, path)
    }

    private func url(_ scheme: String, _ port: UInt16, _ path: String) -> URL {
        URL(string: "\(scheme)://localhost:\(port)\(path)") ?? URL(filePath: "/")
    }

    /// Ends the process; returns when it has ended.
    public func stop() {
        process.stop()
    }

    /// Connection number, protocol and target of each request served. Complete after ``stop()``.
    public func log() throws -> [(connection: String, version: String, target: String)] {
        try String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8).split(separator: "\n").map {
            let words = $0.split(separator: " ")
            return (String(words[0]), String(words[1]), String(words[2]))
        }
    }

    /// Waits until it listens, which nginx does not tell.
    private func waitUntilListening() throws {
        while !Self.answers(plainPort) {
            guard process.isRunning else {
                let words = try? String(contentsOf: folder.appending(path: "error.log"), encoding: .utf8)
                throw Failure(description: "nginx does not start: \(words ?? "")")
            }
            usleep(2_000)
        }
    }

    private static func configuration(
        _ certificates: TestCertificates, _ plainPort: UInt16, _ securePorts: [TestCertificates.Kind: UInt16]
    ) -> String {
        var text = """
            daemon off;
            master_process off;
            pid nginx.pid;
            events { worker_connections 1024; }
            http {
                log_format short '$connection $server_protocol $request_uri';
                access_log access.log short;
                client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4;
                scgi_temp_path t5;
                root site;
                keepalive_requests 100000;
                ssl_certificate_key \(certificates.key);
                server { listen 127.0.0.1:\(plainPort); location /slow/ { limit_rate 10k; } }

            """
        for (kind, port) in securePorts.sorted(by: { $0.value < $1.value }) {
            text += "server { listen 127.0.0.1:\(port) ssl http2; ssl_certificate \(certificates.certificate(kind));"
            text += " location /slow/ { limit_rate 10k; } }\n"
        }
        return text + "}\n"
    }

    /// Ports that were free a moment ago, all different.
    private static func freePorts(_ count: Int) -> [UInt16] {
        var sockets: [Int32] = []
        defer { for descriptor in sockets { close(descriptor) } }
        return (0..<count).compactMap { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            sockets.append(descriptor)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            var address = loopback(port: 0)
            let isNamed = withName(&address) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
            return isNamed ? UInt16(bigEndian: address.sin_port) : nil
        }
    }

    private static func answers(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: port)
        return withName(&address) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
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
