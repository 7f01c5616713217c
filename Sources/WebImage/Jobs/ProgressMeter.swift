// SPDX-License-Identifier: MIT

import Synchronization
import WebImageNet

/// Turns a loader's reports into progress.
final class ProgressMeter: Sendable {
    private let state = Mutex(ImageProgress(received: 0, expected: nil))
    private let handler: @Sendable (ImageProgress) -> Void

    init(_ handler: @escaping @Sendable (ImageProgress) -> Void) { self.handler = handler }

    func take(_ report: LoadContext.Report) {
        let progress = state.withLock { state -> ImageProgress? in
            switch report {
            case .started: return nil
            case .head(_, let expected): state = ImageProgress(received: 0, expected: expected)
            case .body(let part): state.received += part.count
            }
            return state
        }
        if let progress { handler(progress) }
    }
}
