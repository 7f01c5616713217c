// SPDX-License-Identifier: MIT

#if PDF
    import Foundation
    import WebImageCore

    /// One page of a document, written as a document of its own.
    ///
    /// The new document has only the objects that the page uses, so poppler needn't repair anything, and receives no
    /// scripts, forms to fill in, links, or embedded files.
    struct PDFPage {
        /// The number of pages of the original document.
        let pageCount: Int
        /// The new document.
        let data: Data
        let work: PDFWork

        /// Throws an ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
        /// ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
        init(_ data: Data, index: Int, context: ImageProcessingContext) throws(ImageError) {
            let file = try PDFFile(data)
            try context.checkCancellation()
            let tree = try PDFPageTree(file, index: index)
            pageCount = tree.count
            guard tree.count > 0 else { throw PDFBounds.corrupt("it has no pages") }
            guard let page = tree.page else {
                throw .request(.frameNotFound(index: index, frameCount: tree.count))
            }
            var writer = PDFPageWriter(file, limits: context.limits)
            (self.data, work) = try writer.write(page)
            try context.checkCancellation()
        }
    }

    /// A writer of the objects that a page uses.
    private struct PDFPageWriter {
        private let file: PDFFile
        private let limits: ImageLimits
        private var objects: [[UInt8]?] = []
        /// The new numbers of copied objects.
        private var copies: [Int: Int] = [:]
        private var pending: [Int] = []
        /// The new numbers and nodes of drawn objects.
        private var drawn: [Int: (number: Int, node: Int)] = [:]
        private var open: Set<Int> = []
        private var work = PDFWork()
        private var remainingOperators = PDFBounds.operators
        private var remainingValues = PDFBounds.values
        private var writtenBytes = 0

        init(_ file: PDFFile, limits: ImageLimits) {
            self.file = file
            self.limits = limits
        }

        /// Returns the document of a page and the work for drawing it.
        mutating func write(_ page: [String: PDFValue]) throws(ImageError) -> (Data, PDFWork) {
            let (catalog, pages, leaf) = (newObject(), newObject(), newObject())
            var entries: [String: PDFValue] = ["Type": .name("Page"), "Parent": .reference(pages)]
            for key in ["MediaBox", "CropBox", "Rotate", "UserUnit", "Group"] {
                if let value = page[key] { entries[key] = try copy(value, full: true) }
            }
            let boxes = [
                try self.box(page["CropBox"]), try self.box(page["MediaBox"]), PDFBox([0, 0, 612, 792]),
            ]
            let box = boxes.lazy.compactMap(\.self).first ?? .empty
            var content: [UInt8] = []
            for part in try file.list(page["Contents"]) {
                content += try file.decoded(try file.resolve(part))
                content.append(0x0A)
                try DrawingBounds.check(content.count, PDFBounds.decodedBytes, "bytes of decoded PDF streams")
            }
            let resources = try file.resolve(page["Resources"]).dictionary
            var node = PDFWork.Node(box: box)
            let (written, used) = try draw(content[...], [resources], 0, &node)
            entries["Resources"] = used
            entries["Contents"] = .reference(try newStream([:], written[...]))
            entries["Annots"] = try annotations(page["Annots"], resources, &node)
            work.add(node)
            set(leaf, .dictionary(entries))
            set(
                pages,
                .dictionary([
                    "Type": .name("Pages"), "Kids": .array([.reference(leaf)]), "Count": .number(1),
                ]))
            var root: [String: PDFValue] = ["Type": .name("Catalog"), "Pages": .reference(pages)]
            let original = try file.resolve(file.trailer["Root"]).dictionary
            if let layers = original["OCProperties"] { root["OCProperties"] = try copy(layers) }
            set(catalog, .dictionary(root))
            try writePending()
            return (serialized(root: catalog), work)
        }

        // MARK: Objects

        private mutating func newObject() -> Int {
            objects.append(nil)
            return objects.count
        }

        private mutating func set(_ number: Int, _ value: PDFValue) {
            var output: [UInt8] = []
            value.write(to: &output)
            objects[number - 1] = output
        }

        private mutating func newStream(
            _ entries: [String: PDFValue], _ data: ArraySlice<UInt8>, number: Int? = nil
        ) throws(ImageError) -> Int {
            // Objects can share the bytes of their streams.
            writtenBytes += data.count
            try DrawingBounds.check(writtenBytes, file.count + PDFBounds.decodedBytes, "bytes of a PDF page")
            let number = number ?? newObject()
            var entries = entries
            entries["Length"] = .number(Double(data.count))
            var output: [UInt8] = []
            PDFValue.dictionary(entries).write(to: &output)
            output += "\nstream\n".utf8
            output += data
            output += "\nendstream".utf8
            objects[number - 1] = output
            return number
        }

        private func serialized(root: Int) -> Data {
            var output = Array("%PDF-1.7\n".utf8)
            var offsets: [Int] = []
            for (place, object) in objects.enumerated() {
                offsets.append(output.count)
                output += "\(place + 1) 0 obj\n".utf8
                output += object ?? Array("null".utf8)
                output += "\nendobj\n".utf8
            }
            let table = output.count
            output += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n".utf8
            for offset in offsets {
                let digits = String(offset)
                output +=
                    "\(String(repeating: "0", count: max(0, 10 - digits.count)))\(digits) 00000 n \n".utf8
            }
            output +=
                "trailer\n<</Size \(objects.count + 1) /Root \(root) 0 R>>\nstartxref\n\(table)\n%%EOF\n"
                .utf8
            return Data(output)
        }

        /// Counts values that are copied for several streams.
        private mutating func charge(values: Int) throws(ImageError) {
            remainingValues -= values
            guard remainingValues < 0 else { return }
            try DrawingBounds.check(
                PDFBounds.values - remainingValues, PDFBounds.values, "values of a PDF page")
        }

        // MARK: Copying

        /// The entries that lead to other pages, to actions, and to data that drawing doesn't need.
        private static let omitted: Set<String> = [
            "A", "AA", "AF", "B", "Dest", "F", "FFilter", "Metadata", "Next", "OPI", "P", "Parent",
            "PieceInfo", "Prev",
            "Ref", "StructParent", "StructParents", "Thumb",
        ]

        /// Returns a value with the new numbers of the objects to which it refers, which are written later. If `full`
        /// is `true`, the objects replace the references.
        private mutating func copy(_ value: PDFValue, full: Bool = false, depth: Int = 0)
            throws(ImageError) -> PDFValue
        {
            try DrawingBounds.check(depth, PDFBounds.nesting, "nested PDF values")
            try charge(values: 1)
            switch value {
            case .reference(let number):
                if full, depth == 0 { return try copy(try file.resolve(value).value, full: true, depth: 1) }
                if let known = copies[number] { return .reference(known) }
                let new = newObject()
                try DrawingBounds.check(objects.count, PDFBounds.pageObjects, "objects of a PDF page")
                copies[number] = new
                pending.append(number)
                return .reference(new)
            case .array(let values):
                var result: [PDFValue] = []
                for value in values { result.append(try copy(value, full: full, depth: depth + 1)) }
                return .array(result)
            case .dictionary(let entries):
                try checkFunction(entries)
                var result: [String: PDFValue] = [:]
                for (key, value) in entries.sorted(by: { $0.key < $1.key }) where !Self.omitted.contains(key) {
                    result[key] = try copy(value, full: full, depth: depth + 1)
                }
                return .dictionary(result)
            default: return value
            }
        }

        private mutating func copy(_ keys: [String], of entries: [String: PDFValue]) throws(ImageError)
            -> [String: PDFValue]
        {
            var result: [String: PDFValue] = [:]
            for key in keys { if let value = entries[key] { result[key] = try copy(value) } }
            return result
        }

        private mutating func writePending() throws(ImageError) {
            while let number = pending.popLast() {
                guard let new = copies[number] else { continue }
                let object = try file.resolve(.reference(number))
                guard object.stream != nil else {
                    set(new, try copy(object.value, depth: 1))
                    continue
                }
                let (data, filters) = try file.partlyDecoded(object)
                var entries = object.dictionary
                for key in ["Filter", "DecodeParms", "DP", "Length", "DL"] { entries[key] = nil }
                guard case .dictionary(var result) = try copy(.dictionary(entries), depth: 1) else {
                    continue
                }
                try add(filters, to: &result)
                _ = try newStream(result, data, number: new)
            }
        }

        private mutating func add(
            _ filters: ArraySlice<(name: String, parameters: [String: PDFValue])>,
            to entries: inout [String: PDFValue]
        ) throws(ImageError) {
            guard !filters.isEmpty else { return }
            entries["Filter"] = .array(filters.map { .name($0.name) })
            var parameters: [PDFValue] = []
            for filter in filters { parameters.append(try copy(.dictionary(filter.parameters))) }
            entries["DecodeParms"] = .array(parameters)
        }

        /// Checks the size of the table of a sampled function, which poppler allocates before it reads the samples.
        private mutating func checkFunction(_ entries: [String: PDFValue]) throws(ImageError) {
            guard entries["FunctionType"] != nil, entries["Size"] != nil else { return }
            var samples = Double(try file.list(entries["Range"]).count) / 2
            for size in try file.list(entries["Size"]) {
                samples *= max(1, try file.resolve(size).value.number ?? 1)
            }
            try DrawingBounds.check(samples, Double(PDFBounds.samples), "samples of a PDF function")
        }

        private mutating func numbers(_ value: PDFValue?) throws(ImageError) -> [Double] {
            var numbers: [Double] = []
            for value in try file.list(value).prefix(8) {
                numbers.append(try file.resolve(value).value.number ?? 0)
            }
            return numbers
        }

        private mutating func box(_ value: PDFValue?) throws(ImageError) -> PDFBox? {
            PDFBox(try numbers(value))
        }

        // MARK: Drawing

        /// Returns the written content of a stream and its resources, and adds its work to a node.
        private mutating func draw(
            _ bytes: ArraySlice<UInt8>, _ chain: [[String: PDFValue]], _ depth: Int,
            _ node: inout PDFWork.Node
        ) throws(ImageError) -> (content: [UInt8], resources: PDFValue) {
            try DrawingBounds.check(depth, PDFBounds.depth, "nested PDF forms, patterns, masks, and glyphs")
            var values = remainingValues
            let file = self.file
            var known: [String: PDFContent.Tiling?] = [:]
            let content = try PDFContent(
                bytes, box: node.box, remainingOperators: remainingOperators, remainingValues: &values
            ) { (name) throws(ImageError) in
                if let tiling = known[name] { return tiling }
                let tiling = try Self.tiling(name, chain, file)
                known[name] = .some(tiling)
                return tiling
            }
            remainingValues = values
            remainingOperators -= content.operators
            node.add(content)
            var resources: [String: PDFValue] = [:]
            let inline = Set(content.images.map(\.resource))
            // The order of the new objects doesn't depend on hashes.
            let uses = content.uses.sorted { $0.key.name < $1.key.name }
            for kind in PDFContent.Kind.allCases {
                var entries: [String: PDFValue] = [:]
                for (resource, use) in uses where resource.kind == kind && !inline.contains(resource) {
                    let value = try lookUp(resource, chain)
                    entries[resource.name] = try add(value, resource, use, chain, depth, &node)
                }
                if kind == .form { try addImages(content, chain, &entries, &node) }
                if kind == .colorSpace {
                    for name in ["DefaultGray", "DefaultRGB", "DefaultCMYK"] {
                        if let value = try lookUp(.init(kind: kind, name: name), chain) {
                            entries[name] = try copy(value)
                        }
                    }
                }
                resources[kind.rawValue] = .dictionary(entries)
            }
            for inherited in content.inherited { node.inherit(inherited) }
            return (content.output, .dictionary(resources))
        }

        /// Returns a resource from the first dictionary that has it.
        private mutating func lookUp(_ resource: PDFContent.Resource, _ chain: [[String: PDFValue]])
            throws(ImageError)
            -> PDFValue?
        {
            try Self.lookUp(resource, chain, file)
        }

        private static func lookUp(
            _ resource: PDFContent.Resource, _ chain: [[String: PDFValue]], _ file: PDFFile
        ) throws(ImageError) -> PDFValue? {
            for resources in chain {
                let entries = try file.resolve(resources[resource.kind.rawValue]).dictionary
                if let value = entries[resource.name], try file.resolve(value).value != .null {
                    return value
                }
            }
            return nil
        }

        private static func tiling(_ name: String, _ chain: [[String: PDFValue]], _ file: PDFFile)
            throws(ImageError) -> PDFContent.Tiling?
        {
            let value = try lookUp(PDFContent.Resource(kind: .pattern, name: name), chain, file)
            let entries = try file.resolve(value).dictionary
            guard try file.resolve(entries["PatternType"]).value == .number(1) else { return nil }
            var numbers: [String: [Double]] = [:]
            for key in ["BBox", "Matrix", "XStep", "YStep"] {
                var values: [Double] = []
                for value in try file.list(entries[key]).prefix(6) {
                    values.append(try file.resolve(value).value.number ?? 0)
                }
                numbers[key] = values
            }
            return PDFContent.Tiling(
                box: PDFBox(numbers["BBox"] ?? []) ?? .empty,
                step: (numbers["XStep"]?.first ?? 0, numbers["YStep"]?.first ?? 0),
                matrix: PDFMatrix(numbers["Matrix"] ?? []))
        }

        /// Writes a resource and adds its work to a node.
        private mutating func add(
            _ value: PDFValue?, _ resource: PDFContent.Resource, _ use: PDFContent.Use,
            _ chain: [[String: PDFValue]],
            _ depth: Int, _ node: inout PDFWork.Node
        ) throws(ImageError) -> PDFValue {
            // An empty dictionary keeps poppler from searching the resources of the containing streams.
            guard let value else {
                return resource.kind == .colorSpace ? .name(resource.name) : .dictionary([:])
            }
            switch resource.kind {
            case .colorSpace, .properties: return try copy(value)
            case .shading:
                node.addShading(use)
                return try copy(value)
            case .state: return try state(value, use, chain, depth, &node)
            case .font: return try font(value, resource, use, chain, depth, &node)
            case .pattern:
                let entries = try file.resolve(value).dictionary
                guard try file.resolve(entries["PatternType"]).value == .number(1) else {
                    node.addShading(use)
                    return .dictionary(try copy(["PatternType", "Shading", "Matrix", "Type"], of: entries))
                }
                let (number, child) = try stream(value, .pattern, chain, depth)
                node.add(child, resource, times: use.parts, area: use.area, factor: 1)
                return .reference(number)
            case .form:
                let object = try file.resolve(value)
                switch try file.resolve(object.dictionary["Subtype"]).value {
                case .name("Image"):
                    let (number, child) = try image(value, object, chain)
                    node.add(child, resource, times: use.count, area: use.area, factor: use.areaFactor)
                    return .reference(number)
                case .name("Form"):
                    let (number, child) = try stream(value, .form, chain, depth)
                    node.add(child, resource, times: use.count, area: 0, factor: use.areaFactor)
                    return .reference(number)
                default: return .dictionary([:])
                }
            }
        }

        private enum StreamKind { case form, pattern, glyph }

        /// Writes a form, a tiling pattern, or a glyph.
        private mutating func stream(
            _ value: PDFValue, _ kind: StreamKind, _ chain: [[String: PDFValue]], _ depth: Int
        ) throws(ImageError) -> (number: Int, node: Int) {
            guard case .reference(let old) = value else {
                throw PDFBounds.corrupt("a stream isn't an object")
            }
            if let known = drawn[old] { return known }
            guard open.insert(old).inserted else {
                throw PDFBounds.corrupt(
                    "object \(old), which is a form, a pattern, a mask, or a glyph, draws itself")
            }
            defer { open.remove(old) }
            let object = try file.resolve(value)
            let entries = object.dictionary
            let number = newObject()
            try DrawingBounds.check(objects.count, PDFBounds.pageObjects, "objects of a PDF page")
            let keys =
                switch kind {
                case .form: ["Type", "Subtype", "FormType", "BBox", "Matrix", "Group", "OC"]
                case .pattern:
                    ["Type", "PatternType", "PaintType", "TilingType", "BBox", "XStep", "YStep", "Matrix"]
                case .glyph: [String]()
                }
            var result = try copy(keys, of: entries)
            var node = PDFWork.Node(
                box: kind == .glyph ? .everything : try box(entries["BBox"]) ?? .empty)
            node.matrix = PDFMatrix(try numbers(entries["Matrix"]))
            let group = try file.resolve(entries["Group"]).dictionary
            node.isLayer = kind == .form && !group.isEmpty
            let own = try file.resolve(entries["Resources"]).dictionary
            let content = try file.decoded(object)
            let (written, resources) = try draw(
                content[...], own.isEmpty ? chain : [own] + chain, depth + 1, &node)
            result["Resources"] = resources
            _ = try newStream(result, written[...], number: number)
            let place = work.add(node)
            drawn[old] = (number, place)
            return (number, place)
        }

        private mutating func state(
            _ value: PDFValue, _ use: PDFContent.Use, _ chain: [[String: PDFValue]], _ depth: Int,
            _ node: inout PDFWork.Node
        ) throws(ImageError) -> PDFValue {
            var entries = try file.resolve(value).dictionary
            let mask = try file.resolve(entries["SMask"]).dictionary
            if !mask.isEmpty { entries["SMask"] = nil }
            entries["Font"] = nil
            for mode in try file.list(entries["BM"]) {
                if let name = try file.resolve(mode).value.name { work.add(blendMode: name) }
            }
            guard case .dictionary(var result) = try copy(.dictionary(entries)) else {
                return .dictionary([:])
            }
            guard let group = mask["G"] else { return .dictionary(result) }
            var written = try copy(["Type", "S", "BC", "TR"], of: mask)
            let (number, child) = try stream(group, .form, chain, depth)
            written["G"] = .reference(number)
            result["SMask"] = .dictionary(written)
            node.add(child, nil, times: use.count, area: use.area, factor: use.areaFactor, isMask: true)
            return .dictionary(result)
        }

        private mutating func font(
            _ value: PDFValue, _ resource: PDFContent.Resource, _ use: PDFContent.Use,
            _ chain: [[String: PDFValue]],
            _ depth: Int, _ node: inout PDFWork.Node
        ) throws(ImageError) -> PDFValue {
            let entries = try file.resolve(value).dictionary
            guard try file.resolve(entries["Subtype"]).value == .name("Type3") else {
                return try copy(value)
            }
            let matrix = PDFMatrix(try numbers(entries["FontMatrix"]))
            let glyphs = try file.resolve(entries["CharProcs"]).dictionary
            let own = try file.resolve(entries["Resources"]).dictionary
            var written: [String: PDFValue] = [:]
            var children: [Int] = []
            for (name, glyph) in glyphs.sorted(by: { $0.key < $1.key }) {
                guard try file.resolve(glyph).stream != nil else { continue }
                let (number, child) = try stream(glyph, .glyph, own.isEmpty ? chain : [own] + chain, depth)
                written[name] = .reference(number)
                children.append(child)
            }
            try charge(values: children.count)
            // The text doesn't show which of the glyphs it uses.
            node.addGlyphs(children, times: use.parts, factor: use.areaFactor * matrix.areaFactor)
            var result = try copy(
                [
                    "Type", "Subtype", "FontBBox", "FontMatrix", "Encoding", "FirstChar", "LastChar",
                    "Widths", "Name",
                ],
                of: entries)
            result["CharProcs"] = .dictionary(written)
            return .dictionary(result)
        }

        // MARK: Images

        private mutating func addImages(
            _ content: PDFContent, _ chain: [[String: PDFValue]], _ entries: inout [String: PDFValue],
            _ node: inout PDFWork.Node
        ) throws(ImageError) {
            for image in content.images {
                var object = PDFObject(value: .dictionary(image.entries), stream: image.data)
                var values = image.entries
                if case .name(let name)? = values["ColorSpace"] {
                    let found = try lookUp(PDFContent.Resource(kind: .colorSpace, name: name), chain)
                    values["ColorSpace"] = found ?? .name(name)
                    object.value = .dictionary(values)
                }
                let (number, child) = try self.image(nil, object, chain)
                let use = content.uses[image.resource] ?? PDFContent.Use()
                node.add(child, image.resource, times: use.count, area: use.area, factor: use.areaFactor)
                entries[image.resource.name] = .reference(number)
            }
        }

        private mutating func image(
            _ value: PDFValue?, _ object: PDFObject, _ chain: [[String: PDFValue]], isMask: Bool = false
        ) throws(ImageError) -> (number: Int, node: Int) {
            var old: Int?
            if case .reference(let number)? = value { old = number }
            if let old, let known = drawn[old] { return known }
            let number = newObject()
            try DrawingBounds.check(objects.count, PDFBounds.pageObjects, "objects of a PDF page")
            let entries = object.dictionary
            var result = try copy(
                [
                    "Type", "Subtype", "Width", "Height", "ColorSpace", "BitsPerComponent", "Intent",
                    "ImageMask",
                    "Decode",
                    "Interpolate", "SMaskInData", "Matte", "OC",
                ], of: entries)
            var node = PDFWork.Node(box: .everything)
            if !isMask {
                for key in ["SMask", "Mask"] {
                    guard let mask = entries[key] else { continue }
                    let object = try file.resolve(mask)
                    if object.stream == nil {
                        result[key] = try copy(mask)
                    } else {
                        let (number, child) = try image(mask, object, chain, isMask: true)
                        result[key] = .reference(number)
                        node.add(child, nil, times: 1, area: 0, factor: 1)
                    }
                }
            }
            let filters = try file.filters(object)
            // poppler reads only the rows of an image that is compressed in the most frequent way.
            let isPlain = filters.count == 1 && filters[0].name == "FlateDecode"
            let (data, rest) =
                isPlain ? (object.stream ?? [], filters[...]) : try file.partlyDecoded(object)
            try add(rest, to: &result)
            node.imagePixels = try pixels(entries, data, rest.first)
            _ = try newStream(result, data, number: number)
            let place = work.add(node)
            if let old { drawn[old] = (number, place) }
            return (number, place)
        }

        private mutating func pixels(
            _ entries: [String: PDFValue], _ data: ArraySlice<UInt8>,
            _ filter: (name: String, parameters: [String: PDFValue])?
        ) throws(ImageError) -> Double {
            let width = max(0, try file.resolve(entries["Width"]).value.number ?? 0)
            let height = max(0, try file.resolve(entries["Height"]).value.number ?? 0)
            let columns =
                filter?.name == "CCITTFaxDecode" ? filter?.parameters["Columns"]?.number ?? 1_728 : 0
            var pixels = max(width, columns) * height
            if filter?.name == "DCTDecode" || filter?.name == "JPXDecode",
                let info = try? ImageInfo(data: Data(data))
            {
                pixels = max(pixels, Double(info.storedSize.width) * Double(info.storedSize.height))
            }
            let limit = min(limits.maxSourcePixels, limits.maxDecodedBytes / 4)
            guard pixels <= Double(limit) else {
                throw .limitExceeded(
                    ImageError.LimitFailure(
                        .sourcePixelCount, limit: limit, actual: Int(min(pixels, 1e18)),
                        detail: "pixels of an image in a PDF page"))
            }
            return pixels
        }

        // MARK: Annotations

        private mutating func annotations(
            _ value: PDFValue?, _ resources: [String: PDFValue], _ node: inout PDFWork.Node
        ) throws(ImageError) -> PDFValue {
            var result: [PDFValue] = []
            let values = try file.list(value)
            try DrawingBounds.check(values.count, PDFBounds.annotations, "annotations of a PDF page")
            for value in values {
                let entries = try file.resolve(value).dictionary
                var written = try copy(
                    [
                        "Type", "Subtype", "Rect", "Border", "BS", "C", "IC", "CA", "F", "L", "LE",
                        "QuadPoints",
                        "Vertices", "InkList", "AS", "OC", "Contents", "DA", "Q",
                    ], of: entries)
                // This key of an annotation is a number, and elsewhere a file.
                if let flags = entries["F"] { written["F"] = try copy(flags) }
                if let appearance = try appearance(entries) {
                    let (number, child) = try stream(appearance, .form, [resources], 0)
                    let area = try box(entries["Rect"])?.area ?? 0
                    node.add(child, nil, times: 1, area: 0, factor: area / max(1e-6, work.area(of: child)))
                    written["AP"] = .dictionary(["N": .reference(number)])
                }
                result.append(.dictionary(written))
            }
            return .array(result)
        }

        /// Returns the form of the normal appearance in the current state.
        private mutating func appearance(_ entries: [String: PDFValue]) throws(ImageError) -> PDFValue? {
            guard let normal = try file.resolve(entries["AP"]).dictionary["N"] else { return nil }
            let object = try file.resolve(normal)
            if object.stream != nil { return normal }
            guard let state = try file.resolve(entries["AS"]).value.name,
                let form = object.dictionary[state],
                try file.resolve(form).stream != nil
            else { return nil }
            return form
        }
    }
#endif
