// SPDX-License-Identifier: MIT

#if PDF
    import WebImageCore

    /// An upper estimate of the work for drawing a page, with all forms, patterns, masks, and glyphs expanded.
    ///
    /// The factors are measured with poppler 22.12 and cairo 1.16, in nanoseconds.
    struct PDFWork {
        /// A content stream, an image, or a choice of glyphs.
        struct Node {
            fileprivate struct Edge {
                let target: Int
                let times: Double
                let area: Double
                let factor: Double
                var isLayer = false
            }

            let box: PDFBox
            var matrix = PDFMatrix.identity
            /// Whether the content is drawn on a surface of its own.
            var isLayer = false
            var imagePixels = 0.0
            private(set) var operators = 0.0
            fileprivate private(set) var time = 0.0
            fileprivate private(set) var segments = 0.0
            fileprivate private(set) var paints = 0.0
            fileprivate private(set) var area = 0.0
            fileprivate private(set) var length = 0.0
            fileprivate private(set) var dashes = 0.0
            fileprivate private(set) var shadedArea = 0.0
            fileprivate private(set) var shadings = 0.0
            fileprivate private(set) var edges: [Edge] = []
            fileprivate private(set) var choices: [(targets: [Int], times: Double, factor: Double)] = []
            fileprivate private(set) var inherited: [(form: Int, pattern: Int, tiles: Double)] = []
            private var targets: [PDFContent.Resource: Int] = [:]

            init(box: PDFBox) { self.box = box }

            mutating func add(_ content: PDFContent) {
                operators = Double(content.operators)
                time = operators * 1_000 + content.segments * 300 + content.glyphs * 5_000
                (segments, paints, area) = (content.segments, content.paints, content.paintedArea)
                (length, dashes) = (content.length, content.dashes)
            }

            mutating func addShading(_ use: PDFContent.Use) {
                shadedArea += use.area
                shadings += use.count
            }

            mutating func add(
                _ target: Int, _ resource: PDFContent.Resource?, times: Double, area: Double,
                factor: Double,
                isMask: Bool = false
            ) {
                if let resource { targets[resource] = target }
                edges.append(
                    Edge(target: target, times: times, area: area, factor: factor, isLayer: isMask))
            }

            mutating func addGlyphs(_ targets: [Int], times: Double, factor: Double) {
                choices.append((targets, times, factor))
            }

            mutating func inherit(_ inherited: PDFContent.InheritedPattern) {
                guard let form = targets[inherited.form], let pattern = targets[inherited.pattern] else {
                    return
                }
                self.inherited.append((form, pattern, inherited.tiles))
            }
        }

        private struct Cost {
            var time = 0.0
            var operators = 0.0
            var paints = 0.0
            var dashes = 0.0
            /// The bytes of the surfaces that exist at the same time.
            var surfaces = 0.0

            mutating func add(_ other: Cost, times: Double) {
                // The maximum keeps products finite.
                time = min(1e30, time + other.time * times)
                operators = min(1e30, operators + other.operators * times)
                paints = min(1e30, paints + other.paints * times)
                dashes = min(1e30, dashes + other.dashes * times)
            }
        }

        /// The nodes, each after those that it uses. The last one is the page.
        private var nodes: [Node] = []
        /// The time for filling a pixel with the most complicated blend mode of the page.
        private var blendingTime = 0.5

        /// Adds a blend mode, which applies to all content because forms inherit it.
        mutating func add(blendMode: String) {
            switch blendMode {
            case "Normal", "Compatible": break
            case "Hue", "Saturation", "Color", "Luminosity": blendingTime = max(blendingTime, 12)
            default: blendingTime = max(blendingTime, 4)
            }
        }

        @discardableResult
        mutating func add(_ node: Node) -> Int {
            nodes.append(node)
            return nodes.count - 1
        }

        /// Returns the area of the box of a form, with its matrix applied.
        func area(of node: Int) -> Double { nodes[node].box.area * nodes[node].matrix.areaFactor }

        /// Checks the work for drawing the page with a size in pixels, a time in nanoseconds, and memory for surfaces
        /// in bytes. Throws an ``ImageError/LimitFailure``.
        func check(size: PixelSize, time: Double, memory: Int) throws(ImageError) {
            guard let page = nodes.last else { return }
            let pixels = Double(size.width) * Double(size.height)
            var factors = [Double](repeating: 0, count: nodes.count)
            factors[nodes.count - 1] = pixels / max(1, page.box.area)
            for place in nodes.indices.reversed() { spread(place, &factors) }
            var costs: [Cost] = []
            for (place, node) in nodes.enumerated() {
                costs.append(cost(of: node, factors[place], pixels, costs))
            }
            let cost = costs[costs.count - 1]
            try DrawingBounds.check(
                cost.operators, PDFBounds.expandedOperators,
                "PDF operators with all forms, patterns, and glyphs")
            try DrawingBounds.check(cost.dashes, PDFBounds.dashes, "dashes of PDF strokes")
            guard cost.surfaces <= Double(memory) else {
                throw .limitExceeded(
                    ImageError.LimitFailure(
                        .decodedSize, limit: memory, actual: Int(min(1e18, cost.surfaces)),
                        detail: "bytes of nested PDF transparency groups"))
            }
            try DrawingBounds.check(cost.time / 1e6, time / 1e6, "milliseconds of estimated drawing work")
        }

        /// Passes the area factor of a node to the nodes that it uses.
        private func spread(_ place: Int, _ factors: inout [Double]) {
            let node = nodes[place]
            for edge in node.edges {
                let factor = factors[place] * edge.factor * nodes[edge.target].matrix.areaFactor
                factors[edge.target] = max(factors[edge.target], min(1e30, factor))
            }
            for choice in node.choices {
                for target in choice.targets {
                    factors[target] = max(factors[target], min(1e30, factors[place] * choice.factor))
                }
            }
        }

        private func cost(of node: Node, _ factor: Double, _ pixels: Double, _ costs: [Cost]) -> Cost {
            var cost = Cost(
                time: node.time, operators: node.operators, paints: node.paints, dashes: node.dashes)
            cost.time += min(node.area * factor, node.paints * pixels) * blendingTime
            cost.time += node.length * factor.squareRoot() * 60
            cost.time += node.dashes * 1_000 + node.imagePixels * 30
            cost.time +=
                min(node.shadedArea * factor, node.shadings * pixels) * 70 + node.shadings * 2_000_000
            if node.imagePixels > 0 { cost.paints += 1 }
            for edge in node.edges {
                cost.add(costs[edge.target], times: edge.times)
                let area = min(edge.area * factor, max(1, edge.times) * pixels)
                cost.time += area * (edge.isLayer ? 10 : 5)
                cost.surfaces = max(cost.surfaces, costs[edge.target].surfaces)
            }
            for choice in node.choices {
                var largest = Cost()
                for target in choice.targets {
                    largest.time = max(largest.time, costs[target].time)
                    largest.operators = max(largest.operators, costs[target].operators)
                    largest.paints = max(largest.paints, costs[target].paints)
                    largest.dashes = max(largest.dashes, costs[target].dashes)
                    cost.surfaces = max(cost.surfaces, costs[target].surfaces)
                }
                cost.add(largest, times: choice.times)
            }
            for use in node.inherited {
                cost.add(costs[use.pattern], times: use.tiles * costs[use.form].paints)
            }
            if node.isLayer {
                let area = min(pixels, node.box.area * factor)
                cost.time += area * 10
                cost.surfaces += area * 8
            }
            return cost
        }
    }
#endif
