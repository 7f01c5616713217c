// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageNet

/// What a load tells those who wait for it.
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
