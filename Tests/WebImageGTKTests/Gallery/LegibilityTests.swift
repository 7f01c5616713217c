// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImagePrograms
    import XCTest

    @testable import WebImageGTK
    @testable import webimage_gallery

    /// Tests that check whether failure messages of the gallery are legible on any background.
    final class LegibilityTests: XCTestCase {
        /// The BlurHashes of placeholders with one color, and of one with black and white stripes.
        private static let hashes = Result {
            try [[255, 255, 255], [0, 0, 0], [250, 220, 0], [20, 30, 160]].map { color in
                try BlurHash(encoding: Sources.pixels(color)).string
            } + [try BlurHash(encoding: stripes()).string]
        }

        private static func stripes() throws -> PixelBuffer {
            let canvas = try PixelCanvas(size: PixelSize(width: 40, height: 30))
            let row = canvas.bytesPerRow
            canvas.withUnsafeMutableBytes { bytes in
                for y in 0..<30 {
                    for x in 0..<40 {
                        for channel in 0..<3 { bytes[y * row + 4 * x + channel] = x / 10 % 2 == 0 ? 0 : 255 }
                        bytes[y * row + 4 * x + 3] = 255
                    }
                }
            }
            return canvas.finish(isOpaque: true)
        }

        func testFailureReasonInACellIsLegible() throws {
            try Stand.run {
                defer { Style.apply(.system) }
                for theme in ["light", "dark"] {
                    let stage = try GalleryStage(
                        "--count", "10", "--failure-rate", "100", "--retry", "0", "--transition", "none",
                        "--color-scheme", theme,
                        hashes: Self.hashes.get())
                    stage.waitForImages(atLeast: 10)
                    for (position, view) in stage.window.grid.cells {
                        guard case .failed = view.snapshot().state else { return XCTFail("\(position)") }
                        let cell = try XCTUnwrap(gtk_widget_get_parent(view.widget))
                        try Self.check(stage, cell, labels: 1, "cell \(position), \(theme)")
                    }
                    try keep(try stage.screenshot(), as: "gallery-failures-\(theme)")
                    stage.close()
                }
            }
        }

        func testFailureReasonInTheLargeViewIsLegible() throws {
            try Stand.run {
                defer { Style.apply(.system) }
                for theme in ["light", "dark"] {
                    let stage = try GalleryStage(
                        "--count", "10", "--retry", "0", "--transition", "none", "--color-scheme", theme,
                        "--cache-policy", "reload",
                        hashes: Self.hashes.get())
                    stage.waitForImages(atLeast: 10)
                    stage.model.settings.network.failures = 100
                    for position in [0, 3] {
                        stage.window.open(position)
                        Stand.pump("the failure") {
                            if case .failed = stage.window.full.view.snapshot().state { true } else { false }
                        }
                        stage.frame()
                        let overlay = try XCTUnwrap(gtk_widget_get_parent(stage.window.full.area.widget))
                        // The title and the reason.
                        try Self.check(stage, overlay, labels: 2, "image \(position), \(theme)")
                    }
                    try keep(try stage.screenshot(), as: "gallery-failure-\(theme)")
                    stage.close()
                }
            }
        }

        /// Checks the contrast of all visible labels and icons in `part` except buttons, whose colors the theme
        /// determines.
        @MainActor
        private static func check(
            _ stage: GalleryStage, _ part: UnsafeMutablePointer<GtkWidget>, labels expected: Int, _ what: String
        ) throws {
            let drawn = try stage.screenshot(of: part)
            var labels = 0
            for widget in inside(part) {
                var bounds = graphene_rect_t()
                guard gtk_widget_get_mapped(widget) != 0, gtk_widget_compute_bounds(widget, part, &bounds) != 0 else {
                    continue
                }
                let isLabel = WidgetKind.isA(UnsafeMutableRawPointer(widget), gtk_label_get_type())
                let contrast = Contrast.inside(drawn, bounds)
                // WCAG 2.1 requires 4.5 for text and 3 for graphics.
                XCTAssertGreaterThan(contrast, isLabel ? 5.5 : 3, "\(isLabel ? "text" : "icon") of \(what)")
                if isLabel { labels += 1 }
            }
            XCTAssertEqual(labels, expected, what)
        }

        /// Returns the labels and icons below a widget, without the contents of buttons.
        @MainActor
        private static func inside(_ widget: UnsafeMutablePointer<GtkWidget>) -> [UnsafeMutablePointer<GtkWidget>] {
            let raw = UnsafeMutableRawPointer(widget)
            if WidgetKind.isA(raw, gtk_button_get_type()) { return [] }
            if WidgetKind.isA(raw, gtk_label_get_type()) || WidgetKind.isA(raw, gtk_image_get_type()) {
                return [widget]
            }
            var found: [UnsafeMutablePointer<GtkWidget>] = []
            var child = gtk_widget_get_first_child(widget)
            while let next = child {
                found += inside(next)
                child = gtk_widget_get_next_sibling(next)
            }
            return found
        }
    }

    /// The contrast according to WCAG 2.1.
    enum Contrast {
        static func luminance(_ color: [Int]) -> Double {
            let linear = color.map { value in
                let part = Double(value) / 255
                return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        }

        static func ratio(_ one: Double, _ other: Double) -> Double {
            (max(one, other) + 0.05) / (min(one, other) + 0.05)
        }

        /// Returns the highest contrast between the median luminance of a rectangle and its darkest or lightest pixel.
        static func inside(_ drawn: Screenshot, _ bounds: graphene_rect_t) -> Double {
            var values: [Double] = []
            for y in Int(bounds.origin.y)..<Int(bounds.origin.y + bounds.size.height) {
                for x in Int(bounds.origin.x)..<Int(bounds.origin.x + bounds.size.width) {
                    let color = drawn.color(x, y)
                    if color.count == 3 { values.append(luminance(color)) }
                }
            }
            values.sort()
            guard let darkest = values.first, let lightest = values.last else { return 0 }
            let middle = values[values.count / 2]
            return max(ratio(middle, darkest), ratio(middle, lightest))
        }
    }
#endif
