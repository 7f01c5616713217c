// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("The order of the properties of HEIF items")
struct HEIFPropertyOrderTests {
    /// The indices of the properties in the files.
    private enum Property {
        static let size: UInt8 = 1
        static let aperture: UInt8 = 2
        static let rotation: UInt8 = 3
        static let mirroring: UInt8 = 4
        static let all = [size, aperture, rotation, mirroring]
    }

    static let orders = permutations(Property.all)

    private static func permutations(_ values: [UInt8]) -> [[UInt8]] {
        guard let first = values.first else { return [[]] }
        return permutations(Array(values.dropFirst())).flatMap { rest in
            (0...rest.count).map { place in Array(rest[..<place]) + [first] + Array(rest[place...]) }
        }
    }

    /// The size 64 × 48, the visible size 60 × 40, a counterclockwise quarter turn, and a mirroring from top to bottom.
    private static let properties = ByteBuilder()
        .box("ispe", ByteBuilder().zeros(4).big(64, 4).big(48, 4))
        .box("clap", ByteBuilder().big(60, 4).big(1, 4).big(40, 4).big(1, 4).zeros(16))
        .box("irot", ByteBuilder().raw(1)).box("imir", ByteBuilder().raw(0))

    private static func file(_ associations: [UInt8], brand: String = "heic") -> Data {
        Sample.brands(brand, "mif1").joined(Sample.meta(properties: properties, associations: associations)).data
    }

    @Test("The header has the size and the orientation of the image in every order", arguments: orders)
    func header(_ order: [UInt8]) throws {
        for brand in ["heic", "avif"] {
            let info = try ImageInfo(data: Self.file(order, brand: brand))
            let turn = try #require(order.firstIndex(of: Property.rotation))
            let flip = try #require(order.firstIndex(of: Property.mirroring))
            #expect(info.storedSize == PixelSize(width: 64, height: 48))
            #expect(info.size == PixelSize(width: 40, height: 60))
            #expect(info.orientation == (turn < flip ? .leftMirrored : .rightMirrored))
        }
    }

    @Test("Libraries receive the size, the crop, and then the other transforms in their order", arguments: orders)
    func normalizes(_ order: [UInt8]) throws {
        let essential = order.map { $0 == Property.size ? $0 : $0 | 0x80 }
        let file = Self.file(essential)
        let turns = order.filter { $0 == Property.rotation || $0 == Property.mirroring }
        let expected = [Property.size, Property.aperture] + turns
        let normalized = HEIFPropertyOrder.normalized(file)
        #expect((normalized == nil) == (order == expected))
        // The associations are at the end of the file.
        let result = normalized ?? file
        #expect(Array(result.suffix(4)) == expected.map { $0 == Property.size ? $0 : $0 | 0x80 })
        #expect(result.prefix(file.count - 4) == file.prefix(file.count - 4))
        #expect(try ImageInfo(data: result) == ImageInfo(data: file))
    }

    @Test("Associations with 15 bits and items with 32 bits are sorted")
    func wideNumbers() {
        let item = ByteBuilder().raw(3, 0, 0, 0).big(70_000, 4).zeros(2).text("hvc1").zeros(1)
        func file(_ order: [Int]) -> Data {
            let uses = order.reduce(ByteBuilder().raw(1, 0, 0, 1).big(1, 4).big(70_000, 4).big(order.count, 1)) {
                $0.big($1 | 0x8000, 2)
            }
            let meta = ByteBuilder().zeros(4).box("pitm", ByteBuilder().raw(1, 0, 0, 0).big(70_000, 4))
                .box("iinf", ByteBuilder().zeros(4).big(1, 2).box("infe", item))
                .box("iprp", ByteBuilder().box("ipco", Self.properties).box("ipma", uses))
            return Sample.brands("heic", "mif1").joined(ByteBuilder().box("meta", meta)).data
        }
        #expect(HEIFPropertyOrder.normalized(file([3, 2, 1])) == file([1, 2, 3]))
        #expect(HEIFPropertyOrder.normalized(file([1, 2, 3])) == nil)
    }

    @Test("Repeated rotations and mirrorings apply one after another")
    func repeats() throws {
        // Three quarter turns are one turn in the other direction, and two mirrorings cancel each other out.
        let three = try ImageInfo(data: Self.file([1, 3, 3, 3]))
        #expect(three.orientation == .right && three.size == PixelSize(width: 48, height: 64))
        #expect(try ImageInfo(data: Self.file([4, 3, 4, 1])).orientation == .right)
        #expect(try ImageInfo(data: Self.file([4, 1, 4])).orientation == .up)
    }

    @Test("Truncated, corrupt, and other files remain unchanged")
    func others() {
        let file = Self.file([3, 2, 1])
        for count in 0..<file.count { #expect(HEIFPropertyOrder.normalized(file.prefix(count)) == nil) }
        #expect(HEIFPropertyOrder.normalized(Sample.png(3, 2).data) == nil)
        // Properties that don't exist count as descriptive.
        #expect(HEIFPropertyOrder.normalized(Self.file([0, 1, 100, 2, 3])) == nil)
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            var changed = file
            changed[Int.random(in: 0..<file.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            guard let result = HEIFPropertyOrder.normalized(changed) else { continue }
            #expect(result.count == changed.count && result.sorted() == changed.sorted())
        }
    }

    @Test("A part of larger data is sorted, too")
    func slices() {
        let file = Self.file([3, 2, 1])
        let slice = (Data([1, 2, 3]) + file).dropFirst(3)
        #expect(HEIFPropertyOrder.normalized(slice) == HEIFPropertyOrder.normalized(file))
    }
}
