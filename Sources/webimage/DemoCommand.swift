// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImagePrograms

/// The command `webimage demo`.
struct DemoCommand: Sendable {
    struct Options: Sendable {
        let output: String
        let isVerbose: Bool
        let json: Bool

        init(_ arguments: Arguments) throws(UsageError) {
            isVerbose = arguments.has("verbose")
            json = arguments.has("json")
            try arguments.expectOperands(0...0, "")
            output = arguments.last("output-dir") ?? "demo"
        }
    }

    /// A pass that loads the whole album.
    private struct Pass {
        let title: String
        let policy: CachePolicy
        let origin: ImageResponse.Source
        var restarts = false
    }

    private static let passes = [
        Pass(title: "Cold: the cache is empty", policy: .http, origin: .network),
        Pass(title: "Repeated: from memory", policy: .http, origin: .memoryCache),
        Pass(title: "After a restart: from disk", policy: .http, origin: .diskCache, restarts: true),
        Pass(title: "Revalidated: every image is unchanged on the server", policy: .refresh, origin: .revalidated),
    ]

    private let options: Options
    private let console: Console
    private let interruption: SignalHandler

    init(_ options: Options, _ console: Console, _ interruption: SignalHandler) {
        self.options = options
        self.console = console
        self.interruption = interruption
    }

    func run() async -> Int32 {
        do {
            let album = try Album.find(environment: ProcessInfo.processInfo.environment)
            let server = try await BlockingWork.run { () throws(ImageError) in try AlbumServer(album) }
            defer { server.stop() }
            let cache = FileManager.default.temporaryDirectory.appending(path: "webimage-demo-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: cache) }
            return await interruption.cancelling { [self] in
                await run(album, server, cache: cache.path(percentEncoded: false))
            }
        } catch let error as Album.Missing {
            console.report(error.message)
        } catch {
            console.report("\(error)")
        }
        return ExitStatus.failed
    }

    private func run(_ album: Album, _ server: AlbumServer, cache: String) async -> Int32 {
        let gallery = DemoGallery()
        var manager = makeManager(cache)
        var first: [FetchRow] = []
        var surprises: [String] = []
        for (index, pass) in Self.passes.enumerated() where !Task.isCancelled {
            if pass.restarts {
                await manager.shutdown()
                manager = makeManager(cache)
            }
            let before = server.traffic
            var load = ImageBatchLoad(manager: manager, size: .fit(width: 640, height: 480), policy: pass.policy)
            if index == 0 { load.onImage = { gallery.add($0, $1) } }
            let rows = await loadAll(album, server, load)
            guard !Task.isCancelled else { break }
            if options.json {
                printJSON(pass, number: index + 1, album, rows)
            } else {
                show(pass, number: index + 1, rows, server.traffic - before)
            }
            surprises += zip(album.entries, rows).compactMap { Self.surprise($0, $1, pass) }
            if index == 0 { first = rows }
        }
        await manager.shutdown()
        guard !Task.isCancelled else { return ExitStatus.failed }
        // Report a problem that occurs in several passes only once.
        var reported: Set<String> = []
        for surprise in surprises where reported.insert(surprise).inserted { console.report(surprise) }
        let isDrawn = await writeSheet(gallery.sheet(album, rows: first))
        return isDrawn && surprises.isEmpty ? ExitStatus.ok : ExitStatus.failed
    }

    private func makeManager(_ cache: String) -> ImageManager {
        ImageManager {
            if options.isVerbose { $0.logToStandardError() }
            $0.diskCache = DiskCache.Configuration(path: cache)
            $0.downloader.maxStartsPerSecond = nil
        }
    }

    private func loadAll(_ album: Album, _ server: AlbumServer, _ load: ImageBatchLoad) async -> [FetchRow] {
        let progress = ProgressPrinter(
            total: server.urls.count,
            mode: console.error.isTerminal && !console.isQuiet && !options.isVerbose ? .inPlace : .none,
            console: console)
        var rows = await ImageBatch(manager: load.manager, concurrency: 8).run(
            inputs: server.urls.map { ImageInput($0.absoluteString) },
            facts: server.urls.indices.map { OutputFacts(name: "\($0)", index: $0) }, load: load, progress: progress)
        progress.end()
        for (index, entry) in album.entries.enumerated() where rows.indices.contains(index) {
            rows[index].name = entry.file
        }
        return rows
    }

    private func show(_ pass: Pass, number: Int, _ rows: [FetchRow], _ traffic: AlbumServer.Traffic) {
        if number > 1 { console.print("") }
        console.print(console.out.apply(.bold, to: "\(number). \(pass.title)"))
        console.print(FetchRow.table(rows).lines(console.out))
        console.remark(FetchRow.summary(rows))
        let asked =
            "server: \(NumberFormatting.count(traffic.requests, "request")), \(traffic.redirects) redirected, "
            + "\(traffic.notModified) not modified (304), \(NumberFormatting.bytes(traffic.bytesSent)) sent"
        console.remark(asked)
    }

    private func printJSON(_ pass: Pass, number: Int, _ album: Album, _ rows: [FetchRow]) {
        for (index, (entry, row)) in zip(album.entries, rows).enumerated() {
            var row = row
            row.index = index
            row.pass = (number, Self.surprise(entry, row, pass) == nil)
            console.printJSON(row.json)
        }
    }

    /// Returns the difference from the result that the album and the pass specify, or `nil` if there's none.
    private static func surprise(_ entry: Album.Entry, _ row: FetchRow, _ pass: Pass) -> String? {
        if !entry.expects(row.error) {
            let wanted = entry.isCorrupt ? "an error of the family “\(entry.expect ?? "?")”" : "an image"
            return "\(entry.file): expected \(wanted), got \(row.error.map { "\($0)" } ?? "an image")"
        }
        guard row.error == nil, row.source != pass.origin.rawValue else { return nil }
        return "\(entry.file): expected the source \(pass.origin.rawValue), got \(row.source ?? "?")"
    }

    private func writeSheet(_ sheet: ContactSheet) async -> Bool {
        let path = "\(options.output)/contact-sheet.png"
        do throws(ImageError) {
            try await BlockingWork.run { [options] () throws(ImageError) in
                let pixels = try sheet.draw()
                let data = try ImageCoderRegistry.standard.encode(
                    DecodedImage(pixels: pixels), as: .png, context: ImageProcessingContext())
                try Files.makeDirectory(options.output)
                try Files.write(data, to: path)
            }
            if !options.json { console.print("\nContact sheet: \(path)") }
            return true
        } catch {
            console.report(nil, error)
            return false
        }
    }
}
