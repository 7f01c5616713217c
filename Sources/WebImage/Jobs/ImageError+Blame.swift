// SPDX-License-Identifier: MIT

import WebImageCore

extension ImageError {
    /// True when other bytes could do better: the picture is damaged, cut, or none at all. False for what the same
    /// file would meet again: a missing coder, a limit, a transformer, a cancelled request.
    var blamesBytes: Bool {
        guard case .decode(let error) = self else { return false }
        switch error {
        case .empty, .unknownFormat, .notAnImage, .truncated, .corrupt, .inconsistent: return true
        case .noCoder, .unsupported, .outOfMemory: return false
        case .allCodersFailed(let errors): return errors.contains { ImageError.decode($0).blamesBytes }
        }
    }
}
