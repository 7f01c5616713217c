// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

/// Checks the tables of the articles MigratingFromSDWebImage.md and MigratingFromYYWebImage.md against the tests in this
/// directory.
@Suite("Migration articles", .timeLimit(.minutes(5)))
struct MigrationArticleTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()

    private static func article(_ name: String) throws -> String {
        let root = directory.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(
            contentsOf: root.appending(path: "Documentation/WebImage.docc/Articles/\(name).md"), encoding: .utf8)
    }

    /// Returns all sources of the tests without whitespace, which formatting may change.
    private static func sources() throws -> String {
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "swift" }
            .map { squeeze(try String(contentsOf: $0, encoding: .utf8)) }.joined(separator: "\n")
    }

    private static func squeeze(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    /// Returns the name and the code of the rows of all tables whose header begins with the name of the library and with
    /// WebImage. The code of a row has several parts if it contains ellipses.
    private static func rows(of library: String, in article: String) throws -> [(name: String, code: [String])] {
        var isInTable = false
        var rows: [(name: String, code: [String])] = []
        for line in try self.article(article).components(separatedBy: "\n") {
            guard line.hasPrefix("| ") else {
                isInTable = isInTable && line.hasPrefix("|")
                continue
            }
            let cells = String(line.dropFirst(2)).components(separatedBy: " | ")
            guard cells.count >= 2 else { continue }
            if cells[0] == library && cells[1] == "WebImage" {
                isInTable = true
            } else if isInTable {
                let code = cells[1].components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
                    .flatMap { $0.element.components(separatedBy: "…") }
                rows.append((name: cells[0].filter { $0 != "`" }, code: code))
            }
        }
        return rows
    }

    @Test(
        "Every row has a test with its name, and its code is in a test",
        arguments: [("SDWebImage", "MigratingFromSDWebImage", 64), ("YYWebImage", "MigratingFromYYWebImage", 15)])
    func rows(library: String, article: String, count: Int) throws {
        let rows = try Self.rows(of: library, in: article)
        let sources = try Self.sources()
        #expect(rows.count >= count)
        for row in rows {
            let hasTest = sources.contains(Self.squeeze("@Test(\"\(row.name): "))
            #expect(hasTest, "no test of \(row.name)")
            #expect(!row.code.isEmpty, "no code for \(row.name)")
            for code in row.code {
                let isTested = code.isEmpty || sources.contains(Self.squeeze(code))
                #expect(isTested, "\(row.name): no test contains \(code)")
            }
        }
    }

    // MARK: - Snippets

    @MainActor
    @Test("A binder shows an image")
    func show() async throws {
        let table = try Migration()
        let shown = RecordedPresentations()
        let url = try table.serve(gate: shown.first)
        let placeholder = DecodedImage(pixels: try TestImages.pixels(9))
        let binder = ImageBinder(manager: table.manager) { shown.show($0) }
        binder.setViewSize(width: 64, height: 64, scale: 1)

        let options = ImageViewOptions(placeholder: .image(placeholder), transition: .crossFade())
        var request = ImageRequest(url: url)
        request.cachePolicy = .refresh
        binder.bind(request, options: options)

        await untilTrue { shown.kinds.last == .image }
        #expect(shown.kinds == [.placeholder, .image])
    }

    @Test("A manager loads an image without a view")
    func load() async throws {
        let table = try Migration()
        let manager = table.manager
        let url = try table.serve()

        let request = ImageRequest(
            url: url, size: .fit(width: 256, height: 256), transformers: [.roundedCorners(radius: 8)])
        let image = try await manager.image(for: request)

        #expect(!image.isOpaque && image.size.width == 64)
    }

    @Test("A prefetcher fills the caches, and the manager removes all entries")
    func prefetch() async throws {
        let table = try Migration()
        let manager = table.manager
        let urls = try (1...3).map { try table.serve($0) }

        let prefetcher = ImagePrefetcher(manager: manager)
        let list = prefetcher.prefetch(urls)
        for await progress in list.progress { print("\(progress.finishedCount) of \(progress.totalCount ?? 0)") }

        #expect(manager.cachedImage(for: ImageRequest(url: urls[0])) != nil)
        await manager.removeAllCachedImages()
        #expect(manager.cachedImage(for: ImageRequest(url: urls[0])) == nil)
    }
}
