// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageNet

/// An update that a load sends to its subscribers.
enum LoadUpdate: Sendable {
    case waiting(WaitReason)
    case progress(ImageProgress)

    var event: ImageEvent {
        switch self {
        case .waiting(let reason): .waiting(reason)
        case .progress(let progress): .progress(progress)
        }
    }
}
