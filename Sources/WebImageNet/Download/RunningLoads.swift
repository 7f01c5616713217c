// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// The running loads of a downloader. Thread-safe.
final class RunningLoads: Sendable {
    /// A running load.
    struct Entry: Sendable {
        /// The number of the load, in the order of the starts.
        let number: Int
        let session: LoadSession
        /// The URL of the caller's request.
        let url: URL
    }

    private struct State {
        var last = 0
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private let state = Lock(State())

    /// All running loads in the order in which they started.
    var all: [Entry] {
        state.withLock { Array($0.entries.values) }.sorted { $0.number < $1.number }
    }

    func begin(_ session: LoadSession, _ url: URL) {
        state.withLock { state in
            state.last += 1
            state.entries[ObjectIdentifier(session)] = Entry(number: state.last, session: session, url: url)
        }
    }

    /// Returns `result`, or ``ImageError/cancelled`` if the load was canceled while it ended.
    func end<Value>(_ session: LoadSession, _ result: Result<Value, ImageError>) -> Result<Value, ImageError> {
        state.discard { $0.entries.removeValue(forKey: ObjectIdentifier(session)) }
        return session.isCancelled ? .failure(.cancelled) : result
    }
}
