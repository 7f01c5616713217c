// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// The source of the model's loader. It responds with images that change occasionally, with failures, and with invalid
/// data, either immediately or after a gate opens. The choice is random for each load. Thread-safe.
final class ModelSource: Sendable {
    static let imageCount = 16
    /// The number of visually different versions of an image.
    static let versionCount = ModelWorld.checksSharing ? 5 : 16
    /// The credentials of the users that receive different images. User 0 has no credentials.
    static let users = (ModelWorld.checksSharing ? ["anna", "berta"] : []).map { name in
        let store = CredentialStore()
        store.setCredentials(user: name, password: "secret", for: urls[0])
        return store
    }
    static let size = PixelSize(width: 24, height: 16)

    private struct State {
        var random: SeededGenerator
        var versions = Array(repeating: 0, count: imageCount)
        var gates: [TestGate] = []
        var isOpen = false
    }

    private let state: Lock<State>
    private let bodies: [Data]

    init(seed: UInt64) throws {
        state = Lock(State(random: SeededGenerator(seed: seed)))
        bodies = try (0..<256).map {
            try TestImages.png($0, width: Self.size.width, height: Self.size.height)
        }
    }

    static let urls = (0..<imageCount).compactMap { URL(string: "https://model.test/\($0)") }

    /// Replaces the image of a number with its next version.
    func change(_ picture: Int) { state.withLock { $0.versions[picture] += 1 } }

    /// Returns the number of times that an image has changed.
    func version(_ picture: Int) -> Int { state.withLock { $0.versions[picture] } }

    /// Replaces all images with their next versions and returns the version numbers.
    func changeAll() -> [Int] {
        state.withLock { state in
            for picture in state.versions.indices { state.versions[picture] += 1 }
            return state.versions
        }
    }

    /// Opens one gate if any gate is closed.
    func openOne(_ choice: Int) {
        let gate = state.withLock { state -> TestGate? in
            guard !state.gates.isEmpty else { return nil }
            return state.gates.remove(at: choice % state.gates.count)
        }
        gate?.open()
    }

    /// Sets whether the source holds back responses. If `isOpen` is `true`, all gates open.
    func setOpen(_ isOpen: Bool) {
        let gates = state.withLock { state in
            state.isOpen = isOpen
            defer { if isOpen { state.gates = [] } }
            return isOpen ? state.gates : []
        }
        for gate in gates { gate.open() }
    }

    func response(_ request: LoadRequest) -> StubLoader.Response {
        let picture = Int(request.url.lastPathComponent) ?? 0
        return state.withLock { state in
            func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &state.random) == 0 }
            func gate(_ part: Int) -> TestGate? {
                guard !state.isOpen, chance(part) else { return nil }
                let gate = TestGate()
                state.gates.append(gate)
                return gate
            }
            let version = state.versions[picture] % Self.versionCount
            let number = picture + Self.imageCount * (version + Self.versionCount * Self.user(of: request))
            var fields = HTTPHeaderFields()
            fields["Content-Type"] = "image/png"
            if chance(2) { fields["ETag"] = "\"\(number)\"" }
            let control = ["max-age=60", "no-cache", "no-store", "max-age=5, stale-while-revalidate=60", nil]
            if let control = control[Int.random(in: 0..<control.count, using: &state.random)] {
                fields["Cache-Control"] = control
            }
            if chance(8) { fields["Vary"] = "Accept" }
            var response = StubLoader.Response(
                body: bodies[number], httpResponse: HTTPResponseHead(statusCode: 200, headers: fields),
                responseGate: gate(3),
                bodyGate: gate(4))
            if chance(3) { response.chunks = Self.cut(bodies[number], Int.random(in: 2...5, using: &state.random)) }
            if request.acceptsNotModified, request.headers["If-None-Match"] == "\"\(number)\"" {
                response.httpResponse = HTTPResponseHead(statusCode: 304, headers: fields)
                response.chunks = []
            } else if chance(12) {
                response.error = .network(
                    ImageError.NetworkFailure(.connectionLost, url: request.url, phase: .receivingBody))
                response.chunks = chance(2) ? [] : [bodies[number].prefix(40)]
            } else if chance(20) {
                response.chunks = [chance(2) ? Data("<html>no</html>".utf8) : bodies[number].prefix(60)]
            }
            return response
        }
    }

    private static func cut(_ data: Data, _ count: Int) -> [Data] {
        let size = (data.count + count - 1) / count
        return stride(from: 0, to: data.count, by: size).map { data[$0..<min(data.count, $0 + size)] }
    }

    /// Returns the user of a request, or 0 for a request without credentials.
    private static func user(of request: LoadRequest) -> Int {
        users.firstIndex { $0 === request.network.credentials }.map { $0 + 1 } ?? 0
    }

    /// Returns the content of an image's data, or `nil` if the source has no such data.
    func content(of data: Data) -> ModelImage? { bodies.firstIndex(of: data).map(Self.image) }

    /// Returns the reason why `shown` is wrong for the request `asked`, or `nil` if it's correct.
    func complaint(of asked: ModelImage, _ shown: ModelImage) -> String? {
        guard shown.number == asked.number, shown.user == asked.user else {
            return "requested \(asked), got \(shown)"
        }
        // A visible version can represent several versions. At least one of them must be allowed.
        let allowed = asked.version...max(asked.version, version(asked.number))
        guard Self.checksVersions, !allowed.contains(where: { $0 % Self.versionCount == shown.version }) else {
            return nil
        }
        return "requested \(asked), got removed content: \(shown)"
    }

    private static var checksVersions: Bool { ModelWorld.checksSharing }

    /// Returns the content of an image.
    static func content(of image: DecodedImage) -> ModelImage {
        // 173 is the modular inverse of the factor that maps the number to the red of every pixel.
        Self.image(image.pixels.withUnsafeBytes { Int($0[0] &* 173) })
    }

    private static func image(_ number: Int) -> ModelImage {
        let rest = number / imageCount
        return ModelImage(
            number: number % imageCount, user: rest / versionCount, version: rest % versionCount)
    }
}

/// The content of an image that is requested or shown.
struct ModelImage: Sendable {
    /// The number of its URL.
    var number: Int
    /// The user that may receive the image, or 0 for all users.
    var user = 0
    /// For a request, the oldest version that may be shown. For a shown image, its visible version.
    var version = 0
}
