// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The sources of one request, in order: its URL, and then its alternatives, which can have any scheme. It's a pure
/// state machine.
///
/// Each request has its own sequence, but the individual exchanges can be shared with other requests.
package struct AlternativeSequence: Sendable {
    /// The request for the current source. It has no alternatives.
    package private(set) var current: LoadRequest
    private let first: LoadRequest
    private var rest: ArraySlice<URL>
    private var failures: [ImageError.NetworkFailure] = []
    private var attempts = 0
    /// The error of the first source if no source has failed because of the network, or `nil`.
    private var localError: ImageError?
    /// The position in ``failures`` of the last failure of the network, or `nil` if there was none.
    private var lastNetworkFailure: Int?

    /// Creates a sequence that begins with the URL of a request. It skips alternatives for which `canLoad` returns
    /// `false`.
    package init(_ request: LoadRequest, canLoad: (URL) -> Bool) {
        first = request
        current = request
        current.network.alternativeURLs = []
        rest = request.network.alternativeURLs.filter(canLoad)[...]
    }

    /// Advances to the next source after the current one finally failed.
    ///
    /// - Throws: The error of the request if it's neither a network failure nor the failure of a file, a data URL, or a
    ///   custom source, or if no source is left. In the latter case, the error is the last network failure, which
    ///   contains all other failures, or the error of the first source if there was no network failure.
    package mutating func advance(after error: ImageError) throws(ImageError) {
        switch error {
        case .network(let failure):
            guard !rest.isEmpty else { throw .network(numbered(failure).telling(failures)) }
            failures += failure.earlier.map(numbered) + [numbered(failure.bare)]
            attempts += failure.attempt
            lastNetworkFailure = failures.count - 1
        case .request(let failure) where failure.isOfSource:
            // A failure of a local source is recorded in the form of the other failures.
            let local = ImageError.NetworkFailure(.other, url: current.url, details: failure.message)
            failures.append(numbered(local))
            attempts += 1
            localError = localError ?? error
            guard !rest.isEmpty else { throw exhausted(error) }
        default: throw error
        }
        guard let next = rest.popFirst() else { return }
        current = first
        current.network.alternativeURLs = []
        current.url = next
        // The caller intended its secret header fields for the origin of the first URL.
        if Origin(next) != Origin(first.url) { current.headers = RedirectRules.withoutSecrets(first.headers) }
    }

    /// A network failure is more useful than a missing local source, because the server or the network may recover.
    private func exhausted(_ error: ImageError) -> ImageError {
        guard let last = lastNetworkFailure else { return localError ?? error }
        var others = failures
        let failure = others.remove(at: last)
        return .network(failure.telling(others))
    }

    /// Returns the response of the current source with the attempts and failures of the whole request.
    package func completing(_ response: LoadResponse) -> LoadResponse {
        var response = response
        response.metrics = completing(response.metrics)
        return response
    }

    /// Returns the metrics of the current source with the attempts and failures of the whole request.
    package func completing(_ metrics: NetworkMetrics) -> NetworkMetrics {
        guard !failures.isEmpty else { return metrics }
        var metrics = metrics
        metrics.failures = failures + metrics.failures.map(numbered)
        metrics.attemptCount += attempts
        return metrics
    }

    /// Returns a failure of the current source, with attempts counted over all sources.
    private func numbered(_ error: ImageError.NetworkFailure) -> ImageError.NetworkFailure {
        var error = error
        error.attempt += attempts
        error.earlier = error.earlier.map(numbered)
        return error
    }
}

extension ImageError.RequestFailure {
    /// Whether the data of a source is missing, so that another source can be tried.
    fileprivate var isOfSource: Bool {
        switch self {
        case .fileNotFound, .fileUnreadable, .sourceFailed, .invalidDataURL: true
        default: false
        }
    }
}
