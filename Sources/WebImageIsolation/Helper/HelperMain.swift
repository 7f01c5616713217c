// SPDX-License-Identifier: MIT

import CSandbox
import Foundation
import Glibc
import WebImageCore

/// The start of a helper process: the confinement, and then the server.
package enum HelperMain {
    /// The files that helpers for SVG and PDF may read: fonts, their configuration, and the character maps of poppler.
    package static let readable = [
        "/etc/fonts", "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
        "/usr/share/poppler", "/run/host/fonts", "/run/host/user-fonts", "/run/host/local-fonts",
    ]

    /// Runs a helper until its program closes the socket.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the process: its path, the kind of the helper, and the limit of the address space.
    ///   - coders: A function that returns the coders. It's called after the namespaces were left.
    ///   - prepare: A function that loads the libraries of the coders, which is impossible later.
    package static func run(
        _ arguments: [String], coders: () -> ImageCoderRegistry, prepare: (HelperKind) -> Void
    ) -> Int32 {
        guard arguments.count == 3, let kind = HelperKind(rawValue: arguments[1]), let memory = UInt64(arguments[2]),
            fcntl(socket, F_GETFD) >= 0
        else { return 2 }
        var layers = wi_sandbox_layers()
        // The kernel creates a user namespace only for a process with one thread, so this precedes code that could
        // start threads.
        withRules(kind, memory) { wi_sandbox_begin($0, &layers) }
        let coders = coders()
        // Landlock prevents the process from opening the files of libraries, so load them first. They must not start
        // threads, because Landlock would not apply to them.
        prepare(kind)
        withRules(kind, memory) { wi_sandbox_lock($0, &layers) }
        let server = HelperServer(coders: coders, socket: socket)
        server.run(report: IsolationReport(layers))
        return 0
    }

    private static let socket = Int32(WI_HELPER_SOCKET)

    private static func withRules(
        _ kind: HelperKind, _ memory: UInt64, _ body: (UnsafePointer<wi_sandbox_rules>) -> Void
    ) {
        var paths: [UnsafePointer<CChar>?] = readable.map { UnsafePointer(strdup($0)) }
        paths.append(nil)
        defer { for path in paths { free(UnsafeMutablePointer(mutating: path)) } }
        paths.withUnsafeBufferPointer { paths in
            var rules = wi_sandbox_rules(
                memory: memory, seconds: HelperLifetime.seconds, reads: kind == .vector, threads: kind != .core,
                readable: paths.baseAddress)
            body(&rules)
        }
    }
}
