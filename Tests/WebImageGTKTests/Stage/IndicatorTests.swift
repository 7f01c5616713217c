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
                let stage = TestStage()
                stage.stage.indicator = .bar
                stage.stage.load = IndicatorState(fraction: 0.5)
                XCTAssertEqual(stage.pass(16), 100, "appears after 100 ms")
                XCTAssertEqual(try stage.drawn().color(5, 28), [0, 0, 0])
                XCTAssertNil(stage.pass(100), "a constant progress causes no frames")
                let drawn = try stage.drawn()
                XCTAssertNotEqual(drawn.color(35, 28), drawn.color(5, 28))
                stage.stage.load?.fraction = 1
                XCTAssertEqual(try stage.drawn().color(35, 28), drawn.color(5, 28))
                stage.stage.load = nil
                XCTAssertEqual(try stage.drawn().color(5, 28), [0, 0, 0])
            }
        }

        func testIndicatorMovesWithoutProgress() throws {
            try Stand.run {
                for indicator in [ImageIndicator.spinner, .ring, .bar] {
                    let stage = TestStage()
                    stage.stage.indicator = indicator.delayed(by: .zero)
                    stage.stage.load = IndicatorState()
                    // The next step is at most a twelfth of a second later.
                    XCTAssertLessThanOrEqual(try XCTUnwrap(stage.pass(16)), 84)
                    let first = try stage.drawn(width: 60, height: 60)
                    XCTAssertLessThanOrEqual(try XCTUnwrap(stage.pass(300)), 84)
                    let second = try stage.drawn(width: 60, height: 60)
                    XCTAssertNotEqual(first.bytes, second.bytes)
                }
                let custom = TestStage()
                custom.stage.indicator = .custom { _ in }.delayed(by: .zero)
                custom.stage.load = IndicatorState()
                XCTAssertEqual(custom.pass(16), 0)
            }
        }

        func testProgressIsDrawnOnlyInSteps() throws {
            try Stand.run {
                let stage = TestStage()
                stage.stage.indicator = .ring
                stage.stage.load = IndicatorState()
                let before = stage.changes
                // Before the indicator appears, the progress changes nothing that is visible.
                for chunk in 1...20 { stage.stage.load?.fraction = Double(chunk) / 100 }
                XCTAssertEqual(stage.changes, before)
                stage.pass(16)
                stage.pass(1_000)
                XCTAssertGreaterThan(stage.changes, before, "the indicator appears")
                let seen = stage.changes
                // Within 10 seconds, 1,000 chunks arrive.
                for chunk in 1...1_000 {
                    stage.stage.load?.fraction = 0.2 + Double(chunk) / 2_000
                    stage.pass(10)
                }
                XCTAssertGreaterThan(stage.changes, seen + 40)
                XCTAssertLessThan(stage.changes, seen + 80)
                let last = stage.changes
                stage.stage.load = nil
                XCTAssertGreaterThan(stage.changes, last, "the indicator disappears")
            }
        }

        func testLoadWithoutIndicatorIsNotRedrawn() throws {
            try Stand.run {
                let stage = TestStage()
                let before = stage.changes
                stage.stage.load = IndicatorState()
                stage.stage.load?.fraction = 0.5
                stage.stage.load = nil
                XCTAssertEqual(stage.changes, before)
            }
        }

        func testIndicatorIsStaticIfAnimationsAreDisabled() throws {
            try Stand.run {
                let stage = TestStage()
                stage.stage.animates = false
                stage.stage.indicator = .spinner.delayed(by: .zero)
                stage.stage.load = IndicatorState()
                XCTAssertNil(stage.pass(16))
                let first = try stage.drawn()
                stage.pass(500)
                XCTAssertEqual(try stage.drawn().bytes, first.bytes)
            }
        }

        func testCustomIndicatorReceivesTheProgress() throws {
            try Stand.run {
                var fractions: [Double?] = []
                let stage = TestStage()
                stage.stage.indicator = .custom { fractions.append($0.fraction) }.delayed(by: .zero)
                stage.stage.load = IndicatorState(fraction: 0.25)
                stage.pass(16)
                _ = try stage.drawn()
                XCTAssertEqual(fractions, [0.25])
            }
        }

        func testColorAndDiameterOfAnIndicator() throws {
            try Stand.run {
                @MainActor func drawn(_ indicator: ImageIndicator) throws -> Screenshot {
                    let stage = TestStage()
                    stage.foreground = .white
                    stage.stage.indicator = indicator.delayed(by: .zero)
                    stage.stage.load = IndicatorState(fraction: 0.5)
                    stage.pass(16)
                    return try stage.drawn(width: 60, height: 60)
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
                    let stage = TestStage()
                    stage.foreground = .white
                    stage.present(try Sources.image([90, 120, 160], width: 80, height: 60), .placeholder)
                    stage.stage.indicator = indicator.delayed(by: .zero)
                    stage.stage.load = IndicatorState(fraction: fraction)
                    stage.pass(16)
                    stage.pass(400)
                    try assertLooks(try stage.drawn(width: 80, height: 60), as: "indicator-\(name)")
                }
            }
        }
    }
#endif
