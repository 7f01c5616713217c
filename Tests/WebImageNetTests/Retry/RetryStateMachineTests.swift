// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestSupport

@testable import WebImageNet

@Suite("Retry decisions")
struct RetryStateMachineTests {
    /// Returns a policy that always waits as long as possible.
    private func policy(_ attempts: Int = 3, _ change: (inout RetryPolicy) -> Void = { _ in }) -> RetryPolicy {
        var policy = RetryPolicy(maxAttempts: attempts, baseDelay: .seconds(1))
        policy.random = { $0.upperBound }
        change(&policy)
        return policy
    }

    private func error(
        _ reason: ImageError.NetworkFailure.Reason, phase: ImageError.NetworkFailure.Phase = .waitingForResponse,
        status: Int? = nil, retryAfter: Double? = nil
    ) -> ImageError.NetworkFailure {
        ImageError.NetworkFailure(
            reason, url: URL(filePath: "/a"), phase: phase, statusCode: status,
            retryAfter: retryAfter.map { .seconds($0) })
    }

    @Test("Each failure reason is retried always, once, or never")
    func reasons() {
        let always: Set<ImageError.NetworkFailure.Reason> = [.connectionLost, .proxyFailed, .timedOut]
        let once: Set<ImageError.NetworkFailure.Reason> = [.cannotFindHost, .cannotConnect]
        for reason in ImageError.NetworkFailure.Reason.allCases {
            let expected: RetryAllowance = always.contains(reason) ? .always : once.contains(reason) ? .once : .never
            #expect(RetryAllowance(error(reason)) == expected, "\(reason)")
        }
        #expect(RetryAllowance(error(.timedOut, phase: .total)) == .never)
        for phase in [ImageError.NetworkFailure.Phase.nameResolution, .connecting, .receivingBody] {
            #expect(RetryAllowance(error(.timedOut, phase: phase)) == .always)
        }
        for status in 100..<600 {
            let isPassing = [408, 429, 500, 502, 503, 504].contains(status)
            #expect(
                RetryAllowance(error(.unacceptableStatusCode, status: status)) == (isPassing ? .always : .never),
                "\(status)")
        }
    }

    @Test("The delay doubles up to its limit, and the attempts are limited")
    func backOff() {
        var state = RetryStateMachine(policy(7) { $0.maxDelay = .seconds(6) })
        let waits = (0..<7).map { _ in state.decide(error(.connectionLost), elapsed: 0) }
        #expect(waits == [1, 2, 4, 6, 6, 6].map { .again(after: $0) } + [.fail])
        var never = RetryStateMachine(.never)
        #expect(never.decide(error(.connectionLost), elapsed: 0) == .fail)
    }

    @Test("The jitter ranges from zero to the full delay, and invalid random numbers are clamped")
    func jitter() {
        for (drawn, expected) in [(0.0, 0.0), (0.25, 0.25), (7, 1), (-3, 0)] {
            var state = RetryStateMachine(policy { $0.random = { _ in drawn } })
            #expect(state.decide(error(.connectionLost), elapsed: 0) == .again(after: expected))
        }
        for base in [Duration.seconds(Int64.max), .seconds(-1)] {
            var state = RetryStateMachine(policy { $0.baseDelay = base })
            guard case .again(let wait) = state.decide(error(.connectionLost), elapsed: 0) else { continue }
            #expect(wait >= 0 && wait <= 10)
        }
    }

    @Test("An unknown name and a refused connection are retried once each")
    func once() {
        var state = RetryStateMachine(policy(9))
        let reasons: [ImageError.NetworkFailure.Reason] = [.cannotFindHost, .cannotConnect, .cannotFindHost]
        let decisions = reasons.map { state.decide(error($0), elapsed: 0) == .fail }
        #expect(decisions == [false, false, true])
    }

    @Test("A Retry-After within the limit is respected, and a longer one fails the load")
    func retryAfter() {
        var state = RetryStateMachine(policy(9))
        #expect(
            state.decide(error(.unacceptableStatusCode, status: 503, retryAfter: 20), elapsed: 0) == .again(after: 21))
        #expect(
            state.decide(error(.unacceptableStatusCode, status: 429, retryAfter: 0), elapsed: 0) == .again(after: 1))
        #expect(state.decide(error(.unacceptableStatusCode, status: 503, retryAfter: 30.5), elapsed: 0) == .fail)
    }

    @Test("No attempt starts after the budget is used up")
    func budget() {
        var state = RetryStateMachine(policy(9) { $0.maxElapsedTime = .seconds(10) })
        #expect(state.decide(error(.connectionLost), elapsed: 9) == .again(after: 1))
        #expect(state.decide(error(.connectionLost), elapsed: 8.5) == .fail)
    }

    @Test("The limits on attempts and budget hold for random failures")
    func model() {
        var generator = SeededGenerator(seed: 39)
        for _ in 0..<2_000 {
            let attempts = Int.random(in: 0..<6, using: &generator)
            let drawn = Double.random(in: 0...1, using: &generator)
            let policy = policy(attempts) { $0.random = { range in range.upperBound * drawn } }
            var state = RetryStateMachine(policy)
            var elapsed = 0.0
            var made = 1
            while made < 100 {
                let reasons = ImageError.NetworkFailure.Reason.allCases
                let reason = reasons[Int.random(in: 0..<reasons.count, using: &generator)]
                let reported = Bool.random(using: &generator) ? Double.random(in: 0...40, using: &generator) : nil
                let failure = error(reason, status: 503, retryAfter: reported)
                elapsed += Double.random(in: 0...10, using: &generator)
                guard case .again(let wait) = state.decide(failure, elapsed: elapsed) else { break }
                #expect(wait >= 0 && wait <= 31 && RetryAllowance(failure) != .never)
                elapsed += wait
                made += 1
                #expect(elapsed <= policy.maxElapsedTime / .seconds(1))
            }
            #expect(made <= max(attempts, 1))
        }
    }
}

@Suite("Limits on starts and reports")
struct LimiterTests {
    private let second: Int64 = 1_000_000_000

    @Test("A burst starts immediately, then one load per interval, and idle time refills only the burst")
    func bucket() {
        var limiter = TokenBucket(perSecond: 10, burst: 3, now: 0)
        func starts(_ now: Int64) -> Int {
            var count = 0
            while count < 100, limiter.allowsStart(now: now) {
                limiter.recordStart()
                count += 1
            }
            return count
        }
        #expect(starts(0) == 3)
        #expect(limiter.nextStart == second / 10)
        #expect(starts(second / 10 - 1) == 0 && starts(second / 10) == 1)
        #expect(starts(second / 10 * 3) == 2)
        #expect(starts(second * 100) == 3)
        // A clock that is set back allows no additional starts.
        #expect(starts(second * 50) == 0 && starts(second * 100) == 0)
        #expect(starts(second * 100 + second / 10) == 1)
    }

    @Test("Over a long time, the rate is kept regardless of the timing of the requests")
    func rate() {
        var generator = SeededGenerator(seed: 80)
        var limiter = TokenBucket(perSecond: 80, burst: 25, now: 0)
        var now: Int64 = 0
        var count = 0
        while now < 60 * second {
            now += Int64.random(in: 0..<20_000_000, using: &generator)
            if limiter.allowsStart(now: now) {
                limiter.recordStart()
                count += 1
            }
            #expect(count <= 25 + Int(now / (second / 80)))
        }
        #expect(count > 60 * 75)
    }

    @Test("Without a rate there is no limit, and invalid rates are handled")
    func extremes() {
        var free = TokenBucket(perSecond: nil, burst: 1, now: 0)
        for _ in 0..<1_000 {
            let isAllowed = free.allowsStart(now: 0)
            #expect(isAllowed)
            free.recordStart()
        }
        #expect(free.nextStart == nil)
        for rate in [0, -1, Double.infinity, -Double.infinity, Double.nan, 1e-300] {
            var limiter = TokenBucket(perSecond: rate, burst: 0, now: 0)
            let isAllowed = limiter.allowsStart(now: 0)
            #expect(isAllowed)
        }
    }

    @Test("Extremely long waits start, and end when the waits are closed", arguments: [1e300, Double.infinity])
    func endlessWaits(seconds: Double) async throws {
        let waits = RetryScheduler(ContinuousClock())
        let task = Task { try await waits.wait(seconds) }
        await untilTrue { waits.count == 1 }
        waits.close()
        let result = await task.result
        #expect(throws: ImageError.self) { try result.get() }
        try await RetryScheduler(ContinuousClock()).wait(.nan)
    }

    @Test("Policies without positive delays don't wait, regardless of the random number")
    func absurdPolicies() {
        let values: [(Duration, Double)] = [(.zero, .infinity), (.seconds(-1), .nan), (.seconds(Int64.min), 1)]
        for (value, random) in values {
            var policy = RetryPolicy(maxAttempts: 3, baseDelay: value, maxDelay: value)
            policy.random = { _ in random }
            var state = RetryStateMachine(policy)
            let error = ImageError.NetworkFailure(.connectionLost, url: URL(filePath: "/a"))
            if case .again(let wait) = state.decide(error, elapsed: 0) { #expect(wait == 0) }
        }
    }

    @Test("Progress reports are throttled except for the first and the last")
    func progress() {
        var limiter = ProgressLimiter(interval: 1)
        let times = [0, 0.5, 0.99, 1, 1.5, 2.1, 3]
        let allowed = times.map { limiter.allows(at: $0) }
        #expect(allowed == [true, false, false, true, false, true, false])
        let final = limiter.allows(at: 3.05, isFinal: true)
        #expect(final)
        var free = ProgressLimiter(interval: 0)
        let all = times.allSatisfy { _ in free.allows(at: 1) }
        #expect(all)
    }
}
