// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A manager for tests that uses neither the network nor the disk.
///
/// It returns predefined images and records its requests. Pass ``manager`` to the view under test. Requests without a
/// predefined result fail with ``RequestError/refused(reason:)`` (1011). This class is thread-safe.
///
/// ```swift
/// let stub = StubImageManager()
/// let gate = Gate()
/// stub.set(.color([200, 0, 0], width: 40, height: 30, gate: gate), for: avatar)
/// stub.set(.failure(.request(.refused(reason: "gone")))) { $0.url.path.hasPrefix("/old") }
/// let task = stub.manager.load(avatar)        // What the view does.
/// await stub.waitForRequests(count: 1)        // The view displays its placeholder.
/// gate.open()                                 // The view displays the image.
/// ```
public final class StubImageManager: Sendable {
    /// The predefined result of a request.
    public struct Answer: Sendable {
        enum Content: Sendable {
            case image(Image)
            case data(Data)
            case color([UInt8], PixelSize)
            case failure(ImageError)
        }

        let content: Content
        let gate: Gate?

        /// Returns a result with an unmodified image, which is delivered after the gate, if any, is open.
        public static func image(_ image: Image, gate: Gate? = nil) -> Answer {
            Answer(content: .image(image), gate: gate)
        }

        /// Returns a result with encoded data, which is decoded and transformed according to the request after the
        /// gate, if any, is open.
        public static func data(_ data: Data, gate: Gate? = nil) -> Answer { Answer(content: .data(data), gate: gate) }

        /// Returns a result with an image of a single color, which is delivered after the gate, if any, is open.
        ///
        /// - Parameters:
        ///   - color: The red, green, and blue components, from 0 to 255.
        ///   - width: The width in pixels.
        ///   - height: The height in pixels.
        ///   - gate: A gate that delays the result, or `nil` to deliver it immediately.
        public static func color(_ color: [UInt8], width: Int, height: Int, gate: Gate? = nil) -> Answer {
            Answer(content: .color(color, PixelSize(width: width, height: height)), gate: gate)
        }

        /// Returns a result with an error, which is thrown after the gate, if any, is open.
        public static func failure(_ error: ImageError, gate: Gate? = nil) -> Answer {
            Answer(content: .failure(error), gate: gate)
        }
    }

    /// The manager, which has no disk cache. Its memory cache is empty, and predefined images aren't stored in it.
    public let manager: ImageManager
    /// The clock with which the manager calculates freshness and remembers failures. It starts at zero, which is
    /// 2001-01-01.
    public let clock: ManualClock
    private let desk: StubDesk

    /// Creates a manager.
    ///
    /// - Parameter configure: A closure that changes the configuration before the stub is added as the innermost
    ///   interceptor.
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

    /// Sets the results of requests for a URL and replaces the previous ones.
    ///
    /// If there are several results, the requests receive them in order. The last one repeats.
    public func set(_ answers: Answer..., for url: URL) {
        desk.put(StubDesk.Rule(url: url, matches: { $0.url == url }, answers: answers))
    }

    /// Sets the results of the requests for which a closure returns `true`. The most recently added closure is called
    /// first.
    public func set(_ answers: Answer..., where matches: @escaping @Sendable (ImageRequest) -> Bool) {
        desk.put(StubDesk.Rule(url: nil, matches: matches, answers: answers))
    }

    /// All requests in the order of their arrival.
    public var requests: [ImageRequest] { desk.state.value.requests }

    /// Waits until `count` requests have arrived. Returns early if the current task is canceled.
    public func waitForRequests(count: Int) async { await desk.state.wait { $0.requests.count >= count } }
}

/// An interceptor that returns predefined results instead of using the network.
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
            throw .request(.refused(reason: "no response is set for \(request.url.absoluteString)"))
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
        // Call the closures of the test without holding the lock.
        let rules = state.update { state in
            state.requests.append(request)
            return state.rules
        }
        guard let found = rules.lastIndex(where: { $0.matches(request) }), let first = rules[found].answers.first
        else { return nil }
        guard rules[found].answers.count > 1 else { return first }
        return state.update { state in
            // If another call changed the rules meanwhile, use the previously found result.
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
