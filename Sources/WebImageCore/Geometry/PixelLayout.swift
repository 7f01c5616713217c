// SPDX-License-Identifier: MIT

import CPixelKernels

/// The properties of the pixels of a format.
///
/// Code uses these properties and the kernels of the format instead of the names of formats, so only a few files change
/// when a format is added. “Adding a pixel format” in `ARCHITECTURE.md` lists them.
package struct PixelLayout: Sendable, Hashable {
    /// The type of a sample, in native byte order.
    package enum SampleType: Sendable, Hashable { case uint8, uint16 }

    /// The relation between the colors and the alpha of a pixel.
    package enum Alpha: Sendable, Hashable { case premultiplied }

    /// The type of a sample.
    package let sampleType: SampleType
    /// The relation between the colors and the alpha.
    package let alpha: Alpha
    /// The number of samples per pixel.
    package let channelCount: Int
    /// The size of a sample, in bytes.
    package let bytesPerSample: Int
    /// The sample of white and of opaque alpha.
    package let maximum: Float

    /// The size of a sample, in bits.
    package var bitsPerSample: Int { bytesPerSample * 8 }
    /// The size of a pixel, in bytes.
    package var bytesPerPixel: Int { bytesPerSample * channelCount }
    /// Whether samples have more than 8 bits.
    package var isWide: Bool { bytesPerSample > 1 }

    func sample(at address: UnsafeRawPointer) -> Int {
        switch sampleType {
        case .uint8: Int(address.load(as: UInt8.self))
        case .uint16: Int(address.load(as: UInt16.self))
        }
    }

    /// Returns the bytes of a sample, which is rounded.
    func bytes(of sample: Float) -> [UInt8] {
        switch sampleType {
        case .uint8: [UInt8(sample.rounded())]
        case .uint16: withUnsafeBytes(of: UInt16(sample.rounded())) { Array($0) }
        }
    }
}

extension PixelFormat {
    /// All formats, whose positions are the numbers in messages between processes.
    package static let all: [PixelFormat] = [.rgba8, .rgba16]

    /// The properties of the pixels.
    package var layout: PixelLayout {
        switch self {
        case .rgba8:
            PixelLayout(sampleType: .uint8, alpha: .premultiplied, channelCount: 4, bytesPerSample: 1, maximum: 255)
        case .rgba16:
            PixelLayout(sampleType: .uint16, alpha: .premultiplied, channelCount: 4, bytesPerSample: 2, maximum: 65_535)
        }
    }

    /// The sample of white and of opaque alpha.
    var maximum: Float { layout.maximum }

    /// The functions that process rows of pixels of the format.
    package var kernels: wi_pixel_kernels {
        switch self {
        case .rgba8: wi_kernels_rgba8
        case .rgba16: wi_kernels_rgba16
        }
    }
}
