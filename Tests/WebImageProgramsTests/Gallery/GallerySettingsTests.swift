// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageCommand
import WebImagePrograms
import WebImageUI

@Suite("Settings and options of the gallery")
struct GallerySettingsTests {
    private func options(_ words: String...) throws -> GalleryOptions {
        try GalleryOptions(Arguments(words, for: Commands.gallery))
    }

    @Test("Every option changes its setting")
    func all() throws {
        let options = try options(
            "--thumbnail-size", "240", "--transition", "slide", "--placeholder", "color", "--cache-policy",
            "cache-only", "--color-scheme", "dark", "--sort", "name", "--search", "x y", "--count", "50",
            "--include-damaged", "--delay", "0.5s", "--failure-rate", "25", "--limit-rate", "50K", "--retry", "0",
            "--cache-dir", "/tmp/c")
        #expect(options.settings.cellSize == 240)
        #expect(options.settings.transition == .slide && options.settings.placeholder == .color)
        #expect(options.settings.policy == .cacheOnly && options.settings.theme == .dark)
        #expect(options.order == .name && options.filter == "x y" && options.cells == 50 && options.includesCorrupt)
        #expect(options.settings.network == SimulatedNetwork(delay: 0.5, failures: 25, bytesPerSecond: 50 << 10))
        #expect(!options.settings.retries && options.cache == "/tmp/c" && options.showsAlbum)
        #expect(try self.options("--sort", "url").order == .source)
        let list = try self.options("-i", "list")
        #expect(list.lists == ["list"] && !list.showsAlbum && list.settings.retries)
    }

    @Test("Without options, the defaults apply")
    func defaults() throws {
        let options = try options()
        #expect(options.operands.isEmpty && options.settings == GallerySettings() && options.cells == 2_400)
    }

    @Test(
        "Invalid options are rejected",
        arguments: [
            ["--thumbnail-size", "20"], ["--transition", "spin"], ["--failure-rate", "101"], ["--delay", "5m"],
            ["--count", "0"], ["--color-scheme", "pink"], ["--nothing"], ["a.png", "--count", "4"],
            ["a.png", "--include-damaged"], ["a.png", "--delay", "1s"], ["-i", "list", "--count", "4"],
            ["--retry", "-1"], ["--insecure"],
        ])
    func refused(words: [String]) {
        #expect(throws: UsageError.self) { try GalleryOptions(Arguments(words, for: Commands.gallery)) }
    }

    @Test("The images of a cell and of the large view show the same part, so one can replace the other")
    func requests() throws {
        let item = GalleryItem(
            number: 0, url: try #require(URL(string: "https://a.example/b@2x.png")), title: "B", detail: "",
            blurHash: "x",
            aspectRatio: 1.5)
        var settings = GallerySettings()
        settings.cellSize = 1_000
        #expect(settings.cellSize == 320)
        settings.cellSize = 100
        settings.policy = .refresh
        settings.retries = false
        let cell = settings.thumbnail(item, scale: 2)
        #expect(cell.size == .fit(width: 300, height: 300) && cell.scale == 1 && cell.cachePolicy == .refresh)
        #expect(cell.network.retry?.maxAttempts == 1)
        let full = settings.full(item)
        #expect(full.size == nil && full.previews == .progressive && full.priority == .high)
        #expect(settings.fullOptions(item).usesCachedPlaceholder)
        guard case .blurHash("x", 1.5) = settings.cellOptions(item).placeholder else {
            Issue.record("the placeholder isn't a BlurHash")
            return
        }
        settings.placeholder = .none
        settings.transition = .none
        guard case .empty = settings.cellOptions(item).placeholder else {
            Issue.record("there is a placeholder")
            return
        }
        #expect(settings.cellOptions(item).transition == .none)
    }

    @Test("The statistics reflect the activity of a manager")
    func figures() async throws {
        let album = try SampleAlbum()
        let manager = ImageManager { $0.diskCache = nil }
        let request = ImageRequest(url: album.directory.appending(path: "p0.png"))
        _ = try await manager.image(for: request)
        _ = try await manager.image(for: request)
        var figures = GalleryStatistics(manager)
        (figures.visible, figures.visibleReady) = (4, 1)
        #expect(figures.statistics.memoryHits == 1 && figures.statistics.localLoads == 1 && figures.memoryCount == 1)
        let rows = figures.rows
        #expect(rows.first { $0.label == "Cache Hit Rate" }?.value == "50% of 2")
        #expect(rows.first { $0.label == "Visible Images" }?.fraction == 0.25)
        #expect(rows.allSatisfy { $0.fraction.map { (0...1).contains($0) } ?? true })
        await manager.shutdown()
    }
}
