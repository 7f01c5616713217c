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

    /// Starts a helper for images of pixels, and one for SVG and PDF if the build can draw them, and returns the checks
    /// of their layers. Blocks.
    static func current() -> [DoctorReport.Check] {
        let location = HelperLocation.find(nil)
        guard let path = location.path else { return checks(nil, .unavailable(reason: location.reason)) }
        let pool = HelperPool(HelperPool.Configuration(path: path, maxHelpers: 1))
        let drawsVectors = !Set(Doctor.enabledTraits).isDisjoint(with: ["SVG", "PDF"])
        return (drawsVectors ? [HelperKind.raster, .vector] : [.raster]).flatMap { kind in
            let result = pool.report(kind)
            guard let report = result.report else {
                return checks(path, .unavailable(reason: result.reason ?? "the helper didn't start"), kind: kind)
            }
            return checks(path, .started(report), kind: kind)
        }
    }

    /// Returns the checks of a helper. The path is `nil` if no helper is installed, and `outcome` is the result of
    /// starting it.
    package static func checks(
        _ path: String?, _ outcome: Outcome, kind: HelperKind = .raster
    ) -> [DoctorReport.Check] {
        let isVector = kind == .vector
        let (id, title) = isVector ? ("vectorHelper", "decoder of SVG and PDF") : ("helper", "decoder")
        switch outcome {
        case .unavailable(let reason):
            let prefix = path.map { "\($0): " } ?? ""
            return [
                .init(
                    id, .note, "\(title) process", "\(prefix)Not used, because \(reason).",
                    remedy: "Install webimage-decoder next to the program. Without it, SVG and PDF images from the "
                        + "network fail, and images of other formats are decoded in the process of the application.")
            ]
        case .started(let report):
            let layers = report.layers.map { name, layer in
                let state: IsolationLayer.State =
                    switch layer {
                    case .active: .available(name == "Landlock" ? "active, \(files(isVector))" : "active")
                    case .missing(let reason): .missing(reason: reason)
                    }
                return IsolationLayer(identifier(id, name), "\(title): \(name)", state)
            }
            return [.init(id, .ok, "\(title) process", path ?? "")] + layers.map(\.check)
        }
    }

    /// Returns the files that Landlock allows.
    private static func files(_ isVector: Bool) -> String {
        isVector ? "opens only fonts and their configuration, for reading" : "opens no files"
    }

    /// Returns the name of a layer for programs, such as `helperNetworkNamespace`.
    private static func identifier(_ helper: String, _ name: String) -> String {
        helper + name.split(separator: " ").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
