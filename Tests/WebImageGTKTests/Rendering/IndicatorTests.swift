// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import XCTest

    @testable import WebImage
    @testable import WebImageCore
    @testable import WebImageGTK

    /// Tests of the indicator that is drawn over an image while it loads.
    final class IndicatorTests: XCTestCase {
        func testIndicatorAppearsAfterADelayAndDisappearsWithTheLoad() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.renderer.indicator = .bar
                host.renderer.load = IndicatorState(fraction: 0.5)
                XCTAssertEqual(host.pass(16), 100, "appears after 100 ms")
                XCTAssertEqual(try host.drawn().color(5, 28), [0, 0, 0])
                XCTAssertNil(host.pass(100), "a constant progress causes no frames")
                let drawn = try host.drawn()
                XCTAssertNotEqual(drawn.color(35, 28), drawn.color(5, 28))
                host.renderer.load?.fraction = 1
                XCTAssertEqual(try host.drawn().color(35, 28), drawn.color(5, 28))
                host.renderer.load = nil
                XCTAssertEqual(try host.drawn().color(5, 28), [0, 0, 0])
            }
        }

        func testIndicatorMovesWithoutProgress() throws {
            try Stand.run {
                for indicator in [ImageIndicator.spinner, .ring, .bar] {
                    let host = TestRendererHost()
                    host.renderer.indicator = indicator.delayed(by: .zero)
                    host.renderer.load = IndicatorState()
                    // The next step is at most a twelfth of a second later.
                    XCTAssertLessThanOrEqual(try XCTUnwrap(host.pass(16)), 84)
                    let first = try host.drawn(width: 60, height: 60)
                    XCTAssertLessThanOrEqual(try XCTUnwrap(host.pass(300)), 84)
                    let second = try host.drawn(width: 60, height: 60)
                    XCTAssertNotEqual(first.bytes, second.bytes)
                }
                let custom = TestRendererHost()
                custom.renderer.indicator = .custom { _ in }.delayed(by: .zero)
                custom.renderer.load = IndicatorState()
                XCTAssertEqual(custom.pass(16), 0)
            }
        }

        func testProgressIsDrawnOnlyInSteps() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.renderer.indicator = .ring
                host.renderer.load = IndicatorState()
                let before = host.changes
                // Before the indicator appears, the progress changes nothing that is visible.
                for chunk in 1...20 { host.renderer.load?.fraction = Double(chunk) / 100 }
                XCTAssertEqual(host.changes, before)
                host.pass(16)
                host.pass(1_000)
                XCTAssertGreaterThan(host.changes, before, "the indicator appears")
                let seen = host.changes
                // Within 10 seconds, 1,000 chunks arrive.
                for chunk in 1...1_000 {
                    host.renderer.load?.fraction = 0.2 + Double(chunk) / 2_000
                    host.pass(10)
                }
                XCTAssertGreaterThan(host.changes, seen + 40)
                XCTAssertLessThan(host.changes, seen + 80)
                let last = host.changes
                host.renderer.load = nil
                XCTAssertGreaterThan(host.changes, last, "the indicator disappears")
            }
        }

        func testLoadWithoutIndicatorIsNotRedrawn() throws {
            try Stand.run {
                let host = TestRendererHost()
                let before = host.changes
                host.renderer.load = IndicatorState()
                host.renderer.load?.fraction = 0.5
                host.renderer.load = nil
                XCTAssertEqual(host.changes, before)
            }
        }

        func testIndicatorIsStaticIfAnimationsAreDisabled() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.renderer.animates = false
                host.renderer.indicator = .spinner.delayed(by: .zero)
                host.renderer.load = IndicatorState()
                XCTAssertNil(host.pass(16))
                let first = try host.drawn()
                host.pass(500)
                XCTAssertEqual(try host.drawn().bytes, first.bytes)
            }
        }

        func testCustomIndicatorReceivesTheProgress() throws {
            try Stand.run {
                var fractions: [Double?] = []
                let host = TestRendererHost()
                host.renderer.indicator = .custom { fractions.append($0.fraction) }.delayed(by: .zero)
                host.renderer.load = IndicatorState(fraction: 0.25)
                host.pass(16)
                _ = try host.drawn()
                XCTAssertEqual(fractions, [0.25])
            }
        }

        func testColorAndDiameterOfAnIndicator() throws {
            try Stand.run {
                @MainActor func drawn(_ indicator: ImageIndicator) throws -> Screenshot {
                    let host = TestRendererHost()
                    host.foreground = .white
                    host.renderer.indicator = indicator.delayed(by: .zero)
                    host.renderer.load = IndicatorState(fraction: 0.5)
                    host.pass(16)
                    return try host.drawn(width: 60, height: 60)
                }
                for style in [ImageIndicator.spinner, .ring] {
                    var indicator = style
                    // The disk of a dark indicator is light.
                    indicator.color = .black
                    XCTAssertGreaterThan(try drawn(indicator).color(46, 30)[0], 90, "the default diameter is 36 points")
                    indicator.maxDiameter = 20
                    XCTAssertEqual(try drawn(indicator).color(46, 30), [0, 0, 0])
                    XCTAssertGreaterThan(try drawn(indicator).color(30, 30)[0], 90)
                    for diameter in [-1, 0, Double.nan, .infinity] {
                        indicator.maxDiameter = diameter
                        let isDefault = !diameter.isFinite
                        XCTAssertEqual(try drawn(indicator).color(30, 30)[0] > 90, isDefault, "\(diameter)")
                    }
                }
                var frames: [(color: PixelColor, diameter: Double)] = []
                var custom = ImageIndicator.custom { frames.append(($0.foregroundColor, $0.maxDiameter)) }
                _ = try drawn(custom)
                custom.color = PixelColor(red: 1, green: 2, blue: 3)
                custom.maxDiameter = 9
                _ = try drawn(custom)
                XCTAssertEqual(frames.map(\.color), [.white, PixelColor(red: 1, green: 2, blue: 3)])
                XCTAssertEqual(frames.map(\.diameter), [48, 9])
            }
        }

        func testAppearanceOfIndicators() throws {
            try Stand.run {
                let looks: [(String, ImageIndicator, Double?)] = [
                    ("spinner", .spinner, nil), ("ring", .ring, 0.7), ("ring-unknown", .ring, nil), ("bar", .bar, 0.7),
                ]
                for (name, indicator, fraction) in looks {
                    let host = TestRendererHost()
                    host.foreground = .white
                    host.present(try Sources.image([90, 120, 160], width: 80, height: 60), .placeholder)
                    host.renderer.indicator = indicator.delayed(by: .zero)
                    host.renderer.load = IndicatorState(fraction: fraction)
                    host.pass(16)
                    host.pass(400)
                    try assertLooks(try host.drawn(width: 80, height: 60), as: "indicator-\(name)")
                }
            }
        }
    }
#endif
