// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageTestBasics

/// A proxy server on a free port of 127.0.0.1, run by tinyproxy for HTTP or by microsocks for SOCKS5.
public final class TestProxy: Sendable {
    /// A kind of proxy, with the path of its program.
    public enum Kind: String, Sendable {
        /// An HTTP proxy that supports CONNECT.
        case http = "/usr/bin/tinyproxy"
        /// A SOCKS5 proxy.
        case socks = "/usr/bin/microsocks"

        /// The reason to skip tests that need the proxy, or `nil` if its program is installed.
        public var missing: String? {
            access(rawValue, X_OK) == 0 ? nil : "\(rawValue) is not installed (Scripts/setup test)"
        }
    }

    /// The error that is thrown when the proxy can't be started.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason.
        public let description: String
    }

    /// The port of the proxy.
    public let port: UInt16
    private let directory: URL
    private let process: ChildProcess

    /// Starts a proxy. If `user` isn't `nil`, clients must authenticate with `user` and `password`.
    public init(_ kind: Kind, user: String? = nil, password: String = "") throws {
        guard let port = LocalPorts.free(1).first else { throw Failure(description: "no free port") }
        self.port = port
        directory = FileManager.default.temporaryDirectory.appending(path: "webimage-proxy-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var arguments: [String]
        switch kind {
        case .http:
            let basic = user.map { "BasicAuth \($0) \(password)\n" } ?? ""
            let text = "Port \(port)\nListen 127.0.0.1\nTimeout 60\nMaxClients 50\nAllow 127.0.0.1\n\(basic)"
            try Data(text.utf8).write(to: directory.appending(path: "proxy.conf"))
            arguments = ["-d", "-c", "proxy.conf"]
        case .socks:
            arguments = ["-i", "127.0.0.1", "-p", "\(port)"]
            if let user { arguments += ["-u", user, "-P", password] }
        }
        process = try ChildProcess(kind.rawValue, arguments, in: directory, output: "output.log")
        guard LocalPorts.waitUntilListening([port], process) else {
            let words = try? String(contentsOf: directory.appending(path: "output.log"), encoding: .utf8)
            throw Failure(description: "\(kind.rawValue) does not start: \(words ?? "")")
        }
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Ends the process and waits until it has ended.
    public func stop() { process.stop() }
}
