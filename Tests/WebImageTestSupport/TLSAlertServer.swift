// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageTestBasics

/// A server, run by `openssl s_server`, that requires a client certificate and reports a missing one with a TLS alert.
/// nginx doesn't send such alerts.
public final class TLSAlertServer: Sendable {
    /// The certificates of the server. Clients need a certificate that their authority signed.
    public let certificates: TestCertificates
    private let directory: URL
    private let port: UInt16
    private let process: ChildProcess

    /// The URL of the server.
    public var url: URL { URL(string: "https://localhost:\(port)/") ?? URL(filePath: "/") }

    /// Starts the server with options such as `-tls1_3`.
    public init(_ options: [String]) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "webimage-alerts-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificates = try TestCertificates(in: directory)
        guard let port = LocalPorts.free(1).first else { throw TestProxy.Failure(description: "no free port") }
        self.port = port
        let arguments = [
            "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificates.certificate(.good), "-key",
            certificates.key, "-CAfile", certificates.authority, "-www", "-quiet",
        ]
        process = try ChildProcess("/usr/bin/openssl", arguments + options, in: directory, output: "server.log")
        guard LocalPorts.waitUntilListening([port], process) else {
            throw TestProxy.Failure(description: "openssl s_server does not start")
        }
    }

    deinit {
        process.stop()
        try? FileManager.default.removeItem(at: directory)
    }
}
