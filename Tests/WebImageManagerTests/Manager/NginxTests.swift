// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport

@testable import WebImage

@Suite("Two hundred images from nginx", .timeLimit(.minutes(5)))
struct NginxTests {
    @Test(
        "Each image needs one request, none from memory or after a restart, and one 304 with the refresh policy",
        .enabled(if: Nginx.missing == nil, "nginx isn't installed"))
    func album() async throws {
        let names = (0..<200).map { "picture-\($0).png" }
        let files = try names.enumerated().map { ($1, try TestImages.png($0, width: 40 + $0 % 7, height: 30)) }
        let nginx = try Nginx(files: Dictionary(uniqueKeysWithValues: files))
        defer { nginx.stop() }
        var fixture = try ManagerFixture { $0.cachePolicy = .cacheFirst }
        try await loadAll(names, nginx, fixture, origin: .network)
        #expect(try requested(nginx) == Set(names.map { "/\($0)" }))
        #expect(try nginx.log().count == 200)

        try await loadAll(names, nginx, fixture, origin: .memoryCache)
        fixture = try await fixture.restarted { $0.cachePolicy = .cacheFirst }
        try await loadAll(names, nginx, fixture, origin: .diskCache)
        #expect(try nginx.log().count == 200)

        try await loadAll(names, nginx, fixture, origin: .revalidated, policy: .refresh)
        #expect(try nginx.log().count == 400)
        await fixture.manager.shutdown()
    }

    private func requested(_ nginx: Nginx) throws -> Set<String> { Set(try nginx.log().map(\.target)) }

    private func loadAll(
        _ names: [String], _ nginx: Nginx, _ fixture: ManagerFixture, origin: ImageResponse.Source,
        policy: CachePolicy? = nil
    ) async throws {
        let tasks = names.map { name in
            var request = ImageRequest(url: nginx.url("/\(name)"))
            request.cachePolicy = policy
            return fixture.manager.load(request)
        }
        for (number, task) in tasks.enumerated() {
            let response = try await task.response
            #expect(response.source == origin)
            let red = UInt8(truncatingIfNeeded: number * 37)
            #expect(response.image.pixels.pixel(x: 0, y: 0)?.red == red)
            #expect(response.image.size == PixelSize(width: 40 + number % 7, height: 30))
        }
    }
}
