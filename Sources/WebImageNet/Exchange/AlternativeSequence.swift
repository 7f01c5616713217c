// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The sources of one request, in order: its URL, then its alternatives. A pure state machine.
///
/// Each request walks its own sequence above exchanges that it may share with other requests.
package struct AlternativeSequence: Sendable {
    /// The request to load now. It has no alternatives.
    package private(set) var current: LoadRequest
    private let first: LoadRequest
    private var rest: ArraySlice<URL>
    /// The failures of the sources before the current one, each attempt by itself.
    private var failures: [NetworkError] = []
    /// The number of attempts that failed at the sources before the current one.
    private var attempts = 0

    /// Creates a sequence that begins with the URL of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - canLoad: Returns whether an alternative can be loaded. The sequence skips all others.
    package init(_ request: LoadRequest, canLoad: (URL) -> Bool) {
        first = request
        current = request
        current.alternatives = []
        rest = request.alternatives.filter(canLoad)[...]
    }

    /// Moves on to the next source after the current one failed for good.
    ///
    /// - Throws: The error of the request if it isn't a failure of the network or if no source is left. A failure of
    ///   the network contains the failures before it.
    package mutating func advance(after error: ImageError) throws(ImageError) {
        guard case .network(let error) = error else { throw error }
        guard let next = rest.popFirst() else { throw .network(numbered(error).telling(failures)) }
        failures += error.earlier.map(numbered) + [numbered(error.bare)]
        attempts += error.attempt
        current = first
        current.alternatives = []
        current.url = next
        if Origin(next) != Origin(first.url) { current.fields = Redirect.withoutSecrets(first.fields) }
    }

    /// Returns the response of the current source with the attempts and failures of the whole request.
    package func completing(_ response: LoadResponse) -> LoadResponse {
        var response = response
        response.metrics = completing(response.metrics)
        return response
    }

    /// Returns the metrics of the current source with the attempts and failures of the whole request.
    package func completing(_ metrics: LoadMetrics) -> LoadMetrics {
        guard !failures.isEmpty else { return metrics }
        var metrics = metrics
        metrics.failures = failures + metrics.failures.map(numbered)
        metrics.attempts += attempts
        return metrics
    }

    /// A failure of the current source, counted over all sources.
    private func numbered(_ error: NetworkError) -> NetworkError {
        var error = error
        error.attempt += attempts
        error.earlier = error.earlier.map(numbered)
        return error
    }
}
