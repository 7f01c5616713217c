// SPDX-License-Identifier: MIT

#if SVG
    import WebImageCore

    /// An upper bound of the number of pixels per user unit in a drawing.
    struct SVGScale {
        /// The bound, for all elements.
        let total: Double
        /// The largest side of a viewport, in user units.
        let viewport: Double

        init(_ document: SVGDocument, _ graph: SVGGraph, size: PixelSize) {
            let root = document.elements[0]
            let (width, height) = (Double(size.width), Double(size.height))
            let box = Self.box(root)
            let initial: Double
            if let box {
                initial = max(width / box.width, height / box.height)
                viewport = max(box.width, box.height)
            } else {
                initial = max(
                    1, width / (Self.length(root, "width") ?? width), height / (Self.length(root, "height") ?? height))
                viewport = max(width, height)
            }
            var reaches = Array(repeating: 1.0, count: document.elements.count)
            let stroke = document.elements.lazy.compactMap(\.style.strokeWidth).max() ?? 1
            for index in graph.order {
                let element = document.elements[index]
                var reach = 1.0
                for case .element(let child) in element.content { reach = max(reach, reaches[child]) }
                for target in SVGGraph.targets(of: element) {
                    guard let place = document.identifiers[target] else { continue }
                    let used = document.elements[place]
                    let factor =
                        used.name == "marker"
                        ? Self.factor(used, nil, 3) * max(1, stroke)
                        : used.name == "symbol" || used.name == "svg" ? Self.factor(used, element, viewport) : 1
                    reach = max(reach, reaches[place] * factor)
                }
                // The viewport of a symbol depends on the element that uses it.
                if index != 0, element.name == "svg" { reach *= Self.factor(element, nil, viewport) }
                if element.attributes.contains(where: {
                    $0.value == "objectBoundingBox" && $0.name.hasSuffix("ContentUnits")
                })
                    || element.name == "clipPath" && element.value("clipPathUnits") == "objectBoundingBox"
                {
                    reach *= max(1, viewport)
                }
                reaches[index] = min(1e150, max(1e-150, reach * element.style.scale))
            }
            total = min(1e150, initial * reaches[0])
        }

        /// Returns the scale of a viewport with a view box.
        private static func factor(_ element: SVGDocument.Element, _ use: SVGDocument.Element?, _ viewport: Double)
            -> Double
        {
            guard let box = box(element) else { return 1 }
            func side(_ name: String, _ marker: String) -> Double {
                use.flatMap { length($0, name) } ?? length(element, name) ?? length(element, marker) ?? viewport
            }
            return min(
                1e150, max(side("width", "markerWidth") / box.width, side("height", "markerHeight") / box.height))
        }

        private static func box(_ element: SVGDocument.Element) -> (width: Double, height: Double)? {
            let numbers = SVGNumbers.all(element.value("viewBox") ?? "", limit: 4)
            guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0 else { return nil }
            return (numbers[2], numbers[3])
        }

        private static func length(_ element: SVGDocument.Element, _ name: String) -> Double? {
            guard let value = element.value(name), !value.contains("%"),
                let number = SVGNumbers.all(value, limit: 1).first, number > 0
            else { return nil }
            // The largest absolute unit is an inch.
            return value.utf8.last.map { (0x30...0x39).contains($0) } ?? true || value.hasSuffix("px")
                ? number : number * 96
        }
    }
#endif
