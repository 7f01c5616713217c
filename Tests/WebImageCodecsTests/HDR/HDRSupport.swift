// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

/// Files with a high dynamic range, and an implementation of ISO 21496-1 in double precision.
enum HDRFiles {
    static let directory: URL? = Conformance.directory.map { $0.appending(path: "hdr") }.flatMap { folder in
        FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }

    /// Returns the names of the files with an extension, if the decoder for it is enabled.
    static func names(_ fileExtension: String) -> [String] {
        guard let directory, let format = ImageFormat(fileExtension: fileExtension),
            ImageCoderRegistry.standard.canDecode(format)
        else { return [] }
        let all = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return all.filter { $0.hasSuffix(".\(fileExtension)") }.sorted()
    }

    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: try #require(directory).appending(path: name))
    }

    /// Returns the image with its dynamic range.
    static func image(_ data: Data, size: TargetSize? = nil) throws -> DecodedImage {
        var options = ImageDecodingOptions(size: size)
        options.dynamicRange = .high
        return try DecodedImage(data: data, options: options)
    }

    /// The command that runs a Python program with the packages that `Scripts/setup benchmarks` installs.
    static let python: [String] = {
        let packages = Fixtures.directory.appending(path: "../../Benchmarks/.python").standardizedFileURL.path
        let others = ProcessInfo.processInfo.environment["PYTHONPATH"].map { [$0] } ?? []
        let path = (others + [packages]).joined(separator: ":")
        return ["/usr/bin/env", "PYTHONPATH=\(path)", "/usr/bin/python3", "-c"]
    }()
    /// A Boolean value that indicates whether the Python package with libultrahdr is installed.
    static let hasLibultrahdr = (try? Tools.run(python + ["import imagecodecs"])) != nil
    static let hasVips = (try? Tools.run(python + ["import pyvips; pyvips.Image.uhdrload"])) != nil

    /// Returns the linear light of red, green, and blue that libultrahdr renders.
    ///
    /// - Parameters:
    ///   - data: The file.
    ///   - headroom: The headroom of the display.
    ///   - step: The distance of the rows and columns to return. The default is 1.
    static func libultrahdr(_ data: Data, headroom: Int, step: Int = 1) throws -> [Double] {
        let script = """
            import imagecodecs
            a = imagecodecs.ultrahdr_decode(open('picture','rb').read(), dtype='float16',
                transfer=imagecodecs.ULTRAHDR.CT.LINEAR, boost=\(headroom))
            open('out','wb').write(a[::\(step), ::\(step), :3].astype('float32').tobytes())
            """
        let bytes = try Tools.output("out", python + [script], data, as: "picture")
        return bytes.withUnsafeBytes { $0.bindMemory(to: Float.self).map { Double($0) } }
    }
}

enum HDRMath {
    /// Returns the PQ sample of light, where 1 is 203 cd/m².
    static func pq(_ light: Double) -> Double {
        let y = pow(min(max(light * 203 / 10_000, 0), 1), 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y), 78.84375)
    }

    /// Returns the peak signal-to-noise ratio of PQ samples in dB.
    static func psnr(_ left: [Double], _ right: [Double]) -> Double {
        guard left.count == right.count, !left.isEmpty else { return 0 }
        let sum = zip(left, right).reduce(0) { $0 + pow(pq($1.0) - pq($1.1), 2) }
        return -10 * log10(max(sum / Double(left.count), 1e-20))
    }

    /// Returns the linear light of red, green, and blue.
    ///
    /// - Parameters:
    ///   - pixels: The pixels.
    ///   - step: The distance of the rows and columns to return. The default is 1.
    static func light(_ pixels: HDRPixels, step: Int = 1) -> [Double] {
        pixels.withUnsafeBytes { bytes in
            var values: [Double] = []
            values.reserveCapacity(pixels.size.width * pixels.size.height * 3)
            for row in stride(from: 0, to: pixels.size.height, by: step) {
                for index in 0..<pixels.size.width * 4 where index % 4 != 3 && index / 4 % step == 0 {
                    let word = bytes.load(fromByteOffset: row * pixels.bytesPerRow + index * 2, as: UInt16.self)
                    values.append(pixels.encoding == .linear ? half(word) : inversePQ(Double(word) / 65_535))
                }
            }
            return values
        }
    }

    /// Returns the value of a positive 16-bit floating-point number.
    private static func half(_ bits: UInt16) -> Double {
        let exponent = Int(bits >> 10 & 31)
        let fraction = Double(bits & 1_023) / 1_024
        return exponent == 0 ? fraction * pow(2, -14) : (1 + fraction) * pow(2, Double(exponent - 15))
    }

    private static func inversePQ(_ sample: Double) -> Double {
        let root = pow(sample, 1 / 78.84375)
        return pow(max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125) * 10_000 / 203
    }

    private static func sample(
        _ pixels: PixelBuffer, _ bytes: UnsafeRawBufferPointer, _ x: Int, _ y: Int, _ channel: Int
    )
        -> Double
    {
        switch pixels.format {
        case .rgba8: Double(bytes[y * pixels.bytesPerRow + x * 4 + channel]) / 255
        case .rgba16:
            Double(bytes.load(fromByteOffset: y * pixels.bytesPerRow + x * 8 + channel * 2, as: UInt16.self)) / 65_535
        }
    }

    /// Returns the light of red, green, and blue in the primaries of an opaque PQ or HLG image at a headroom (BT.2100,
    /// tables 4 and 5; BT.2390, section 5.4, for the largest channel and a peak of 1,000 cd/m²).
    static func render(tonesOf image: DecodedImage, headroom: Double) -> [Double] {
        let isHLG = image.metadata.transferCharacteristics == 18
        return image.pixels.withUnsafeBytes { bytes in
            (0..<image.size.width * image.size.height).flatMap { index -> [Double] in
                let (x, y) = (index % image.size.width, index / image.size.width)
                let samples = (0..<3).map { sample(image.pixels, bytes, x, y, $0) }
                var nits = samples.map { isHLG ? hlgScene($0) : inversePQ($0) * 203 }
                if isHLG {
                    let luminance = 0.2627 * nits[0] + 0.678 * nits[1] + 0.0593 * nits[2]
                    nits = nits.map { 1_000 * $0 * pow(luminance, 0.2) }
                }
                let largest = nits.max() ?? 0
                guard largest > 0 else { return [0, 0, 0] }
                let factor = mapped(largest, headroom) / largest
                return nits.map { min($0 * factor / 203, headroom) }
            }
        }
    }

    /// Returns the light of a scene, from 0 to 1 (BT.2100, table 5).
    private static func hlgScene(_ sample: Double) -> Double {
        sample <= 0.5
            ? sample * sample / 3 : (exp((sample - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }

    private static func mapped(_ nits: Double, _ headroom: Double) -> Double {
        guard headroom * 203 < 1_000 else { return nits }
        let top = pq(1_000 / 203)
        let (light, most) = (pq(min(nits, 1_000) / 203) / top, pq(headroom) / top)
        let knee = 1.5 * most - 0.5
        guard light > knee else { return nits }
        let t = (light - knee) / (1 - knee)
        let spline =
            (2 * pow(t, 3) - 3 * t * t + 1) * knee + (pow(t, 3) - 2 * t * t + t) * (1 - knee)
            + (3 * t * t - 2 * pow(t, 3)) * most
        return inversePQ(spline * top) * 203
    }

    /// Returns the light of an sRGB image with a gain map by Apple at its full headroom. The samples of the map are a share of
    /// the additional light, with the transfer function of sRGB. Both images have the same size.
    static func render(_ image: PixelBuffer, appleMap map: PixelBuffer, headroom: Double) -> [Double] {
        func linear(_ s: Double) -> Double { s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4) }
        return image.withUnsafeBytes { base in
            map.withUnsafeBytes { samples in
                (0..<image.width * image.height).flatMap { index -> [Double] in
                    let (x, y) = (index % image.width, index / image.width)
                    let share = linear(sample(map, samples, x, y, 0))
                    return (0..<3).map { linear(sample(image, base, x, y, $0)) * (1 + (headroom - 1) * share) }
                }
            }
        }
    }

    /// Returns the light of an sRGB or PQ image with a gain map at a headroom, in the primaries of the image (ISO 21496-1,
    /// section 6).
    static func render(_ image: DecodedImage, headroom: Double) throws -> [Double] {
        let map = try #require(image.gainMap)
        let m = map.metadata
        let span = m.alternateHeadroom - m.baseHeadroom
        let share = min(max((log2(headroom) - m.baseHeadroom) / span, 0), 1)
        let weight = span < 0 ? -share : share
        let size = image.size
        let isPQ = image.metadata.hasHDRSamples
        var result: [Double] = []
        result.reserveCapacity(size.width * size.height * 3)
        image.pixels.withUnsafeBytes { base in
            map.pixels.withUnsafeBytes { samples in
                func at(_ x: Int, _ y: Int, _ channel: Int) -> Double {
                    sample(
                        map.pixels, samples, min(max(x, 0), map.size.width - 1), min(max(y, 0), map.size.height - 1),
                        channel)
                }
                for y in 0..<size.height {
                    let v = (Double(y) + 0.5) * Double(map.size.height) / Double(size.height) - 0.5
                    for x in 0..<size.width {
                        let u = (Double(x) + 0.5) * Double(map.size.width) / Double(size.width) - 0.5
                        let (left, top) = (Int(u.rounded(.down)), Int(v.rounded(.down)))
                        let (a, b) = (u - Double(left), v - Double(top))
                        for channel in 0..<3 {
                            let upper = at(left, top, channel) * (1 - a) + at(left + 1, top, channel) * a
                            let lower = at(left, top + 1, channel) * (1 - a) + at(left + 1, top + 1, channel) * a
                            let encoded = upper * (1 - b) + lower * b
                            let gain =
                                m.gainMin[channel]
                                + (m.gainMax[channel] - m.gainMin[channel]) * pow(encoded, 1 / m.gamma[channel])
                            let s = sample(image.pixels, base, x, y, channel)
                            let linear =
                                isPQ ? inversePQ(s) : s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4)
                            let light =
                                (linear + m.baseOffset[channel]) * exp2(gain * weight) - m.alternateOffset[channel]
                            result.append(min(max(light, 0), headroom))
                        }
                    }
                }
            }
        }
        return result
    }
}
