// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("All transformers")
struct AllTransformersTests {
    private let context = ImageProcessingContext()

    /// Checks the invariants of every transformed image.
    private func check(_ pixels: PixelBuffer) {
        let samples = PixelMaking.samples(pixels)
        let alphas = stride(from: 3, to: samples.count, by: 4).map { samples[$0] }
        if pixels.isOpaque { #expect(alphas.allSatisfy { $0 == 1 }) }
        #expect(
            zip(alphas, stride(from: 0, to: samples.count, by: 4)).allSatisfy { alpha, place in
                max(samples[place], samples[place + 1], samples[place + 2]) <= alpha
            })
        let used = pixels.width * pixels.format.bytesPerPixel
        pixels.withUnsafeBytes { bytes in
            for row in 0..<pixels.height {
                #expect(bytes[row * pixels.bytesPerRow + used..<(row + 1) * pixels.bytesPerRow].allSatisfy { $0 == 0 })
            }
        }
    }

    @Test("All transformers have different identities")
    func identities() {
        #expect(Samples.all.count > 100)
        #expect(Set(Samples.all.map(\.transformer.identifier)).count == Samples.all.count)
    }

    @Test("Every transformer returns valid pixels for all sizes, alpha types, and depths", arguments: Samples.all)
    func sizes(_ sample: Samples.Named) throws {
        for (width, height) in [(1, 1), (1, 9), (9, 1), (2, 2), (33, 7), (64, 65)] {
            for opaque in [false, true] {
                let source = try PixelMaking.noise(width, height, opaque: opaque, seed: 77)
                do {
                    let result = try sample.transformer.transform(source, context: context)
                    check(result)
                    let deep = try sample.transformer.transform(try PixelMaking.deep(source), context: context)
                    check(deep)
                    #expect(deep.format == .rgba16 && deep.size == result.size && deep.isOpaque == result.isOpaque)
                    if !Self.isSteep(sample.transformer) { agree(result, deep) }
                } catch let error as ImageError {
                    #expect(error == .processing(.regionOutsideImage(transformer: "pad")))
                }
            }
        }
    }

    /// Checks that both depths show the same image, except for rounding between two steps in the lower depth.
    private func agree(_ shallow: PixelBuffer, _ deep: PixelBuffer) {
        let worst = zip(PixelMaking.samples(shallow), PixelMaking.samples(deep)).map { abs($0 - $1) }.max() ?? 1
        #expect(worst <= 3.5 / 255)
    }

    /// Returns a Boolean value that indicates whether a rounding step can change a pixel by a large amount, for
    /// example because of a threshold or a small divisor.
    private static func isSteep(_ transformer: any ImageTransformer) -> Bool {
        let transformer = (transformer as? StandardTransformer)?.base ?? transformer
        if let sharpen = transformer as? SharpenTransformer { return sharpen.threshold > 0 }
        guard let overlay = transformer as? OverlayTransformer else { return false }
        return overlay.mode == .colorDodge || overlay.mode == .colorBurn
    }

    @Test("Every transformer obeys the limits and a raised cancellation flag", arguments: Samples.all)
    func limits(_ sample: Samples.Named) throws {
        let source = try PixelMaking.noise(23, 17, opaque: false)
        let limited = ImageProcessingContext(limits: ImageLimits(maxPixels: 40))
        do {
            let result = try sample.transformer.transform(source, context: limited)
            #expect(result === source || result.width * result.height <= 40)
        } catch {
            #expect(error.code == ImageError.LimitFailure.Kind.pixelCount.rawValue)
        }
        let flag = CancellationFlag()
        flag.cancel()
        let cancelled = ImageProcessingContext(isCancelled: { flag.isCancelled })
        guard !sample.transformer.identifier.hasPrefix("resize") else { return }
        do {
            let result = try sample.transformer.transform(source, context: cancelled)
            #expect(result === source)
        } catch {
            #expect(error == .cancelled)
        }
    }

    @Test(
        "An invalid parameter throws an error with its name and value",
        arguments: [Double.nan, .infinity, -.infinity, 0, -1, 1e300])
    func hostile(_ value: Double) throws {
        let source = try PixelMaking.noise(5, 4, opaque: true)
        let color = PixelColor.black
        var bad: [(any ImageTransformer, String)] = [
            (.circle(border: .init(width: value, color: color)), "border width"),
            (.border(width: value, color: color), "width"), (.blur(radius: value), "radius"),
            (.border(width: value, color: color, placement: .outside), "width"), (.sharpen(radius: value), "radius"),
            (.canvas(width: value, height: 3), "width"), (.canvas(width: 3, height: value), "height"),
            (.smartCrop(width: value, height: 3), "width"), (.smartCrop(width: 3, height: value), "height"),
            (.roundedCorners(radiusFraction: value), "radius fraction"),
        ]
        if value != 0 {
            bad += [
                (.vignette(strength: value), "strength"), (.vignette(start: value), "start"),
                (.overlay(source, opacity: value), "opacity"), (.sharpen(amount: value), "amount"),
                (.overlay(source, at: .anchored(.top, margin: value)), "margin"), (.grayscale(value), "amount"),
                (.sharpen(threshold: value), "threshold"), (.sepia(value), "amount"), (.invert(value), "amount"),
                (.brightness(value), "amount"), (.contrast(value), "amount"), (.trim(tolerance: value), "tolerance"),
            ]
        }
        if value != 0, value != -1 {
            bad += [
                (.saturation(value), "amount"), (.hueRotation(degrees: value), "degrees"),
                (.blur(radius: 1, saturation: value), "saturation"), (.pad(.init(trailing: value)), "trailing"),
                (.overlay(source, at: .at(x: 0, y: value)), "y"),
                (.colorMatrix(ColorMatrix(green: .init(constant: value))), "matrix"),
            ]
        }
        if !value.isFinite { bad.append((.rotate(degrees: value), "degrees")) }
        for (transformer, parameter) in bad {
            #expect {
                try transformer.transform(source, context: context)
            } throws: { error in
                guard case .processing(.invalidParameter(_, parameter, "\(value)")) = error as? ImageError else {
                    return false
                }
                return true
            }
        }
        // With an invalid scale, every length in points is invalid.
        let points = ImageProcessingContext(scale: value)
        #expect { try PadTransformer(.init(all: 1), unit: .points).transform(source, context: points) } throws: {
            ($0 as? ImageError)?.code == 5001
        }
    }
}
