// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageStore

/// The keys of one request: what identifies its bytes, the picture decoded from them, and that picture after each
/// transformer. Built once per request.
struct RequestKeys: Sendable {
    /// Identifies the original bytes.
    let data: CacheKey
    /// `data` and all that changes pixels at decode.
    let decoded: CacheKey
    /// `decoded` and the transformers; `steps[0]` is `decoded`, the last one is the final key.
    let steps: [CacheKey]
    /// Identifies what memory holds: the last step.
    var final: CacheKey { steps[steps.count - 1] }

    init(_ request: ImageRequest, source: String, transformers: [any ImageTransformer]) {
        data = Self.dataKey(request, source: source)
        decoded = data.appending(Self.decodeFields(request.decodeOptions))
        var steps = [decoded]
        for transformer in transformers {
            steps.append(steps[steps.count - 1].appending(["transform", transformer.identity]))
        }
        self.steps = steps
    }

    private static func dataKey(_ request: ImageRequest, source: String) -> CacheKey {
        var fields = ["data", source]
        if !request.fields.lines.isEmpty {
            for name in request.varyingFields.map({ $0.lowercased() }).sorted() {
                // Keys are written to disk; credentials must not be. The hash tells them apart as well.
                if let value = request.fields.combined(name) { fields += ["vary", name, CacheKey([value]).fileName] }
            }
        }
        if let identity = request.identity { fields += ["identity", CacheKey([identity]).fileName] }
        return CacheKey(fields)
    }

    private static func decodeFields(_ options: DecodeOptions) -> [String] {
        var fields = [
            "decode", options.size?.identity ?? "original", "\(options.scale)", "\(options.frames)",
            "\(options.depth)", "\(options.reduction)",
        ]
        if options.color != .sRGB { fields.append("\(options.color)") }
        if options.allowsPartial { fields.append("partial") }
        if let hint = options.formatHint { fields += ["hint", hint.rawValue] }
        if let coder = options.coderIdentifier { fields += ["coder", coder] }
        for (name, value) in options.extras.sorted(by: { $0.key < $1.key }) { fields += ["extra", name, value] }
        return fields
    }
}
