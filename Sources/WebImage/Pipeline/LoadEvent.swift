// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageNet

/// An update that a load sends to its subscribers.
enum LoadEvent: Sendable {
    case waiting(WaitReason)
    case progress(ImageTask.Progress)

    var event: ImageTask.Event {
        switch self {
        case .waiting(let reason): .waiting(reason)
        case .progress(let progress): .progress(progress)
        }
    }
}
