// SPDX-License-Identifier: MIT

import WebImage
import WebImageCommand
import WebImageIsolation

/// The checks of the helper processes that decode images.
package enum HelperHealth {
    /// The result of starting a helper.
    package enum Outcome: Sendable {
        /// The helper started and reported its layers.
        case started(IsolationReport)
        /// There's no helper, with the reason as a clause.
        case unavailable(reason: String)
    }

    /// Starts a helper for images of pixels, and returns the checks of its layers. Blocks.
    static func current() -> [DoctorReport.Check] {
        let location = HelperLocation.find(nil)
        guard let path = location.path else { return checks(nil, .unavailable(reason: location.reason)) }
        let result = HelperPool(HelperPool.Configuration(path: path, maxHelpers: 1)).report(.raster)
        guard let report = result.report else {
            return checks(path, .unavailable(reason: result.reason ?? "the helper didn't start"))
        }
        return checks(path, .started(report))
    }

    /// Returns the checks of a helper.
    ///
    /// - Parameters:
    ///   - path: The path of the helper, or `nil` if no helper is installed.
    ///   - outcome: The result of starting it.
    package static func checks(_ path: String?, _ outcome: Outcome) -> [DoctorReport.Check] {
        switch outcome {
        case .unavailable(let reason):
            let prefix = path.map { "\($0): " } ?? ""
            return [
                .init(
                    "helper", .note, "decoder process", "\(prefix)Not used, because \(reason).",
                    remedy: "Install webimage-decoder next to the program. Without it, SVG and PDF images from the "
                        + "network fail, and images of other formats are decoded in the process of the application.")
            ]
        case .started(let report):
            let layers = report.layers.map { name, layer in
                let state: IsolationLayer.State =
                    switch layer {
                    case .active: .available("active")
                    case .missing(let reason): .missing(reason: reason)
                    }
                return IsolationLayer(identifier(name), "decoder: \(name)", state)
            }
            return [.init("helper", .ok, "decoder process", path ?? "")] + layers.map(\.check)
        }
    }

    /// Returns the name of a layer for programs, such as `helperNetworkNamespace`.
    private static func identifier(_ name: String) -> String {
        "helper" + name.split(separator: " ").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
