// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The sources of one request, in order: its URL, and then its alternatives. It's a pure state machine.
///
/// Each request has its own sequence, but the individual exchanges can be shared with other requests.
package struct AlternativeSequence: Sendable {
    /// The request for the current source. It has no alternatives.
    package private(set) var current: LoadRequest
    private let first: LoadRequest
    private var rest: ArraySlice<URL>
    /// The failures of the previous sources, with one element per attempt.
    private var failures: [ImageError.NetworkFailure] = []
    /// The number of failed attempts for the previous sources.
    private var attempts = 0

    /// Creates a sequence that begins with the URL of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - canLoad: A closure that returns whether an alternative can be loaded. The sequence skips all others.
    package init(_ request: LoadRequest, canLoad: (URL) -> Bool) {
        first = request
        current = request
        current.network.alternativeURLs = []
        rest = request.network.alternativeURLs.filter(canLoad)[...]
    }

    /// Advances to the next source after the current one finally failed.
    ///
    /// - Throws: The error of the request if it isn't a network failure or if no source is left. A network failure
    ///   contains the earlier failures.
    package mutating func advance(after error: ImageError) throws(ImageError) {
        guard case .network(let error) = error else { throw error }
        guard let next = rest.popFirst() else { throw .network(numbered(error).telling(failures)) }
        failures += error.earlier.map(numbered) + [numbered(error.bare)]
        attempts += error.attempt
        current = first
        current.network.alternativeURLs = []
        current.url = next
        if Origin(next) != Origin(first.url) { current.headers = RedirectRules.withoutSecrets(first.headers) }
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
