// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP
import WebImageStore

extension ImageDownloader {
    /// One exchange. Continues what an earlier one left of the same, and leaves behind what a later one can
    /// continue; a server that answers a range wrongly is asked once more, for the whole.
    func exchange(_ transfer: TransferRequest, _ run: LoadRun) async -> TransferOutcome {
        guard let partials, transfer.method == "GET", transfer.fields["Range"] == nil,
            transfer.fields["If-Range"] == nil
        else { return await perform(transfer, run) }
        let key = transfer.resumeKey
        var transfer = transfer
        transfer.keep = { partials.put($0, for: key) }
        guard let point = await partials.point(for: key) else { return await perform(transfer, run) }
        var ranged = transfer
        ranged.resume = point
        ranged.fields["Range"] = point.range
        ranged.fields["If-Range"] = point.plan.validator
        let outcome = await perform(ranged, run)
        switch outcome {
        case .success(let answer):
            guard let status = answer.head.status.endOfPartial else { return outcome }
            partials.remove(key)
            return status == 416 ? await perform(transfer, run) : outcome
        case .failure(.network(let error)):
            if error.reason == .contentCodingFailed { partials.remove(key) }
            guard error.reason == .badServerResponse else { return outcome }
            partials.remove(key)
            return error.phase == .head ? await perform(transfer, run) : outcome
        case .failure(.limit):
            partials.remove(key)
            return outcome
        case .failure: return outcome
        }
    }

    private func perform(_ transfer: TransferRequest, _ run: LoadRun) async -> TransferOutcome {
        let outcome = await transport.perform(transfer, context: run.context) { run.report($0) }
        run.add(outcome)
        return outcome
    }
}

extension TransferRequest {
    /// Conditions and orders to caches do not change what the body is.
    private static let withoutMeaning: Set<String> = [
        "if-none-match", "if-modified-since", "cache-control", "pragma",
    ]

    /// Under which the body's part is kept: the URL and every field that could matter, credentials among them.
    var resumeKey: CacheKey {
        let lines = fields.lines.filter { !Self.withoutMeaning.contains($0.name.lowercased()) }
            .map { "\($0.name.lowercased()):\($0.value)" }
        return CacheKey([url] + lines.sorted())
    }
}

extension Int {
    /// This status where an answer with it leaves nothing to continue; nil where the part stays of use.
    fileprivate var endOfPartial: Int? {
        switch self {
        case 200...299, 304, 404, 410, 416: self
        default: nil
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
