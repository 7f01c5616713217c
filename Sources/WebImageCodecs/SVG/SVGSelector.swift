// SPDX-License-Identifier: MIT

#if SVG
    /// A selector whose matches can be determined exactly: compounds of a type, identifiers, classes, and `:root`, with
    /// the combinators for descendants and children (Selectors 4, sections 4 and 15).
    struct SVGSelector {
        private struct Compound {
            var type: String?
            var identifiers: [String] = []
            var classes: [String] = []
            var isRoot = false

            func matches(_ index: Int, _ elements: [SVGDocument.Element]) -> Bool {
                let element = elements[index]
                guard type == nil || type == element.name, !isRoot || index == 0 else { return false }
                let id = element.value("id")
                guard identifiers.allSatisfy({ $0 == id }) else { return false }
                return classes.allSatisfy(element.classes.contains)
            }
        }

        /// The compounds from right to left.
        private var compounds: [Compound] = []
        /// For each compound but the first one, whether it matches only the parent of the compound to its right.
        private var isParent: [Bool] = []
        /// The specificity, as a number with 20 bits for each of its three parts.
        private(set) var specificity = 0

        /// The number of steps for comparing the selector with an element that has a number of ancestors.
        func steps(depth: Int) -> Int { compounds.count > 1 ? compounds.count * depth : 1 }

        /// Parses a selector, or returns `nil` if it contains other parts.
        init?(_ text: String) {
            var list: [Compound] = []
            var combinators: [Bool] = []
            for part in Array(text.utf8).split(whereSeparator: SVGNesting.isSpace).flatMap(Self.separatingCombinators) {
                if part.first == 0x3E {
                    guard !list.isEmpty, combinators.count < list.count else { return nil }
                    combinators.append(true)
                    continue
                }
                guard let compound = parse(part) else { return nil }
                if !list.isEmpty, combinators.count < list.count { combinators.append(false) }
                list.append(compound)
            }
            guard !list.isEmpty, combinators.count == list.count - 1 else { return nil }
            compounds = list.reversed()
            isParent = combinators.reversed()
        }

        /// Splits a text without white space at its combinators, which remain as texts of their own.
        private static func separatingCombinators(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
            var parts: [ArraySlice<UInt8>] = []
            var rest = text
            while let place = rest.firstIndex(of: 0x3E) {
                if place > rest.startIndex { parts.append(rest[..<place]) }
                parts.append(rest[place...place])
                rest = rest[(place + 1)...]
            }
            if !rest.isEmpty { parts.append(rest) }
            return parts
        }

        /// Parses a compound, and adds its specificity.
        private mutating func parse(_ text: ArraySlice<UInt8>) -> Compound? {
            var compound = Compound()
            var rest = text
            if rest.first == 0x2A {
                rest.removeFirst()
            } else if rest.first.map(SVGNesting.isName) ?? false {
                compound.type = Self.name(&rest)
                specificity += 1
            }
            while let mark = rest.popFirst() {
                let name = Self.name(&rest)
                guard !name.isEmpty else { return nil }
                switch mark {
                case 0x23:
                    compound.identifiers.append(name)
                    specificity += 1 << 40
                case 0x2E:
                    compound.classes.append(name)
                    specificity += 1 << 20
                case 0x3A where name.lowercased() == "root":
                    compound.isRoot = true
                    specificity += 1 << 20
                default: return nil
                }
            }
            return compound
        }

        /// Removes and returns the name at the start of a text.
        private static func name(_ text: inout ArraySlice<UInt8>) -> String {
            let name = text.prefix(while: SVGNesting.isName)
            text = text[name.endIndex...]
            return String(decoding: name, as: UTF8.self)
        }

        func matches(_ index: Int, _ elements: [SVGDocument.Element]) -> Bool {
            guard compounds[0].matches(index, elements) else { return false }
            guard compounds.count > 1 else { return true }
            var ancestors: [Int] = []
            var next = elements[index].parent
            while let parent = next {
                ancestors.append(parent)
                next = elements[parent].parent
            }
            // The ancestors that the compounds so far can match. -1 stands for the element.
            var places = [-1]
            for (compound, isParent) in zip(compounds.dropFirst(), isParent) {
                let nearest = (places.first ?? ancestors.count) + 1
                let candidates = isParent ? places.map { $0 + 1 } : Array(nearest..<max(nearest, ancestors.count))
                places = candidates.filter { $0 < ancestors.count && compound.matches(ancestors[$0], elements) }
                if places.isEmpty { return false }
            }
            return true
        }
    }
#endif
