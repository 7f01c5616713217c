// SPDX-License-Identifier: MIT

#if SVG
    /// Measurements of the outline of a shape, in user units. Curves count with their control points, which is an upper
    /// bound of their length.
    struct SVGShape {
        private(set) var vertices = 0
        private(set) var length = 0.0
        private var low = (x: Double.infinity, y: Double.infinity)
        private var high = (x: -Double.infinity, y: -Double.infinity)
        private var current = (x: 0.0, y: 0.0)
        private var start = (x: 0.0, y: 0.0)

        /// The length of the diagonal of the bounding box.
        var diagonal: Double {
            guard vertices > 0 else { return 0 }
            let (width, height) = (high.x - low.x, high.y - low.y)
            return min(1e300, (width * width + height * height).squareRoot())
        }

        /// Creates a shape from an element, or returns `nil` if the element isn't a shape.
        init?(_ name: String, _ value: (String) -> String?) {
            func number(_ name: String) -> Double { value(name).flatMap { SVGNumbers.all($0, limit: 1).first } ?? 0 }
            switch name {
            case "path": addPath(value("d") ?? "")
            case "polygon", "polyline": addPoints(SVGNumbers.all(value("points") ?? "", limit: .max))
            case "rect": addBox(number("x"), number("y"), number("width"), number("height"))
            case "circle": addBox(number("cx"), number("cy"), 2 * number("r"), 2 * number("r"))
            case "ellipse": addBox(number("cx"), number("cy"), 2 * number("rx"), 2 * number("ry"))
            case "line": addPoints([number("x1"), number("y1"), number("x2"), number("y2")])
            default: return nil
            }
            if name == "rect" || name == "circle" || name == "ellipse", value("width")?.contains("%") ?? true {
                // A percentage of the viewport or a missing size can be as large as the viewport.
                isRelative = ["width", "height", "r", "rx", "ry"].contains { value($0)?.contains("%") ?? false }
            }
        }

        /// Whether the size depends on the viewport.
        private(set) var isRelative = false

        private mutating func add(_ x: Double, _ y: Double) {
            if vertices > 0 {
                let (width, height) = (x - current.x, y - current.y)
                length = min(1e300, length + (width * width + height * height).squareRoot())
            }
            vertices += 1
            low = (min(low.x, x), min(low.y, y))
            high = (max(high.x, x), max(high.y, y))
            current = (x, y)
        }

        private mutating func addPoints(_ numbers: [Double]) {
            for place in stride(from: 0, to: numbers.count - 1, by: 2) { add(numbers[place], numbers[place + 1]) }
        }

        private mutating func addBox(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
            for (dx, dy) in [(0.0, 0.0), (1, 0), (1, 1), (0, 1), (0, 0)] { add(x + dx * width, y + dy * height) }
        }

        private mutating func addPath(_ text: String) {
            var reader = SVGNumbers(text)
            var command: UInt8 = 0
            while !reader.isAtEnd {
                if let next = reader.command() { command = next }
                guard !reader.isAtEnd || command | 0x20 == 0x7A, step(command, &reader) else { return }
                // More coordinates after a move are lines (SVG 1.1, section 8.3.2).
                if command == 0x4D { command = 0x4C }
                if command == 0x6D { command = 0x6C }
                // More numbers after a closed path are an error, at which drawing ends.
                if command | 0x20 == 0x7A { command = 0 }
            }
        }

        /// Reads the numbers of one command and returns whether they're valid.
        private mutating func step(_ command: UInt8, _ reader: inout SVGNumbers) -> Bool {
            let origin = command & 0x20 == 0 ? (x: 0.0, y: 0.0) : current
            switch command | 0x20 {
            case 0x6D, 0x6C, 0x74: return addPairs(1, origin, &reader, isMove: command | 0x20 == 0x6D)
            case 0x63: return addPairs(3, origin, &reader)
            case 0x73, 0x71: return addPairs(2, origin, &reader)
            case 0x68:
                guard let x = reader.number() else { return false }
                add(origin.x + x, current.y)
            case 0x76:
                guard let y = reader.number() else { return false }
                add(current.x, origin.y + y)
            case 0x61: return addArc(origin, &reader)
            case 0x7A: add(start.x, start.y)
            default: return false
            }
            return true
        }

        private mutating func addPairs(
            _ count: Int, _ origin: (x: Double, y: Double), _ reader: inout SVGNumbers, isMove: Bool = false
        ) -> Bool {
            for _ in 0..<count {
                guard let x = reader.number(), let y = reader.number() else { return false }
                add(Self.bounded(origin.x + x), Self.bounded(origin.y + y))
            }
            if isMove { start = current }
            return true
        }

        private mutating func addArc(_ origin: (x: Double, y: Double), _ reader: inout SVGNumbers) -> Bool {
            guard let rx = reader.number(), let ry = reader.number(), reader.number() != nil,
                reader.flag() != nil, reader.flag() != nil, let x = reader.number(), let y = reader.number()
            else { return false }
            let radius = max(abs(rx), abs(ry))
            let end = (x: Self.bounded(origin.x + x), y: Self.bounded(origin.y + y))
            // The arc is inside a square around its end, and it has at most four curves.
            for (dx, dy) in [(-2.0, -2.0), (2, -2), (2, 2), (-2, 2)] {
                add(Self.bounded(end.x + dx * radius), Self.bounded(end.y + dy * radius))
            }
            add(end.x, end.y)
            return true
        }

        private static func bounded(_ number: Double) -> Double { max(-1e150, min(1e150, number)) }
    }
#endif
