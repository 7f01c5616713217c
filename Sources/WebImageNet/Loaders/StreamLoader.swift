// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// The loader of one request whose bytes the app brings itself, in pieces. Thread-safe where `open` is.
package struct StreamLoader: ImageLoader {
    /// Begins a stream of pieces; called once for each load.
    private let open: @Sendable () async throws -> AsyncThrowingStream<Data, any Error>

    /// Creates a loader.
    package init(_ open: @escaping @Sendable () async throws -> AsyncThrowingStream<Data, any Error>) {
        self.open = open
    }

    /// Takes every URL: it was chosen for one request.
    package func canLoad(_ url: URL) -> Bool { true }

    /// Reads to the end of the stream. There is no head.
    ///
    /// - Throws: 6001 for more bytes than `request.maxBytes`, 2021 for none, 1012 for an error of the app's, 1001 when
    ///   cancelled.
    package func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        let begun = Date()
        let started = MonotonicTime.now
        context.report(.started)
        context.report(.head(nil, expected: nil))
        let body: Data
        do {
            body = try await read(request, context)
        } catch {
            throw RequestError.source(error)
        }
        guard !body.isEmpty else {
            throw .network(NetworkError(.noData, url: request.url.absoluteString, phase: .body))
        }
        var metrics = LoadMetrics()
        metrics.finished = Double(MonotonicTime.now - started) / 1e9
        metrics.bytesReceived = body.count
        return LoadResponse(
            body: body, finalURL: request.url, requestTime: begun, responseTime: Date(), metrics: metrics)
    }

    private func read(_ request: LoadRequest, _ context: LoadContext) async throws -> Data {
        var whole: Data?
        for try await piece in try await open() where !piece.isEmpty {
            try Task.checkCancellation()
            let count = (whole?.count ?? 0) + piece.count
            guard count <= request.maxBytes else {
                throw ImageError.limit(LimitError(.encodedBytes, limit: request.maxBytes, actual: count))
            }
            // One piece is passed on as it is.
            if whole == nil { whole = piece } else { whole?.append(piece) }
            context.report(.body(piece))
        }
        try Task.checkCancellation()
        return whole ?? Data()
    }
}
