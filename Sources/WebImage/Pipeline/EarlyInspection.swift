// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet

/// The requests that wait for each load or that will probably join it. They decide whether a load may end before its data
/// is complete. This class is thread-safe.
final class FetchAudience: Sendable {
    /// The purpose of a request, with the limits of an image.
    enum Member: Hashable {
        case image(ImageLimits)
        case bytes
    }

    /// The requests by the key of the data and by the key of the load.
    private let members = Lock<[CacheKey: [FetchKey: [Member: Int]]]>([:])

    func enter(_ key: FetchKey, _ member: Member) {
        members.withLock { $0[key.data, default: [:]][key, default: [:]][member, default: 0] += 1 }
    }

    func loads(of data: CacheKey) -> [FetchKey] {
        members.withLock { members in members[data].map { Array($0.keys) } ?? [] }
    }

    func leave(_ key: FetchKey, _ member: Member) {
        members.withLock { members in
            guard var loads = members[key.data], var known = loads[key], let count = known[member] else { return }
            known[member] = count > 1 ? count - 1 : nil
            loads[key] = known.isEmpty ? nil : known
            members[key.data] = loads.isEmpty ? nil : loads
        }
    }

    /// Returns the limits of all requests for the image, or `nil` if a request wants the data itself.
    func limits(of key: FetchKey) -> [ImageLimits]? {
        members.withLock { members in
            var limits: [ImageLimits] = []
            guard let requests = members[key.data]?[key] else { return limits }
            for member in requests.keys {
                guard case .image(let known) = member else { return nil }
                limits.append(known)
            }
            return limits
        }
    }
}

/// The check of the beginning of a download. It ends downloads whose first bytes show that no request can use them:
/// data that isn't an image, and images that exceed the limits.
///
/// The error equals the one after a complete download. This class is thread-safe.
final class EarlyInspection: Sendable {
    private struct State {
        var prefix = Data()
        var head: HTTPResponseHead?
        /// The size of the beginning at which the next check is due, in bytes.
        var needed = 1
        var isFinished = true
        /// The error with which the download ends, and the limits of the requests that fail with it.
        var rejection: (error: ImageError, limits: Set<ImageLimits>)?
    }

    /// The size in bytes up to which a download isn't checked, because its remainder arrives with its beginning.
    static let smallestDownload = 64 << 10
    /// The maximum size of the beginning to check, in bytes.
    static let maxPrefix = 256 << 10

    private let state = Lock(State())
    private let coders: ImageCoderRegistry
    private let options: ImageDecodingOptions
    private let limits: ImageLimits
    private let audience: @Sendable () -> [ImageLimits]?
    private let now: @Sendable () -> Date

    /// `audience` returns `nil` if a request wants the data itself.
    init(_ plan: RequestPlan, audience: @escaping @Sendable () -> [ImageLimits]?) {
        coders = plan.coders
        options = plan.request.hintedOptions
        limits = plan.limits
        now = plan.defaults.configuration.now
        self.audience = audience
    }

    var error: ImageError? { state.withLock { $0.rejection?.error } }

    /// Other requests may be able to use the data.
    var rejectedLimits: Set<ImageLimits>? { state.withLock { $0.rejection?.limits } }

    func receive(_ report: LoadContext.Report) {
        switch report {
        case .waiting, .started: break
        case .head(let head, let expected):
            state.withLock { state in
                state = State()
                state.head = head
                state.isFinished = head == nil || expected.map { $0 <= Self.smallestDownload } ?? false
            }
        case .body(let part):
            let due = state.withLock { state -> (prefix: Data, head: HTTPResponseHead?)? in
                guard !state.isFinished else { return nil }
                state.prefix.append(part.prefix(Self.maxPrefix - state.prefix.count))
                return state.prefix.count >= state.needed ? (state.prefix, state.head) : nil
            }
            if let due { inspect(due.prefix, due.head) }
        }
    }

    /// Checks the beginning. Loaders send one report after the other, so no other report arrives in the meantime.
    private func inspect(_ prefix: Data, _ head: HTTPResponseHead?) {
        let result = coders.inspectBeginning(prefix, options: options, limits: limits)
        var rejection: (error: ImageError, limits: Set<ImageLimits>)?
        if case .rejected(let error) = result, let all = audience(),
            all.allSatisfy({ $0 == limits || isRejected(prefix, $0) })
        {
            rejection = (remembering(error.addingResponse(head), head), Set(all).union([limits]))
        }
        state.withLock { state in
            if case .needsMore(let count) = result, prefix.count < Self.maxPrefix {
                // Double the beginning, so that the checks take linear time in total.
                state.needed = min(max(count, 2 * prefix.count), Self.maxPrefix)
            } else {
                state.isFinished = true
                state.prefix = Data()
                state.rejection = rejection
            }
        }
    }

    /// Returns the error with the time for which it applies to further responses. Nothing is stored of the data, so each
    /// request would contact the server again.
    private func remembering(_ error: ImageError, _ head: HTTPResponseHead?) -> ImageError {
        guard case .limitExceeded(var failure) = error, let head else { return error }
        failure.freshFor = Freshness.explicitLifetime(of: head, now: now())
        return .limitExceeded(failure)
    }

    private func isRejected(_ prefix: Data, _ limits: ImageLimits) -> Bool {
        if case .rejected = coders.inspectBeginning(prefix, options: options, limits: limits) { return true }
        return false
    }
}
