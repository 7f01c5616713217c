// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageCodecs
import WebImageCore
import WebImageIsolation

/// Measures the address space of helpers, from which their limit is derived.
enum AddressSpace {
    static func run(_ path: String) throws {
        let formats: [ImageEncoding] = [
            .jpeg(quality: 85), .jpeg(quality: 85, isProgressive: true), .png, .gif, .webp, .webp.lossless, .bmp, .qoi,
            .pam,
            .tiff, .avif, .heic, .jxl,
        ]
        for kind in HelperKind.allCases {
            let pool = makePool(path)
            _ = pool.report(kind)
            print("\(kind.rawValue), idle: \(size(pool, "VmSize:") >> 20) MiB")
        }
        for megapixels in [2, 6] {
            let image = try Measurement.image(1_000 * megapixels, 1_000)
            for encoding in formats {
                guard let format = encoding.format, ImageCoderRegistry.standard.canEncode(format) else { continue }
                let pool = makePool(path)
                let coders = coders(pool)
                _ = pool.report(.raster)
                let idle = size(pool, "VmSize:")
                do {
                    let data = try ImageCoderRegistry.standard.encode(image, as: encoding)
                    _ = try coders.decode(data)
                    let decoding = size(pool, "VmPeak:") - idle
                    let other = makePool(path)
                    _ = try self.coders(other).encode(image, as: encoding)
                    let encoded = size(other, "VmPeak:") - idle
                    let pixels = Double(megapixels) * 1e6
                    print(
                        "\(format) \(megapixels) MP, \(data.count >> 10) KiB: decoding \(decoding >> 20) MiB, "
                            + String(format: "%.1f bytes per pixel; ", Double(decoding) / pixels)
                            + "encoding \(encoded >> 20) MiB, "
                            + String(format: "%.1f bytes per pixel", Double(encoded) / pixels))
                } catch {
                    print("\(format): \(error)")
                }
            }
        }
    }

    private static func makePool(_ path: String) -> HelperPool {
        HelperPool(
            HelperPool.Configuration(path: path, maxHelpers: 1, memoryLimit: 64 << 30, idleTime: .seconds(600)))
    }

    private static func coders(_ pool: HelperPool) -> ImageCoderRegistry {
        ImageCoderRegistry.standard.isolated(
            by: IsolationPolicy(pool: pool, isolatesAllFormats: true, isRequired: true), builtIn: .standard)
    }

    private static func size(_ pool: HelperPool, _ name: String) -> Int {
        guard let id = pool.processes.first,
            let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return 0 }
        return (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) << 10
    }
}
