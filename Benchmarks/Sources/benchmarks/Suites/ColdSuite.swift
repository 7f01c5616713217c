// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// A suite that loads 1,000 images from the network and creates thumbnails, with empty caches.
enum ColdSuite: Suite {
    static let name = "cold"
    static let summary =
        "cold load of 1,000 images to 256 x 256, against libcurl + libjpeg-turbo + Lanczos in C and aiohttp in Python"

    private static let limit = "C on two threads"
    private static let side = 256

    static func cases(_ settings: Settings) throws -> [Case] {
        let server = try FileServer(try pictures(settings.pictures), settings: settings)
        let texts = server.urls
        let urls = texts.compactMap { URL(string: $0) }
        let name = "\(settings.pictures) images of 0.2…1.2 MP, originals to disk, per image"
        let item = Case(
            name: name, contenders: [ours(urls, settings), inC(texts, server, settings)],
            goals: [.ratio(.cpu, to: limit, atMost: 0.85)])
        return [item.against(try inPython(texts, settings))]
    }

    /// Returns JPEG files of 0.2 to 1.2 megapixels. A hundred different files are sufficient because none of the caches
    /// stores data by content.
    static func pictures(_ count: Int) throws -> [Data] {
        let originals = try (0..<min(100, count)).map { index in
            let width = 480 + index * 8
            return try Photograph.encoded(width, width * 3 / 4, as: .jpeg(quality: 85), seed: UInt64(index + 1))
        }
        return (0..<count).map { originals[$0 % originals.count] }
    }

    private static func ours(_ urls: [URL], _ settings: Settings) -> Contender {
        Contender("WebImage") { _ in
            let folder = try settings.makeFolder("cold")
            let manager = ImageManager {
                var disk = DiskCache.Configuration(directory: URL(filePath: folder))
                disk.sizeLimit = 8 << 30
                disk.minimumFreeFraction = 0
                $0.diskCache = disk
                $0.limits = Photograph.roomy
                // The other contenders don't limit the start rate either, because the server is on the same machine.
                $0.downloader.maxStartsPerSecond = nil
            }
            let sample = try await timed(urls.count) {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for url in urls {
                        let request = ImageRequest(url: url, size: .fit(width: Double(side), height: Double(side)))
                        group.addTask { try await manager.image(for: request).size.width }
                    }
                    for try await width in group { consume(width) }
                }
                await manager.diskCache?.flush()
            }
            await manager.shutdown()
            return sample
        }
    }

    private static func inC(_ texts: [String], _ server: FileServer, _ settings: Settings) -> Contender {
        Contender(limit) { _ in
            // Keep the server alive for all rounds.
            consume(server)
            let folder = try settings.makeFolder("cold-c")
            return try timed(texts.count) {
                var loaded = wi_limit_loaded()
                let code = withCTexts(texts) {
                    wi_limit_cold_load($0, Int32(texts.count), 6, 2, Int32(side), folder, &loaded)
                }
                guard code == 0 else { throw Skipped(reason: "the C program loaded only \(loaded.answered) images") }
            }
        }
    }

    /// Returns the Python contenders, which don't store the originals. If one isn't installed, the reason is reported
    /// and it's omitted.
    private static func inPython(_ urls: [String], _ settings: Settings) throws -> [Rival] {
        let list = try settings.makeFolder("cold-python") + "/urls"
        try Data(urls.joined(separator: "\n").utf8).write(to: URL(filePath: list))
        let bounds: [(PeerLibrary, Double)] = [(.openCV, 0.8), (.pillow, 0.55), (.libvips, 0.55)]
        return bounds.compactMap { library, bound in
            do {
                let program = try PythonPeer("cold.py", modules: ["aiohttp", library.module])
                let contender = Contender("aiohttp + \(library.rawValue)") { _ in
                    try program.measure([library.module], input: list)
                }
                return Rival(contender: contender, atMost: bound)
            } catch {
                library.skip((error as? Skipped)?.reason ?? "\(error)", in: name)
                return nil
            }
        }
    }
}
