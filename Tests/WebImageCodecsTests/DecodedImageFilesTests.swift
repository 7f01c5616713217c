// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Reading and writing decoded images")
struct DecodedImageFilesTests {
    /// Calls `body` with a directory that's removed afterward.
    private func withDirectory(_ body: (URL) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "image-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory)
    }

    private func image() throws -> DecodedImage {
        DecodedImage(pixels: try PixelPatterns.photo(width: 24, height: 16))
    }

    @Test("The file name extension determines the format", arguments: ["png", "JPG", "webp", "gif", "bmp", "qoi"])
    func extensions(_ name: String) throws {
        try withDirectory { directory in
            let file = directory.appending(path: "image.\(name)")
            try image().write(to: file)
            let read = try DecodedImage(contentsOf: file)
            #expect(read.format == ImageFormat(fileExtension: name))
            #expect(read.size == PixelSize(width: 24, height: 16))
        }
    }

    @Test("An encoding overrides the file name extension")
    func explicitEncoding() throws {
        try withDirectory { directory in
            let file = directory.appending(path: "image.dat")
            try image().write(to: file, as: ImageEncoding(format: .png))
            #expect(try DecodedImage(contentsOf: file).pixels.packedBytes() == image().pixels.packedBytes())
            #expect(throws: ImageError.request(.invalidOption(name: "file name extension", value: "dat"))) {
                try image().write(to: file)
            }
        }
    }

    @Test("A relative file is resolved against its base URL")
    func relativeFile() throws {
        try withDirectory { directory in
            try image().write(to: directory.appending(path: "image.png"))
            let base = URL(filePath: directory.path(percentEncoded: false), directoryHint: .isDirectory)
            let file = URL(filePath: "image.png", directoryHint: .notDirectory, relativeTo: base)
            #expect(try DecodedImage(contentsOf: file).size == PixelSize(width: 24, height: 16))
        }
    }

    @Test("A resized image has the size in pixels, or in points with its scale")
    func resized() throws {
        let image = try image()
        let small = try image.resized(to: .fit(width: 12))
        #expect(small.size == PixelSize(width: 12, height: 8))
        let expected = try StandardTransformer.resize(width: 12).apply(to: image)
        #expect(small.pixels.packedBytes() == expected.pixels.packedBytes())
        #expect(try image.resized(to: .exact(width: 48, height: 8)).size == PixelSize(width: 48, height: 8))
        let data = try image.encoded(as: ImageEncoding(format: .png))
        let double = try DecodedImage(data: data, options: ImageDecodingOptions(scale: 2))
        #expect(try double.resized(to: .fit(width: 6, unit: .points)).size == PixelSize(width: 12, height: 8))
        var limits = ImageLimits.desktop
        limits.maxPixels = 1_000
        #expect(throws: ImageError.self) { try image.resized(to: .exact(width: 400, height: 400), limits: limits) }
    }

    @Test("Options and limits apply to data")
    func optionsAndLimits() throws {
        let data = try image().encoded(as: ImageEncoding(format: .png))
        let small = try DecodedImage(data: data, options: ImageDecodingOptions(size: .fit(width: 12)))
        #expect(small.size == PixelSize(width: 12, height: 8))
        #expect(small.description == "png 12x8")
        var limits = ImageLimits.desktop
        limits.maxPixels = 100
        #expect(throws: ImageError.self) { try DecodedImage(data: data, limits: limits) }
    }

    @Test("A missing file and an unwritable directory throw errors with the path")
    func missingFile() throws {
        let file = URL(filePath: "/nonexistent-directory/image.png")
        #expect(throws: ImageError.request(.fileNotFound(path: "/nonexistent-directory/image.png"))) {
            try DecodedImage(contentsOf: file)
        }
        #expect(throws: ImageError.self) { try image().write(to: file) }
    }

    @Test("File name extensions stand for formats regardless of their letter case")
    func fileExtensions() {
        #expect(ImageFormat(fileExtension: "jpeg") == .jpeg)
        #expect(ImageFormat(fileExtension: "TIF") == .tiff)
        #expect(ImageFormat(fileExtension: "heic") == .heif)
        #expect(ImageFormat(fileExtension: "png") == .png)
        #expect(ImageFormat(fileExtension: "html") == nil)
        #expect(ImageFormat(fileExtension: "") == nil)
    }
}
