// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageTestSupport
import WebImageTesting

@testable import WebImageIsolation

@Suite("Suspension of formats whose decoder crashes")
struct CrashBreakerTests {
    private typealias Suspension = CrashBreakerStateMachine.Suspension

    @Test("The fifth crash within a minute suspends the format for a minute, and no other format")
    func suspends() {
        var machine = CrashBreakerStateMachine()
        for time in [0.0, 14, 28, 42] {
            machine.recordCrash(of: "avif", at: time)
            #expect(machine.suspension(of: "avif", at: time) == nil)
        }
        machine.recordCrash(of: "avif", at: 59)
        #expect(machine.suspension(of: "avif", at: 59) == Suspension(crashes: 5, seconds: 60))
        #expect(machine.suspension(of: "avif", at: 118.5) == Suspension(crashes: 5, seconds: 0.5))
        #expect(machine.suspension(of: "avif", at: 119) == nil)
        #expect(machine.suspension(of: "jxl", at: 60) == nil)
    }

    @Test("Five crashes in more than a minute don't suspend the format")
    func spread() {
        var machine = CrashBreakerStateMachine()
        for time in stride(from: 0.0, to: 3_600, by: 15) {
            machine.recordCrash(of: "avif", at: time)
            #expect(machine.suspension(of: "avif", at: time) == nil)
        }
    }

    @Test("A crash within a minute after a suspension doubles it up to an hour, and a minute without crashes ends that")
    func doubles() {
        var machine = CrashBreakerStateMachine()
        var now = 0.0
        for _ in 0..<5 { machine.recordCrash(of: "avif", at: now) }
        for expected in [60.0, 120, 240, 480, 960, 1_920, 3_600, 3_600] {
            #expect(machine.suspension(of: "avif", at: now)?.seconds == expected)
            now += expected + 59
            machine.recordCrash(of: "avif", at: now)
        }
        now += 3_600 + 60
        for count in 1...5 {
            machine.recordCrash(of: "avif", at: now)
            #expect((machine.suspension(of: "avif", at: now)?.seconds == 60) == (count == 5))
        }
    }

    /// The same rules, derived from the list of all crashes of one format.
    private struct Model {
        /// The crashes since the last suspension that can begin the next one.
        private var crashes: [Double] = []
        private var suspensions: [(start: Double, duration: Double, count: Int)] = []

        mutating func crash(at now: Double) {
            if let last = suspensions.last, now < last.start + last.duration { return }
            crashes.append(now)
            let recent = crashes.filter { now - $0 < 60 }.count
            if let last = suspensions.last, now - last.start - last.duration < 60 {
                suspensions.append((now, min(3_600, last.duration * 2), recent))
                crashes = []
            } else if recent >= 5 {
                suspensions.append((now, 60, recent))
                crashes = []
            }
        }

        func suspension(at now: Double) -> Suspension? {
            guard let last = suspensions.last, now < last.start + last.duration else { return nil }
            return Suspension(crashes: last.count, seconds: last.start + last.duration - now)
        }
    }

    @Test(
        "Random crashes of several formats suspend each format as if it were the only one",
        arguments: 1...20 as ClosedRange<UInt64>)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = CrashBreakerStateMachine()
        var models: [String: Model] = ["avif": Model(), "jxl": Model(), "svg": Model()]
        var now = 0.0
        var suspended = 0
        for _ in 0..<600 {
            // Whole numbers, so that sums are exact.
            now += Double([0, 0, 0, 1, 1, 7, 20, 59, 60, 61, 300].randomElement(using: &random) ?? 0)
            let format = ["avif", "avif", "avif", "jxl", "svg"].randomElement(using: &random) ?? ""
            if Bool.random(using: &random) || now.truncatingRemainder(dividingBy: 2) == 0 {
                machine.recordCrash(of: format, at: now)
                models[format]?.crash(at: now)
            }
            for (format, model) in models {
                let found = machine.suspension(of: format, at: now)
                #expect(found == model.suspension(at: now), "\(format) at \(now)")
                suspended += found == nil ? 0 : 1
            }
        }
        #expect(suspended > 0)
    }

    @Test("Crashes of many invented formats use a bounded amount of memory, and suspended formats remain suspended")
    func bounded() {
        var machine = CrashBreakerStateMachine()
        for _ in 0..<5 { machine.recordCrash(of: "avif", at: 100) }
        for number in 0..<1_000 { machine.recordCrash(of: "x\(number)", at: 110) }
        #expect(machine.suspension(of: "avif", at: 120) != nil)
        #expect(Mirror(reflecting: machine).descendant("records").flatMap { $0 as? any Collection }?.count ?? 0 <= 65)
    }

    @Test(
        "After five crashes, a helper isn't used for the format until the pause ends, and other formats are decoded",
        .enabled(if: Helpers.areBuilt, "webimage-decoder isn't built"))
    func helpers() throws {
        let clock = TestClock()
        let pool = try Helpers.probePool(named: "confined-breaker", time: TimeSource(clock))
        let coders = Helpers.attacker(pool)
        let png = try ImageCoderRegistry.standard.encode(Images.noise(2, 2), as: .png)
        /// Returns the error for a PNG file whose trailing text is the name of an attack.
        func error(_ attack: String) -> ImageError? {
            do throws(ImageError) {
                _ = try coders.decode(png + Data("\n\(attack)".utf8))
                return nil
            } catch {
                return error
            }
        }
        for number in 1...5 { #expect(error("crash \(number)")?.code == 4011) }
        let processes = pool.processes
        let expected = ImageError.DecodingFailure(.decoderSuspended(crashCount: 5, seconds: 60), format: .png)
        #expect(error("pixel") == .decoding(expected))
        #expect(error("crash 6") == .decoding(expected))
        // Data that crashed a helper is still named as such.
        #expect(error("crash 1")?.code == 4011)
        #expect(pool.processes == processes)
        #expect(try coders.decode(Data("pixel".utf8)).size == PixelSize(width: 1, height: 1))
        clock.advance(by: .milliseconds(59_500))
        #expect(error("pixel") == .decoding(.init(.decoderSuspended(crashCount: 5, seconds: 1), format: .png)))
        clock.advance(by: .milliseconds(500))
        #expect(error("pixel") == nil)
        #expect(error("crash 7")?.code == 4011)
        #expect(error("pixel")?.message.contains("crashed again") == true)
    }
}
