// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageStore

extension ImageDownloader {
    func exchange(_ transferRequest: TransferRequestBox, _ session: LoadSession) async -> TransferOutcome {
        guard let partials, transferRequest.request.keep != nil, partials.mayContainParts else {
            return await perform(transferRequest, session)
        }
        return await exchange(transferRequest, session, partials)
    }

    /// Keep this function separate, so that its stack frame isn't part of each waiting load.
    @inline(never)
    private func exchange(
        _ transferRequest: TransferRequestBox, _ session: LoadSession, _ partials: PartialDownloadStore
    ) async
        -> TransferOutcome
    {
        let key = transferRequest.request.resumeKey
        guard let ranged = await partials.point(for: key).map(transferRequest.continuing) else {
            return await perform(transferRequest, session)
        }
        let outcome = await perform(ranged, session)
        let verdict = RangeResponseOutcome(outcome)
        if verdict != .keep { partials.remove(key) }
        return verdict == .restart ? await perform(transferRequest, session) : outcome
    }

    /// Removes the resume data of interrupted and canceled loads of a URL, regardless of their header fields and
    /// redirects.
    ///
    /// This method returns immediately. Later loads request the complete body. Thread-safe.
    package func removePartialDownloads(of url: URL) { partials?.removeAll(of: PartialDownloadKey.source(url)) }

    /// Removes the resume data of all interrupted and canceled loads, in memory and on disk.
    ///
    /// Running loads aren't affected and may store resume data later. Thread-safe.
    public func removeAllPartialDownloads() async { await partials?.removeAll() }

    /// Waits after ``shutdown()`` until the resume data of the transfers that it ended is stored.
    ///
    /// The network thread can wait for a name resolution while it ends a transfer, so this method waits no longer than
    /// `timeout`.
    package func partialDownloadsStored(timeout: DispatchTimeInterval = .seconds(2)) async {
        let promise = Promise<Void>()
        transport.whenClosed { promise.resolve(()) }
        DispatchQueue.global().asyncAfter(deadline: .now() + timeout) { promise.resolve(()) }
        await promise.outcome {}
        await partials?.waitUntilWritten()
    }

    private func perform(_ transferRequest: TransferRequestBox, _ session: LoadSession) async -> TransferOutcome {
        if configuration.exchangeLog != nil { log(transferRequest) }
        let outcome = await transport.perform(transferRequest, context: session.context, for: session) {
            session.report($0)
        }
        session.add(outcome)
        if configuration.exchangeLog != nil { log(outcome, transferRequest) }
        return outcome
    }

    /// Keep these functions separate, so that their stack frames aren't part of each waiting load.
    @inline(never)
    private func log(_ transferRequest: TransferRequestBox) {
        let request = transferRequest.request
        configuration.exchangeLog?(.request(method: request.method, url: request.url, headers: request.headers))
    }

    @inline(never)
    private func log(_ outcome: TransferOutcome, _ transferRequest: TransferRequestBox) {
        guard case .success(let response) = outcome else { return }
        configuration.exchangeLog?(
            .response(response.head, url: transferRequest.request.url, protocolName: response.metrics.protocolName))
    }
}

extension TransferRequestBox {
    fileprivate func continuing(_ point: PartialDownload) -> TransferRequestBox {
        with {
            $0.resume = point
            $0.headers["Range"] = point.range
            // If the body has changed, the server ignores the range and sends the new body (RFC 9110 13.1.5).
            $0.headers["If-Range"] = point.plan.validator
        }
    }
}

extension TransferRequest {
    /// Whether resume data may be stored and used. It's `false` for requests with another method, a body, or the
    /// caller's own range.
    var isResumable: Bool { method == "GET" && body.isEmpty && headers["Range"] == nil && headers["If-Range"] == nil }

    /// The header fields that don't affect the content of the body: conditions, cache directives, and the range that
    /// this library adds.
    private static let withoutMeaning: Set<String> = [
        "if-none-match", "if-modified-since", "cache-control", "pragma", "range", "if-range",
    ]

    /// The key contains the URLs of the load and of this request, and every header field that can affect the body.
    var resumeKey: PartialDownloadKey {
        let lines = headers.lines.filter { !Self.withoutMeaning.contains($0.name.lowercased()) }
            .map { "\($0.name.lowercased()):\($0.value)" }
        let part = CacheKey([url] + lines.sorted())
        return PartialDownloadKey(source: source.map(PartialDownloadKey.source) ?? CacheKey([url]), part: part)
    }
}

/// The decision about resume data after a request to continue it.
private enum RangeResponseOutcome {
    case keep
    case drop
    case restart

    @inline(never)
    init(_ outcome: TransferOutcome) {
        switch outcome {
        case .success(let response):
            switch response.head.statusCode {
            // The current body has no bytes at the requested position (RFC 9110 15.5.17), so the stored ones belong to
            // another body.
            case 416: self = .restart
            // The body is complete, was replaced, or doesn't exist, so the stored bytes have no further use.
            case 200...299, 304, 404, 410: self = .drop
            default: self = .keep
            }
        case .failure(.network(let error)):
            switch error.reason {
            // If the head of the response is already wrong, the server can't handle the range, but it may send the
            // complete body.
            case .badServerResponse: self = error.phase == .waitingForResponse ? .restart : .drop
            case .contentDecodingFailed: self = .drop
            default: self = .keep
            }
        case .failure(.limitExceeded): self = .drop
        case .failure: self = .keep
        }
    }
}

extension ImageError {
    /// Whether the bytes received before the error are valid data from the server.
    var leavesUsableBytes: Bool {
        switch self {
        case .network(let error): error.reason == .connectionLost || error.reason == .timedOut
        case .cancelled, .request(.managerShutDown): true
        default: false
        }
    }
}
