// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageCore
import WebImageTesting

@Suite("Isolation of a manager", .enabled(if: ImageCoderRegistry.standard.canDecode(.svg), "the trait SVG is off"))
struct ManagerTests {
    private let svg = Data("<svg xmlns='http://www.w3.org/2000/svg' width='5' height='4'><g/></svg>".utf8)
    private let remote = "https://example.test/a.svg"

    private func manager(
        _ change: (inout ImageManager.Configuration) -> Void, base: ImageManager.Configuration = .init()
    ) -> ImageManager {
        var configuration = base
        configuration.diskCache = nil
        let svg = svg
        configuration.loaders = [StubLoader { _ in StubLoader.Response(svg) }]
        change(&configuration)
        return ImageManager(configuration: configuration)
    }

    private func code(_ manager: ImageManager, _ url: String) async throws -> Int? {
        let url = try #require(URL(string: url))
        do throws(ImageError) {
            _ = try await manager.image(for: ImageRequest(url: url))
            return nil
        } catch {
            return error.code
        }
    }

    @Test("Without a helper, SVG from the network fails with the remedy, and SVG from a data URL is decoded")
    func network() async throws {
        let manager = manager { $0.decoding.helperPath = "/nonexistent/webimage-decoder" }
        #expect(try await code(manager, remote) == 4012)
        #expect(try await code(manager, "data:image/svg+xml;base64,\(svg.base64EncodedString())") == nil)
    }

    @Test("If all formats are isolated, SVG is never decoded in process")
    func server() async throws {
        #expect(ImageManager.Configuration.server.decoding.isolatesAllFormats)
        let manager = manager {
            $0.decoding.isolatesAllFormats = true
            $0.decoding.helperPath = "/nonexistent/webimage-decoder"
        }
        #expect(try await code(manager, remote) == 4012)
        #expect(try await code(manager, "data:image/svg+xml;base64,\(svg.base64EncodedString())") == 4012)
        let file = FileManager.default.temporaryDirectory.appending(path: "webimage-\(UUID().uuidString).svg")
        try svg.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await code(manager, file.absoluteString) == 4012)
    }

    @Test("Without isolation, SVG from the network is decoded in process")
    func off() async throws {
        #expect(try await code(manager { $0.decoding.isolation = .off }, remote) == nil)
    }

    @Test("With a helper, a manager that requires isolation loads SVG", .enabled(if: Helpers.areBuilt))
    func required() async throws {
        let manager = manager {
            $0.decoding.isolation = .required
            $0.decoding.helperPath = Helpers.decoder
        }
        #expect(try await code(manager, remote) == nil)
    }
}
