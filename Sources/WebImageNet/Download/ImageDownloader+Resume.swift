// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageStore

extension ImageDownloader {
    /// One exchange. Continues what an earlier one left of the same, and leaves behind what a later one can
    /// continue; a server that answers a range wrongly is asked once more, for the whole.
    func exchange(_ order: TransferOrder, _ run: LoadRun) async -> TransferOutcome {
        guard let partials, order.request.keep != nil, partials.mayHoldParts else { return await perform(order, run) }
        return await exchange(order, run, partials)
    }

    /// By itself, so that its frame is not part of every waiting load's.
    @inline(never)
    private func exchange(_ order: TransferOrder, _ run: LoadRun, _ partials: ResumeStore) async -> TransferOutcome {
        let key = order.request.resumeKey
        guard let ranged = await partials.point(for: key).map(order.continuing) else {
            return await perform(order, run)
        }
        let outcome = await perform(ranged, run)
        let verdict = RangeVerdict(outcome)
        if verdict != .keep { partials.remove(key) }
        return verdict == .askAgain ? await perform(order, run) : outcome
    }

    /// Forgets the parts kept of lost and cancelled loads of `url`, whatever their fields and wherever redirects led
    /// them. Returns at once; later loads ask for the whole. Thread-safe.
    public func forgetParts(of url: URL) { partials?.removeAll(of: ResumeKey.source(url)) }

    /// Forgets every part kept of lost and cancelled loads, in memory and in the folder. What runs is not touched, and
    /// may leave parts later. Thread-safe.
    public func forgetAllParts() async { await partials?.removeAll() }

    private func perform(_ order: TransferOrder, _ run: LoadRun) async -> TransferOutcome {
        let outcome = await transport.perform(order, context: run.context) { run.report($0) }
        run.add(outcome)
        return outcome
    }
}

extension TransferOrder {
    /// This order for the rest behind `point`.
    fileprivate func continuing(_ point: ResumePoint) -> TransferOrder {
        with {
            $0.resume = point
            $0.fields["Range"] = point.range
            $0.fields["If-Range"] = point.plan.validator
        }
    }
}

extension TransferRequest {
    /// Whether a part of the answer's body may be kept and continued: a caller's own range is its own affair.
    var isResumable: Bool { method == "GET" && fields["Range"] == nil && fields["If-Range"] == nil }

    /// Conditions and orders to caches do not change what the body is, and a range that continues it is our own.
    private static let withoutMeaning: Set<String> = [
        "if-none-match", "if-modified-since", "cache-control", "pragma", "range", "if-range",
    ]

    /// Under which parts of the body are kept: the load's own URL, the URL asked here and every field that could matter,
    /// credentials among them.
    var resumeKey: ResumeKey {
        let lines = fields.lines.filter { !Self.withoutMeaning.contains($0.name.lowercased()) }
            .map { "\($0.name.lowercased()):\($0.value)" }
        let part = CacheKey([url] + lines.sorted())
        return ResumeKey(source: source.map(ResumeKey.source) ?? CacheKey([url]), part: part)
    }
}

/// What becomes of a kept part after the server was asked to continue it.
private enum RangeVerdict {
    /// It stays of use.
    case keep
    /// It is of no use any more.
    case drop
    /// It is of no use, and the whole is to be asked for.
    case askAgain

    @inline(never)
    init(_ outcome: TransferOutcome) {
        switch outcome {
        case .success(let answer):
            switch answer.head.status {
            case 416: self = .askAgain
            case 200...299, 304, 404, 410: self = .drop
            default: self = .keep
            }
        case .failure(.network(let error)):
            switch error.reason {
            case .badServerResponse: self = error.phase == .head ? .askAgain : .drop
            case .contentCodingFailed: self = .drop
            default: self = .keep
            }
        case .failure(.limit): self = .drop
        case .failure: self = .keep
        }
    }
}

extension ImageError {
    /// Whether bytes that came before the error are what the server meant to send.
    var leavesUsableBytes: Bool {
        switch self {
        case .network(let error): error.reason == .connectionLost || error.reason == .timedOut
        case .request(.cancelled), .request(.managerClosed): true
        default: false
        }
    }
}
