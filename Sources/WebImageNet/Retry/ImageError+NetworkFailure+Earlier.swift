// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension ImageError.NetworkFailure {
    /// The maximum number of earlier failures in the error message.
    private static let maxDescribed = 5
    /// The maximum number of earlier failures in the `earlier` property.
    private static let maxStored = 16

    /// Returns this error with additional failures before the ones that it already contains.
    package func telling(
        _ before: some BidirectionalCollection<ImageError.NetworkFailure>
    ) -> ImageError.NetworkFailure {
        guard !before.isEmpty else { return self }
        let all = Array(before) + earlier
        var error = bare
        error.details = error.details.isEmpty ? account(of: all) : "\(error.details); \(account(of: all))"
        error.earlier = Array(all.suffix(Self.maxStored))
        return error
    }

    /// This error without the earlier failures.
    var bare: ImageError.NetworkFailure {
        guard !earlier.isEmpty else { return self }
        var error = self
        error.earlier = []
        // Remove the description that `telling` appended. It contains only failures within `maxStored`, so `earlier`
        // reproduces it.
        let account = account(of: earlier)
        if details == account {
            error.details = ""
        } else if details.hasSuffix("; \(account)") {
            error.details = String(details.dropLast(account.count + 2))
        }
        return error
    }

    private func account(of failures: [ImageError.NetworkFailure]) -> String {
        let told = failures.suffix(Self.maxDescribed).map { failure in
            let phrase = failure.reason.phrase
            let what = failure.statusCode.map { "status \($0)" } ?? phrase.prefix(1).lowercased() + phrase.dropFirst()
            return failure.url == url ? what : "\(what) at \(failure.url.absoluteString)"
        }
        return "earlier failures: \(told.joined(separator: ", "))"
    }
}
