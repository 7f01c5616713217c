// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency

/// The interest of a request in running loads that it can probably join after its lookups. This class is thread-safe.
///
/// Without it, a load would be canceled if its only other request is canceled before this request joins the load, and
/// then start from scratch.
final class FetchReservation: Sendable {
    private let release = Lock<[@Sendable () -> Void]>([])

    init(_ actions: [@Sendable () -> Void]) { release.withLock { $0 = actions } }

    /// Ends the reservation because the request joined a load or ended. Further calls have no effect.
    func end() {
        let actions = release.withLock { actions in
            defer { actions = [] }
            return actions
        }
        for action in actions { action() }
    }

    deinit { end() }
}
