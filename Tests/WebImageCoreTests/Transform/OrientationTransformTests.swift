// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Pixel orientation")
struct OrientationTransformTests {
    private let context = ImageProcessingContext()

    /// Returns the position in the stored image of the pixel at `x`, `y` of the upright image, which is the image with
    /// the EXIF orientation applied. The values were read from the EXIF table by hand.
    private func stored(_ orientation: ImageOrientation, _ x: Int, _ y: Int, _ width: Int, _ height: Int) -> (Int, Int)
    {
        switch orientation {
        case .up: (x, y)
        case .upMirrored: (width - 1 - x, y)
        case .down: (width - 1 - x, height - 1 - y)
        case .downMirrored: (x, height - 1 - y)
        case .leftMirrored: (y, x)
        case .right: (y, height - 1 - x)
        case .rightMirrored: (width - 1 - y, height - 1 - x)
        case .left: (width - 1 - y, x)
        }
    }

    @Test("Every pixel moves to the position that EXIF defines", arguments: ImageOrientation.allCases)
    func placesPixels(_ orientation: ImageOrientation) throws {
        for (width, height) in [(1, 1), (1, 5), (33, 65), (31, 7), (64, 32), (100, 3)] {
            let source = try PixelMaking.noise(width, height, opaque: false)
            let upright = try OrientationTransform.upright(source, orientation, context: context)
            #expect(upright.size == orientation.upright(source.size))
            var wrong = 0
            for y in 0..<upright.height {
                for x in 0..<upright.width {
                    let (column, row) = stored(orientation, x, y, width, height)
                    guard let here = upright.pixel(x: x, y: y), let there = source.pixel(x: column, y: row),
                        here == there
                    else {
                        wrong += 1
                        continue
                    }
                }
            }
            #expect(wrong == 0, "\(width)x\(height)")
        }
    }

    @Test("Images with 16 bits per sample are oriented like images with 8 bits", arguments: ImageOrientation.allCases)
    func turnsDeepPixels(_ orientation: ImageOrientation) throws {
        let canvas = try PixelCanvas(size: PixelSize(width: 37, height: 35), format: .rgba16)
        let shallow = try PixelMaking.buffer(37, 35, isOpaque: false) { x, y in
            canvas.withUnsafeMutableBytes { bytes in
                bytes.storeBytes(of: UInt64(y * 37 + x), toByteOffset: y * canvas.bytesPerRow + x * 8, as: UInt64.self)
            }
            return [UInt8((y * 37 + x) & 255), UInt8((y * 37 + x) >> 8), 0, 0]
        }
        let deep = try OrientationTransform.upright(canvas.finish(isOpaque: false), orientation, context: context)
        let upright = try OrientationTransform.upright(shallow, orientation, context: context)
        for y in 0..<deep.height {
            for x in 0..<deep.width {
                let value = deep.withUnsafeBytes {
                    $0.load(fromByteOffset: y * deep.bytesPerRow + x * 8, as: UInt64.self)
                }
                let pixel = upright.pixel(x: x, y: y)
                #expect(pixel?.red == UInt8(value & 255) && pixel?.green == UInt8(value >> 8))
            }
        }
    }

    @Test("An upright image is returned unchanged, and an opaque image stays opaque")
    func keepsWhatItCan() throws {
        let source = try PixelMaking.noise(5, 4, opaque: true)
        #expect(try OrientationTransform.upright(source, .up, context: context) === source)
        #expect(try OrientationTransform.upright(source, .right, context: context).isOpaque)
    }
}
