// SPDX-License-Identifier: MIT

import CIsolationProbe
import Foundation
import Glibc
import Synchronization
import WebImage
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageTesting

/// Lets each call fail with which a download talks to its server: `isolation-probe network`. Each download over loopback
/// must return the correct image or throw an ``ImageError``, and sockets must not remain. The process prints problems and
/// ends with the status 1 if there are any.
final class NetworkFaults {
    private var problems: [String] = []
    /// The numbers of failed calls by function.
    private var failed: [String: Int] = [:]
    private var errors: [Int: Int] = [:]
    private var successes = 0
    private let url: URL
    private let pixels: [UInt8]
    /// The time after which the system ends this process because a download hangs, in seconds.
    private static let longest: UInt32 = 60

    /// The functions that fail. `poll-all` is `poll` with any number of descriptors.
    private let functions = [
        "socket", "connect", "send", "recv", "poll-all", "getsockopt", "setsockopt", "getsockname", "getpeername",
        "socketpair", "eventfd",
    ].map { (text: String) in (text: text, name: strdup(text)) }

    /// Serves the image in this process until the standard input ends, and prints its address.
    static func serve() throws {
        let server = try LoopbackServer(routes: ["/a.png": .ok(image(), contentType: "image/png")])
        print(server.url("/a.png").absoluteString)
        fflush(nil)
        while readLine() != nil {}
        server.stop()
    }

    /// The encoded image, which needs several calls of `recv`.
    private static func image() throws -> Data {
        let canvas = try PixelCanvas(size: PixelSize(width: 200, height: 150))
        var state: UInt32 = 9
        canvas.withUnsafeMutableBytes { bytes in
            for at in bytes.indices {
                state = state &* 1_664_525 &+ 1_013_904_223
                bytes[at] = at % 4 == 3 ? 255 : UInt8(state >> 24)
            }
        }
        return try ImageCoderRegistry.standard.encode(DecodedImage(pixels: canvas.finish(isOpaque: true)), as: .png)
    }

    /// Runs the downloads with a server in another process, whose calls don't fail.
    static func run() throws -> Int32 {
        let server = Process()
        server.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        server.arguments = ["serve"]
        let (input, output) = (Pipe(), Pipe())
        server.standardInput = input
        server.standardOutput = output
        try server.run()
        let line = output.fileHandleForReading.availableData
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard let url = URL(string: text) else { return 2 }
        let faults = try NetworkFaults(url)
        faults.downloads()
        try input.fileHandleForWriting.close()
        server.waitUntilExit()
        return faults.report()
    }

    private init(_ url: URL) throws {
        self.url = url
        pixels = try ImageCoderRegistry.standard.decode(Self.image()).pixels.packedBytes()
    }

    private func downloads() {
        // This process started the server before, so Foundation has its socket.
        let inherited = Self.sockets()
        download("without faults")
        if successes != 1 { problems.append("a download without faults fails: \(errors)") }
        for isTransient in [false, true] {
            for function in functions {
                let isOver = (1...400).contains { call in
                    wi_probe_fail(function.name, call, isTransient)
                    download("call \(call) of \(function.text), \(isTransient ? "transient" : "lasting")")
                    let name = wi_probe_failed().map { String(cString: $0) }
                    let isOver = name == nil && wi_probe_is_pending()
                    wi_probe_fail(nil, 0, false)
                    if let name { failed[name, default: 0] += 1 }
                    return isOver
                }
                if !isOver { problems.append("\(function.text) has no end") }
            }
        }
        // The threads of the managers close the last sockets.
        let deadline = ContinuousClock.now + .seconds(60)
        while Self.sockets() > inherited, ContinuousClock.now < deadline { sched_yield() }
        if Self.sockets() > inherited { problems.append("\(Self.sockets() - inherited) sockets remain") }
    }

    /// Loads the image with a new manager, which has no connection.
    private func download(_ title: String) {
        alarm(Self.longest)
        defer { alarm(0) }
        var configuration = ImageManager.Configuration()
        configuration.diskCache = nil
        configuration.decoding.isolation = .off
        configuration.downloader.retry = .never
        configuration.downloader.resume = nil
        configuration.downloader.proxy = .disabled
        configuration.downloader.timeout = .seconds(10)
        configuration.downloader.connectTimeout = .seconds(3)
        configuration.downloader.idleTimeout = .seconds(3)
        let manager = ImageManager(configuration: configuration)
        let result = Lock<Result<[UInt8], ImageError>?>(nil)
        let end = DispatchSemaphore(value: 0)
        Task.detached { [url] in
            do throws(ImageError) {
                let image = try await manager.image(for: ImageRequest(url: url))
                result.withLock { $0 = .success(image.pixels.packedBytes()) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            await manager.shutdown()
            end.signal()
        }
        end.wait()
        switch result.withLock({ $0 }) {
        case .success(let found):
            if found == pixels { successes += 1 } else { problems.append("\(title): the image is wrong") }
        case .failure(let error):
            errors[error.code, default: 0] += 1
        case nil: problems.append("\(title): no result")
        }
    }

    private func report() -> Int32 {
        print("failed calls: \(failed.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        print(
            "downloads: \(successes) correct, errors \(errors.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })"
        )
        for problem in problems { print("PROBLEM: \(problem)") }
        return problems.isEmpty ? 0 : 1
    }

    private static func sockets() -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.filter { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target?.hasPrefix("socket:") == true
        }.count
    }
}
