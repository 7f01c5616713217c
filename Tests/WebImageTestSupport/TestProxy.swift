// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A proxy of one's own on a free port of 127.0.0.1: tinyproxy for HTTP, microsocks for SOCKS5.
public final class TestProxy: Sendable {
    /// Which program.
    public enum Kind: String, Sendable {
        /// HTTP and CONNECT.
        case http = "/usr/bin/tinyproxy"
        /// SOCKS5.
        case socks = "/usr/bin/microsocks"

        /// Why tests with it are skipped; nil where it is there.
        public var missing: String? {
            access(rawValue, X_OK) == 0 ? nil : "\(rawValue) is not installed (Scripts/setup test)"
        }
    }

    /// What could not be done.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason.
        public let description: String
    }

    /// Its port.
    public let port: UInt16
    private let folder: URL
    private let process: ChildProcess

    /// Starts a proxy. With a user it wants that user and `password`.
    public init(_ kind: Kind, user: String? = nil, password: String = "") throws {
        guard let port = LocalPorts.free(1).first else { throw Failure(description: "no free port") }
        self.port = port
        folder = FileManager.default.temporaryDirectory.appending(path: "webimage-proxy-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var arguments: [String]
        switch kind {
        case .http:
            let basic = user.map { "BasicAuth \($0) \(password)\n" } ?? ""
            let text = "Port \(port)\nListen 127.0.0.1\nTimeout 60\nMaxClients 50\nAllow 127.0.0.1\n\(basic)"
            try Data(text.utf8).write(to: folder.appending(path: "proxy.conf"))
            arguments = ["-d", "-c", "proxy.conf"]
        case .socks:
            arguments = ["-i", "127.0.0.1", "-p", "\(port)"]
            if let user { arguments += ["-u", user, "-P", password] }
        }
        process = try ChildProcess(kind.rawValue, arguments, in: folder, output: "output.log")
        while !LocalPorts.answers(port) {
            guard process.isRunning else {
                let words = try? String(contentsOf: folder.appending(path: "output.log"), encoding: .utf8)
                throw Failure(description: "\(kind.rawValue) does not start: \(words ?? "")")
            }
            usleep(2_000)
        }
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Ends the process; returns when it has ended.
    public func stop() { process.stop() }
}
