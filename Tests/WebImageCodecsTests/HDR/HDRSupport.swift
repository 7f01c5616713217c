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

    /// Returns the primaries in which libultrahdr renders an image whose base image is in sRGB: those of the gains.
    static func libultrahdrPrimaries(_ image: DecodedImage) throws -> HDRPixels.Primaries {
        guard let metadata = image.gainMap?.metadata, !metadata.usesBaseColorSpace else { return .sRGB }
        return try #require(HDRPixels.Primaries(rawValue: metadata.alternatePrimaries ?? 2))
    }

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

/// Formulas in double precision.
///
/// In debug builds, loops over collections call several functions for each element. Therefore, the functions for all
/// pixels use pointers.
enum HDRMath {
    /// Returns the PQ sample of light, where 1 is 203 cd/m².
    static func pq(_ light: Double) -> Double {
        let share = light * 203 / 10_000
        let y = pow(share < 0 ? 0 : share > 1 ? 1 : share, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y), 78.84375)
    }

    /// Returns the peak signal-to-noise ratio of PQ samples in dB.
    static func psnr(_ left: [Double], _ right: [Double]) -> Double {
        guard left.count == right.count, !left.isEmpty else { return 0 }
        var sum = 0.0
        left.withUnsafeBufferPointer { left in
            right.withUnsafeBufferPointer { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return }
                var place = 0
                while place < left.count {
                    let difference = pq(first[place]) - pq(second[place])
                    sum += difference * difference
                    place += 1
                }
            }
        }
        return -10 * log10(max(sum / Double(left.count), 1e-20))
    }

    /// Returns the linear light of red, green, and blue.
    ///
    /// - Parameters:
    ///   - pixels: The pixels.
    ///   - step: The distance of the rows and columns to return. The default is 1.
    static func light(_ pixels: HDRPixels, step: Int = 1) -> [Double] {
        let (width, height) = (pixels.size.width, pixels.size.height)
        let lights = pixels.encoding == .linear ? linearLights : pqLights
        let capacity = ((width + step - 1) / step) * ((height + step - 1) / step) * 3
        return [Double](unsafeUninitializedCapacity: capacity) { target, count in
            pixels.withUnsafeBytes { bytes in
                lights.withUnsafeBufferPointer { lights in
                    guard let start = bytes.baseAddress else { return }
                    for y in stride(from: 0, to: height, by: step) {
                        let row = (start + y * pixels.bytesPerRow).assumingMemoryBound(to: UInt16.self)
                        var x = 0
                        while x < width {
                            target[count] = lights[Int(row[x * 4])]
                            target[count + 1] = lights[Int(row[x * 4 + 1])]
                            target[count + 2] = lights[Int(row[x * 4 + 2])]
                            count += 3
                            x += step
                        }
                    }
                }
            }
        }
    }

    /// The values of all 16-bit floating-point numbers, without their signs.
    private static let linearLights = (0...65_535).map { half(UInt16($0)) }
    /// The light of all PQ samples.
    private static let pqLights = (0...65_535).map { inversePQ(Double($0) / 65_535) }
    /// The numbers from 0 to 1 that 8-bit and 16-bit samples mean.
    private static let byteShares = (0...255).map { Double($0) / 255 }
    private static let wordShares = (0...65_535).map { Double($0) / 65_535 }

    /// Returns the value of a positive 16-bit floating-point number.
    private static func half(_ bits: UInt16) -> Double {
        let exponent = Int(bits >> 10 & 31)
        let fraction = Double(bits & 1_023) / 1_024
        return exponent == 0 ? fraction * pow(2, -14) : (1 + fraction) * pow(2, Double(exponent - 15))
    }

    private static func inversePQ(_ sample: Double) -> Double {
        let root = pow(sample, 1 / 78.84375)
        let excess = root - 0.8359375
        return pow((excess < 0 ? 0 : excess) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125) * 10_000 / 203
    }

    /// Returns the light of an sRGB sample.
    private static func linear(_ sample: Double) -> Double {
        sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
    }

    /// Returns red, green, and blue of all pixels, from 0 to 1.
    private static func samples(_ pixels: PixelBuffer) -> [Double] {
        let shares = pixels.format == .rgba8 ? byteShares : wordShares
        return [Double](unsafeUninitializedCapacity: pixels.width * pixels.height * 3) { target, count in
            pixels.withUnsafeBytes { bytes in
                shares.withUnsafeBufferPointer { shares in
                    guard let start = bytes.baseAddress else { return }
                    for y in 0..<pixels.height {
                        let row = start + y * pixels.bytesPerRow
                        let (narrow, wide) = (
                            row.assumingMemoryBound(to: UInt8.self), row.assumingMemoryBound(to: UInt16.self)
                        )
                        var place = 0
                        while place < pixels.width * 4 {
                            for channel in place..<place + 3 {
                                let sample = pixels.format == .rgba8 ? Int(narrow[channel]) : Int(wide[channel])
                                target[count] = shares[sample]
                                count += 1
                            }
                            place += 4
                        }
                    }
                }
            }
        }
    }

    /// Returns the light of red, green, and blue in the primaries of an opaque PQ or HLG image at a headroom (BT.2100,
    /// tables 4 and 5; BT.2390, section 5.4, for the largest channel and a peak of 1,000 cd/m²).
    static func render(tonesOf image: DecodedImage, headroom: Double) -> [Double] {
        let isHLG = image.metadata.transferCharacteristics == 18
        var result = samples(image.pixels)
        result.withUnsafeMutableBufferPointer { result in
            guard let start = result.baseAddress else { return }
            var place = 0
            while place < result.count {
                let nits = start + place
                for channel in 0..<3 {
                    nits[channel] = isHLG ? hlgScene(nits[channel]) : inversePQ(nits[channel]) * 203
                }
                if isHLG {
                    let luminance = 0.2627 * nits[0] + 0.678 * nits[1] + 0.0593 * nits[2]
                    let gain = pow(luminance, 0.2)
                    for channel in 0..<3 { nits[channel] = 1_000 * nits[channel] * gain }
                }
                let largest = max(nits[0], nits[1], nits[2])
                let factor = largest > 0 ? mapped(largest, headroom) / largest : 0
                for channel in 0..<3 { nits[channel] = min(nits[channel] * factor / 203, headroom) }
                place += 3
            }
        }
        return result
    }

    /// Returns the light of a scene, from 0 to 1 (BT.2100, table 5).
    private static func hlgScene(_ sample: Double) -> Double {
        sample <= 0.5
            ? sample * sample / 3 : (exp((sample - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }

    private static func mapped(_ nits: Double, _ headroom: Double) -> Double {
        guard headroom * 203 < 1_000 else { return min(nits, headroom * 203) }
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
        let shares = samples(map)
        var result = samples(image)
        for pixel in 0..<image.width * image.height {
            let gain = 1 + (headroom - 1) * linear(shares[pixel * 3])
            for place in pixel * 3..<pixel * 3 + 3 { result[place] = linear(result[place]) * gain }
        }
        return result
    }

    /// Returns the light of an sRGB or PQ image with a gain map at a headroom, in the primaries of the image (ISO 21496-1,
    /// section 6).
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - headroom: The headroom of the display.
    ///   - step: The distance of the rows and columns to return. The default is 1.
    static func render(_ image: DecodedImage, headroom: Double, step: Int = 1) throws -> [Double] {
        let map = try #require(image.gainMap)
        let m = map.metadata
        let span = m.alternateHeadroom - m.baseHeadroom
        let share = min(max((log2(headroom) - m.baseHeadroom) / span, 0), 1)
        let weight = span < 0 ? -share : share
        let (size, mapSize) = (image.size, map.size)
        let isPQ = image.metadata.hasHDRSamples
        let (base, gains) = (samples(image.pixels), samples(map.pixels))
        let capacity = ((size.width + step - 1) / step) * ((size.height + step - 1) / step) * 3
        return [Double](unsafeUninitializedCapacity: capacity) { target, count in
            base.withUnsafeBufferPointer { base in
                gains.withUnsafeBufferPointer { gains in
                    guard let samples = base.baseAddress, let gains = gains.baseAddress else { return }
                    for channel in 0..<3 {
                        let (lowest, range) = (m.gainMin[channel], m.gainMax[channel] - m.gainMin[channel])
                        let exponent = 1 / m.gamma[channel]
                        let (baseOffset, alternateOffset) = (m.baseOffset[channel], m.alternateOffset[channel])
                        var place = channel
                        for y in stride(from: 0, to: size.height, by: step) {
                            let v = (Double(y) + 0.5) * Double(mapSize.height) / Double(size.height) - 0.5
                            let top = Int(v.rounded(.down))
                            let b = v - Double(top)
                            let upperRow = gains + clamped(top, mapSize.height) * mapSize.width * 3 + channel
                            let lowerRow = gains + clamped(top + 1, mapSize.height) * mapSize.width * 3 + channel
                            let row = samples + y * size.width * 3 + channel
                            var x = 0
                            while x < size.width {
                                let u = (Double(x) + 0.5) * Double(mapSize.width) / Double(size.width) - 0.5
                                let left = Int(u.rounded(.down))
                                let a = u - Double(left)
                                let (near, far) = (
                                    clamped(left, mapSize.width) * 3, clamped(left + 1, mapSize.width) * 3
                                )
                                let upper = upperRow[near] * (1 - a) + upperRow[far] * a
                                let lower = lowerRow[near] * (1 - a) + lowerRow[far] * a
                                let encoded = upper * (1 - b) + lower * b
                                let gain = lowest + range * pow(encoded, exponent)
                                let light = isPQ ? inversePQ(row[x * 3]) : linear(row[x * 3])
                                let result = (light + baseOffset) * exp2(gain * weight) - alternateOffset
                                target[place] = result < 0 ? 0 : result > headroom ? headroom : result
                                place += 3
                                x += step
                            }
                        }
                    }
                    count = capacity
                }
            }
        }
    }

    /// Returns the nearest index of `count` elements.
    private static func clamped(_ index: Int, _ count: Int) -> Int {
        index < 0 ? 0 : index < count ? index : count - 1
    }
}
