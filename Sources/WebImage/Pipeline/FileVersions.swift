// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// The versions of files as they were read last. A file may change behind its name, so its size and modification time
/// are part of its key; reading them may block for long on a remote file system, so that it never happens on a
/// caller's thread. Thread-safe.
final class FileVersions: Sendable {
    /// Versions remembered; beyond, all are forgotten.
    private static let limit = 4_096

    private let known = Lock<[String: String]>([:])
    private let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.name = "webimage.file-versions"
        queue.maxConcurrentOperationCount = 4
        return queue
    }()

    /// The identity that was read last; the URL alone when none was. Never blocks.
    func knownIdentity(of source: RequestSource) -> String {
        known.withLock { $0[source.text] } ?? source.text
    }

    /// Reads the present identity on a thread for blocking work.
    func readIdentity(of url: URL, _ source: RequestSource) async -> String {
        let identity = await withCheckedContinuation { continuation in
            queue.addOperation { continuation.resume(returning: source.identity(of: url)) }
        }
        known.withLock { known in
            if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
            known[source.text] = identity
        }
        return identity
    }
}
