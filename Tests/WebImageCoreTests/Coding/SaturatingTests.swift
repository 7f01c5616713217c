// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Saturating conversions of numbers")
struct SaturatingTests {
    @Test(
        "A `Double` is truncated toward zero and clamped to the range of `Int`",
        arguments: [
            (Double.nan, 0), (Double.infinity, Int.max), (-Double.infinity, Int.min), (1e300, Int.max),
            (-1e300, Int.min), (0x1p63, Int.max), (-0x1p63, Int.min), (1.9, 1), (-1.9, -1), (0x1p53, 1 << 53),
        ])
    func integers(value: Double, expected: Int) {
        #expect(Int(saturating: value) == expected)
    }

    @Test("Overlong durations become a hundred years, and invalid ones become zero")
    func durations() async throws {
        for seconds: Double in [.nan, -1, -.infinity] { #expect(Duration.seconds(saturating: seconds) == .zero) }
        #expect(Duration.seconds(saturating: 0.25) == .milliseconds(250))
        for seconds: Double in [.infinity, 1e300] {
            let longest = Duration.seconds(saturating: seconds)
            #expect(longest > .seconds(3_000_000_000) && longest < .seconds(3_200_000_000))
            // A clock accepts this duration. The sleep is under test, and the cancellation ends it immediately.
            let task = Task { try await Task.sleep(for: longest) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("A zero or negative timeout ends decoding, and a huge value means no timeout")
    func timeLimits() {
        for time: Duration in [.seconds(Int64.min), .seconds(-1), .zero] {
            var limits = ImageLimits()
            limits.maxDecodingTime = time
            let context = ImageProcessingContext(limits: limits)
            #expect {
                try context.checkCancellation()
            } throws: { error in
                (error as? ImageError)?.code == ImageError.LimitFailure.Kind.decodingTime.rawValue
            }
        }
        for time: Duration in [.seconds(86_400), .seconds(Int64.max), ImageLimits.unlimited.maxDecodingTime] {
            var limits = ImageLimits()
            limits.maxDecodingTime = time
            let context = ImageProcessingContext(limits: limits)
            #expect(throws: Never.self) { try context.checkCancellation() }
        }
    }
}
