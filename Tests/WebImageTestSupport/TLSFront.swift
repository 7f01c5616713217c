// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageTestBasics

/// A stunnel process that terminates TLS on a free port of 127.0.0.1 and forwards the plaintext to another port.
public final class TLSFront: Sendable {
    private static let executable = "/usr/bin/stunnel4"

    /// The reason to skip tests that need stunnel, or `nil` if stunnel and OpenSSL are installed.
    public static var missing: String? {
        for program in [executable, "/usr/bin/openssl"] where access(program, X_OK) != 0 {
            return "\(program) is not installed (Scripts/setup test)"
        }
        return nil
    }

    /// The port of the TLS server.
    public let port: UInt16
    private let directory: URL
    private let process: ChildProcess

    /// Starts stunnel in front of the port `target`. If `requiresClientCertificate` is `true`, clients need a
    /// certificate that the authority of `certificates` signed.
    public init(
        before target: UInt16, _ certificates: TestCertificates, _ kind: TestCertificates.Kind = .good,
        requiresClientCertificate: Bool = false
    ) throws {
        guard let port = LocalPorts.free(1).first else { throw TestProxy.Failure(description: "no free port") }
        self.port = port
        directory = FileManager.default.temporaryDirectory.appending(path: "webimage-front-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let check = requiresClientCertificate ? "verifyChain = yes\nCAfile = \(certificates.authority)\n" : ""
        let text = """
            foreground = yes
            pid =
            debug = 3
            [front]
            accept = 127.0.0.1:\(port)
            connect = 127.0.0.1:\(target)
            cert = \(certificates.certificate(kind))
            key = \(certificates.key)
            \(check)
            """
        try Data(text.utf8).write(to: directory.appending(path: "front.conf"))
        process = try ChildProcess(Self.executable, ["front.conf"], in: directory, output: "output.log")
        guard LocalPorts.waitUntilListening([port], process) else {
            let words = try? String(contentsOf: directory.appending(path: "output.log"), encoding: .utf8)
            throw TestProxy.Failure(description: "stunnel does not start: \(words ?? "")")
        }
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Ends the process and waits until it has ended.
    public func stop() { process.stop() }
}
