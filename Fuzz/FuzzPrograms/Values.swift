// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore

@testable import WebImageCommand

/// The targets of the values of options.
enum Values {
    static let targets = [
        FuzzTarget(
            text: "transform-list", maxLength: 256,
            seeds: [
                "resize=200x200,blur=8,circle", "crop=1:2:3:4,rotate=45:#fff", "rounded-corners=50%,border=2:black",
                "color-matrix=1:0:0:0:1:0:0:0:1,flip=both",
            ],
            dictionary: TransformList.names + ["=", ",", ":", "%", "-1", "0.5", "#fff", "white", "1000000", "top-left", "soft-light"],
            run: transformers),
        FuzzTarget(
            text: "size-argument", maxLength: 64, seeds: ["320x240", "320x240^", "x240", "50%x25%", "64MiB", "1.5h", "0-9,2,5-"],
            dictionary: ["x", "^", "!", "%", "MiB", "GB", "w", "9223372036854775807", "-", ","], run: values),
        FuzzTarget(
            text: "format-name", maxLength: 128, seeds: ["a/b.JPG", "frame-%03d.png", "https://a.example/b%2Fc.d?e"],
            dictionary: [".png", "%", "%3d", "/", "..", "-", "%2F", "%0A"], run: names),
    ]

    static let noImages: ImageFileReader = { (path) throws(ImageError) in
        throw .request(.fileNotFound(path: path))
    }

    /// Parses a list of transformers, and applies them to an image of a few pixels.
    private static func transformers(_ text: String) {
        guard let list = try? TransformList(text, readImage: noImages) else { return }
        require(list.transformers.count == text.split(separator: ",", omittingEmptySubsequences: false).count)
        let context = ImageProcessingContext(limits: ImageLimits(maxPixels: 10_000))
        guard let canvas = try? PixelCanvas(size: PixelSize(width: 5, height: 3)) else { return }
        var pixels = canvas.finish(isOpaque: false)
        for transformer in list.transformers {
            require(!transformer.identifier.isEmpty)
            guard let result = try? transformer.transform(pixels, context: context) else { return }
            require(result.width * result.height <= 10_000, "A transformer exceeds the limit.")
            require(!result.size.isEmpty, "A transformer returns an empty image.")
            pixels = result
        }
    }

    private static func values(_ text: String) {
        guard !text.utf8.contains(0),
            let arguments = try? Arguments(["--size=\(text)", "--frames=\(text)"], for: Commands.decode)
        else { return }
        require(arguments.last("size") == text, "The text of a value changes.")
        if let size = try? arguments.size(), let output = try? size.outputSize(for: PixelSize(width: 9, height: 7)) {
            require(!output.isEmpty, "A size is empty.")
        }
        if let bytes = try? arguments.bytes("size") { require(bytes >= 0) }
        if let seconds = try? arguments.seconds("size") {
            require(seconds >= 0)
            _ = Duration.seconds(saturating: seconds)
        }
        if let number = try? arguments.integer("size", in: 3...8) { require((3...8).contains(number)) }
        guard let frames = try? arguments.frameSelection() else { return }
        for count in [0, 1, 5, 100] {
            guard let indices = try? frames.indices(count: count) else { continue }
            require(indices.allSatisfy { (0..<count).contains($0) }, "A selection has a frame that doesn't exist.")
            require(frames.singleIndex == nil || indices == [frames.singleIndex ?? -1])
        }
    }

    private static func names(_ text: String) {
        _ = ImageFormat(encodableName: text)
        _ = ImageFormat(fileName: text)
        if let names = FrameNames(text) { require(names.name(0) != names.name(1), "Two frames have the same name.") }
        guard let url = URL(string: text) else { return }
        var names = OutputNames()
        let (first, second) = (names.claim(for: url), names.claim(for: url))
        require(first.lowercased() != second.lowercased(), "Two images have the same file name.")
        for name in [first, second] {
            require(!name.isEmpty && !name.contains("/") && !name.hasPrefix("."), "\(name) isn't a file name.")
            require(name.utf8.allSatisfy { $0 >= 32 && $0 != 127 } && name.utf8.count <= 124)
        }
    }
}
