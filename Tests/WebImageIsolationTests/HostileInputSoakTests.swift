// SPDX-License-Identifier: MIT

import CSandbox
import Foundation
import Glibc
import Synchronization
import Testing
import WebImage
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageTestSupport

@testable import WebImageIsolation

/// The number of inputs, which `make soak` sets. Only then does the test measure the memory of this process.
private let requested = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_INPUTS"].flatMap(Int.init)
private let count = requested ?? 400
/// The seed of the first input. The following inputs have the following seeds.
private let firstSeed = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_SEED"].flatMap(UInt64.init) ?? 1

@Suite(
    "Hostile inputs", .enabled(if: Helpers.areBuilt, "webimage-decoder isn't built"),
    .timeLimit(.minutes(requested == nil ? 5 : 600)))
struct HostileInputSoakTests {
    /// The limits of all requests.
    private static let limits: ImageLimits = {
        var limits = ImageLimits.desktop
        limits.maxPixels = 4_000_000
        limits.maxDecodedBytes = 48 << 20
        limits.maxDecodingTime = .seconds(2)
        limits.maxEncodingTime = .seconds(2)
        return limits
    }()
    /// The number of inputs at the same time.
    private static let lanes = 4
    /// The time after which an input counts as hanging. The deadline of a helper is four times the limit and 5 seconds
    /// if the machine is busy.
    private static let longest = Duration.seconds(20)

    /// A loader that returns the input of the seed in the URL. Every fourth download ends with an error, some of them after
    /// a part of the body.
    private struct InputLoader: ImageLoader {
        let inputs: HostileInputs

        func canLoad(_ url: URL) -> Bool { url.host == "soak.test" }

        func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
            let seed = UInt64(request.url.lastPathComponent) ?? 0
            let input = inputs.input(seed)
            let data = input.data
            let head = HTTPResponseHead(statusCode: 200)
            context.report(.started)
            context.report(.head(head, expected: data.count))
            let half = data.count / 2
            context.report(.body(Data(data.prefix(half))))
            if input.choice % 4 == 3 {
                throw .network(ImageError.NetworkFailure(.connectionLost, url: request.url, phase: .receivingBody))
            }
            context.report(.body(Data(data.dropFirst(half))))
            return LoadResponse(
                httpResponse: head, body: data, url: request.url, requestDate: Date(), responseDate: Date())
        }
    }

    /// The results of the inputs.
    private struct Outcome {
        var images = 0
        var errors: [Int: Int] = [:]
        var slowest = (time: Duration.zero, input: "")
        /// The inputs that crashed a helper, which is allowed.
        var crashes: [String] = []
        var complaints: [String] = []
    }

    /// The results so far, which all lanes change.
    private final class Results: Sendable {
        private let outcome = Lock(Outcome())

        var total: Outcome { outcome.withLock { $0 } }

        func change(_ body: (inout Outcome) -> Void) { outcome.withLock { body(&$0) } }
    }

    /// One mode of the test: a manager and the coders for conversions.
    private struct Mode: Sendable {
        let name: String
        let manager: ImageManager
        let coders: ImageCoderRegistry
        let decodesVectors: Bool

        init(_ name: String, isIsolated: Bool, _ inputs: HostileInputs) {
            self.name = name
            var configuration = ImageManager.Configuration()
            configuration.diskCache = nil
            configuration.limits = HostileInputSoakTests.limits
            configuration.memoryCache.costLimit = 4 << 20
            configuration.loaders = [InputLoader(inputs: inputs)]
            configuration.decoding.isolation = isIsolated ? .required : .off
            configuration.decoding.helperPath = Helpers.decoder
            configuration.decoding.maxHelpers = 3
            manager = ImageManager(configuration: configuration)
            coders = IsolatedCoders(.standard, as: configuration).network
            // The libraries for SVG and PDF may end the process that decodes a hostile file.
            decodesVectors = isIsolated
        }
    }

    @Test("Hostile inputs end in an image or a typed error, and the memory stays within the budget")
    func soak() async throws {
        let inputs = try HostileInputs()
        let modes = [
            Mode("isolated", isIsolated: true, inputs), Mode("in process", isIsolated: false, inputs),
        ]
        let results = Results()
        let log = try SeedLog(lanes: Self.lanes)
        let start = try Self.resident()
        var afterWarmup: Int?
        for first in stride(from: 0, to: count, by: 1_000) {
            let end = min(count, first + 1_000)
            await withTaskGroup(of: Void.self) { group in
                for lane in 0..<Self.lanes {
                    group.addTask {
                        for index in stride(from: first + lane, to: end, by: Self.lanes) {
                            let seed = firstSeed &+ UInt64(index)
                            log.set(seed, lane: lane)
                            let input = inputs.input(seed)
                            // The short test uses one mode for each input.
                            let first = Int(input.choice >> 8 & 1)
                            await Self.run(input, modes[first], results)
                            if requested != nil { await Self.run(input, modes[1 - first], results) }
                        }
                    }
                }
            }
            if requested != nil { Self.report(end, results.total) }
            if afterWarmup == nil, end >= count / 4 { afterWarmup = try Self.resident() }
        }
        let total = results.total
        #expect(total.complaints == [])
        #expect(count < 100 || total.images > count / 50, "\(total.errors)")
        if requested != nil, let afterWarmup {
            let end = try Self.resident()
            // The requests of all lanes may use their budgets at the same time, in the pixels and in the coders.
            let budget = Self.lanes * Self.limits.maxDecodedBytes * 3 + 256 << 20
            let peak = try Self.status("VmHWM:")
            #expect(peak - start <= budget, "peak: \(peak >> 20) MiB, start: \(start >> 20) MiB")
            #expect(end - afterWarmup <= 64 << 20, "end: \(end >> 20) MiB, warm: \(afterWarmup >> 20) MiB")
        }
        for mode in modes { await mode.manager.shutdown() }
        log.remove()
    }

    private static func report(_ count: Int, _ outcome: Outcome) {
        let errors = outcome.errors.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let memory = (try? resident()).map { "\($0 >> 20) MiB" } ?? ""
        print(
            "\(count) inputs, \(outcome.images) images, errors [\(errors.joined(separator: ", "))], \(memory), slowest "
                + "\(outcome.slowest.time) (\(outcome.slowest.input)), crashes of helpers: \(outcome.crashes)")
    }

    private static func run(_ input: HostileInputs.Input, _ mode: Mode, _ results: Results) async {
        let format = ImageFormat(sniffing: input.data)
        guard mode.decodesVectors || format != .svg && format != .pdf else { return }
        let clock = ContinuousClock()
        let start = clock.now
        var result: Result<PixelSize, ImageError>
        if (input.choice >> 16) % 3 == 0 {
            result = await convert(input, mode)
        } else {
            result = await load(input, mode)
        }
        if case .success(let size) = result, (size.area ?? .max) > limits.maxPixels {
            result = .failure(.decoding(.contradictsHeader(format: format ?? .png, reason: "the size \(size)")))
        }
        let time = start.duration(to: clock.now)
        let text = "WEBIMAGE_SOAK_SEED=\(input.seed) WEBIMAGE_SOAK_INPUTS=1 (\(mode.name), \(input.description))"
        results.change { outcome in
            switch result {
            case .success: outcome.images += 1
            case .failure(let error):
                outcome.errors[error.code, default: 0] += 1
                if error.code == 4011 { outcome.crashes.append("\(text): \(error.message)") }
                if error.message.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                    outcome.complaints.append("\(text): the message has control characters")
                }
            }
            if time > outcome.slowest.time { outcome.slowest = (time, text) }
            // Without a machine for itself, the time says nothing about an input.
            if requested != nil, time > longest { outcome.complaints.append("\(text) took \(time)") }
        }
    }

    private static func load(_ input: HostileInputs.Input, _ mode: Mode) async -> Result<PixelSize, ImageError> {
        guard let url = URL(string: "https://soak.test/\(input.seed)") else { return .failure(.cancelled) }
        var request = ImageRequest(url: url)
        if (input.choice >> 32) % 5 == 0 { request.decoding.size = .fit(width: 40) }
        do throws(ImageError) {
            let image = try await mode.manager.image(for: request)
            if let animation = image.animation { _ = try? animation.frame(at: animation.frameCount - 1) }
            return .success(image.size)
        } catch {
            return .failure(error)
        }
    }

    /// Decodes the input and encodes it, as `webimage convert` does.
    private static func convert(_ input: HostileInputs.Input, _ mode: Mode) async -> Result<PixelSize, ImageError> {
        let encodings: [ImageEncoding] = [.png, .jpeg, .webp, .gif]
        let encoding = encodings[Int((input.choice >> 40) % UInt64(encodings.count))]
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let context = ImageProcessingContext(limits: limits)
                do throws(ImageError) {
                    let image = try mode.coders.decode(input.data, context: context)
                    _ = try mode.coders.encode(
                        image, as: encoding, original: input.data, context: ImageProcessingContext(limits: limits))
                    continuation.resume(returning: .success(image.size))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }

    // MARK: Memory

    /// Returns the resident memory after free memory was returned to the system, in bytes.
    private static func resident() throws -> Int {
        wi_sandbox_trim()
        return try status("VmRSS:")
    }

    private static func status(_ name: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) << 10
    }
}

/// A file with the seeds of the inputs in progress, which remains if this process crashes.
private final class SeedLog: Sendable {
    private let path = FileManager.default.temporaryDirectory.appending(path: "webimage-soak-\(getpid()).log").path
    private let descriptor: Int32

    init(lanes: Int) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
    }

    deinit { close(descriptor) }

    func set(_ seed: UInt64, lane: Int) {
        let digits = String(seed)
        let line = [UInt8]((String(repeating: " ", count: max(0, 20 - digits.count)) + digits + "\n").utf8)
        _ = pwrite(descriptor, line, line.count, off_t(lane * line.count))
    }

    func remove() { unlink(path) }
}
