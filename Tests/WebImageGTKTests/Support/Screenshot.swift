// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTestSupport
    import XCTest

    /// The pixels of a rendered widget or image.
    struct Screenshot {
        let width: Int
        let height: Int
        /// The premultiplied pixels, in the order red, green, blue, alpha.
        private(set) var bytes: [UInt8]

        @MainActor
        init(_ texture: OpaquePointer) {
            width = Int(gdk_texture_get_width(texture))
            height = Int(gdk_texture_get_height(texture))
            bytes = [UInt8](repeating: 0, count: width * height * 4)
            gdk_texture_download(texture, &bytes, gsize(width * 4))
            // On this machine, the bytes of cairo's ARGB32 are in the order B, G, R, A.
            for at in stride(from: 0, to: bytes.count, by: 4) { bytes.swapAt(at, at + 2) }
        }

        init(_ pixels: PixelBuffer) {
            width = pixels.width
            height = pixels.height
            bytes = pixels.packedBytes()
        }

        /// Returns the red, green, and blue components of a pixel. The origin is the upper left corner.
        func color(_ x: Int, _ y: Int) -> [Int] {
            guard x >= 0, y >= 0, x < width, y < height else { return [] }
            return (0..<3).map { Int(bytes[(y * width + x) * 4 + $0]) }
        }

        /// The color of the pixel in the center.
        var middle: [Int] { color(width / 2, height / 2) }

        func png() throws -> Data {
            let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
            let row = canvas.bytesPerRow
            canvas.withUnsafeMutableBytes { rows in
                for y in 0..<height {
                    for x in 0..<width * 4 { rows[y * row + x] = bytes[y * width * 4 + x] }
                }
            }
            return try ImageCoderRegistry.standard.encode(
                DecodedImage(pixels: canvas.finish(isOpaque: false)), as: .png, context: ImageProcessingContext())
        }

        /// Returns the largest difference of a channel, and the fraction of channels that differ by more than 24.
        func difference(to other: Screenshot) -> (largest: Int, part: Double)? {
            guard width == other.width, height == other.height else { return nil }
            var largest = 0
            var many = 0
            for (left, right) in zip(bytes, other.bytes) {
                let distance = abs(Int(left) - Int(right))
                largest = max(largest, distance)
                if distance > 24 { many += 1 }
            }
            return (largest, Double(many) / Double(bytes.count))
        }
    }

    /// Asserts that a color equals the expected color within a tolerance.
    func assertColor(
        _ color: [Int], _ expected: [Int], within tolerance: Int = 6, _ message: String = "",
        file: StaticString = #filePath, line: UInt = #line
    ) {
        let isNear =
            color.count == expected.count && zip(color, expected).allSatisfy { abs($0 - $1) <= tolerance }
        XCTAssertTrue(isNear, "the color is \(color), but \(expected) was expected: \(message)", file: file, line: line)
    }

    /// The location of the screenshots of the documentation.
    enum Looks {
        static let directory = Fixtures.directory.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Documentation/WebImage.docc/Articles")
    }

    /// Writes a screenshot into the directory `WEBIMAGE_LOOKS`, if it is set. The screenshots are for people, because
    /// their text depends on the fonts.
    func keep(_ screenshot: Screenshot, as name: String) throws {
        guard let folder = ProcessInfo.processInfo.environment["WEBIMAGE_LOOKS"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try screenshot.png().write(to: URL(filePath: folder).appending(path: "\(name).png"))
    }

    /// Compares a screenshot with the image `gtk-<name>.png` of the documentation. If `WEBIMAGE_SCREENSHOTS` contains
    /// a directory, this function writes the screenshot to it instead.
    func assertLooks(
        _ screenshot: Screenshot, as name: String, file: StaticString = #filePath, line: UInt = #line
    ) throws {
        if let folder = ProcessInfo.processInfo.environment["WEBIMAGE_SCREENSHOTS"] {
            let url = URL(filePath: folder).appending(path: "gtk-\(name).png")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try screenshot.png().write(to: url)
            return
        }
        let data = try Data(contentsOf: Looks.directory.appending(path: "gtk-\(name).png"))
        let image = try ImageCoderRegistry.standard.decode(
            data, options: ImageDecodingOptions(), context: ImageProcessingContext())
        guard let difference = screenshot.difference(to: Screenshot(image.pixels)) else {
            return XCTFail(
                "\(name): unexpected size of \(screenshot.width) × \(screenshot.height) pixels", file: file, line: line)
        }
        // Renderers differ in rounding and in the antialiasing of edges.
        XCTAssertLessThan(difference.part, 0.01, "\(name) differs from its reference image", file: file, line: line)
    }
#endif
