// SPDX-License-Identifier: MIT

import WebImageCore

/// The names of the values of an enumeration on the command line, which are in kebab case.
struct ValueNames<Value: Sendable>: Sendable {
    /// The names in the help and in messages, in the order of the help.
    let all: [(name: String, value: Value)]
    /// Further names, which the help doesn't list.
    private let aliases: [(name: String, value: Value)]

    private init(_ all: [(String, Value)], aliases: [(String, Value)]) {
        self.all = all.map { (name: $0.0, value: $0.1) }
        self.aliases = aliases.map { (name: $0.0, value: $0.1) }
    }

    /// The value with a name, or `nil` if there's none.
    subscript(name: String) -> Value? { (all + aliases).first { $0.name == name }?.value }

    /// The names, in the order of the help.
    var list: [String] { all.map(\.name) }

    /// Returns names for other values, which `transform` returns. Values for which it returns `nil` are omitted.
    func mapping<Other: Sendable>(_ transform: (Value) -> Other?) -> ValueNames<Other> {
        func mapped(_ names: [(name: String, value: Value)]) -> [(String, Other)] {
            names.compactMap { name, value in transform(value).map { (name, $0) } }
        }
        return ValueNames<Other>(mapped(all), aliases: mapped(aliases))
    }

    /// Returns names that also contain another one.
    func adding(_ name: String, _ value: Value) -> ValueNames {
        ValueNames(all.map { ($0.name, $0.value) } + [(name, value)], aliases: aliases.map { ($0.name, $0.value) })
    }
}

extension ValueNames where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// The names of all cases. The raw values, which are in camel case, are aliases, because they were the names before.
    static var kebabCase: ValueNames {
        let cases = Array(Value.allCases)
        return ValueNames(cases.map { (kebab($0.rawValue), $0) }, aliases: cases.map { ($0.rawValue, $0) })
    }

    private static func kebab(_ text: String) -> String {
        text.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
    }
}

extension ValueNames<StandardTransformer.Anchor> {
    /// The names of the anchors, with “left” and “right” instead of “leading” and “trailing”, because images have no
    /// writing direction. The names with “leading” and “trailing” are aliases.
    static var anchors: ValueNames {
        let names = kebabCase
        let sides = names.all.map { name, value in
            (name.replacing("leading", with: "left").replacing("trailing", with: "right"), value)
        }
        return ValueNames(sides, aliases: (names.all + names.aliases).map { ($0.name, $0.value) })
    }
}

extension TransformSpec {
    static let anchors = ValueNames<StandardTransformer.Anchor>.anchors
    static let blendModes = ValueNames<ImageBlendMode>.kebabCase
    /// The names of the corners, which are those of the anchors.
    static let corners: ValueNames<StandardTransformer.Corners> = anchors.mapping {
        switch $0 {
        case .topLeading: .topLeading
        case .topTrailing: .topTrailing
        case .bottomLeading: .bottomLeading
        case .bottomTrailing: .bottomTrailing
        case .top, .leading, .center, .trailing, .bottom: nil
        }
    }
}
