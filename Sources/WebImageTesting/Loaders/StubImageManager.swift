// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A manager that touches neither network nor disk: it answers with canned pictures, and remembers what it was asked.
/// Hand ``manager`` to the screen under test. What no answer is set for fails as refused (1011). Thread-safe.
///
/// ```swift
/// let stub = StubImageManager()
/// let gate = Gate()
/// stub.set(.color([200, 0, 0], width: 40, height: 30, gate: gate), for: avatar)
/// stub.set(.failure(.request(.refused(reason: "gone")))) { $0.url.path.hasPrefix("/old") }
/// let task = stub.manager.load(avatar)        // what the screen does
/// await stub.waitForRequests(count: 1)        // the screen shows its placeholder now
/// gate.open()                                 // and its picture after that
/// ```
public final class StubImageManager: Sendable {
    /// What a request is answered with.
    public struct Answer: Sendable {
        enum Content: Sendable {
            case image(Image)
            case data(Data)
            case color([UInt8], PixelSize)
            case failure(ImageError)
        }

        let content: Content
        let gate: Gate?

        /// `image` as it is. Waits for `gate` where there is one.
        public static func image(_ image: Image, gate: Gate? = nil) -> Answer {
            Answer(content: .image(image), gate: gate)
        }

        /// Encoded bytes; decoded and transformed as the request says. Waits for `gate` where there is one.
        public static func data(_ data: Data, gate: Gate? = nil) -> Answer { Answer(content: .data(data), gate: gate) }

        /// A picture of one colour (red, green, blue), in pixels. Waits for `gate` where there is one.
        public static func color(_ color: [UInt8], width: Int, height: Int, gate: Gate? = nil) -> Answer {
            Answer(content: .color(color, PixelSize(width: width, height: height)), gate: gate)
        }

        /// No picture. Waits for `gate` where there is one.
        public static func failure(_ error: ImageError, gate: Gate? = nil) -> Answer {
            Answer(content: .failure(error), gate: gate)
        }
    }

    /// The manager. Without disk; its memory cache is empty, and nothing that is canned gets into it.
    public let manager: ImageManager
    /// The time by which the manager judges freshness and remembers failures. Begins at zero, which is
    /// 2001-01-01.
    public let clock: ManualClock
    private let desk: StubDesk

    /// Creates a manager; `configure` changes its settings before the stub takes its place as the innermost interceptor.
    public init(_ configure: (inout ImageManagerConfiguration) -> Void = { _ in }) {
        let (desk, clock) = (StubDesk(), ManualClock())
        self.desk = desk
        self.clock = clock
        manager = ImageManager { configuration in
            configuration.cache.usesDisk = false
            configuration.downloader.proxy = .none
            configuration.memoryPressure = MemoryPressureSource(readsSystem: false)
            configuration.now = { Date(timeIntervalSinceReferenceDate: clock.now.offset / .seconds(1)) }
            configure(&configuration)
            configuration.interceptors.append(desk)
        }
    }

    /// Sets what requests for `url` are answered with, in place of what was set for it before. Several answers are given
    /// in turn, the last one again and again.
    public func set(_ answers: Answer..., for url: URL) {
        desk.put(StubDesk.Rule(url: url, matches: { $0.url == url }, answers: answers))
    }

    /// Sets what requests that `matches` takes are answered with. What was set last is asked first.
    public func set(_ answers: Answer..., where matches: @escaping @Sendable (ImageRequest) -> Bool) {
        desk.put(StubDesk.Rule(url: nil, matches: matches, answers: answers))
    }

    /// Everything that was asked, in order.
    public var requests: [ImageRequest] { desk.state.value.requests }

    /// Waits until `count` requests have come. Returns early when the surrounding task is cancelled.
    public func waitForRequests(count: Int) async { await desk.state.wait { $0.requests.count >= count } }
}

/// Answers in the network's place.
final class StubDesk: RequestInterceptor {
    struct Rule: Sendable {
        let url: URL?
        let matches: @Sendable (ImageRequest) -> Bool
        var answers: [StubImageManager.Answer]
    }

    struct State: Sendable {
        var rules: [Rule] = []
        var requests: [ImageRequest] = []
    }

    let state = Watched(State())

    func put(_ rule: Rule) {
        state.update { state in
            if let url = rule.url { state.rules.removeAll { $0.url == url } }
            state.rules.append(rule)
        }
    }

    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> RequestAnswer {
        guard let answer = take(request) else {
            throw .request(.refused(reason: "no answer is set for \(request.url.absoluteString)"))
        }
        await answer.gate?.wait()
        guard !Task.isCancelled else { throw .request(.cancelled) }
        switch answer.content {
        case .image(let image): return .image(image)
        case .data(let data): return .data(data)
        case .color(let color, let size): return .image(try Self.picture(color, size))
        case .failure(let error): throw error
        }
    }

    private func take(_ request: ImageRequest) -> StubImageManager.Answer? {
        // The tests' own predicates run outside the lock.
        let rules = state.update { state in
            state.requests.append(request)
            return state.rules
        }
        guard let found = rules.lastIndex(where: { $0.matches(request) }), let first = rules[found].answers.first
        else { return nil }
        guard rules[found].answers.count > 1 else { return first }
        return state.update { state in
            // What was set meanwhile moves the rule; what it had is the answer then.
            guard found < state.rules.count, state.rules[found].url == rules[found].url,
                let answer = state.rules[found].answers.first
            else { return first }
            if state.rules[found].answers.count > 1 { state.rules[found].answers.removeFirst() }
            return answer
        }
    }

    private static func picture(_ color: [UInt8], _ size: PixelSize) throws(ImageError) -> Image {
        guard color.count == 3 else {
            throw .request(.invalidOption(name: "color", value: "\(color)"))
        }
        let canvas = try PixelCanvas(size: size)
        canvas.withUnsafeMutableBytes { pixels in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let at = y * canvas.bytesPerRow + 4 * x
                    for channel in 0..<3 { pixels[at + channel] = color[channel] }
                    pixels[at + 3] = 255
                }
            }
        }
        return Image(pixels: canvas.finish(isOpaque: true))
    }
}
