// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// How much memory 3,000 requests at once take beyond the pictures that they bring, all of which are kept.
///
/// Each figure is of a process of its own: in one that has loaded before, memory that was freed and is still resident
/// would be taken again, and nothing would seem to be needed. The peak is the kernel's (VmHWM), so that none is missed.
enum QueueProbe {
    /// The word that makes the program this probe; URLs follow on the standard input.
    static let word = "queue-probe"
    private static let total = 3_000

    static func memory(_ server: PatternServer) -> Case {
        let urls = server.urls
        let ours = Contender("WebImage") { _ in [.bytes: try measure(urls)] }
        return Case(
            name: "memory beyond the pictures while 3,000 requests are queued and loaded", contenders: [ours],
            goals: [.atMost(40 * 1_048_576, .bytes)], warmUps: 0)
    }

    private static func measure(_ urls: [String]) throws -> Double {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [word]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(urls.joined(separator: "\n").utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard let bytes = Double(text) else { throw Skipped(reason: "the probe of memory failed") }
        return bytes
    }

    /// What the process of its own does: prints the bytes.
    static func run() async throws {
        var urls: [URL] = []
        while let line = readLine() { if let url = URL(string: line) { urls.append(url) } }
        guard let first = urls.first else { return }
        let downloader = HTTPSuite.downloader(6)
        // What libraries set up once is not the queue's.
        _ = try await downloader.load(LoadRequest(url: first), context: LoadContext())
        let requests = urls.map { LoadRequest(url: $0) }
        var bodies: [Data] = []
        bodies.reserveCapacity(total)
        let before = ResidentMemory.now()
        // All of them are there before the first one begins.
        downloader.suspend()
        try await withThrowingTaskGroup(of: Data.self) { group in
            for index in 0..<total {
                let request = requests[index % requests.count]
                group.addTask { try await downloader.load(request, context: LoadContext()).body }
            }
            while downloader.activity.queued < total { try await Task.sleep(for: .milliseconds(1)) }
            downloader.resume()
            for try await body in group { bodies.append(body) }
        }
        let kept = bodies.reduce(0) { $0 + $1.count }
        print(Int(ResidentMemory.peak() - before) - kept, terminator: "")
        consume(bodies)
    }
}
