// SPDX-License-Identifier: MIT

#if HEIF || AVIF
    import Foundation
    import Testing
    import WebImageCore

    @testable import WebImageCodecs

    /// The tests write files with the coded images of fixtures and other properties.
    @Suite("Rotations, mirrorings, and crops of HEIF and AVIF images in every order")
    struct HEIFTransformTests {
        /// A coded image, without the properties that transform it.
        struct Coded: Sendable, CustomTestStringConvertible {
            var file: String
            var brands: String
            var type: String
            /// The box with the configuration of the decoder.
            var configuration: String
            var size: PixelSize
            /// The visible part, which begins at even positions, so that chroma samples aren't divided.
            var part: PixelRect
            /// The properties that the file contains in addition to the size, such as the colors.
            var others: [String]

            var testDescription: String { file }
        }

        static let coded = [
            Coded(
                file: "420.heic", brands: "heic\0\0\0\0mif1heic", type: "hvc1", configuration: "hvcC",
                size: PixelSize(width: 64, height: 64), part: PixelRect(x: 8, y: 16, width: 32, height: 20),
                others: []),
            Coded(
                file: "444.avif", brands: "avif\0\0\0\0mif1miafavif", type: "av01", configuration: "av1C",
                size: PixelSize(width: 40, height: 30), part: PixelRect(x: 6, y: 2, width: 20, height: 16),
                others: ["colr"]),
        ].filter { coded in Fixture.optional.contains { $0.file == coded.file } }

        /// The transforms and the size, in every order.
        static let orders = permutations(["ispe", "clap", "irot", "imir"])

        private static func permutations(_ values: [String]) -> [[String]] {
            guard let first = values.first else { return [[]] }
            return permutations(Array(values.dropFirst())).flatMap { rest in
                (0...rest.count).map { place in Array(rest[..<place]) + [first] + Array(rest[place...]) }
            }
        }

        /// The first box with a name in the file of a coded image, without its header.
        private func box(_ name: String, in coded: Coded) throws -> [UInt8] {
            let bytes = [UInt8](try Fixture.named(coded.file).data())
            let place = try #require(
                bytes.indices.dropFirst(4).first { bytes[$0...].starts(with: name.utf8) })
            let size = bytes[place - 4..<place].reduce(0) { $0 << 8 | Int($1) }
            return Array(bytes[place + 4..<place - 4 + size])
        }

        private func property(_ name: String, of coded: Coded, turns: UInt8, axis: UInt8) throws -> [UInt8] {
            let (size, part) = (coded.size, coded.part)
            let content: [UInt8]
            switch name {
            case "ispe":
                content = [0, 0, 0, 0] + HEIFBoxWriter.big(size.width, 4) + HEIFBoxWriter.big(size.height, 4)
            case "clap":
                // The offsets are those of the center, in half pixels (ISO/IEC 14496-12, section 12.1.4).
                let numbers = [
                    part.width, 1, part.height, 1, 2 * part.x + part.width - size.width, 2,
                    2 * part.y + part.height - size.height, 2,
                ]
                content = numbers.flatMap { HEIFBoxWriter.big($0, 4) }
            case "irot": content = [turns]
            case "imir": content = [axis]
            default: content = try box(name, in: coded)
            }
            return HEIFBoxWriter.box(name, content)
        }

        /// Returns a file whose item lists the properties `order` before those that have no order.
        private func file(_ coded: Coded, _ order: [String], turns: UInt8, axis: UInt8) throws -> Data {
            var writer = HEIFBoxWriter(properties: [])
            writer.brands = coded.brands
            let names = order + [coded.configuration] + coded.others
            let properties = writer.addProperties(
                try names.map { try property($0, of: coded, turns: turns, axis: axis) })
            writer.add(coded.type, try box("mdat", in: coded), properties: properties)
            return writer.file()
        }

        /// Returns the visible part of an image with the transforms applied.
        private func expected(
            _ image: PixelBuffer, _ coded: Coded, _ order: [String], turns: UInt8, axis: UInt8
        ) throws -> PixelBuffer {
            let context = ImageProcessingContext()
            var pixels = try image.part(coded.part, context: context)
            let quarters: [ImageOrientation] = [.up, .left, .down, .right]
            for name in order where name == "irot" || name == "imir" {
                let orientation = name == "irot" ? quarters[Int(turns)] : axis == 0 ? .downMirrored : .upMirrored
                pixels = try OrientationTransform.upright(pixels, orientation, context: context)
            }
            return pixels
        }

        @Test("The image is cropped, and then it's rotated and mirrored in the order of the list", arguments: coded)
        func everyOrder(_ coded: Coded) throws {
            let plain = try DecodedImage(data: file(coded, ["ispe"], turns: 0, axis: 0)).pixels
            #expect(plain.size == coded.size)
            for order in Self.orders {
                for (turns, axis) in [(1, 0), (2, 1), (3, 1)] as [(UInt8, UInt8)] {
                    let data = try file(coded, order, turns: turns, axis: axis)
                    let wanted = try expected(plain, coded, order, turns: turns, axis: axis)
                    let image = try DecodedImage(data: data)
                    #expect(image.size == wanted.size, "\(order), \(turns), \(axis)")
                    #expect(similarity(image.pixels, wanted) > 40, "\(order), \(turns), \(axis)")
                    #expect(try ImageInfo(data: data).size == wanted.size)
                }
            }
        }

        @Test("A rotation can precede the size if there's no other transform", arguments: coded)
        func rotationOnly(_ coded: Coded) throws {
            let data = try file(coded, ["irot", "ispe"], turns: 1, axis: 0)
            let image = try DecodedImage(data: data)
            #expect(image.size == coded.size.transposed)
            let small = try DecodedImage(data: data, options: ImageDecodingOptions(size: .fit(width: 10, height: 10)))
            #expect(max(small.size.width, small.size.height) == 10 && small.size.width <= small.size.height)
        }

        @Test(
            "A grid and its thumbnail are transformed in the usual order",
            arguments: coded.filter { $0.type == "hvc1" })
        func gridWithThumbnail(_ coded: Coded) throws {
            var writer = HEIFBoxWriter(properties: [])
            writer.brands = coded.brands
            func numbers(_ names: [String]) throws -> [UInt8] {
                writer.addProperties(try names.map { try property($0, of: coded, turns: 1, axis: 0) })
            }
            let (width, height) = (coded.size.width * 2, coded.size.height * 2)
            let size = writer.addProperties([
                HEIFBoxWriter.box("ispe", [0, 0, 0, 0] + HEIFBoxWriter.big(width, 4) + HEIFBoxWriter.big(height, 4))
            ])
            // The upper half of the image, and that of its thumbnail.
            let half = writer.addProperties([
                HEIFBoxWriter.box(
                    "clap",
                    [width, 1, height / 2, 1, 0, 2, -height / 2, 2].flatMap { HEIFBoxWriter.big($0, 4) })
            ])
            let smallHalf = writer.addProperties([
                HEIFBoxWriter.box(
                    "clap",
                    [coded.size.width, 1, coded.size.height / 2, 1, 0, 2, -coded.size.height / 2, 2]
                        .flatMap { HEIFBoxWriter.big($0, 4) })
            ])
            let turn = try numbers(["irot"])
            let tile = try numbers(["ispe", coded.configuration])
            let data = try box("mdat", in: coded)
            let grid: [UInt8] = [0, 0, 1, 1] + HEIFBoxWriter.big(width, 2) + HEIFBoxWriter.big(height, 2)
            writer.add("grid", grid, properties: turn + size + half)
            for _ in 0..<4 { writer.add(coded.type, data, properties: tile, isHidden: true) }
            writer.add(coded.type, data, properties: turn + tile + smallHalf)
            writer.references = [("dimg", 1, [2, 3, 4, 5]), ("thmb", 6, [1])]
            let file = writer.file()
            let tilePixels = try DecodedImage(data: self.file(coded, ["ispe"], turns: 0, axis: 0)).pixels
            let context = ImageProcessingContext()
            let upper = PixelRect(x: 0, y: 0, width: coded.size.width, height: coded.size.height / 2)
            let thumbnail = try OrientationTransform.upright(
                tilePixels.part(upper, context: context), .left, context: context)

            let image = try DecodedImage(data: file)
            #expect(image.size == PixelSize(width: height / 2, height: width))
            let small = try DecodedImage(
                data: file,
                options: ImageDecodingOptions(
                    size: .fit(width: Double(thumbnail.width), height: Double(thumbnail.height))))
            // Unlike the image, which consists of four tiles, the thumbnail consists of one.
            #expect(similarity(small.pixels, thumbnail) > 40)
        }
    }
#endif
