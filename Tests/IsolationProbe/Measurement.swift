// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageCodecs
import WebImageCore
import WebImageIsolation

/// Measures the cost of isolation: `isolation-probe measure <path of webimage-decoder>`.
enum Measurement {
    static func run(_ path: String) throws {
        let start = ContinuousClock.now
        let pool = HelperPool(HelperPool.Configuration(path: path, maxHelpers: 1, idleTime: .seconds(60)))
        let (report, reason) = pool.report(.raster)
        print("start: \(milliseconds(start.duration(to: .now))) ms, \(reason ?? "ready")")
        for layer in report?.layers ?? [] { print("  \(layer.name): \(layer.state)") }
        let isolated = ImageCoderRegistry.standard.isolated(
            by: IsolationPolicy(pool: pool, isolatesAllFormats: true, isRequired: true), builtIn: .standard)
        let small = try ImageCoderRegistry.standard.encode(image(16, 16), as: .png)
        let large = try ImageCoderRegistry.standard.encode(image(4_000, 3_000), as: .jpeg(quality: 85))
        _ = try isolated.decode(small)
        if let id = pool.processes.first { print("private memory of an idle helper: \(privateMemory(id)) KiB") }
        try compare("16×16 PNG", small, isolated, count: 2_000)
        try compare("12 MP JPEG, \(large.count) bytes", large, isolated, count: 30)
        guard pool.awaitTrim(upTo: .seconds(60)) else { return print("the pool didn't free the memory of its helper") }
        // After a large image, the pool usually replaces the helper.
        let memory = pool.processes.first.map { "\(privateMemory($0)) KiB" } ?? "none, because the helper has ended"
        print("private memory after 12 MP: \(memory)")
    }

    static func image(_ width: Int, _ height: Int) throws -> DecodedImage {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        var state: UInt32 = 1
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    state = state &* 1_664_525 &+ 1_013_904_223
                    let at = y * canvas.bytesPerRow + x * 4
                    let noise = Int(state >> 28)
                    bytes[at] = UInt8((x * 255 / width + noise) & 0xFF)
                    bytes[at + 1] = UInt8((y * 255 / height + noise) & 0xFF)
                    bytes[at + 2] = UInt8(((x ^ y) / 8 + noise) & 0xFF)
                    bytes[at + 3] = 255
                }
            }
        }
        return DecodedImage(pixels: canvas.finish(isOpaque: true))
    }

    private static func compare(_ name: String, _ data: Data, _ isolated: ImageCoderRegistry, count: Int) throws {
        var times: [[Duration]] = [[], []]
        for round in 0..<count + 3 {
            for (place, coders) in [ImageCoderRegistry.standard, isolated].enumerated() {
                let start = ContinuousClock.now
                _ = try coders.decode(data)
                if round >= 3 { times[place].append(start.duration(to: .now)) }
            }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        let best = times.map { $0.min() ?? .zero }
        print(
            "\(name): in process \(milliseconds(medians[0])) ms, isolated \(milliseconds(medians[1])) ms (median), "
                + "best \(milliseconds(best[0])) and \(milliseconds(best[1])) ms")
    }

    private static func milliseconds(_ time: Duration) -> String { String(format: "%.3f", time / .milliseconds(1)) }

    private static func privateMemory(_ id: pid_t) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(id)/smaps_rollup", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { $0.hasPrefix("Private_") }
            .compactMap { Int($0.split(separator: " ")[1]) }.reduce(0, +)
    }
}
