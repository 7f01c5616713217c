// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A suite that measures the start of a process: the time until it has its first image from the disk cache, and the
/// memory that the library adds to a process that does nothing else.
enum StartSuite: Suite {
    static let name = "start"
    static let summary = "a new process: time until the first image from disk, and memory that the library adds"

    static func cases(_ settings: Settings) async throws -> [Case] {
        let photograph = try Photograph.encoded(320, 240, as: .jpeg(quality: 85), seed: 1)
        let server = try FileServer([photograph], settings: settings)
        let path = try settings.makeFolder("start")
        let file = try settings.makeFolder("start-limit") + "/photograph.jpg"
        try photograph.write(to: URL(filePath: file))
        let text = server.urls[0]
        guard let url = URL(string: text) else { throw Skipped(reason: "the server has no URL") }
        let manager = ImageManager { $0.diskCache = DiskCache.Configuration(directory: URL(filePath: path)) }
        consume(try await manager.image(for: url))
        await manager.diskCache?.flush()
        await manager.shutdown()
        return [
            Case(
                name: "process start to the first image from disk",
                contenders: [
                    program("WebImage", "start-probe", ["firstImage", path, text]),
                    program("a process without an image", "start-probe", ["nothing", path, text]),
                    program("a C program that reads and decodes the file", "start-limit", [file]),
                ],
                goals: [.atMost(8e-3, .wall)]),
            Case(
                name: "memory that the library adds to an empty process",
                contenders: [
                    program("manager and first image", "start-probe", ["firstImage", path, text]),
                    program("manager", "start-probe", ["manager", path, text]),
                    program("a C program that reads and decodes the file", "start-limit", [file]),
                ],
                goals: [.atMost(6 * 1_048_576, .bytes)]),
        ]
    }

    /// Returns a contender that starts a program in the directory of this program. The program prints its sample.
    private static func program(_ name: String, _ program: String, _ arguments: [String]) -> Contender {
        Contender(name) { _ in
            let output = try ProbeProcess.output(arguments + ["\(Int(Clocks.wall() * 1e9))"], program: program)
            let named = try JSONDecoder().decode([String: Double].self, from: output)
            return Dictionary(
                uniqueKeysWithValues: named.compactMap { key, value in Figure(rawValue: key).map { ($0, value) } })
        }
    }
}
