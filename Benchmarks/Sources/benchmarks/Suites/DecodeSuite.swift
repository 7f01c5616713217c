// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// Decoding at full size against the libraries by themselves.
enum DecodeSuite: Suite {
    static let name = "decode"
    static let summary = "decoding at full size: JPEG, PNG and WebP, against the C libraries"

    static func cases(_ settings: Settings) throws -> [Case] {
        var cases: [Case] = []
        for (label, width, height, bound) in [
            ("0.1 MP", 360, 270, 1.15), ("1 MP", 1_152, 864, 1.05), ("12 MP", 4_000, 3_000, 1.05),
        ] {
            for isProgressive in [false, true] {
                let bytes = try Photograph.encoded(width, height, as: .jpeg(quality: 85, progressive: isProgressive))
                let kind = isProgressive ? "progressive" : "baseline"
                cases.append(
                    item("JPEG \(label) \(kind)", bytes, width, height, "libjpeg-turbo", bound) {
                        wi_limit_jpeg($0, $1, 8, $2, $3, $4)
                    })
            }
        }
        for (label, width, height, hasAlpha) in [
            ("1 MP RGB", 1_152, 864, false), ("4 MP RGB", 2_304, 1_728, false), ("1 MP RGBA", 1_152, 864, true),
        ] {
            let bytes = try Photograph.encoded(width, height, as: .png(effort: 6), hasAlpha: hasAlpha)
            cases.append(
                item("PNG \(label)", bytes, width, height, "libpng", 0.5) { wi_limit_png($0, $1, $2, $3, $4) })
        }
        for (label, width, height) in [("1 MP", 1_152, 864), ("12 MP", 4_000, 3_000)] {
            let bytes = try Photograph.encoded(width, height, as: .webp(quality: 80))
            cases.append(
                item("WebP \(label)", bytes, width, height, "libwebp", 1.05) { wi_limit_webp($0, $1, 0, $2, $3, $4) })
        }
        return cases
    }

    private typealias Library = (
        UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<wi_limit_size>
    ) -> Int32

    private static func item(
        _ name: String, _ bytes: Data, _ width: Int, _ height: Int, _ rival: String, _ bound: Double,
        _ library: @escaping Library
    ) -> Case {
        // As many repetitions as make a round long enough for the clock.
        let count = max(1, 3_000_000 / (width * height))
        let input = [UInt8](bytes)
        let output = ScratchMemory(width * height * 4)
        let ours = Contender("WebImage") { _ in
            try timed(count) {
                for _ in 0..<count {
                    consume(try CoderRegistry.standard.decode(bytes, context: CodingContext(limits: Photograph.roomy)))
                }
            }
        }
        let theirs = Contender(rival) { _ in
            try timed(count) {
                for _ in 0..<count {
                    var size = wi_limit_size()
                    guard library(input, input.count, output.bytes, output.count, &size) == 0 else {
                        throw Skipped(reason: "\(rival) refused the picture")
                    }
                }
            }
        }
        let bits = decimal(Double(bytes.count) * 8 / Double(width * height), 1)
        return Case(
            name: "\(name), \(bits) bits per pixel", contenders: [ours, theirs],
            goals: [.ratio(.cpu, to: rival, atMost: bound)])
    }
}

/// Memory for the libraries to decode into, made and touched once.
final class ScratchMemory {
    let bytes: UnsafeMutablePointer<UInt8>
    let count: Int

    init(_ count: Int) {
        self.count = count
        bytes = .allocate(capacity: count)
        bytes.initialize(repeating: 1, count: count)
    }

    deinit { bytes.deallocate() }
}
