// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Address policy of a manager", .timeLimit(.minutes(5)))
struct ManagerAddressPolicyTests {
    private func failure(_ manager: ImageManager, _ request: ImageRequest) async -> ImageError? {
        do throws(ImageError) {
            _ = try await manager.image(for: request)
            return nil
        } catch {
            return error
        }
    }

    private func isRefused(_ error: ImageError?) -> Bool {
        guard case .network(let failure) = error else { return false }
        return failure.reason == .addressNotAllowed
    }

    /// Returns a fixture with the settings of the server configuration.
    private func fixture() throws -> ManagerFixture {
        try ManagerFixture {
            $0.allowedSchemes = ["https", "http"]
            $0.downloader.addressPolicy = .publicOnly
            $0.downloader.maxStartsPerSecond = nil
            $0.downloader.retry = .never
        }
    }

    /// The address 11.22.33.44 is public, but in tests it leads to a local server.
    private func publicURL(_ server: LoopbackServer, _ path: String) throws -> URL {
        try #require(URL(string: "http://11-22-33-44.at.test:\(server.port)\(path)"))
    }

    @Test("No spelling of a private address or of a local name is loaded")
    func spellings() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(1), contentType: "image/png")])
        let fixture = try fixture()
        for host in AddressSpellings.special + AddressSpellings.localNames {
            let url = try #require(URL(string: "http://\(host):\(server.port)/a"), "\(host)")
            #expect(isRefused(await failure(fixture.manager, ImageRequest(url: url))), "\(host)")
        }
        #expect(server.counters.connections == 0)
        #expect(await failure(fixture.manager, ImageRequest(url: try publicURL(server, "/a"))) == nil)
    }

    @Test("A name that resolves to a private address at the second lookup isn't connected to again")
    func rebinding() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(1), contentType: "image/png")])
        let name = "http://11-22-33-44.127-0-0-1.manager.rebind.test:\(server.port)/a"
        let url = try #require(URL(string: name))
        let first = try fixture()
        #expect(await failure(first.manager, ImageRequest(url: url)) == nil)
        // Another manager has no cached result of the first lookup.
        let second = try fixture()
        #expect(isRefused(await failure(second.manager, ImageRequest(url: url))))
        #expect(server.counters.connections == 1)
    }

    @Test("Redirects, alternatives, and preliminary requests obey the address policy and the allowed schemes")
    func detours() async throws {
        let image = try TestImages.png(1)
        let secret = try LoopbackServer(routes: ["/a": .ok(image, contentType: "image/png")])
        let inline = "data:image/png;base64,\(image.base64EncodedString())"
        let fixture = try fixture()
        let targets = [
            "http://127.1:\(secret.port)/a", "http://localhost.:\(secret.port)/a",
            "http://[::ffff:7f00:1]:\(secret.port)/a", "http://0x7f000001:\(secret.port)/a", "file:///etc/hostname",
            inline, "ftp://a.example/a",
        ]
        let server = try LoopbackServer { request in
            if request.path == "/ok" { return .ok(image, contentType: "image/png") }
            guard let index = Int(request.path.dropFirst()) else { return .status(404) }
            return .redirect(to: targets[index])
        }
        for (index, target) in targets.enumerated() {
            let url = try #require(URL(string: target), "\(target)")
            #expect(await failure(fixture.manager, ImageRequest(url: try publicURL(server, "/\(index)"))) != nil)
            var request = ImageRequest(url: try publicURL(server, "/none\(index)"))
            request.network.alternativeURLs = [url]
            #expect(await failure(fixture.manager, request) != nil, "\(target)")
            request = ImageRequest(url: try publicURL(server, "/ok"))
            request.caching.readFrom = []
            request.preliminary = ImageRequest(url: url)
            let task = fixture.manager.load(request)
            _ = try await task.response
        }
        #expect(secret.counters.connections == 0)
    }

    @Test("All spellings of a host have one cache key, and the key of an ordinary URL contains its text")
    func keys() throws {
        func text(_ url: String) throws -> String { SourceKind(try #require(URL(string: url))).text }
        for url in ["https://a.example/x?Y", "http://127.0.0.1:8080/A", "file:///A/b", "album://ABC/1"] {
            #expect(try text(url) == url)
        }
        for host in ["A.example", "a.example.", "a%2eexample", "%61.EXAMPLE."] {
            #expect(try text("https://\(host)/x?Y#z") == "https://a.example/x?Y", "\(host)")
        }
    }
}
