// SPDX-License-Identifier: MIT

#if PDF
    import WebImageCore

    /// The operators of a content stream, which are written again, and their work.
    ///
    /// poppler receives the written stream, so it can’t understand it differently.
    struct PDFContent {
        /// The kinds of named resources. The raw values are the keys of their dictionaries.
        enum Kind: String, CaseIterable, Sendable {
            case colorSpace = "ColorSpace"
            case font = "Font"
            case form = "XObject"
            case pattern = "Pattern"
            case properties = "Properties"
            case shading = "Shading"
            case state = "ExtGState"
        }

        struct Resource: Hashable, Sendable {
            let kind: Kind
            let name: String
        }

        /// The use of a resource.
        struct Use: Sendable {
            var count = 0.0
            /// The tiles of a pattern, and the glyphs of a font.
            var parts = 0.0
            /// The area that the uses cover.
            var area = 0.0
            /// The largest factor by which a use enlarges areas.
            var areaFactor = 0.0
        }

        /// An image in the content stream.
        struct InlineImage: Sendable {
            let resource: Resource
            let entries: [String: PDFValue]
            let data: ArraySlice<UInt8>
        }

        /// The tiles of a pattern.
        struct Tiling {
            let box: PDFBox
            let step: (x: Double, y: Double)
            let matrix: PDFMatrix

            /// Returns the maximum number of tiles in a box, in the coordinates of the content stream.
            func count(in area: PDFBox) -> Double {
                guard !area.isEmpty, let size = matrix.inverseSize(of: area) else { return 0 }
                let (x, y) = (max(1e-12, abs(step.x)), max(1e-12, abs(step.y)))
                return min(1e30, ((size.width + box.width) / x + 2) * ((size.height + box.height) / y + 2))
            }
        }

        /// Returns the tiles of a pattern, or `nil` if it has none.
        typealias TilingLookup = (String) throws(ImageError) -> Tiling?

        /// A form or an image that is drawn while a pattern is the color.
        struct InheritedPattern: Sendable {
            let form: Resource
            let pattern: Resource
            let tiles: Double
        }

        /// The written operators.
        private(set) var output: [UInt8] = []
        private(set) var uses: [Resource: Use] = [:]
        private(set) var images: [InlineImage] = []
        private(set) var inherited: [InheritedPattern] = []
        private(set) var operators = 0
        private(set) var segments = 0.0
        /// The number of fills and strokes.
        private(set) var paints = 0.0
        /// The area of all fills and strokes, in the coordinates of the stream.
        private(set) var paintedArea = 0.0
        /// The length of all lines, in the coordinates of the stream.
        private(set) var length = 0.0
        private(set) var dashes = 0.0
        private(set) var glyphs = 0.0

        private struct State {
            var matrix = PDFMatrix.identity
            var clip: PDFBox
            var lineWidth = 1.0
            var dashPeriod: Double?
            var fill: String?
            var stroke: String?
            var font: String?
            var fontSize = 1.0
        }

        private var state: State
        private var saved: [State] = []
        private var path = PDFBox.empty
        private var pathLength = 0.0
        private var pathSegments = 0.0
        private var point = (x: 0.0, y: 0.0)
        private var clips = false
        private var textFactor = 1.0

        /// Reads a content stream that's clipped to `box` and that can have the remaining operators and values. Throws
        /// an ``ImageError/LimitFailure``.
        init(
            _ bytes: ArraySlice<UInt8>, box: PDFBox, remainingOperators: Int, remainingValues: inout Int,
            tiling: TilingLookup
        ) throws(ImageError) {
            state = State(clip: box)
            var lexer = PDFLexer(bytes, values: remainingValues, hasReferences: false)
            var operands: [PDFValue] = []
            while let token = try lexer.token() {
                guard case .keyword(let word) = token else {
                    if let value = try lexer.value(token), operands.count < 33 { operands.append(value) }
                    continue
                }
                operators += 1
                guard operators <= remainingOperators else {
                    throw .limitExceeded(
                        ImageError.LimitFailure(
                            .metadataSize, limit: PDFBounds.operators, actual: PDFBounds.operators + 1,
                            detail: "operators of a PDF page"))
                }
                if word == "BI" {
                    try addInlineImage(&lexer, tiling)
                } else {
                    try add(word, operands, tiling)
                }
                operands.removeAll(keepingCapacity: true)
            }
            remainingValues = lexer.remainingValues
        }

        // MARK: Operators

        /// The operators that change neither the path nor the used resources.
        private static let others: Set<String> = [
            "J", "j", "M", "ri", "i", "BT", "ET", "Tc", "Tw", "Tz", "TL", "Tr", "Ts", "Td", "TD", "T*",
            "BMC", "EMC",
            "MP", "BX", "EX", "d0", "d1", "G", "g", "RG", "rg", "K", "k", "SC", "sc", "h",
        ]

        private mutating func add(_ word: String, _ operands: [PDFValue], _ tiling: TilingLookup)
            throws(ImageError)
        {
            let numbers = operands.compactMap(\.number)
            switch word {
            case "q":
                saved.append(state)
                try DrawingBounds.check(
                    saved.count, PDFBounds.savedStates, "saved graphics states of PDF content")
            case "Q": state = saved.popLast() ?? state
            case "cm":
                guard numbers.count == 6 else { return }
                state.matrix = PDFMatrix(numbers).followed(by: state.matrix)
            case "w": state.lineWidth = abs(numbers.first ?? 1)
            case "d":
                guard case .array(let lengths)? = operands.first else { return }
                let period = lengths.reduce(0) { $0 + abs($1.number ?? 0) }
                state.dashPeriod = lengths.isEmpty || period == 0 ? nil : period
            case "m", "l", "c", "v", "y", "re": addSegment(word, numbers)
            case "S", "s", "f", "F", "f*", "B", "B*", "b", "b*", "n": try paint(word, tiling)
            case "W", "W*": clips = true
            case "Do", "gs", "sh", "CS", "cs", "SCN", "scn", "BDC", "DP", "Tf":
                try use(word, operands, tiling)
            case "Tm":
                guard numbers.count == 6 else { return }
                textFactor = PDFMatrix(numbers).areaFactor
            case "Tj", "TJ", "'", "\"":
                // Content that doesn't set a font would inherit one that isn't in its resources.
                guard state.font != nil else { return }
                try show(operands, tiling)
            default: guard Self.others.contains(word) else { return }
            }
            if ["g", "rg", "k"].contains(word) { state.fill = nil }
            if ["G", "RG", "K"].contains(word) { state.stroke = nil }
            write(word, operands)
        }

        private mutating func write(_ word: String, _ operands: [PDFValue]) {
            for operand in operands {
                operand.write(to: &output)
                output.append(0x20)
            }
            output += word.utf8
            output.append(0x0A)
        }

        // MARK: Paths

        private mutating func addSegment(_ word: String, _ numbers: [Double]) {
            var points = stride(from: 0, to: numbers.count - 1, by: 2).map {
                (numbers[$0], numbers[$0 + 1])
            }
            if word == "re", points.count == 2 {
                let (corner, size) = (points[0], points[1])
                points = [
                    corner, (corner.0 + size.0, corner.1), (corner.0 + size.0, corner.1 + size.1),
                    (corner.0, corner.1 + size.1), corner,
                ]
            }
            // Curves are flattened to several lines.
            let count = word == "re" ? 4.0 : word == "m" || word == "l" ? 1 : 8
            segments += count
            pathSegments += count
            for (place, (x, y)) in points.enumerated() {
                let next = state.matrix.apply(x, y)
                path.add(next)
                if word != "m", word != "re" || place > 0 {
                    pathLength += abs(next.x - point.x) + abs(next.y - point.y)
                }
                point = next
            }
        }

        private mutating func paint(_ word: String, _ tiling: TilingLookup) throws(ImageError) {
            if word != "n" {
                let scale = state.matrix.areaFactor.squareRoot()
                let isStroked = "SsBb".contains(word.first ?? "n")
                let isFilled = word != "S" && word != "s"
                let box = path.expanded(by: isStroked ? state.lineWidth * scale : 0).intersection(
                    state.clip)
                paints += 1
                let strokedArea = pathLength * (state.lineWidth * scale + 2)
                paintedArea += isFilled ? box.area : min(box.area, strokedArea)
                // Paths whose lines cross each other need more than linear time.
                length += min(1e30, pathLength * (1 + pathSegments / 10_000) * (isStroked ? 2 : 1))
                if isStroked, let period = state.dashPeriod {
                    dashes += min(1e30, pathLength / max(1e-30, period * scale))
                }
                if isFilled, let name = state.fill { try addPattern(name, box, tiling) }
                if isStroked, let name = state.stroke { try addPattern(name, box, tiling) }
            }
            if clips { state.clip = state.clip.intersection(path) }
            clips = false
            path = .empty
            (pathLength, pathSegments) = (0, 0)
        }

        // MARK: Resources

        private mutating func use(_ word: String, _ operands: [PDFValue], _ tiling: TilingLookup)
            throws(ImageError)
        {
            guard let name = operands.last?.name ?? operands.first?.name else { return }
            switch word {
            case "Do": try addForm(name, tiling)
            case "gs": add(.state, name, area: state.clip.area)
            case "sh": add(.shading, name, area: state.clip.area)
            case "CS", "cs":
                add(.colorSpace, name, area: 0)
                if word == "cs" { state.fill = nil } else { state.stroke = nil }
            case "scn": state.fill = name
            case "SCN": state.stroke = name
            case "Tf":
                guard let font = operands.first?.name else { return }
                add(.font, font, area: 0)
                state.font = font
                state.fontSize = operands.last?.number ?? 1
            default: add(.properties, name, area: 0)
            }
        }

        private mutating func add(
            _ kind: Kind, _ name: String, parts: Double = 0, area: Double, factor: Double = 1
        ) {
            var use = uses[Resource(kind: kind, name: name)] ?? Use()
            use.count += 1
            use.parts += parts
            use.area += area
            use.areaFactor = max(use.areaFactor, state.matrix.areaFactor * factor)
            uses[Resource(kind: kind, name: name)] = use
        }

        private mutating func addForm(_ name: String, _ tiling: TilingLookup) throws(ImageError) {
            add(.form, name, area: state.clip.area)
            for pattern in [state.fill, state.stroke] {
                guard let pattern, let tiles = try tiling(pattern)?.count(in: state.clip) else { continue }
                add(.pattern, pattern, area: 0)
                inherited.append(
                    InheritedPattern(
                        form: Resource(kind: .form, name: name),
                        pattern: Resource(kind: .pattern, name: pattern),
                        tiles: tiles))
            }
        }

        private mutating func addPattern(_ name: String, _ box: PDFBox, _ tiling: TilingLookup)
            throws(ImageError)
        {
            var tiles = 0.0
            if let tiling = try tiling(name) { tiles = tiling.count(in: box) }
            add(.pattern, name, parts: tiles, area: box.area)
        }

        private mutating func show(_ operands: [PDFValue], _ tiling: TilingLookup) throws(ImageError) {
            var count = 0
            for operand in operands {
                switch operand {
                case .string(let bytes): count += bytes.count
                case .array(let values):
                    for case .string(let bytes) in values { count += bytes.count }
                default: break
                }
            }
            glyphs += Double(count)
            paints += Double(count)
            let factor = state.fontSize * state.fontSize * textFactor
            let area = Double(count) * state.matrix.areaFactor * factor
            paintedArea += min(1e30, area)
            if let font = state.font { add(.font, font, parts: Double(count), area: 0, factor: factor) }
            if let name = state.fill { try addPattern(name, state.clip, tiling) }
            if let name = state.stroke { try addPattern(name, state.clip, tiling) }
        }

        // MARK: Inline images

        /// The keys of inline images with their abbreviations.
        private static let keys = [
            "BPC": "BitsPerComponent", "CS": "ColorSpace", "D": "Decode", "DP": "DecodeParms",
            "F": "Filter",
            "H": "Height", "IM": "ImageMask", "I": "Interpolate", "W": "Width",
        ]
        private static let colorSpaces = [
            "G": "DeviceGray", "RGB": "DeviceRGB", "CMYK": "DeviceCMYK", "I": "Indexed",
        ]

        /// Reads an image after `BI`. It’s written as a use of a resource, so that poppler needn't find its end.
        private mutating func addInlineImage(_ lexer: inout PDFLexer, _ tiling: TilingLookup)
            throws(ImageError)
        {
            var entries: [String: PDFValue] = ["Subtype": .name("Image")]
            while let token = try lexer.token(), token != .keyword("ID") {
                guard case .value(.name(let key)) = token, let next = try lexer.token(),
                    next != .keyword("ID")
                else {
                    continue
                }
                entries[Self.keys[key] ?? key] = try lexer.value(next)
            }
            if case .name(let name)? = entries["ColorSpace"] {
                entries["ColorSpace"] = .name(Self.colorSpaces[name] ?? name)
            } else if case .array(let values)? = entries["ColorSpace"] {
                entries["ColorSpace"] = .array(
                    values.map { value in value.name.map { .name(Self.colorSpaces[$0] ?? $0) } ?? value })
            }
            let start = min(lexer.index + 1, lexer.bytes.endIndex)
            let count = Self.rawSize(entries)
            let end = Self.endOfImage(lexer.bytes, from: start, rawSize: count)
            lexer.index = end.next
            let resource = Resource(kind: .form, name: "WebImageInline\(images.count)")
            images.append(
                InlineImage(resource: resource, entries: entries, data: lexer.bytes[start..<end.data]))
            try addForm(resource.name, tiling)
            write("Do", [.name(resource.name)])
        }

        /// Returns the size of the data of an image without filters, or `nil` if it has filters.
        private static func rawSize(_ entries: [String: PDFValue]) -> Int? {
            guard entries["Filter"] == nil, let width = entries["Width"]?.integer,
                let height = entries["Height"]?.integer,
                (0...(1 << 20)).contains(width), (0...(1 << 20)).contains(height)
            else { return nil }
            let isMask = entries["ImageMask"] == .bool(true)
            let bits = isMask ? 1 : max(1, min(16, entries["BitsPerComponent"]?.integer ?? 8))
            switch entries["ColorSpace"] {
            case .name("DeviceGray"), nil: return (width * bits + 7) / 8 * height
            case .name("DeviceRGB"): return (width * bits * 3 + 7) / 8 * height
            case .name("DeviceCMYK"): return (width * bits * 4 + 7) / 8 * height
            case .array: return (width * bits + 7) / 8 * height
            default: return isMask ? (width + 7) / 8 * height : nil
            }
        }

        /// Returns the end of the data of an image, and the place after `EI`.
        private static func endOfImage(_ bytes: ArraySlice<UInt8>, from start: Int, rawSize: Int?) -> (
            data: Int, next: Int
        ) {
            var place = start
            if let rawSize, rawSize <= bytes.endIndex - start { place = max(start, start + rawSize - 1) }
            while place + 1 < bytes.endIndex {
                if bytes[place] == 0x45, bytes[place + 1] == 0x49, place > start, isEnd(bytes, place) {
                    let isSpace = PDFLexer.isSpace(bytes[place - 1])
                    return (max(start, isSpace && rawSize == nil ? place - 1 : place), place + 2)
                }
                place += 1
            }
            return (bytes.endIndex, bytes.endIndex)
        }

        /// Returns whether `EI` at a place is an operator: text follows it, and not the data of an image.
        private static func isEnd(_ bytes: ArraySlice<UInt8>, _ place: Int) -> Bool {
            let next = place + 2
            guard
                PDFLexer.isSpace(bytes[place - 1]) || next >= bytes.endIndex
                    || PDFLexer.isSpace(bytes[next])
            else {
                return false
            }
            return bytes[next..<min(next + 10, bytes.endIndex)].allSatisfy {
                (0x20...0x7E).contains($0) || PDFLexer.isSpace($0) && $0 != 0
            }
        }
    }
#endif
