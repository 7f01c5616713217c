// SPDX-License-Identifier: MIT

#if SVG
    import WebImageCore

    /// The elements that a drawing reaches, each after the elements that it contains or refers to.
    struct SVGGraph {
        /// The elements that are drawn only through a reference.
        static let hidden: Set<String> = [
            "defs", "symbol", "pattern", "mask", "clipPath", "marker", "filter", "linearGradient", "radialGradient",
            "style", "title", "desc", "metadata",
        ]

        private(set) var order: [Int] = []
        private var states: [State]

        private enum State { case unseen, open, done }

        /// Visits all elements that the root reaches, and removes references that would form a cycle. Throws an
        /// ``ImageError/LimitFailure`` if elements and references are nested too deeply, which would overflow the stack
        /// of librsvg.
        init(_ document: inout SVGDocument) throws(ImageError) {
            states = Array(repeating: .unseen, count: document.elements.count)
            heights = Array(repeating: 0, count: document.elements.count)
            guard !states.isEmpty else { return }
            try visit(0, 1, &document)
            try DrawingBounds.check(heights[0], SVGBounds.depth, "nested elements and references")
        }

        /// The largest depth of each element's content, including references.
        private var heights: [Int]

        private mutating func visit(_ index: Int, _ depth: Int, _ document: inout SVGDocument) throws(ImageError) {
            try DrawingBounds.check(depth, SVGBounds.depth, "nested elements and references")
            states[index] = .open
            var height = 0
            for case .element(let child) in document.elements[index].content
            where !Self.hidden.contains(document.elements[child].name) {
                if states[child] == .unseen { try visit(child, depth + 1, &document) }
                guard states[child] == .done else { throw SVGBounds.corrupt("an element refers to its container") }
                height = max(height, heights[child])
            }
            for target in Self.targets(of: document.elements[index]) {
                guard let place = document.identifiers[target] else { continue }
                if document.isAncestor(place, of: index) {
                    try document.removeReference(of: index, to: target)
                    continue
                }
                if states[place] == .unseen { try visit(place, depth + 2, &document) }
                if states[place] == .open {
                    try document.removeReference(of: index, to: target)
                } else {
                    height = max(height, heights[place] + 1)
                }
            }
            heights[index] = height + 1
            states[index] = .done
            order.append(index)
        }

        /// Returns the identifiers to which an element refers, in a fixed order.
        static func targets(of element: SVGDocument.Element) -> [SVGIdentifier] {
            var targets = element.style.allTargets
            if let target = element.target { targets.insert(target) }
            return targets.sorted()
        }
    }
#endif
