// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

/// Tests with random faults. `make soak` runs them with 100,000 requests in a separate process. Only then do the tests
/// check descriptors and memory.
@Suite("Soak", .serialized, .timeLimit(.minutes(60)))
struct SoakTests {
    static let requested = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_REQUESTS"].flatMap { Int($0) }
    static let isAlone = requested != nil
    static let total = requested ?? 2_000
    /// The number of requests for one server. A new server replaces it because its log grows.
    static let batch = 2_000

    private static let bodies = (0..<8).map { patternBytes(1_000 + $0 * 5_000, seed: UInt64($0)) }

    private func downloader() -> ImageDownloader {
        makeDownloader {
            $0.maxConnectionsPerHost = 16
            $0.timeouts = LoadTimeouts(connect: 10, idle: 1, total: 60)
            $0.retry = RetryPolicy(maxAttempts: 4, baseDelay: .milliseconds(5), maxDelay: .milliseconds(20))
        }
    }

    /// The fault of a response.
    enum Fault: String {
        case none, cut, headCut, nothing, status, resetAfter, nonsense, stall, redirect, wrongRange, lie

        /// Returns a Boolean value that indicates whether this fault can explain a load that failed with `reason`.
        func explains(_ reason: ImageError.NetworkFailure.Reason) -> Bool {
            switch reason {
            case .connectionLost: [.cut, .headCut, .nothing, .resetAfter, .lie].contains(self)
            case .badServerResponse: [.nonsense, .headCut, .wrongRange, .lie].contains(self)
            case .unacceptableStatusCode: self == .status
            case .timedOut: self == .stall
            case .tooManyRedirects: self == .redirect
            default: false
            }
        }
    }

    /// Returns the response to a request and its fault. Most responses are correct, and the others cover all kinds of
    /// faults.
    private static func response(_ request: LoopbackServer.Request, seed: UInt64) -> (LoopbackServer.Response, Fault) {
        var generator = SeededGenerator(seed: seed &+ UInt64(request.index) &* 7_919)
        let body = bodies[(Int(request.path.dropFirst()) ?? 0) % bodies.count]
        var response = LoopbackServer.Response.ok(body)
        response.headers["ETag"] = "\"\(body.count)\""
        let from = request.headers["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        if let from, from < body.count {
            response.statusCode = 206
            response.headers["Content-Range"] = "bytes \(from)-\(body.count - 1)/\(body.count)"
            response.body = Data(body.dropFirst(from))
        }
        let most = response.body.count
        switch Int.random(in: 0..<40, using: &generator) {
        case 0:
            response.truncatesBodyAfter = Int.random(in: 0..<most, using: &generator)
            return (response, .cut)
        case 1:
            (response.truncatesBodyAfter, response.ending) = (Int.random(in: 0..<most, using: &generator), .reset)
            return (response, .cut)
        case 2:
            response.truncatesHeadAfter = Int.random(in: 0..<60, using: &generator)
            return (response, .headCut)
        case 3: return (.raw(Data(), ending: Bool.random(using: &generator) ? .reset : .close), .nothing)
        case 4: return (.status([404, 408, 429, 500, 503][Int.random(in: 0..<5, using: &generator)]), .status)
        case 5: response.framing = .chunked
        case 6:
            response.ending = .reset
            return (response, .resetAfter)
        case 7: return (.raw(Data("nonsense\r\n\r\n".utf8)), .nonsense)
        case 8 where request.index % 5 == 0:
            response.stallsBodyAfter = Int.random(in: 0..<most, using: &generator)
            return (response, .stall)
        case 9: return (.redirect(to: "/\(Int.random(in: 0..<8, using: &generator) + 8)"), .redirect)
        case 10:
            response.headers["Content-Range"] = "bytes 0-9/10"
            return (response, .wrongRange)
        case 11:
            response.framing = .wrongContentLength(most + 10)
            return (response, .lie)
        default: break
        }
        return (response, .none)
    }

    /// The most recent fault of each load, by the number that the load sends.
    private final class Faults: Sendable {
        private let last = Shared<[Int: Fault]>([:])

        func response(_ request: LoopbackServer.Request, seed: UInt64) -> LoopbackServer.Response {
            let (response, fault) = SoakTests.response(request, seed: seed)
            if let number = request.headers["Pragma"].flatMap({ Int($0) }) { last.update { $0[number] = fault } }
            return response
        }

        /// Returns the name of the outcome, which is the reason of the error if the last response explains it.
        func name(_ error: ImageError, _ number: Int) -> String {
            guard let network = error.network else { return "strange" }
            let fault = last.value[number]
            // On a busy machine, a correct response may arrive too late.
            guard fault?.explains(network.reason) == true || (!isAlone && network.reason == .timedOut) else {
                return "unexplained: \(network) after \(fault?.rawValue ?? "no response")"
            }
            let isFinal = network.attempt >= 4 || RetryAllowance(network) == .never
            return isFinal ? "failed: \(network.reason)" : "failed too early: \(network)"
        }
    }

    /// Performs `count` loads with up to 64 at the same time, and returns the number of loads for each outcome.
    private func run(
        _ downloader: ImageDownloader, _ server: LoopbackServer, _ faults: Faults, _ count: Int
    ) async -> [String: Int] {
        let next = Shared(0)
        let outcomes = Shared<[String: Int]>([:])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<(Self.isAlone ? 64 : 16) {
                group.addTask {
                    while true {
                        let index = next.update { number -> Int in
                            number += 1
                            return number - 1
                        }
                        guard index < count else { return }
                        let outcome: String
                        do throws(ImageError) {
                            // This header field is part of the request but doesn't prevent loads from resuming each
                            // other's parts.
                            let response = try await downloader.load(server.url("/\(index % 8)")) {
                                $0.headers["Pragma"] = "\(index)"
                            }
                            let number = Int(response.url.path().dropFirst()) ?? 0
                            outcome = response.body == Self.bodies[number % 8] ? "right" : "wrong"
                        } catch {
                            outcome = faults.name(error, index)
                        }
                        outcomes.update { $0[outcome, default: 0] += 1 }
                    }
                }
            }
        }
        return outcomes.value
    }

    @Test(
        "With random faults, each request ends once with the right body or an explained error"
    )
    func faults() async throws {
        var sums: [String: Int] = [:]
        var sizes: [Int] = []
        let descriptors = Self.openDescriptors
        for start in stride(from: 0, to: Self.total, by: Self.batch) {
            let faults = Faults()
            let server = try LoopbackServer { faults.response($0, seed: UInt64(start)) }
            let downloader = downloader()
            let count = min(Self.batch, Self.total - start)
            for (name, number) in await run(downloader, server, faults, count) { sums[name, default: 0] += number }
            #expect(downloader.waits.count == 0)
            await untilTrue { downloader.activity == DownloaderActivity() }
            #expect(downloader.partials.map { $0.memory.bytes <= 32 << 20 } == true)
            downloader.shutdown()
            await server.acceptPendingConnections()
            await server.waitForClosedConnections(count: server.counters.connections)
            #expect(server.counters.openConnections == 0)
            server.stop()
            sizes.append(Self.residentBytes)
        }
        print("soak:", sums.sorted { $0.key < $1.key }, "MiB by batch:", sizes.map { $0 >> 20 })
        #expect(sums.values.reduce(0, +) == Self.total)
        let expected = sums.keys.filter { $0 == "right" || $0.hasPrefix("failed: ") }
        #expect(sums.keys.filter { !expected.contains($0) } == [])
        guard Self.isAlone else { return }
        await untilTrue { Self.openDescriptors <= descriptors + 2 }
        if sizes.count > 10 { #expect(sizes[sizes.count - 1] - sizes[4] < 32 << 20, "the memory use grows") }
    }

    @Test("Ten thousand cancellations at random moments all finish")
    func cancellations() async throws {
        let server = try LoopbackServer { Self.response($0, seed: 5).0 }
        let downloader = downloader()
        let slowest = Shared(Duration.zero)
        let outcomes = Shared<[Bool: Int]>([:])
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<25 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(worker))
                    for index in 0..<400 {
                        let url = server.url("/\(index % 8)")
                        let task = Task { await downloader.failure(url) }
                        for _ in 0..<Int.random(in: 0..<(Self.isAlone ? 400 : 60), using: &generator) {
                            await Task.yield()
                        }
                        let clock = ContinuousClock()
                        let start = clock.now
                        task.cancel()
                        let isCancelled = await task.value == .cancelled
                        let time = clock.now - start
                        slowest.update { $0 = max($0, time) }
                        outcomes.update { $0[isCancelled, default: 0] += 1 }
                    }
                }
            }
        }
        print("cancellations:", outcomes.value[true] ?? 0, "of 10000, slowest response", slowest.value)
        #expect(outcomes.value.values.reduce(0, +) == 10_000)
        await untilTrue { downloader.activity == DownloaderActivity() }
        downloader.shutdown()
        await server.acceptPendingConnections()
        await server.waitForClosedConnections(count: server.counters.connections)
        #expect(server.counters.openConnections == 0)
    }

    @Test("Three thousand queued requests use less than 96 MiB", .enabled(if: isAlone, "counts memory: make soak"))
    func queued() async throws {
        let server = try LoopbackServer { _ in .silent }
        let downloader = downloader()
        _ = await downloader.failure(server.url("/a")) { $0.timeouts = LoadTimeouts(idle: 0.01) }
        downloader.isSuspended = true
        let before = Self.residentBytes
        let url = server.url("/a")
        let tasks = (0..<3_000).map { _ in Task { await downloader.failure(url) } }
        await untilTrue { downloader.queuedCount == 3_000 }
        let growth = Self.residentBytes - before
        print("3,000 queued requests:", growth >> 10, "KiB")
        // Without optimization, the frames of async functions are twice as large.
        #expect(growth < 96 << 20)
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value == .cancelled) }
        downloader.shutdown()
    }

    private static var openDescriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    private static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4_096
    }
}
