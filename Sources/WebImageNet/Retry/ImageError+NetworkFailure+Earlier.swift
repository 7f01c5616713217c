// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension ImageError.NetworkFailure {
    /// The maximum number of earlier failures in the `earlier` property.
    private static let maxStored = 16

    /// Returns this error with additional failures before the ones that it already contains.
    package func telling(
        _ before: some BidirectionalCollection<ImageError.NetworkFailure>
    ) -> ImageError.NetworkFailure {
        guard !before.isEmpty else { return self }
        let all = Array(before) + earlier
        var error = self
        error.earlier = Array(all.suffix(Self.maxStored))
        return error
    }

    var bare: ImageError.NetworkFailure {
        guard !earlier.isEmpty else { return self }
        var error = self
        error.earlier = []
        return error
    }
}
