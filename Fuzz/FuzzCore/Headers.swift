// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport

@testable import WebImageCore

/// The targets of format detection, header probes, and sizes.
enum Headers {
    static let targets = [
        FuzzTarget("probe", maxLength: 20_000, seeds: FixtureFiles.images, run: probe),
        FuzzTarget("target-size", maxLength: 64, run: size),
    ]

    /// Probes the input as a whole file, and as the beginning of a file in pieces.
    private static func probe(_ bytes: UnsafeRawBufferPointer) {
        require(ImageInfo.isProbedConsistently(bytes), "Sniffing and probing disagree.")
        guard case .found(let whole) = ImageInfo.probe(bytes, isComplete: true) else { return }
        _ = try? ImageLimits.server.check(whole, encodedBytes: bytes.count)
        let details = ImageFileDetails(data: Data(bytes))
        require((1...100).contains(details.estimatedQuality ?? 1), "The estimated quality is outside its range.")
        let resolution = details.resolution.map { $0.horizontal > 0 && $0.vertical > 0 }
        require(resolution ?? true, "A resolution isn't positive.")
        var count = 1
        for _ in 0..<100 where count <= bytes.count {
            switch ImageInfo.probe(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), isComplete: false) {
            case .needsMore(let next):
                require(next > count, "A probe requests bytes that it already has.")
                count = next
            case .found(let info):
                require(!info.size.isEmpty && info.frameCount > 0, "A part of a file has no size.")
                return
            case .failed: return
            }
        }
    }

    private static func size(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 32 else { return }
        func double(_ index: Int) -> Double { bytes.loadUnaligned(fromByteOffset: index * 8, as: Double.self) }
        var choices = FuzzChoices(bytes)
        let size = PixelSize(width: choices.number(in: 1...65_535), height: choices.number(in: 1...65_535))
        let (width, height) = (double(0), double(1))
        let byteCount = bytes.loadUnaligned(fromByteOffset: 16, as: Int.self)
        let targets: [TargetSize] = [
            .fit(width: width, height: height), .fit(width: width, height: nil), .fill(width: width, height: height),
            .stretch(width: width, height: height), .exact(width: width, height: height),
            .fit(width: width, height: height, unit: .points), .fitting(byteCount: byteCount),
        ]
        for target in targets {
            guard let plan = try? target.plan(for: size, scale: double(3), frames: choices.number(in: 1...9)) else {
                continue
            }
            require(!plan.output.isEmpty, "The output is empty.")
            let window = plan.window
            require(window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0, "The window is empty.")
            require(window.x + window.width <= Double(size.width) + 0.01, "The window is wider than the image.")
            require(window.y + window.height <= Double(size.height) + 0.01, "The window is higher than the image.")
        }
    }
}
