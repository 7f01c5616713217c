// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Glibc
    import WebImageCore

    extension ImageIndicator.Frame {
        /// The diameter of a centered indicator.
        private var diameter: Double { min(maxDiameter, 0.6 * min(width, height)) }

        private var middle: LayoutRect {
            LayoutRect(x: (width - diameter) / 2, y: (height - diameter) / 2, width: diameter, height: diameter)
        }

        /// The color that contrasts with the foreground.
        private var background: PixelColor {
            let luminance = 3 * Int(foregroundColor.red) + 6 * Int(foregroundColor.green) + Int(foregroundColor.blue)
            return luminance > 10 * 127 ? .black : .white
        }

        private func source(_ cairo: OpaquePointer, _ color: PixelColor, alpha: Double) {
            cairo_set_source_rgba(
                cairo, Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255,
                alpha * Double(color.alpha) / 255)
        }

        /// Returns an opacity, which is 1 with a high contrast.
        private func opacity(_ value: Double) -> Double { hasHighContrast ? 1 : value }

        /// Draws on a disk in the center, which makes the indicator legible on images of any color.
        private func onDisk(_ body: (_ cairo: OpaquePointer, _ radius: Double) -> Void) {
            guard diameter >= 4 else { return }
            let rect = middle
            RenderSnapshot(pointer: snapshot).cairo(in: rect) { cairo in
                cairo_translate(cairo, rect.x + diameter / 2, rect.y + diameter / 2)
                cairo_arc(cairo, 0, 0, diameter / 2, 0, 2 * .pi)
                source(cairo, background, alpha: opacity(0.6))
                cairo_fill(cairo)
                if hasHighContrast {
                    // The disk may have the color of the image, so give it an edge.
                    cairo_arc(cairo, 0, 0, diameter / 2 - 1, 0, 2 * .pi)
                    cairo_set_line_width(cairo, 2)
                    source(cairo, foregroundColor, alpha: 1)
                    cairo_stroke(cairo)
                }
                body(cairo, diameter / 2)
            }
        }

        private var seconds: Double { elapsed / Duration.seconds(1) }

        func drawSpinner() {
            onDisk { cairo, radius in
                let spokes = 12
                cairo_set_line_width(cairo, radius * 0.14)
                cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND)
                // The spinner makes one turn per second.
                let head = Int((seconds * Double(spokes)).truncatingRemainder(dividingBy: Double(spokes)))
                for spoke in 0..<spokes {
                    let age = (head - spoke + spokes) % spokes
                    let angle = 2 * Double.pi * Double(spoke) / Double(spokes) - .pi / 2
                    source(cairo, foregroundColor, alpha: 0.15 + 0.85 * Double(spokes - 1 - age) / Double(spokes - 1))
                    cairo_move_to(cairo, cos(angle) * radius * 0.4, sin(angle) * radius * 0.4)
                    cairo_line_to(cairo, cos(angle) * radius * 0.75, sin(angle) * radius * 0.75)
                    cairo_stroke(cairo)
                }
            }
        }

        func drawRing() {
            onDisk { cairo, radius in
                cairo_set_line_width(cairo, radius * 0.2)
                // Without transparency, the track can't be distinguished from the arc.
                if !hasHighContrast {
                    source(cairo, foregroundColor, alpha: 0.2)
                    cairo_arc(cairo, 0, 0, radius * 0.7, 0, 2 * .pi)
                    cairo_stroke(cairo)
                }
                source(cairo, foregroundColor, alpha: opacity(0.95))
                let begin = fraction == nil ? 2 * Double.pi * seconds : -.pi / 2
                let part = min(1, max(0, fraction ?? 0.25))
                guard part > 0 else { return }
                cairo_arc(cairo, 0, 0, radius * 0.7, begin, begin + 2 * .pi * part)
                cairo_stroke(cairo)
            }
        }

        func drawBar() {
            let snapshot = RenderSnapshot(pointer: snapshot)
            let thickness = min(hasHighContrast ? 8 : 4, height)
            let track = LayoutRect(x: 0, y: height - thickness, width: width, height: thickness)
            snapshot.color(background.with(opacity: opacity(0.6)), in: track)
            var bar = track
            if let fraction {
                bar.width = width * min(1, max(0, fraction))
            } else {
                // The bar moves back and forth within two seconds.
                let part = abs((seconds / 2).truncatingRemainder(dividingBy: 1) * 2 - 1)
                bar.width = width / 4
                bar.x = (width - bar.width) * part
            }
            if isRightToLeft { bar.x = width - bar.x - bar.width }
            if hasHighContrast {
                // A line above the track separates it from an image of the same color.
                snapshot.color(
                    foregroundColor, in: LayoutRect(x: 0, y: track.y, width: width, height: min(1, thickness)))
            }
            if bar.width > 0 { snapshot.color(foregroundColor.with(opacity: opacity(0.95)), in: bar) }
        }
    }

    extension PixelColor {
        /// Returns the color with its alpha multiplied by an opacity from 0 to 1.
        func with(opacity: Double) -> PixelColor {
            PixelColor(red: red, green: green, blue: blue, alpha: UInt8(Double(alpha) * opacity))
        }
    }
#endif
