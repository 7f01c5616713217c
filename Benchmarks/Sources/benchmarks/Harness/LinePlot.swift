// SPDX-License-Identifier: MIT

import Foundation

/// A plot of lines over a common horizontal axis, as an SVG image.
struct LinePlot {
    /// An axis with labeled values.
    struct Axis {
        let title: String
        let labels: [(value: Double, text: String)]
        let isLogarithmic: Bool
        private let range: ClosedRange<Double>

        /// Creates an axis from its first to its last label.
        init(_ title: String, labels: [(value: Double, text: String)], isLogarithmic: Bool) {
            self.title = title
            self.labels = labels
            self.isLogarithmic = isLogarithmic
            let values = labels.map(\.value)
            let least = values.min() ?? 0
            range = least...max(values.max() ?? 1, least)
        }

        /// Creates a linear axis from 0 to a round number that isn't less than the values.
        static func linear(_ title: String, _ values: [Double], text: (Double) -> String) -> Axis {
            let step = roundStep(values.max() ?? 1)
            let count = max(1, Int(((values.max() ?? 1) / step).rounded(.up)))
            let labels = (0...count).map { (value: Double($0) * step, text: text(Double($0) * step)) }
            return Axis(title, labels: labels, isLogarithmic: false)
        }

        /// Creates a logarithmic axis with one label per power of ten that encloses the values.
        static func logarithmic(_ title: String, _ values: [Double], text: (Double) -> String) -> Axis {
            let positive = values.filter { $0 > 0 }
            let first = Int(log10(positive.min() ?? 1).rounded(.down))
            let last = max(Int(log10(positive.max() ?? 1).rounded(.up)), first + 1)
            let labels = (first...last).map { exponent in
                let value = pow(10, Double(exponent))
                return (value: value, text: text(value))
            }
            return Axis(title, labels: labels, isLogarithmic: true)
        }

        /// Returns 1, 2, or 5 times a power of ten, so that up to about six steps reach `highest`.
        private static func roundStep(_ highest: Double) -> Double {
            guard highest > 0, highest.isFinite else { return 1 }
            let raw = highest / 5
            let power = pow(10, log10(raw).rounded(.down))
            let factor = [1.0, 2, 5, 10].first { $0 * power >= raw * 0.999 } ?? 10
            return factor * power
        }

        /// Returns the position of a value between 0 and 1.
        func position(_ value: Double) -> Double {
            guard range.upperBound > range.lowerBound else { return 0 }
            guard isLogarithmic else { return (value - range.lowerBound) / (range.upperBound - range.lowerBound) }
            return log(max(value, .leastNormalMagnitude) / range.lowerBound)
                / log(range.upperBound / range.lowerBound)
        }
    }

    let title: String
    let horizontal: Axis
    let vertical: Axis
    let lines: [(name: String, points: [(x: Double, y: Double)])]

    private static let colors = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#7f7f7f", "#bcbd22"]
    private static let (left, top, width, height) = (76.0, 44.0, 540.0, 332.0)

    private func x(_ value: Double) -> String {
        decimal(Self.left + Self.width * horizontal.position(value), 1)
    }

    private func y(_ value: Double) -> String {
        decimal(Self.top + Self.height * (1 - vertical.position(value)), 1)
    }

    var svg: String {
        let (left, top, width, height) = (Self.left, Self.top, Self.width, Self.height)
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 880 440\" font-family=\"sans-serif\" font-size=\"13\">",
            "<rect width=\"880\" height=\"440\" fill=\"white\"/>",
            "<text x=\"\(decimal(left, 0))\" y=\"24\" font-size=\"16\">\(Self.escaped(title))</text>",
        ]
        for label in vertical.labels {
            parts.append(
                "<path d=\"M\(decimal(left, 1)) \(y(label.value))h\(decimal(width, 0))\" stroke=\"#ddd\"/>"
                    + "<text x=\"\(decimal(left - 8, 1))\" y=\"\(y(label.value))\" dy=\"4\" text-anchor=\"end\">"
                    + "\(Self.escaped(label.text))</text>")
        }
        for label in horizontal.labels {
            parts.append(
                "<text x=\"\(x(label.value))\" y=\"\(decimal(top + height + 20, 1))\" text-anchor=\"middle\">"
                    + "\(Self.escaped(label.text))</text>")
        }
        parts.append(
            "<text x=\"\(decimal(left + width / 2, 0))\" y=\"\(decimal(top + height + 42, 0))\" text-anchor=\"middle\">"
                + "\(Self.escaped(horizontal.title))</text>")
        for (index, line) in lines.enumerated() { parts.append(drawing(line, index)) }
        return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private func drawing(_ line: (name: String, points: [(x: Double, y: Double)]), _ index: Int) -> String {
        let color = Self.colors[index % Self.colors.count]
        let weight = index == 0 ? "3" : "1.5"
        let points = line.points.map { "\(x($0.x)),\(y($0.y))" }.joined(separator: " ")
        let dots = line.points.map { "<circle cx=\"\(x($0.x))\" cy=\"\(y($0.y))\" r=\"3\" fill=\"\(color)\"/>" }
        let row = decimal(Self.top + 12 + Double(index) * 22, 0)
        let legend = Self.left + Self.width + 12
        return "<polyline points=\"\(points)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"\(weight)\"/>"
            + dots.joined()
            + "<path d=\"M\(decimal(legend, 0)) \(row)h20\" stroke=\"\(color)\" stroke-width=\"\(weight)\"/>"
            + "<text x=\"\(decimal(legend + 26, 0))\" y=\"\(row)\" dy=\"4\">\(Self.escaped(line.name))</text>"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
