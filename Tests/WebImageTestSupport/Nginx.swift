// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageTestBasics

/// An nginx server in a temporary directory, on free ports of 127.0.0.1.
///
/// The server offers HTTP/1.1 without TLS, and HTTP/2 over TLS on one port for each kind of certificate.
public final class Nginx: Sendable {
    /// The error that is thrown when the server can't be started.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason, which includes the messages of nginx.
        public let description: String
    }

    /// The reason to skip tests that need nginx, or `nil` if nginx and OpenSSL are installed.
    public static var missing: String? {
        for program in [executable, "/usr/bin/openssl"] where access(program, X_OK) != 0 {
            return "\(program) is not installed (Scripts/setup test)"
        }
        return nil
    }

    private static let executable = "/usr/sbin/nginx"

    /// The working directory of the server. The server publishes its subdirectory `site`.
    public let directory: URL
    /// The certificates of the TLS ports.
    public let certificates: TestCertificates
    private let process: ChildProcess
    private let plainPort: UInt16
    private let securePorts: [TestCertificates.Kind: UInt16]

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - files: The files to serve, as names and contents. The server sends files in `/slow/` at 10 kB/s.
    ///   - settings: Directives for every server block. Relative paths refer to ``directory``.
    ///   - secureSettings: Directives for the server blocks with TLS.
    public init(files: [String: Data], settings: String = "", secureSettings: String = "") throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "webimage-nginx-\(UUID())")
        let site = directory.appending(path: "site")
        try FileManager.default.createDirectory(at: site.appending(path: "slow"), withIntermediateDirectories: true)
        for (name, bytes) in files { try bytes.write(to: site.appending(path: name)) }
        certificates = try TestCertificates(in: directory)
        let ports = LocalPorts.free(TestCertificates.Kind.allCases.count + 1)
        guard let last = ports.last, ports.count == TestCertificates.Kind.allCases.count + 1 else {
            throw Failure(description: "no free ports")
        }
        plainPort = last
        securePorts = Dictionary(uniqueKeysWithValues: zip(TestCertificates.Kind.allCases, ports))
        let configuration = Self.configuration(
            certificates, plainPort, securePorts, settings: settings, secureSettings: secureSettings)
        try Data(configuration.utf8).write(to: directory.appending(path: "nginx.conf"))
        process = try ChildProcess(
            Self.executable, ["-p", directory.path(), "-c", "nginx.conf", "-e", "error.log"], in: directory,
            output: "output.log")
        try waitUntilListening()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Returns a URL that uses HTTP/1.1 without TLS.
    public func url(_ path: String) -> URL { url("http", plainPort, path) }

    /// Returns a URL that uses TLS and offers HTTP/2.
    public func secureURL(_ path: String, _ kind: TestCertificates.Kind = .good) -> URL {
        url("https", securePorts[kind] ?? 0, path)
    }

    private func url(_ scheme: String, _ port: UInt16, _ path: String) -> URL {
        URL(string: "\(scheme)://localhost:\(port)\(path)") ?? URL(filePath: "/")
    }

    /// Ends the process and waits until it has ended.
    public func stop() {
        process.stop()
    }

    /// Returns the connection number, protocol, and target of each request that the server handled. The log is complete
    /// after ``stop()``.
    public func log() throws -> [(connection: String, version: String, target: String)] {
        try String(contentsOf: directory.appending(path: "access.log"), encoding: .utf8).split(separator: "\n").map {
            let words = $0.split(separator: " ")
            return (String(words[0]), String(words[1]), String(words[2]))
        }
    }

    /// Waits until nginx listens on every port. nginx opens the ports one after another.
    private func waitUntilListening() throws {
        guard LocalPorts.waitUntilListening([plainPort] + securePorts.values, process) else {
            let words = try? String(contentsOf: directory.appending(path: "error.log"), encoding: .utf8)
            throw Failure(description: "nginx does not start: \(words ?? "")")
        }
    }

    private static func configuration(
        _ certificates: TestCertificates, _ plainPort: UInt16, _ securePorts: [TestCertificates.Kind: UInt16],
        settings: String, secureSettings: String
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
                server { listen 127.0.0.1:\(plainPort); \(settings) location /slow/ { limit_rate 10k; } }

            """
        for (kind, port) in securePorts.sorted(by: { $0.value < $1.value }) {
            text += "server { listen 127.0.0.1:\(port) ssl http2; ssl_certificate \(certificates.certificate(kind));"
            text += " \(settings) \(secureSettings) location /slow/ { limit_rate 10k; } }\n"
        }
        return text + "}\n"
    }
}
