// SPDX-License-Identifier: MIT

// Shows how an app tests a screen with images without a network: the screen uses the manager of a `StubImageManager`.
// The example checks the placeholder, the image, and a failure. It exits with status 1 if the screen shows something
// unexpected.

import Foundation
import WebImage
import WebImageTesting

/// The screen of the app. Its visible content is a text in this example.
actor Screen {
    private let manager: ImageManager
    private(set) var shows = "nothing"

    init(_ manager: ImageManager) { self.manager = manager }

    func open(_ url: URL) async {
        shows = "placeholder"
        do {
            let image = try await manager.image(for: ImageRequest(url: url, size: .fit(width: 100)))
            shows = "image \(image.size)"
        } catch {
            shows = "failure \(error.code)"
        }
    }
}

@MainActor func check(_ screen: Screen, _ expected: String) async {
    let shows = await screen.shows
    print("\(shows)")
    guard shows != expected else { return }
    print("expected: \(expected)")
    exit(1)
}

guard let avatar = URL(string: "https://example.org/avatar.png"), let old = URL(string: "https://example.org/old/a.png")
else { exit(1) }
let stub = StubImageManager()
let gate = TestGate()
stub.respond(to: avatar, with: .color(PixelColor(red: 200, green: 0, blue: 0), width: 40, height: 30, gate: gate))
stub.respond(with: .failure(.request(.rejected(reason: "gone"))), where: { $0.url.path.hasPrefix("/old") })

let screen = Screen(stub.manager)
await check(screen, "nothing")
let opening = Task { await screen.open(avatar) }
await stub.waitForRequests(count: 1)
await check(screen, "placeholder")
gate.open()
await opening.value
await check(screen, "image 40x30")
await screen.open(old)
await check(screen, "failure 1011")
if stub.requests.map(\.url) != [avatar, old] || stub.requests.first?.size != .fit(width: 100) {
    print("unexpected requests: \(stub.requests.map(\.url))")
    exit(1)
}
