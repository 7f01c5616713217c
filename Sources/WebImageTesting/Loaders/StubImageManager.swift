// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A manager for tests that uses neither the network nor the disk.
///
/// It returns predefined images and records its requests. Pass ``manager`` to the view under test. Requests without a
/// predefined result fail with ``ImageError/RequestFailure/rejected(reason:)``. This class is thread-safe.
///
/// ```swift
/// let stub = StubImageManager()
/// let gate = TestGate()
/// stub.respond(to: avatar, with: .color(.black, width: 40, height: 30, gate: gate))
/// stub.respond(with: .failure(.request(.rejected(reason: "gone"))), where: { $0.url.path.hasPrefix("/old") })
/// let task = stub.manager.load(avatar)        // What the view does.
/// await stub.waitForRequests(count: 1)        // The view displays its placeholder.
/// gate.open()                                 // The view displays the image.
/// ```
public final class StubImageManager: Sendable {
    /// The predefined result of a request.
    public struct Response: Sendable {
        enum Content: Sendable {
            case image(DecodedImage)
            case data(Data)
            case color(PixelColor, PixelSize)
            case failure(ImageError)
        }

        let content: Content
        let gate: TestGate?

        /// Returns a result with an unmodified image, which is delivered after the gate, if any, is open.
        public static func image(_ image: DecodedImage, gate: TestGate? = nil) -> Response {
            Response(content: .image(image), gate: gate)
        }

        /// Returns a result with encoded data, which is decoded and transformed according to the request after the
        /// gate, if any, is open.
        public static func data(_ data: Data, gate: TestGate? = nil) -> Response {
            Response(content: .data(data), gate: gate)
        }

        /// Returns a result with an image of a single color, which is delivered after the gate, if any, is open.
        ///
        /// - Parameters:
        ///   - color: The color of all pixels.
        ///   - width: The width in pixels.
        ///   - height: The height in pixels.
        ///   - gate: A gate that delays the result, or `nil` to deliver it immediately.
        public static func color(_ color: PixelColor, width: Int, height: Int, gate: TestGate? = nil) -> Response {
            Response(content: .color(color, PixelSize(width: width, height: height)), gate: gate)
        }

        /// Returns a result with an error, which is thrown after the gate, if any, is open.
        public static func failure(_ error: ImageError, gate: TestGate? = nil) -> Response {
            Response(content: .failure(error), gate: gate)
        }
    }

    /// The manager, which has no disk cache. Its memory cache is empty, and predefined images aren't stored in it.
    public let manager: ImageManager
    /// The clock with which the manager calculates freshness and remembers failures. It starts at zero, which is
    /// 2001-01-01.
    public let clock: TestClock
    private let responder: StubResponder

    /// Creates a manager.
    ///
    /// - Parameter configure: A closure that changes the configuration before the stub is added as the innermost
    ///   interceptor.
    public init(_ configure: (inout ImageManager.Configuration) -> Void = { _ in }) {
        let (desk, clock) = (StubResponder(), TestClock())
        self.responder = desk
        self.clock = clock
        manager = ImageManager { configuration in
            configuration.diskCache = nil
            configuration.downloader.proxy = .disabled
            configuration.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
            configuration.now = { Date(timeIntervalSinceReferenceDate: clock.now.offset / .seconds(1)) }
            configure(&configuration)
            configuration.interceptors.append(desk)
        }
    }

    /// Sets the results of requests for a URL and replaces the previous ones.
    ///
    /// If there are several results, the requests receive them in order. The last one repeats.
    public func respond(to url: URL, with responses: Response...) {
        responder.put(StubResponder.Rule(url: url, matches: { $0.url == url }, responses: responses))
    }

    /// Sets the results of the requests for which a closure returns `true`. The most recently added closure is called
    /// first.
    public func respond(with responses: Response..., where predicate: @escaping @Sendable (ImageRequest) -> Bool) {
        responder.put(StubResponder.Rule(url: nil, matches: predicate, responses: responses))
    }

    /// All requests in the order of their arrival.
    public var requests: [ImageRequest] { responder.state.value.requests }

    /// Waits until `count` requests have arrived. Returns early if the current task is canceled.
    public func waitForRequests(count: Int) async { await responder.state.wait { $0.requests.count >= count } }
}

/// An interceptor that returns predefined results instead of using the network.
final class StubResponder: ImageRequestInterceptor {
    struct Rule: Sendable {
        let url: URL?
        let matches: @Sendable (ImageRequest) -> Bool
        var responses: [StubImageManager.Response]
    }

    struct State: Sendable {
        var rules: [Rule] = []
        var requests: [ImageRequest] = []
    }

    let state = AwaitableValue(State())

    func put(_ rule: Rule) {
        state.update { state in
            if let url = rule.url { state.rules.removeAll { $0.url == url } }
            state.rules.append(rule)
        }
    }

    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
        guard let predefined = dequeue(request) else {
            throw .request(.rejected(reason: "no response is set for \(request.url.absoluteString)"))
        }
        await predefined.gate?.wait()
        guard !Task.isCancelled else { throw .cancelled }
        switch predefined.content {
        case .image(let image): return ImageResponse(image: image, url: request.url)
        case .data(let data):
            var response = try await next(request.replacingSource(with: data))
            response.url = request.url
            return response
        case .color(let color, let size):
            let image = DecodedImage(pixels: try PixelBuffer.filled(with: color, size: size))
            return ImageResponse(image: image, url: request.url)
        case .failure(let error): throw error
        }
    }

    private func dequeue(_ request: ImageRequest) -> StubImageManager.Response? {
        // Call the closures of the test without holding the lock.
        let rules = state.update { state in
            state.requests.append(request)
            return state.rules
        }
        guard let found = rules.lastIndex(where: { $0.matches(request) }), let first = rules[found].responses.first
        else { return nil }
        guard rules[found].responses.count > 1 else { return first }
        return state.update { state in
            // If another call changed the rules meanwhile, use the previously found result.
            guard found < state.rules.count, state.rules[found].url == rules[found].url,
                let response = state.rules[found].responses.first
            else { return first }
            if state.rules[found].responses.count > 1 { state.rules[found].responses.removeFirst() }
            return response
        }
    }
}
