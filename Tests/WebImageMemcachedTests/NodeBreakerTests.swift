// SPDX-License-Identifier: MIT

import Testing
import WebImageMemcached
import WebImageTestSupport

@Suite("Circuit breaker of a server", .timeLimit(.minutes(1)))
struct NodeBreakerTests {
    /// Calls a mutating method, which the macro `#expect` can't do itself.
    private func call(_ breaker: inout NodeBreaker, _ body: (inout NodeBreaker) -> Bool) -> Bool { body(&breaker) }

    private let policy = NodeBreaker.Policy(failureLimit: 3, window: 10, retryDelay: 5, longestRetryDelay: 60)

    @Test("The breaker opens after the limit of failures in the window")
    func opens() {
        var breaker = NodeBreaker(policy: policy)
        #expect((!call(&breaker) { $0.record(success: false, at: 0) }))
        #expect((!call(&breaker) { $0.record(success: false, at: 1) }))
        #expect((!call(&breaker) { $0.record(success: true, at: 2) }))
        #expect(breaker.isClosed)
        #expect((call(&breaker) { $0.record(success: false, at: 3) }))
        #expect(breaker.state == .open(probeAt: 8))
    }

    @Test("Failures outside of the window don't count")
    func window() {
        var breaker = NodeBreaker(policy: policy)
        for time in [0.0, 6, 12, 18, 24] {
            #expect((!call(&breaker) { $0.record(success: false, at: time) }))
            #expect(breaker.isClosed)
        }
    }

    @Test("An open breaker requests one probe, and each failed probe doubles the delay up to the maximum")
    func probes() {
        var breaker = NodeBreaker(policy: policy)
        for _ in 0..<3 { _ = breaker.record(success: false, at: 0) }
        var now = 0.0
        for delay in [5.0, 10, 20, 40, 60, 60] {
            #expect((!call(&breaker) { $0.beginProbe(at: now + delay - 0.1) }))
            now += delay
            #expect((call(&breaker) { $0.beginProbe(at: now) }))
            #expect((!call(&breaker) { $0.beginProbe(at: now) }))
            #expect((!call(&breaker) { $0.finishProbe(success: false, at: now) }))
        }
        #expect((call(&breaker) { $0.beginProbe(at: now + 60) }))
        #expect((call(&breaker) { $0.finishProbe(success: true, at: now + 60) }))
        #expect(breaker.isClosed)
        // The next failures start with the first delay.
        for _ in 0..<3 { _ = breaker.record(success: false, at: now + 100) }
        #expect(breaker.state == .open(probeAt: now + 105))
    }

    /// A model that recomputes everything from the whole history.
    private struct Model {
        var policy: NodeBreaker.Policy
        var failures: [Double] = []
        var openedAt: Double?
        var failedProbes = 0
        var isProbing = false

        var probeAt: Double? {
            guard let openedAt, !isProbing else { return nil }
            var delay = policy.retryDelay
            for _ in 0..<failedProbes { delay = min(delay * 2, policy.longestRetryDelay) }
            return openedAt + delay
        }
    }

    @Test("The breaker behaves like a model for random sequences", arguments: 0..<50)
    func model(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var breaker = NodeBreaker(policy: policy)
        var model = Model(policy: policy)
        var now = 0.0
        for _ in 0..<400 {
            now += Double.random(in: 0...4, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let success = Bool.random(using: &random)
                let opened = breaker.record(success: success, at: now)
                var expected = false
                if model.openedAt == nil, !success {
                    model.failures.append(now)
                    expected = model.failures.count { $0 > now - policy.window } >= policy.failureLimit
                    if expected {
                        model.openedAt = now
                        model.failedProbes = 0
                        model.failures = []
                    }
                }
                #expect(opened == expected)
            case 2:
                let expected = model.probeAt.map { now >= $0 } ?? false
                #expect((call(&breaker) { $0.beginProbe(at: now) }) == expected)
                if expected { model.isProbing = true }
            default:
                let success = Bool.random(using: &random)
                let closes = model.isProbing && success
                #expect((call(&breaker) { $0.finishProbe(success: success, at: now) }) == closes)
                if model.isProbing {
                    model.isProbing = false
                    model.openedAt = success ? nil : now
                    model.failedProbes += 1
                }
            }
            #expect(breaker.isClosed == (model.openedAt == nil))
        }
    }
}
