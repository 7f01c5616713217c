// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency

/// The most recently read versions of files.
///
/// A file can change without changing its name, so its size and modification time are part of its key. Reading them can
/// block for a long time on a remote file system, so it never happens on a caller's thread. This class is thread-safe.
final class FileVersions: Sendable {
    /// The maximum number of recorded versions. When it's reached, all are removed.
    private static let limit = 4_096

    private let known = Lock<[String: String]>([:])
    private let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.name = "webimage.file-versions"
        queue.maxConcurrentOperationCount = 4
        return queue
    }()

    /// Returns the identity that was read last, or the URL if none was read. This method never blocks.
    func knownIdentity(of source: SourceKind) -> String {
        known.withLock { $0[source.text] } ?? source.text
    }

    /// Reads the current identity on a thread for blocking work.
    func readIdentity(of url: URL, _ source: SourceKind) async -> String {
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
