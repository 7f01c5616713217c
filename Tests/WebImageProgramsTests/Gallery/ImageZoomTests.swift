// SPDX-License-Identifier: MIT

import Testing
import WebImageTestSupport

@testable import WebImagePrograms

@Suite("Zooming an image")
struct ImageZoomTests {
    private typealias Point = ImageZoom.Point
    private typealias Extent = ImageZoom.Extent

    /// Returns the zoom of an image of 2,000 × 1,000 pixels in a view of 500 × 500 points.
    private static func large() -> ImageZoom {
        var zoom = ImageZoom()
        zoom.follow(Extent(width: 500, height: 500), offset: Point())
        zoom.show(Extent(width: 2_000, height: 1_000))
        return zoom
    }

    @Test("The image is fitted at first")
    func fitted() {
        let zoom = Self.large()
        #expect(zoom.scale == nil && zoom.current == 0.25 && !zoom.isCut)
        #expect(zoom.content == Extent(width: 500, height: 250))
    }

    @Test("The point under the pointer stays in place")
    func anchor() {
        var zoom = Self.large()
        // The fitted image begins 125 points below the upper edge, and its center is the center of the view.
        zoom.show(scale: 1, at: Point(x: 250, y: 250))
        #expect(zoom.offset == Point(x: 750, y: 250))
        // The point (850, 350) of the image is at (100, 100) in the view.
        zoom.zoom(by: 2, at: Point(x: 100, y: 100))
        #expect(zoom.current == 2 && zoom.offset == Point(x: 1_600, y: 600))
        zoom.zoom(by: 0.5, at: Point(x: 100, y: 100))
        #expect(zoom.offset == Point(x: 750, y: 250))
    }

    @Test("The scale is limited, and the fitted scale becomes fitting")
    func bounds() {
        var zoom = Self.large()
        zoom.zoom(by: 1_000, at: Point())
        #expect(zoom.scale == ImageZoom.largest)
        zoom.zoom(by: 0.000_1, at: Point(x: 400, y: 20))
        #expect(zoom.scale == nil && zoom.offset == Point())
        var small = ImageZoom()
        small.follow(Extent(width: 500, height: 500), offset: Point())
        small.show(Extent(width: 20, height: 10))
        #expect(small.current == 25)
        small.zoom(by: 0.001, at: Point())
        #expect(small.scale == 1 && !small.isCut, "the image has its actual size in a larger view")
        small.zoom(by: 1_000, at: Point())
        #expect(small.scale == nil, "the largest view is fitted")
    }

    @Test("A double click toggles between fitting and 100 percent, or 200 percent if 100 percent fits")
    func toggling() {
        var zoom = Self.large()
        zoom.toggle(at: Point(x: 0, y: 125))
        #expect(zoom.scale == 1 && zoom.offset == Point())
        zoom.toggle(at: Point())
        #expect(zoom.scale == nil)
        zoom.follow(Extent(width: 2_000, height: 1_000), offset: Point())
        zoom.toggle(at: Point(x: 1_000, y: 500))
        #expect(zoom.scale == 2 && zoom.offset == Point(x: 1_000, y: 500))
    }

    @Test("Dragging moves the image within its edges, and a fitted image doesn't move")
    func panning() {
        var zoom = Self.large()
        zoom.pan(x: -10, y: -10)
        #expect(zoom.offset == Point())
        zoom.show(scale: 1, at: Point(x: 250, y: 250))
        zoom.pan(x: -100, y: 50)
        #expect(zoom.offset == Point(x: 850, y: 200) && zoom.isCut)
        zoom.pan(x: 1e9, y: -1e9)
        #expect(zoom.offset == Point(x: 0, y: 500))
        zoom.pan(x: .nan, y: 0)
        #expect(zoom.offset == Point(x: 0, y: 500))
    }

    @Test("A view that becomes larger than the image never shows more than the image")
    func growing() {
        var zoom = Self.large()
        zoom.show(scale: 1, at: Point(x: 500, y: 500))
        #expect(zoom.offset.x > 0)
        zoom.follow(Extent(width: 3_000, height: 600), offset: zoom.offset)
        #expect(zoom.offset.x == 0 && zoom.offset.y <= 400)
    }

    @Test("Without an image or a view, all operations have no effect")
    func nothing() {
        var zoom = ImageZoom()
        zoom.toggle(at: Point())
        zoom.zoom(by: 2, at: Point())
        #expect(zoom.scale == nil && zoom.current == 1)
        zoom.show(Extent(width: 0, height: 10))
        #expect(zoom.imageSize == nil)
        zoom = Self.large()
        zoom.zoom(by: .nan, at: Point())
        zoom.zoom(by: -1, at: Point())
        zoom.show(scale: .infinity, at: Point())
        #expect(zoom.scale == nil)
    }

    @Test("After random operations, the view still shows the image")
    func random() {
        var generator = SeededGenerator(seed: 7)
        var zoom = Self.large()
        for _ in 0..<5_000 {
            let point = Point(
                x: .random(in: -100...700, using: &generator), y: .random(in: -100...700, using: &generator))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: zoom.zoom(by: .random(in: 0.1...5, using: &generator), at: point)
            case 1: zoom.show(scale: .random(in: 0...20, using: &generator), at: point)
            case 2: zoom.toggle(at: point)
            case 3: zoom.pan(x: point.x, y: point.y)
            case 4:
                let side = Double.random(in: 1...3_000, using: &generator)
                zoom.follow(Extent(width: side, height: 3_001 - side), offset: point)
            default:
                let side = Double.random(in: 1...9_000, using: &generator)
                zoom.show(Extent(width: side, height: 9_001 - side))
            }
            let (content, view, offset) = (zoom.content, zoom.view, zoom.offset)
            #expect(offset.x >= 0 && offset.x <= max(0, content.width - view.width))
            #expect(offset.y >= 0 && offset.y <= max(0, content.height - view.height))
            #expect(zoom.current > 0 && zoom.current <= max(ImageZoom.largest, zoom.fitted) * 1.000_001)
        }
    }
}
