// SPDX-License-Identifier: MIT

import WebImageCore

extension NetworkError {
    /// The maximum number of earlier failures in the error message.
    private static let mostTold = 5
    /// The maximum number of earlier failures in the `earlier` property.
    private static let mostKept = 16

    /// Returns this error with additional failures before the ones that it already contains.
    func telling(_ before: some BidirectionalCollection<NetworkError>) -> NetworkError {
        guard !before.isEmpty else { return self }
        let all = Array(before) + earlier
        var error = bare
        error.detail = error.detail.isEmpty ? account(of: all) : "\(error.detail); \(account(of: all))"
        error.earlier = Array(all.suffix(Self.mostKept))
        return error
    }

    /// This error without the earlier failures.
    var bare: NetworkError {
        guard !earlier.isEmpty else { return self }
        var error = self
        error.earlier = []
        // Remove the description that `telling` appended. It contains only failures within `mostKept`, so `earlier`
        // reproduces it.
        let account = account(of: earlier)
        if detail == account {
            error.detail = ""
        } else if detail.hasSuffix("; \(account)") {
            error.detail = String(detail.dropLast(account.count + 2))
        }
        return error
    }

    private func account(of failures: [NetworkError]) -> String {
        let told = failures.suffix(Self.mostTold).map { failure in
            let what = failure.status.map { "status \($0)" } ?? "\(failure.reason)"
            return failure.url == url ? what : "\(what) at \(failure.url)"
        }
        return "earlier failures: \(told.joined(separator: ", "))"
    }
}
