// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageNet

/// An update that a load sends to its subscribers.
enum LoadEvent: Sendable {
    case waiting(WaitReason)
    case progress(ImageTask.Progress)

    var event: ImageTask.Event {
        switch self {
        case .waiting(.connectionLimit): .waiting(.connectionLimit)
        case .waiting(.hostLimit): .waiting(.hostLimit)
        case .waiting(.rateLimit): .waiting(.rateLimit)
        case .progress(let progress): .progress(progress)
        }
    }
}
