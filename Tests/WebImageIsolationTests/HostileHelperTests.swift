// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageTestSupport
import WebImageTesting

@testable import WebImageIsolation

/// The number of attacks. `make soak` sets a larger number.
private let runs = ProcessInfo.processInfo.environment["WEBIMAGE_HOSTILE_RUNS"].flatMap(Int.init) ?? 1_000
/// The first random seed.
private let firstSeed = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_SEED"].flatMap(UInt64.init) ?? 1

@Suite(
    "Hostile helpers", .enabled(if: Helpers.areBuilt && Helpers.hostile != nil, "hostile-helper isn't built"),
    .timeLimit(.minutes(runs > 2_000 ? 60 : 5)))
struct HostileHelperTests {
    /// The numbers of requests with an image and with an error, and the violated promises.
    private struct Outcome {
        var images = 0
        var errors: [Int: Int] = [:]
        var complaints: [String] = []
    }

    private static let limits: ImageLimits = {
        var limits = ImageLimits.desktop
        limits.maxDecodingTime = .milliseconds(50)
        limits.maxEncodingTime = .milliseconds(50)
        limits.maxDimension = 1_000
        limits.maxFrames = 100
        return limits
    }()

    @Test("A hostile helper gets nothing but an image within the limits, or an error, through")
    func hostile() throws {
        let perScript = 50
        let count = max(1, runs / perScript)
        let outcome = Lock(Outcome())
        let next = Counter()
        let png = try ImageCoderRegistry.standard.encode(Images.noise(24, 18), as: .png)
        let before = OpenDescriptors.files(under: "/memfd:webimage")
        // Several at the same time, because most of them wait for their processes.
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            while true {
                let index = next.next() - 1
                guard index < count else { return }
                let seed = firstSeed + index
                let result = Result { try Self.attack(seed: seed, count: perScript, png) }
                outcome.withLock { outcome in
                    switch result {
                    case .success(let own):
                        outcome.images += own.images
                        outcome.errors.merge(own.errors, uniquingKeysWith: +)
                        outcome.complaints += own.complaints.map { "WEBIMAGE_SOAK_SEED=\(seed): \($0)" }
                    case .failure(let error): outcome.complaints.append("WEBIMAGE_SOAK_SEED=\(seed): \(error)")
                    }
                }
            }
        }
        let total = outcome.withLock { $0 }
        #expect(total.complaints == [])
        // The scripts aren't merely noise: helpers return images, violate the protocol, crash, and exceed their time.
        #expect(total.images > runs / 50)
        #expect(total.errors[4011, default: 0] > runs / 10 && total.errors[6007, default: 0] > 0, "\(total.errors)")
        #expect(OpenDescriptors.files(under: "/memfd:webimage").count <= before.count + 2 * Helpers.sharedHelpers)
        // This process is unharmed.
        if Helpers.areBuilt {
            #expect(try Helpers.coders().decode(png).size == PixelSize(width: 24, height: 18))
        }
    }

    /// Sends requests to helpers that perform the attacks of a seed.
    private static func attack(seed: UInt64, count: Int, _ png: Data) throws -> Outcome {
        let directory = FileManager.default.temporaryDirectory.appending(path: "webimage-hostile-\(getpid())-\(seed)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let program = directory.appending(path: "helper")
        try FileManager.default.createSymbolicLink(
            atPath: program.path, withDestinationPath: try #require(Helpers.hostile))
        var script = HostileScript(seed: seed)
        try script.file(count: count).write(to: directory.appending(path: "helper.script"))
        var patience = HelperPatience()
        (patience.grace, patience.margin) = (.milliseconds(5), .milliseconds(10))
        (patience.idle, patience.farewell) = (.milliseconds(10), .milliseconds(10))
        let clock = TestClock()
        let pool = HelperPool(
            HelperPool.Configuration(path: program.path, maxHelpers: 1, patience: patience), time: TimeSource(clock))
        let coders = Helpers.coders(pool)
        var outcome = Outcome()
        for step in 0..<count {
            // Data that crashed a helper isn't passed again, and a format with crashes is suspended for up to an hour.
            clock.advance(by: .seconds(7_200))
            let own = png + Data("\(seed) \(step)".utf8)
            do throws(ImageError) {
                for size in try request(step, own, coders) {
                    if size.width > limits.maxDimension || size.height > limits.maxDimension {
                        outcome.complaints.append("step \(step): \(size)")
                    }
                    outcome.images += 1
                }
            } catch {
                outcome.errors[error.code, default: 0] += 1
                if error.message.unicodeScalars.contains(where: { $0.value < 0x20 }) {
                    outcome.complaints.append("step \(step): \(error)")
                }
            }
        }
        return outcome
    }

    /// Sends a request, and returns the sizes of the images that passed the checks.
    private static func request(
        _ step: Int, _ data: Data, _ coders: ImageCoderRegistry
    ) throws(ImageError) -> [PixelSize] {
        let context = ImageProcessingContext(limits: limits)
        switch step % 8 {
        case 0:
            let pixels = try PixelCanvas(size: PixelSize(width: 4, height: 4)).finish(isOpaque: true)
            _ = try coders.encode(DecodedImage(pixels: pixels), as: .png, context: context.forEncoding())
            return []
        case 1:
            guard
                case .decoder(let decoder, _) = try coders.progressiveStart(
                    data, growsAnimations: true, context: context)
            else { return [] }
            try decoder.append(data, isLast: true, context: context)
            guard let preview = try decoder.makePreview(context: context) else { return [] }
            return [preview.image.size]
        default:
            let image = try coders.decode(data, context: context)
            // The animation has its own context with the limits of the request.
            let frames = try image.animation.map { animation throws(ImageError) in try animation.frame(at: 0).size }
            return [image.size] + (frames.map { [$0] } ?? [])
        }
    }
}
