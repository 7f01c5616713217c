// SPDX-License-Identifier: MIT

#if SVG
    import WebImageCore

    /// An upper estimate of the work for a drawing, with all references expanded.
    ///
    /// The factors are measured with librsvg 2.54.7, in nanoseconds. Layers always have the size of the whole drawing.
    struct SVGWork {
        /// The work of one element and its content.
        private struct Cost {
            var elements = 0.0
            var time = 0.0
            var shapes = 0.0
            var vertices = 0.0
            var dashes = 0.0
            /// The time of filter primitives for each pixel of the filter region.
            var filterRate = 0.0

            mutating func add(_ other: Cost, times count: Double = 1) {
                // The maximum keeps products finite.
                elements = min(1e30, elements + other.elements * count)
                time = min(1e30, time + other.time * count)
                shapes = min(1e30, shapes + other.shapes * count)
                vertices = min(1e30, vertices + other.vertices * count)
                dashes = min(1e30, dashes + other.dashes * count)
                filterRate = min(1e30, filterRate + other.filterRate * count)
            }
        }

        private let document: SVGDocument
        private let pixels: Double
        private let side: Double
        private let scale: SVGScale
        private let hasRoundJoins: Bool
        private var costs: [Cost]

        /// Checks the work for a drawing. The available time is in nanoseconds. Throws an ``ImageError/LimitFailure``.
        static func check(_ document: SVGDocument, _ graph: SVGGraph, size: PixelSize, time: Double)
            throws(ImageError)
        {
            guard !document.elements.isEmpty else { return }
            var work = SVGWork(document, graph, size)
            for index in graph.order { work.costs[index] = work.cost(of: index) }
            let cost = work.costs[0]
            try DrawingBounds.check(
                cost.elements, Double(SVGBounds.expandedElements), "SVG elements with all references")
            try DrawingBounds.check(cost.dashes, SVGBounds.dashes, "dashes of SVG strokes")
            let total = cost.time + work.styleTime + Double(document.elements.count) * 20_000
            try DrawingBounds.check(total / 1e6, time / 1e6, "milliseconds of estimated drawing work")
        }

        private init(_ document: SVGDocument, _ graph: SVGGraph, _ size: PixelSize) {
            self.document = document
            pixels = Double(size.width) * Double(size.height)
            side = Double(max(size.width, size.height))
            scale = SVGScale(document, graph, size: size)
            costs = Array(repeating: Cost(), count: document.elements.count)
            hasRoundJoins =
                document.elements.contains { $0.attributes.contains { $0.value.contains("round") } }
                || document.sheets.contains { $0.text(isScoped: false).contains("round") }
        }

        /// The time for comparing the selectors of stylesheets with the elements.
        private var styleTime: Double {
            let elements = Double(document.elements.count)
            let siblings = Double(document.elements.lazy.map(\.children).max() ?? 0)
            return document.sheets.reduce(0) { sum, sheet in
                let selectors = sheet.rules.reduce(0) { $0 + $1.keys.count }
                let ancestors = Double(sheet.comparisons - selectors) * Double(SVGBounds.depth) * 4
                return sum
                    + elements
                    * (Double(sheet.comparisons) * 50 + ancestors + Double(sheet.siblingSelectors) * siblings * 50)
            }
        }

        // MARK: Elements

        private func cost(of index: Int) -> Cost {
            let element = document.elements[index]
            var cost = Cost(elements: 1, time: 1_000)
            if element.name == "stop" { cost.time += 1_000 }
            cost.filterRate = SVGFilterRate(element, side: side, scale: scale.total).value
            for case .element(let child) in element.content
            where !SVGGraph.hidden.contains(document.elements[child].name) { cost.add(costs[child]) }
            addUse(element, to: &cost)
            addShape(element, to: &cost)
            if element.name == "text" { addText(element, to: &cost) }
            cost.time += Double(element.imagePixels) * 20 + (element.imagePixels > 0 ? 5 * pixels : 0)
            addEffects(element, to: &cost)
            return cost
        }

        private func addUse(_ element: SVGDocument.Element, to cost: inout Cost) {
            guard let target = element.target, let place = document.identifiers[target] else { return }
            let content = costs[place]
            cost.add(content)
            guard element.name == "use" else { return }
            cost.time += 20_000
            // The content inherits the paints of the element that uses it.
            addPaints(element, area: pixels, shapes: content.shapes, vertices: content.vertices, to: &cost)
        }

        private func addShape(_ element: SVGDocument.Element, to cost: inout Cost) {
            guard let shape = SVGShape(element.name, element.value) else { return }
            let style = element.style
            let isStroked = style.hasStroke || style.strokeWidth != nil
            let width = min(1e150, (style.strokeWidth ?? 1) * scale.total)
            let diagonal = shape.isRelative ? side * 1.5 : min(side * 1.5, shape.diagonal * scale.total)
            let reach = min(side * 1.5, diagonal + (isStroked ? 2 * width : 0))
            let area = min(pixels, reach * reach)
            let turns = shape.diagonal > 0 ? shape.length / shape.diagonal : 0
            let crossings = element.name == "rect" ? 0 : min(shape.length * scale.total, turns * side)
            cost.time += 0.4 * area + crossings * 500 * (1 + turns / 1_000) * (isStroked ? 3 : 1)
            let vertices = Double(shape.vertices)
            cost.time += vertices * 200
            if isStroked, hasRoundJoins { cost.time += vertices * (1 + width.squareRoot()) * 3_000 }
            if isStroked, let period = style.dashPeriod {
                let length = shape.isRelative ? 4 * scale.viewport : shape.length
                cost.dashes += min(1e30, length / period)
                cost.time += min(1e30, length / period * 1_000)
            }
            cost.shapes += 1
            cost.vertices += vertices
            addPaints(element, area: area, shapes: 1, vertices: vertices, to: &cost)
        }

        private func addText(_ element: SVGDocument.Element, to cost: inout Cost) {
            let count = Double(element.textBytes)
            cost.time += 1_500_000 + count * (10_000 + 80 * count + 0.05 * pixels)
            let parts = 1 + cost.elements
            cost.shapes += parts
            addPaints(element, area: pixels, shapes: parts, vertices: 0, to: &cost)
        }

        private func addPaints(
            _ element: SVGDocument.Element, area: Double, shapes: Double, vertices: Double, to cost: inout Cost
        ) {
            // A vertex has at most one marker.
            for (references, count) in [([.fill], shapes), ([.stroke], shapes), (SVGStyle.Reference.markers, vertices)]
            {
                for target in element.style.targets(of: references) {
                    guard let place = document.identifiers[target] else { continue }
                    cost.add(costs[place], times: count)
                    switch document.elements[place].name {
                    case "radialGradient": cost.time += 25 * area * shapes
                    case "pattern": cost.time += 5 * pixels * shapes
                    default: break
                    }
                }
            }
        }

        private func addEffects(_ element: SVGDocument.Element, to cost: inout Cost) {
            let style = element.style
            cost.time += pixels * (Double(style.layers) * 17 + Double(style.filterFunctions) * 500)
            for target in style.targets(of: SVGStyle.Reference.effects) {
                guard let place = document.identifiers[target] else { continue }
                var effect = costs[place]
                let rate = effect.filterRate
                effect.filterRate = 0
                cost.add(effect)
                switch document.elements[place].name {
                case "filter":
                    // Every primitive clears a layer, but it computes only the pixels of the region.
                    cost.time += pixels * (20 + 10 * effect.elements) + rate * region(of: place, element)
                case "clipPath": cost.time += pixels * 2
                default: cost.time += pixels * 40
                }
            }
        }

        /// Returns the maximum number of pixels in a filter region.
        private func region(of filter: Int, _ element: SVGDocument.Element) -> Double {
            func side(_ name: String, _ standard: Double) -> Double {
                guard let value = document.elements[filter].value(name) else { return standard }
                let number = SVGNumbers.all(value, limit: 1).first.map(abs) ?? standard
                return value.contains("%") ? number / 100 : number
            }
            let names = ["width", "height"]
            if document.elements[filter].value("filterUnits") == "userSpaceOnUse" {
                let isPlain = names.allSatisfy { name in
                    document.elements[filter].value(name)?.utf8.allSatisfy { $0 < 0x3A && $0 != 0x25 } ?? false
                }
                guard isPlain else { return pixels }
                return names.reduce(1) { $0 * min(self.side, 1 + side($1, 1) * scale.total) }
            }
            guard let shape = SVGShape(element.name, element.value), !shape.isRelative else { return pixels }
            let extent = min(1e150, shape.diagonal * scale.total)
            return names.reduce(1) { $0 * min(self.side, 1 + side($1, 1.2) * extent) }
        }
    }

    /// The time of a filter primitive for each pixel, or zero for other elements.
    private struct SVGFilterRate {
        let value: Double

        init(_ element: SVGDocument.Element, side: Double, scale: Double) {
            func numbers(_ name: String) -> [Double] { SVGNumbers.all(element.value(name) ?? "", limit: 2).map(abs) }
            switch element.name {
            case "feGaussianBlur", "feDropShadow": value = 250
            case "feTurbulence": value = 500 + 150 * max(1, numbers("numOctaves").first ?? 1)
            case "feMorphology":
                let width = min(side, 2 * (numbers("radius").max() ?? 0) * scale + 1)
                value = 40 + 60 * width * width
            case "feConvolveMatrix":
                let order = numbers("order")
                value = 100 + 11 * (order.first ?? 3) * (order.last ?? 3)
            case "feDisplacementMap": value = 1_000
            case "feDiffuseLighting", "feSpecularLighting": value = 150
            case let name where name.hasPrefix("fe"): value = 60
            default: value = 0
            }
        }
    }
#endif
