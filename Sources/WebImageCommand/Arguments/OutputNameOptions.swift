// SPDX-License-Identifier: MIT

extension Arguments {
    private static let supportedOptions = "Q=1 to Q=100, strip, and lossless, or options such as --quality"

    /// Returns arguments in which the options at the end of the output name, as in vipsthumbnail, are encoding options:
    /// `tn_%s.jpg[Q=50,strip]` has the quality 50 and no metadata. Brackets after a name without an extension are part of
    /// the name.
    package func applyingOutputNameOptions() throws(UsageError) -> Arguments {
        guard let text = last("output"), text.hasSuffix("]"), let bracket = text.lastIndex(of: "[") else { return self }
        let name = String(text[..<bracket])
        guard OutputPlan.looksLikeFile(name) || name.hasSuffix(".{format}") else { return self }
        var result = setting("output", to: name)
        let list = text[text.index(after: bracket)...].dropLast()
        for item in list.split(separator: ",", omittingEmptySubsequences: false) where !list.isEmpty {
            let item = item.filter { $0 != " " }
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            try result.apply(String(parts[0]), parts.count > 1 ? String(parts[1]) : nil, item, self)
        }
        return result
    }

    /// Applies an option of an output name. `original` are the arguments of the user.
    private mutating func apply(
        _ name: String, _ value: String?, _ item: String, _ original: Arguments
    ) throws(UsageError) {
        let isOn: Bool? =
            switch value {
            case nil, "true", "1": true
            case "false", "0": false
            default: nil
            }
        func require(_ option: String) throws(UsageError) {
            guard original.has(option) else { return }
            throw UsageError("--output: \(name) can’t be combined with --\(option)")
        }
        switch (name, isOn) {
        case ("Q", _):
            guard let value, let quality = Int(value), (1...100).contains(quality) else { break }
            try require("quality")
            self = setting("quality", to: value)
            return
        case ("strip", let isOn?):
            try require("metadata")
            self = setting("metadata", to: isOn ? "strip" : "keep")
            return
        case ("lossless", let isOn?):
            if isOn { self = setting("lossless", to: "") }
            return
        default: break
        }
        throw UsageError("--output: “[\(item)]” isn’t supported (use \(Self.supportedOptions))")
    }
}
